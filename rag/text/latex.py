"""LaTeX to plain text (accents and text commands, for storing) and to Unicode (mathematics, for display)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

# Each alternative starts with a plain character, which lets the search skip ahead; what stands before it is looked at afterwards.
_MATH = re.compile(
    r"\$\$(?<!\\\$\$)[^$]{1,4000}(?<!\\)\$\$"
    r"|\$(?<![\\$]\$)(?=\S)[^$]{1,2000}(?<=\S)(?<!\\)\$(?!\d)"  # `$5 and $10` is money, as in pandoc
    r"|\$(?<![\\$]\$)[^$\s]{1,80}(?<!\\)\$"
    r"|\\\((?:[^\\]|\\(?![()])){1,2000}\\\)|\\\[(?:[^\\]|\\(?![][])){1,4000}\\\]"
    r"|\\begin\{(equation|align|gather|math|displaymath|eqnarray)(\*?)\}(?:[^\\]|\\(?!begin|end)){1,4000}\\end\{\1\2\}"
)
# Characters that commands stand for must not be taken for LaTeX again: private-use stand-ins until the end.
_LITERALS = {"textbackslash": "\ue0f0", "textbraceleft": "\ue0f1", "textbraceright": "\ue0f2", "textasciitilde": "\ue0f3"}
_STAND_INS = {"\ue0f0": "\\", "\ue0f1": "{", "\ue0f2": "}", "\ue0f3": "~"}
_STAND_IN = re.compile("[\ue0f0-\ue0f3]")
_MARKS = "\u0300\u0301\u0302\u0303\u0308\u0304\u0307\u0306\u030c\u030b\u0327\u0323\u0331\u0328\u030a\u0361"
_COMBINING = dict(zip("`'^~\"=.uvHcdbkrt", _MARKS, strict=True))
_ACCENT = re.compile(
    r"\\([`'^~\"=.])\s*(?:\{\s*(\\[ij](?![A-Za-z])|[A-Za-z])\s*\}|(\\[ij](?![A-Za-z])\s?|[A-Za-z]))"
    r"|\\([uvHcdbkrt])(?:\s*\{\s*(\\[ij](?![A-Za-z])|[A-Za-z])\s*\}|\s+(\\[ij](?![A-Za-z])|[A-Za-z])(?![A-Za-z]))"
)
_BRACED_SYMBOL = re.compile(r"\{([^\x00-\x7f][\u0300-\u036f]*)\}")
_LETTERS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "i": "ı",
    "j": "ȷ", "dh": "ð", "DH": "Ð", "dj": "đ", "DJ": "Đ", "th": "þ", "TH": "Þ", "ng": "ŋ", "NG": "Ŋ", "S": "§", "P": "¶", "dag": "†",
    "copyright": "©", "pounds": "£", "euro": "€", "texteuro": "€", "textendash": "–", "textemdash": "—", "textasciicircum": "^",
    "textquoteright": "’", "textquoteleft": "‘", "textquotedblleft": "“", "textquotedblright": "”", "textbar": "|", "textless": "<",
    "textgreater": ">", "textregistered": "®", "texttrademark": "™", "textdegree": "°", "textmu": "µ", "textunderscore": "_",
    "textbullet": "•", "ldots": "…", "dots": "…", "textellipsis": "…", "LaTeX": "LaTeX", "TeX": "TeX", "BibTeX": "BibTeX", "quad": " ",
    "qquad": " ", "newline": " ", "par": " ", "noindent": " ", "xspace": "", "protect": "", "centering": " ", "textdollar": "$",
    **_LITERALS,
}  # fmt: skip
_LETTER = re.compile(rf"\\({'|'.join(sorted(_LETTERS, key=len, reverse=True))})(?![A-Za-z])(?:\{{\}}|[ \t]*\n?[ \t]*)?")
_STYLE_NAMES = (
    "emph|textbf|textit|texttt|textsc|textrm|textsf|textsl|textup|textmd|textnormal|text|underline|uline|mbox|hbox|url|path|nolinkurl|enquote|"
    "textsuperscript|textsubscript|ensuremath|sout|st|hl|todo|mathrm|footnote|thanks"
)
_STYLE = re.compile(rf"\\(?:{_STYLE_NAMES})\s?\{{([^{{}}]*)\}}")
_TWO_ARGUMENTS = re.compile(r"\\(?:href|textcolor|colorbox)\s?\{[^{}]*\}\s?\{([^{}]*)\}")
_CITE = re.compile(r"[\s~]*\\(?:cite[a-zA-Z]*|label|vspace|hspace)\*?(?:\[[^\[\]]*\])*\{[^{}]*\}")
_SWITCH = re.compile(r"\{\s*\\(?:em|it|bf|tt|sc|rm|sf|sl|itshape|bfseries|ttfamily|scshape|small|large)(?![A-Za-z])\s*([^{}]*)\}")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{(?:center|abstract|itemize|enumerate|quote|flushleft|document)\}|\\item(?![A-Za-z])")
_ESCAPED = re.compile(r"\\([%&#_{}$ /,;:!\\@-])")
_ESCAPES = {"\\": " ", " ": " ", ",": " ", ";": " ", ":": " ", "!": "", "/": "", "@": "", "-": ""}
# Before a command `~` is a tie; anywhere else it may mean "about".
_TIE = re.compile(r"~(?=\\[A-Za-z])")
_QUOTES = re.compile(r"``([^`']{0,500}(?:'(?!')[^`']{0,200}){0,5})''")
_BRACES = re.compile(r"(?<!\\)[{}]")
_DISPLAY_LIMIT = 600
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_GROUP = re.compile(r"([\^_])\{(?=[^{}]+[-+/ ]|[^{}]*\{)((?:[^{}]|\{[^{}]*\}){2,})\}")
# What pylatexenc does not know it leaves out, which would change the formula.
_DISPLAY_NAMES = {
    "lVert": "‖", "rVert": "‖", "lvert": "|", "rvert": "|", "llbracket": "⟦", "rrbracket": "⟧", "bm": "", "boldsymbol": "", "mathds": "",
    "operatorname": "", "tfrac": r"\frac", "dfrac": r"\frac", "middle": "", "bigl": "", "bigr": "", "Bigl": "", "Bigr": "", "big": "",
    "Big": "", "nicefrac": r"\frac", "sfrac": r"\frac", "xspace": "", "limits": "", "nolimits": "", "displaystyle": "", "textstyle": "",
    "left": "", "right": "", "bf": "", "it": "", "rm": "", "tt": "", "em": "", "land": "∧", "lor": "∨",
    "coloneqq": ":=", "coloneq": ":=", "lesssim": "≲", "gtrsim": "≳", "mathbbm": "", "pmb": "", "ensuremath": "",
}  # fmt: skip
_DISPLAY_NAME = re.compile(rf"\\({'|'.join(sorted(_DISPLAY_NAMES, key=len, reverse=True))})(?![A-Za-z])")


def split_math(text: str) -> Iterator[tuple[str, bool]]:
    """The pieces of `text` in order, each with whether it is mathematics, delimiters included."""
    position = 0
    for math in _MATH.finditer(text):
        if math.start() > position:
            yield text[position : math.start()], False
        yield math[0], True
        position = math.end()
    if position < len(text):
        yield text[position:], False


def latex_to_text(text: str, *, bibtex: bool = False) -> str:
    r"""`text` with accents, `\emph{...}`, `\%`, quotes and the like as plain text; mathematics is left as written.

    `bibtex` also takes away protecting braces, ties (`~`) and `--`, which mean something else outside BibTeX.
    """
    return "".join(piece if is_math else _outside_math(piece, bibtex=bibtex) for piece, is_math in split_math(text))


def math_to_unicode(text: str) -> str:
    r"""`text` with LaTeX shown as Unicode: `$O(\frac{1}{T})$` as `O(1/T)`; what cannot be shown stays as written."""
    return "".join(_shown(piece) if is_math else _symbols(_outside_math(piece, bibtex=False)) for piece, is_math in split_math(text))


def _outside_math(text: str, *, bibtex: bool) -> str:
    if "\\" in text:
        text = _TIE.sub(" ", text)
        text = _BRACED_SYMBOL.sub(r"\1", _LETTER.sub(_letter, _ACCENT.sub(_accented, text)))
        text = _unwrapped(_CITE.sub("", _ENVIRONMENT.sub(" ", text)))
    if "``" in text:
        text = _QUOTES.sub(r"“\1”", text)
    if bibtex:
        text = _BRACES.sub("", text.replace("~", " ").replace("---", "—").replace("--", "–"))
    return _STAND_IN.sub(lambda match: _STAND_INS[match[0]], _ESCAPED.sub(_unescaped, text))


def _symbols(text: str) -> str:
    r"""Commands left outside mathematics, such as `\epsilon` or an author's own `\ours`, as what they stand for or their name."""
    return _COMMAND.sub(lambda command: _shown(command[0]), text) if "\\" in text else text


def _unwrapped(text: str) -> str:
    for _ in range(8):  # innermost first; deeper nesting is left as written
        simpler = _STYLE.sub(r"\1", _TWO_ARGUMENTS.sub(r"\1", _SWITCH.sub(r"\1", text)))
        if simpler == text:
            break
        text = simpler
    return text


def _unescaped(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[1], match[1])


def _letter(match: re.Match[str]) -> str:
    return _LETTERS[match[1]]


def _accented(match: re.Match[str]) -> str:
    mark = match[1] or match[4]
    base = (match[2] or match[3] or match[5] or match[6]).strip().lstrip("\\")
    return unicodedata.normalize("NFC", base + _COMBINING[mark])


@lru_cache(maxsize=2048)
def _shown(math: str) -> str:
    if len(math) > _DISPLAY_LIMIT or math.count("{") > 60:
        return math
    from pylatexenc.latex2text import LatexNodes2Text
    from pylatexenc.latexwalker import LatexWalkerError

    known = _COMMAND.sub(_known, _DISPLAY_NAME.sub(lambda match: _DISPLAY_NAMES[match[1]], _unwrapped(math)))
    try:
        converter = LatexNodes2Text(math_mode="text", strict_latex_spaces=False)
        shown: str = converter.latex_to_text(_GROUP.sub(r"\1{(\2)}", known), tolerant_parsing=True)
    except (LatexWalkerError, ValueError, LookupError, TypeError, AttributeError, RecursionError):  # it trips over some malformed input
        return math
    return shown.strip() or math


def _known(command: re.Match[str]) -> str:
    """The command when pylatexenc knows it, else its bare name, since it would leave the command out."""
    return command[0] if _commands().get_macro_spec(command[1]) is not None else command[1]


@lru_cache(maxsize=1)
def _commands() -> Any:
    from pylatexenc.latex2text import get_default_latex_context_db

    database = get_default_latex_context_db()
    database.set_unknown_macro_spec(None)
    return database
