"""Papers in each format, by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from rag.errors import UsageError
from rag.exports.bibtex import papers_as_bibtex
from rag.exports.csl import papers_as_csl
from rag.exports.markdown import papers_as_markdown
from rag.exports.ris import papers_as_ris
from rag.exports.shapes import record_json
from rag.exports.tables import papers_as_csv
from rag.records import Paper


def _as_json(papers: Sequence[Paper]) -> str:
    return json.dumps([record_json(paper) for paper in papers], ensure_ascii=False, indent=2) + "\n"


def _as_jsonl(papers: Sequence[Paper]) -> str:
    return "".join(json.dumps(record_json(paper), ensure_ascii=False) + "\n" for paper in papers)


FORMATS: Mapping[str, Callable[[Sequence[Paper]], str]] = {
    "markdown": papers_as_markdown,
    "json": _as_json,
    "jsonl": _as_jsonl,
    "csv": papers_as_csv,
    "bibtex": papers_as_bibtex,
    "ris": papers_as_ris,
    "csl": papers_as_csl,
}
"""Name of a format to what writes it."""


def export_papers(papers: Iterable[Paper], format: str) -> str:
    """All of `papers` in one text of that format, each paper once; raises `UsageError` for an unknown format."""
    if format not in FORMATS:
        raise UsageError(f"No export format named {format!r}. Known: {', '.join(FORMATS)}.")
    unique = {paper.id: paper for paper in papers}
    return FORMATS[format](list(unique.values()))
