"""Names of a text: acronyms, models, data sets, people; and which of them a paper does not know."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from rag.records import Paper
from rag.text.words import STOP_WORDS
from rag.verification.normalise import normalise

_TOKEN = re.compile(r"[^\W_]+(?:[-.+/][^\W_]+)*\+{0,2}")
_LOWER_WORD = re.compile(r"[^\W\d_]+")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;(\"]\s?|[-•]\s)$")
_VERSION = re.compile(r"v\d")
_VARIANTS = frozenset("base large small tiny mini medium huge nano pro turbo chat instruct".split())
_PARTS = re.compile(r"[-./+]")


def distinctive_names(text: str) -> tuple[str, ...]:
    """Names that cannot be ordinary words, in order, each once: two capitals, or letters with digits (`LoRA`, `GPT-4`, `CIFAR-10`)."""
    return tuple(dict.fromkeys(token for _, token in _tokens(text) if _is_distinctive(token)))


def proper_names(text: str) -> tuple[str, ...]:
    """Capitalised words that do not begin a sentence, in order, each once; distinctive names are not among them."""
    plain = normalise(text, fold=False).text
    found = [
        token
        for start, token in _tokens(text)
        if token[0].isupper()
        and len(token) > 2
        and not _is_distinctive(token)
        and not _SENTENCE_START.search(plain[max(start - 3, 0) : start])
    ]
    return tuple(dict.fromkeys(token for token in found if token.lower() not in STOP_WORDS))


def known_names(paper: Paper) -> frozenset[str]:
    """Every form under which the paper's text, authors and venue know a name; compare with `unknown_names`."""
    return _known(paper.title, paper.abstract, " ".join((*paper.authors, paper.venue or "", *paper.keywords)))


def unknown_names(names: Iterable[str], known: frozenset[str], statement: str) -> tuple[str, ...]:
    """The names of a statement that the paper does not have, nor spells out, nor the statement itself."""
    initials = frozenset(_initials(statement))
    return tuple(name for name in names if not _is_known(name, known, initials))


def _is_known(name: str, known: frozenset[str], spelled_here: frozenset[str]) -> bool:
    key = _key(name)
    if key in known or key in spelled_here or key.removesuffix("s") in known or f"{key}s" in known:
        return True
    parts = [part for part in _PARTS.split(name) if part]
    return len(parts) > 1 and all(_key(part) in known or _is_ordinary(part) or _key(part) in spelled_here for part in parts)


def _is_ordinary(part: str) -> bool:
    """`based` in `BERT-based` says nothing of its own; `large` in `BERT-large` is part of the name."""
    return part.islower() and len(part) > 2 and part not in _VARIANTS


@lru_cache(maxsize=256)
def _known(title: str, abstract: str, about: str) -> frozenset[str]:
    keys: set[str] = set()
    for text in (title, abstract, about):
        tokens = [token for _, token in _tokens(text)]
        pieces = [part for token in tokens for part in _PARTS.split(token) if part]
        keys |= {_key(token) for token in tokens} | {_key(piece) for piece in pieces}
        keys |= {_key(one + other) for one, other in zip(pieces, pieces[1:], strict=False)}
        keys |= set(_initials(text))
    return frozenset(keys)


def _initials(text: str) -> Iterable[str]:
    """First letters of every run of two to six words, as an acronym would have them; small words may be left out."""
    words = [word.lower() for word in _LOWER_WORD.findall(normalise(text, fold=False).text)]
    for line in (words, [word for word in words if word not in STOP_WORDS]):
        for size in range(2, 7):
            for start in range(len(line) - size + 1):
                yield "".join(word[0] for word in line[start : start + size])


def _tokens(text: str) -> list[tuple[int, str]]:
    plain = normalise(text, fold=False).text
    return [(match.start(), match[0]) for match in _TOKEN.finditer(plain)]


def _is_distinctive(token: str) -> bool:
    letters = sum(character.isalpha() for character in token)
    capitals = sum(character.isupper() for character in token)
    has_digit = any(character.isdigit() for character in token)
    if not letters or len(token) < 2 or token[0].isdigit():
        return False
    return bool(_VERSION.match(token)) or (capitals >= 2 and not _is_titled_compound(token)) or (has_digit and letters > 0 and capitals > 0)


def _is_titled_compound(token: str) -> bool:
    """`Turn-Taking` is two ordinary words, not a name."""
    parts = _PARTS.split(token)
    return len(parts) > 1 and all(part.istitle() and len(part) > 3 for part in parts if part)


def _key(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())
