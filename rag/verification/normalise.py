"""Texts made comparable, with the way back: every character knows where it stood in the original."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from rag.records import Span

Piece = str | int
"""What stands in place of a match: a literal, or the number of a group that is kept with its offsets."""

_STYLES = "text|textbf|textit|textrm|texttt|textsc|textsf|emph|underline|mathrm|mathbf|mathit|mathcal|mathbb|mathsf|mathtt|boldsymbol|bm|operatorname"
_LATEX: tuple[tuple[re.Pattern[str], tuple[Piece, ...]], ...] = (
    (re.compile(rf"\\(?:{_STYLES})\s?\{{([^{{}}]*)\}}"), (1,)),
    (re.compile(r"\\[dt]?frac\s?\{([^{}]*)\}\s?\{([^{}]*)\}"), (1, "/", 2)),
    (re.compile(r"\\sqrt\s?\{([^{}]*)\}"), ("sqrt(", 1, ")")),
    (re.compile(r"[\^_]\{([^{}]*)\}"), ("^", 1)),
    (re.compile(r"\\(?:times|cdot)(?![A-Za-z])\s?"), ("×",)),
    (re.compile(r"\\(?:sim|approx)(?![A-Za-z])\s?"), ("~",)),
    (re.compile(r"\\pm(?![A-Za-z])\s?"), ("±",)),
    (re.compile(r"\\(?:leq?)(?![A-Za-z])\s?"), ("≤",)),
    (re.compile(r"\\(?:geq?)(?![A-Za-z])\s?"), ("≥",)),
    (re.compile(r"\\(?:left|right|displaystyle|big|Big)(?![A-Za-z])\s?"), ()),
    (re.compile(r"\\[,;:! ]"), (" ",)),
    (re.compile(r"\\([%#&_$])"), (1,)),
    (re.compile(r"\\([A-Za-z]+)\*?"), (1,)),
    (re.compile(r"[{}]|\$(?!\d)|(?<=[\w%)}])\$|\$(?=[^$]{0,80}\$)"), ()),
)
_MARKDOWN: tuple[tuple[re.Pattern[str], tuple[Piece, ...]], ...] = (
    (re.compile(r"!?\[([^\[\]]+)\]\([^()\s]*\)"), (1,)),
    (re.compile(r"(?m)^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+•][ \t]+|\d{1,2}[.)][ \t]+)+"), ()),
    (re.compile(r"\*{2,3}|~~|`+|(?<![\w*])\*(?=\w)|(?<=[\w.!?)%])\*(?![\w*])|(?<!\w)_{1,2}(?=\w)|(?<=[\w.!?)%])_{1,2}(?![\w{])"), ()),
)
_SINGLE = dict.fromkeys("‘’‚‛′`´ʼ", "'") | dict.fromkeys("“”„‟″«»", '"') | dict.fromkeys("‐‑‒–—―−﹣－", "-")
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f")
# Formulas and code are left alone: `$p \\in [1,2]$` cites nothing.
_CITATION = re.compile(
    r"(?P<quiet>\$[^$\n]+\$|`[^`\n]+`)|\s?(?:\[\^?\d{1,3}\??(?:\s?[,;–-]\s?\^?\d{1,3}\??)*\]|【\d{1,3}(?:[,†][^】]{0,20})?】)"
)


@dataclass(frozen=True, slots=True)
class Normalised:
    """A comparable form of a text; `starts[i]` and `ends[i]` give the original stretch of its character `i`."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def original(self, start: int, end: int, source: str) -> Span:
        """The stretch of the original `source` behind the characters `start:end` of this text."""
        left, right = self.starts[start], self.ends[end - 1]
        return Span(left, right, source[left:right])


def normalise(text: str, *, fold: bool = True) -> Normalised:
    """`text` in NFKC with plain quotes and dashes, single spaces, and without Markdown and LaTeX markup.

    `fold` also folds case and spells Greek letters out; without it, case is kept for names and unit suffixes.
    """
    mapped = Normalised(text, tuple(range(len(text))), tuple(range(1, len(text) + 1)))
    for pattern, pieces in _MARKDOWN:
        mapped = _rewrite(mapped, pattern, pieces)
    if "\\" in text or "$" in text or "{" in text:
        for pattern, pieces in _LATEX:
            mapped = _rewrite(mapped, pattern, pieces)
    return _characters(mapped, fold=fold)


def without_citations(text: str) -> str:
    """`text` without its citation markers (`[1]`, `[1, 2?]`, `【1】`) and the space before each; formulas and code are left alone."""
    return _CITATION.sub(lambda match: match["quiet"] or "", text)


def _rewrite(mapped: Normalised, pattern: re.Pattern[str], pieces: Sequence[Piece]) -> Normalised:
    matches = list(pattern.finditer(mapped.text))
    if not matches:
        return mapped
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []

    def keep(start: int, end: int) -> None:
        text.append(mapped.text[start:end])
        starts.extend(mapped.starts[start:end])
        ends.extend(mapped.ends[start:end])

    position = 0
    for match in matches:
        keep(position, match.start())
        for piece in pieces:
            if isinstance(piece, int):
                keep(*match.span(piece))
            else:
                text.append(piece)
                starts.extend([mapped.starts[match.start()]] * len(piece))
                ends.extend([mapped.ends[match.end() - 1]] * len(piece))
        position = match.end()
    keep(position, len(mapped.text))
    return Normalised("".join(text), tuple(starts), tuple(ends))


def _characters(mapped: Normalised, *, fold: bool) -> Normalised:
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for character, start, end in zip(mapped.text, mapped.starts, mapped.ends, strict=True):
        form = _form(character, fold=fold)
        if form == " " and (not text or text[-1] == " "):
            continue
        if text and unicodedata.combining(character) and len(joined := unicodedata.normalize("NFC", text[-1] + character)) == 1:
            text[-1], ends[-1] = joined, end
            continue
        text.extend(form)
        starts.extend([start] * len(form))
        ends.extend([end] * len(form))
    if text and text[-1] == " ":
        del text[-1], starts[-1], ends[-1]
    return Normalised("".join(text), tuple(starts), tuple(ends))


def _form(character: str, *, fold: bool) -> str:
    if character.isascii():
        return " " if character.isspace() else character.lower() if fold else character
    if character in _INVISIBLE:
        return ""
    if character in _SINGLE:
        return _SINGLE[character]
    form = unicodedata.normalize("NFKC", character)
    if form.isspace():
        return " "
    if not fold:
        return form
    name = unicodedata.name(form, "") if len(form) == 1 else ""
    return name.rsplit(" ", 1)[-1].lower() if name.startswith("GREEK ") and "LETTER" in name and " WITH " not in name else form.casefold()
