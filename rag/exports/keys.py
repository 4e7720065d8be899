"""Citation keys: readable, ASCII, unique within an export, and the same in every export of the same papers."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from string import ascii_lowercase

from rag.exports.people import person_of
from rag.records import Paper

_SMALL_WORDS = frozenset(
    "a an and are as at by can do does for from how in into is it of on or our the this to toward towards via what when why with".split()
)
# Letters that Unicode does not decompose.
_FOLDED = str.maketrans(
    {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ß": "ss", "æ": "ae", "Æ": "Ae", "œ": "oe", "đ": "d", "Đ": "D", "ı": "i", "þ": "th", "ð": "d"}
)


def citation_keys(papers: Sequence[Paper]) -> list[str]:
    """A key for each paper, in their order: author, year, first telling word; equal ones get `a`, `b`... in order of paper id."""
    bases = [_base(paper) for paper in papers]
    order = sorted(range(len(papers)), key=lambda index: (bases[index], papers[index].id, index))
    keys = [""] * len(papers)
    taken: set[str] = set(bases)
    previous, count = "", 0
    for index in order:
        base = bases[index]
        count = count + 1 if base == previous else 0
        previous = base
        key = base
        while count and key in taken:
            key = base + _letters(count)
            count += key in taken
        taken.add(key)
        keys[index] = key
    return keys


def _base(paper: Paper) -> str:
    author = _ascii(person_of(paper.authors[0]).family) if paper.authors else ""
    words = (_ascii(word) for word in re.split(r"[\s:/–—-]+", paper.title))
    word = next((word for word in words if len(word) > 1 and word not in _SMALL_WORDS), "")
    if not (author or word):
        author = "paper" + hashlib.sha256(paper.id.encode("utf-8", "replace")).hexdigest()[:6]
    return f"{author or 'anon'}{paper.year or ''}{word}"


def _ascii(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text.translate(_FOLDED)).lower()
    return re.sub(r"[^a-z0-9]", "", folded)[:40]


def _letters(number: int) -> str:
    """1 is `a`, 26 `z`, 27 `aa`."""
    text = ""
    while number:
        number, rest = divmod(number - 1, 26)
        text = ascii_lowercase[rest] + text
    return text
