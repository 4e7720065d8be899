"""Papers as rows of the catalog and as hashes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from rag.records import Paper
from rag.store.conditions import bare_doi, fold

PAPER_FIELDS = tuple(f.name for f in fields(Paper))
COLUMNS = ", ".join(PAPER_FIELDS)
FACET_COLUMNS = (
    "id",
    "title",
    "authors",
    "year",
    "venue",
    "doi",
    "arxiv_id",
    "decision",
    "track",
    "area",
    "keywords",
    "categories",
    "published",
)
_LISTS = frozenset({"authors", "keywords", "categories", "sources"})
_ARXIV = re.compile(r"^(https?://arxiv\.org/(abs|pdf)/|arxiv:\s*)|(v\d+)?(\.pdf)?$", re.IGNORECASE)


def paper_row(paper: Paper) -> tuple[Any, ...]:
    """The paper's values in the order of `COLUMNS`."""
    return tuple(json.dumps(value, ensure_ascii=False) if name in _LISTS else value for name, value in _items(paper))


def row_paper(row: Sequence[Any]) -> Paper:
    """The paper of a row in the order of `COLUMNS`."""
    named = zip(PAPER_FIELDS, row, strict=True)
    values: dict[str, Any] = {name: tuple(json.loads(value)) if name in _LISTS else value for name, value in named}
    return Paper(**values)


def facet_row(paper: Paper) -> tuple[Any, ...]:
    """What filters compare, in the order of `FACET_COLUMNS`: folded, lists as lines, the year as date where there is none."""
    folded = {name: _facet(getattr(paper, name)) for name in FACET_COLUMNS}
    folded["id"] = paper.id
    folded["doi"] = bare_doi(paper.doi) if paper.doi else None
    folded["arxiv_id"] = bare_arxiv_id(paper.arxiv_id) if paper.arxiv_id else None
    folded["published"] = paper.published or (f"{paper.year:04}" if paper.year is not None else None)
    return tuple(folded[name] for name in FACET_COLUMNS)


def paper_hash(paper: Paper) -> bytes:
    """16 bytes that change when anything but the place it was read from changes."""
    values = [value for name, value in _items(paper) if name != "sources"]
    return hashlib.sha256(json.dumps(values, ensure_ascii=True).encode()).digest()[:16]


def bare_arxiv_id(text: str) -> str:
    """An arXiv id in lower case without prefix and version: `2401.01234`."""
    return _ARXIV.sub("", text.strip()).lower()


def _items(paper: Paper) -> list[tuple[str, Any]]:
    return [(name, getattr(paper, name)) for name in PAPER_FIELDS]


def _facet(value: Any) -> Any:
    if isinstance(value, tuple):
        return "\n" + "".join(f"{fold(entry)}\n" for entry in value)
    return fold(value) if isinstance(value, str) else value
