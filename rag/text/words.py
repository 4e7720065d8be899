"""Words and index terms: what counts as the same word in a question and in an abstract."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

# Scripts written without spaces are indexed by overlapping pairs of characters.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?P<word>[^\W_{_UNSPACED}]+(?:(?:['’\-‐‑_]|(?<=\d)\.(?=\d))[^\W_{_UNSPACED}]+)*)"
)
_HYPHENS = re.compile(r"[\-‐‑_]")
_POSSESSIVE = re.compile(r"['’]s\b")
_APOSTROPHES = str.maketrans("", "", "'’")
_CAMEL = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]|\d+")
_MAX_QUERY_TERMS = 128
_MAX_QUERY_CHARACTERS = 10_000
_MAX_TERM_CHARACTERS = 64

# A letter of no European orthography: it marks the terms of words written in capitals, so that SAFE differs from safe.
_CAPITALS = "ʌ"
# The parts of a hyphenated word, the terms its capitals give, and whether only spaces stand before it.
_Word = tuple[tuple[str, ...], tuple[str, ...], bool]

STOP_WORDS = frozenset(
    """
    a about above across after again against all also although am among an and another any anyone anything are as at be became because
    been before being below between both but by can cannot could did do does doing done dont down due during each eg either else etc
    even ever every few for from further get gets getting give given gives got had has have having he hence her here hers herself him
    himself his how however i ie if im in into is isnt it its itself ive just let lets like many may me might more most much must my
    myself near neither no nor not now of off often on once one only onto or other others our ours ourselves out over own per please
    quite rather really same shall she should since so some such than that the their theirs them themselves then there thereby therefore
    these they thing things this those though through thus to together too toward towards under until up upon us use used uses using
    very via want was we well were what whats when whenever where whereas whether which while who whom whose why will with within
    without would yes yet you your yours yourself
    """.split()
)


def content_words(text: str) -> tuple[str, ...]:
    """Lower-cased informative words of `text` in order, hyphenated words in parts, stop words removed, repetitions kept."""
    return tuple(_single(_words(text)))


def stem(word: str) -> str:
    """The English Snowball stem of a word (Porter, 2001), lower-cased; words of other scripts stay as they are."""
    return _stems([_fold(word).casefold()])[0]


def index_terms(text: str) -> str:
    """The terms of `text` as the full-text index stores them, joined by spaces.

    Stems of all words but stop words; neighbouring words also as one, so that "turn taking", "turn-taking" and "turntaking"
    meet; names written in capitals once more as such, and the parts of CamelCase names; numbers with their decimals; pairs of
    characters where a script has no spaces.
    """
    words = tuple(_words(text))
    return " ".join(_stems([*_single(words), *_joined(words)]))


def query_terms(question: str) -> tuple[str, ...]:
    """The single words of a question in the form of `index_terms`, each once, in order; at most 128.

    Empty when the question has no informative word.
    """
    words = tuple(_words(question[:_MAX_QUERY_CHARACTERS]))
    return _distinct(_single(words))


def query_pairs(question: str) -> tuple[str, ...]:
    """Neighbouring words of a question joined to one, and the terms that its capitals give, in the form of `index_terms`.

    They reward papers that have the question's words side by side and its names; each once, in order, at most 128, none of
    `query_terms`.
    """
    words = tuple(_words(question[:_MAX_QUERY_CHARACTERS]))
    single = set(query_terms(question))
    return tuple(term for term in _distinct(_joined(words)) if term not in single)


def _single(words: Iterable[_Word]) -> list[str]:
    return [part for parts, _, _ in words for part in parts if part not in STOP_WORDS]


def _joined(words: Iterable[_Word]) -> list[str]:
    terms: list[str] = []
    previous = ""
    for parts, capitals, follows in words:
        terms += capitals
        if not follows:
            previous = ""
        # Over stop words too: "learning to learn" and "learning-to-learn" have a term in common.
        for part in (part for part in parts if part not in STOP_WORDS):
            if previous:
                terms.append(previous + part)
            previous = part
        if len(parts) > 2:
            terms.append("".join(parts))
    return terms


def _distinct(words: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_stems(words)))[:_MAX_QUERY_TERMS]


def _words(text: str) -> Iterator[_Word]:
    folded = _fold(text)
    end = 0
    for match in _TOKEN.finditer(folded):
        raw, start = match[0], match.start()
        follows = 0 < end < start and folded[end:start].isspace()
        end = match.end()
        # Most words are plain; what follows costs several times as much.
        if raw.isascii() and raw.isalpha() and raw.islower():
            yield (raw[:_MAX_TERM_CHARACTERS],), (), follows
        elif match.lastgroup == "unspaced":
            yield tuple(raw[i : i + 2] for i in range(max(len(raw) - 1, 1))), (), False
        else:
            plain = _POSSESSIVE.sub("", raw).translate(_APOSTROPHES)
            yield _parts(plain), _capital_terms(plain), follows


def _parts(word: str) -> tuple[str, ...]:
    # The full-text tokenizer would split 12.1 into two numbers.
    return tuple(part.casefold().replace(".", "d")[:_MAX_TERM_CHARACTERS] for part in _HYPHENS.split(word) if part)


def _capital_terms(word: str) -> tuple[str, ...]:
    """For a name such as GPTs or LongAlign: itself, marked, and the parts of its CamelCase; nothing for Words like this."""
    capitals = [part for part in _HYPHENS.split(word) if part[1:] != part[1:].lower()]
    names = [part[:-1] if part.endswith("s") and part[:-1].isupper() else part for part in capitals]
    mixed = [name for name in names if name.isascii() and not name.isupper()]
    pieces = [piece.casefold() for name in mixed for piece in _CAMEL.findall(name) if len(piece) > 2]
    return (*(_CAPITALS + name.casefold() for name in names), *pieces)


def _fold(text: str) -> str:
    """Compatibility forms unified and accents and vowel signs dropped, as the full-text tokenizer does for Latin letters."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if unicodedata.category(c)[0] != "M"))


def _stems(words: list[str]) -> list[str]:
    import Stemmer

    # One stemmer a call: they must not be shared between threads, and making one takes under a microsecond.
    stems: list[str] = Stemmer.Stemmer("english").stemWords(words)
    return stems
