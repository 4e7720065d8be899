"""RIS, as Zotero, Mendeley, EndNote and rispy read it."""

from __future__ import annotations

from collections.abc import Sequence

from rag.exports.kinds import kind_of
from rag.exports.people import person_of
from rag.exports.texts import readable, remark
from rag.records import Paper


def papers_as_ris(papers: Sequence[Paper]) -> str:
    """One record for each paper, lines ended as the format wants them."""
    return "\n".join("\n".join(f"{tag}  - {value}" for tag, value in _lines(paper)) + "\nER  - \n" for paper in papers)


def _lines(paper: Paper) -> list[tuple[str, str]]:
    kind = kind_of(paper)
    lines = [("TY", {"conference": "CONF", "journal": "JOUR", "preprint": "UNPB"}[kind]), ("ID", paper.id), ("TI", readable(paper.title))]
    lines += [("AU", _author(name)) for name in paper.authors]
    once = {
        "AB": readable(paper.abstract),
        "PY": str(paper.year or ""),
        "DA": _date(paper.published),
        "JO" if kind == "journal" else "T2": paper.venue,
        "DO": paper.doi,
        "UR": paper.url,
        # An accession number for EndNote, the place in an archive for Zotero.
        "AN": f"arXiv:{paper.arxiv_id}" if paper.arxiv_id else "",
        "N1": remark(paper),
    }
    lines += [(tag, value) for tag, value in once.items() if value]
    lines += [("KW", keyword) for keyword in paper.keywords]
    return [(tag, " ".join(value.split())) for tag, value in lines]


def _author(name: str) -> str:
    person = person_of(name)
    return ", ".join(part for part in (person.family, person.given, person.suffix) if part)


def _date(published: str | None) -> str:
    """`2025-03-01` as `2025/03/01/`; missing parts stay empty between their slashes."""
    if not published:
        return ""
    parts = [*published.split("-"), "", ""][:3]
    return "/".join(parts) + "/"
