"""When two records are one paper, and what the paper is then."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from rag.records import Paper, Rejected
from rag.store.conditions import fold
from rag.store.origins import file_and_line

_LISTS = frozenset({"authors", "keywords", "categories", "sources"})
_SAME_TITLE = 60.0


def problem(paper: Paper) -> str:
    """Why the record cannot be kept, in a few words; empty when it can."""
    for f in fields(Paper):
        value = getattr(paper, f.name)
        if not _fits(f.name, value):
            return f"field {f.name} has the value {value!r:.60}"
    if not paper.id.strip():
        return "it has no id"
    return "" if paper.title.strip() or paper.abstract.strip() else "it has neither title nor abstract"


def rejection(paper: Paper, reason: str) -> Rejected:
    """The rejected form of a paper, at the place it was read from."""
    source = paper.sources[0] if paper.sources and isinstance(paper.sources[0], str) else ""
    return Rejected(*file_and_line(source), reason)


def fill_gaps(paper: Paper, other: Paper) -> Paper:
    """`paper` with what it lacks taken from `other`; the id stays."""
    gaps = {f.name: getattr(other, f.name) for f in fields(Paper) if f.name != "sources" and getattr(paper, f.name) in (None, "", ())}
    return replace(paper, **gaps, sources=tuple(dict.fromkeys((*paper.sources, *other.sources))))


def may_be_same(paper: Paper, other: Paper) -> bool:
    """Whether the titles allow that two records with one DOI are one paper: proceedings share a DOI among many."""
    from rapidfuzz.fuzz import token_set_ratio

    return not (paper.title and other.title) or token_set_ratio(fold(paper.title), fold(other.title)) >= _SAME_TITLE


def _fits(name: str, value: Any) -> bool:
    if name == "year":
        return value is None or (isinstance(value, int) and 0 < value < 10_000)
    if name in _LISTS:
        return isinstance(value, tuple) and all(_is_text(entry) for entry in value)
    return _is_text(value) or (value is None and name not in ("id", "title", "abstract"))


def _is_text(value: Any) -> bool:
    """A string that can be encoded: a lone surrogate cannot."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
