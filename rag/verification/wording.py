"""Words of a text with their stems and places: what the comparisons of statement and abstract are made on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rag.text.words import content_words, stem

_WORD = re.compile(r"\d++(?:[.,]\d++)*+(?![^\W\dx_])|[^\W_]+(?:['’][^\W\d_]+)?")
_MIN_PREFIX = 5
_PREFIX_SHARE = 0.7
_PREFIX_CREDIT = 0.85
_GRAM_FLOOR = 0.55


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: hyphenated words come in parts."""

    text: str
    """Lower-cased, apostrophes as `'`."""
    stem: str
    """In the form of the index; empty for a stop word."""
    start: int
    end: int


def words_of(text: str) -> tuple[Word, ...]:
    """All words of `text` in order, stop words among them (with an empty stem)."""
    return tuple(_word(match) for match in _WORD.finditer(text))


def stems_of(words: Iterable[Word]) -> tuple[str, ...]:
    """The stems of the informative words, each once, in order."""
    return tuple(dict.fromkeys(word.stem for word in words if word.stem))


def likeness(one: str, other: str) -> float:
    """How nearly two stems are the same word: 1 equal, 0 unrelated; a long common beginning or many common trigrams count in part."""
    if one == other:
        return 1.0
    shorter, longer = sorted((len(one), len(other)))
    if shorter < _MIN_PREFIX or any(character.isdigit() for character in one + other):
        return 0.0
    common = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), shorter)
    if common >= _MIN_PREFIX and common >= _PREFIX_SHARE * longer:
        return _PREFIX_CREDIT
    dice = _dice(one, other)
    return dice if dice >= _GRAM_FLOOR else 0.0


def _word(match: re.Match[str]) -> Word:
    text = match[0].lower().replace("’", "'")
    return Word(text, _stem(text), match.start(), match.end())


@lru_cache(maxsize=16_384)
def _stem(text: str) -> str:
    return "".join(stem(part) for part in content_words(text))


def _dice(one: str, other: str) -> float:
    first, second = _trigrams(one), _trigrams(other)
    return 2 * len(first & second) / (len(first) + len(second))


@lru_cache(maxsize=16_384)
def _trigrams(text: str) -> frozenset[str]:
    padded = f"^{text}$"
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))
