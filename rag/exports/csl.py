"""CSL-JSON, for citeproc, pandoc and Zotero."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rag.exports.keys import citation_keys
from rag.exports.kinds import kind_of
from rag.exports.people import person_of
from rag.exports.texts import readable, remark
from rag.records import Paper

_TYPES = {"conference": "paper-conference", "journal": "article-journal", "preprint": "article"}


def papers_as_csl(papers: Sequence[Paper]) -> str:
    """An array with one item for each paper, ids as `citation_keys` makes them."""
    items = [_item(paper, key) for paper, key in zip(papers, citation_keys(papers), strict=True)]
    return json.dumps(items, ensure_ascii=False, indent=2) + "\n"


def _item(paper: Paper, key: str) -> dict[str, Any]:
    date = [int(part) for part in paper.published.split("-")] if paper.published else [paper.year] if paper.year else []
    fields: dict[str, Any] = {
        "id": key,
        "type": _TYPES[kind_of(paper)],
        "title": readable(paper.title),
        "author": [_author(name) for name in paper.authors],
        "issued": {"date-parts": [date]} if date else None,
        "container-title": paper.venue,
        "abstract": readable(paper.abstract),
        "DOI": paper.doi,
        "URL": paper.url,
        "archive": "arXiv" if paper.arxiv_id else None,
        "archive_location": paper.arxiv_id,
        "keyword": ", ".join(paper.keywords),
        "note": remark(paper),
    }
    return {name: value for name, value in fields.items() if value}


def _author(name: str) -> dict[str, str]:
    person = person_of(name)
    if not person.given:
        return {"literal": person.family}
    return {"family": person.family, "given": person.given, **({"suffix": person.suffix} if person.suffix else {})}
