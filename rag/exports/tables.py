"""CSV that a spreadsheet opens without running anything in it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from rag.exports.texts import readable
from rag.records import Paper

_COLUMNS = (
    "id", "title", "authors", "year", "venue", "url", "doi", "arxiv_id", "decision", "track", "primary_area", "keywords", "categories",
    "published", "abstract",
)  # fmt: skip
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def papers_as_csv(papers: Sequence[Paper]) -> str:
    """A header line and one row for each paper; authors, keywords and categories joined by `; `."""
    return rows_as_csv(_COLUMNS, (row_of(paper) for paper in papers))


def row_of(paper: Paper) -> dict[str, object]:
    """A paper as one row."""
    return {
        "id": paper.id,
        "title": readable(paper.title),
        "authors": "; ".join(paper.authors),
        "year": paper.year,
        "venue": paper.venue,
        "url": paper.url,
        "doi": paper.doi,
        "arxiv_id": paper.arxiv_id,
        "decision": paper.decision,
        "track": paper.track,
        "primary_area": paper.area,
        "keywords": "; ".join(paper.keywords),
        "categories": "; ".join(paper.categories),
        "published": paper.published,
        "abstract": readable(paper.abstract),
    }


def rows_as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """CSV of `rows`; a text that a spreadsheet would take for a formula gets an apostrophe in front."""
    table = io.StringIO()
    writer = csv.DictWriter(table, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return table.getvalue()


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
