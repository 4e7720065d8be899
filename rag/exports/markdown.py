"""Markdown: papers as a reading list, answers with their sources."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.exports.texts import readable
from rag.records import Answer, Paper
from rag.text.latex import split_math

_SPECIAL = re.compile(r"[\\`*\[\]<>|]|(?<!\w)_|_(?!\w)|^(?:[#+-]|\d+[.)])(?=\s)")


def papers_as_markdown(papers: Sequence[Paper]) -> str:
    """A section for each paper: linked title, authors, venue and year, abstract."""
    return "\n".join(_section(paper) for paper in papers)


def answer_as_markdown(answer: Answer) -> str:
    """The question as heading, the answer, and its numbered sources with quote and verdict; nearest papers when it abstained."""
    parts = [f"# {markdown_escaped(answer.question)}", answer.text.strip()]
    if answer.citations:
        sources = [f"{c.number}. {reference(c.paper)}" + _quoted(c.quote, c.support) for c in answer.citations]
        parts += ["## Sources", "\n".join(sources)]
    if answer.abstained and answer.nearest:
        parts += ["## Nearest papers", "\n".join(f"- {reference(paper)}" for paper in answer.nearest)]
    return "\n\n".join(part for part in parts if part) + "\n"


def reference(paper: Paper) -> str:
    """One line: authors (year). Linked title. Venue."""
    authors = ", ".join(paper.authors[:6]) + (" et al." if len(paper.authors) > 6 else "")
    year = f"({paper.year})" if paper.year else ""
    lead = markdown_escaped(" ".join(part for part in (authors, year) if part))
    venue = f" *{markdown_escaped(paper.venue)}*." if paper.venue else ""
    return f"{lead}{'. ' if lead else ''}{_linked(paper)}.{venue}"


def markdown_escaped(text: str) -> str:
    """`text` so that Markdown shows it as it is; mathematics between dollar signs is left for a renderer that knows it."""
    return "".join(piece if is_math else _SPECIAL.sub(r"\\\g<0>", piece) for piece, is_math in split_math(" ".join(text.split())))


def _section(paper: Paper) -> str:
    authors = markdown_escaped(", ".join(paper.authors))
    year = str(paper.year or "")
    place = ", ".join(part for part in (paper.venue or "", "" if year in (paper.venue or "") else year) if part)
    lines = [f"## {_linked(paper)}", authors, f"*{markdown_escaped(place)}*" if place else "", markdown_escaped(readable(paper.abstract))]
    return "\n\n".join(line for line in lines if line) + "\n"


def _linked(paper: Paper) -> str:
    title = markdown_escaped(readable(paper.title))
    return f"[{title}](<{_address(paper.url)}>)" if paper.url else title


def _address(url: str) -> str:
    return url.replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")


def _quoted(quote: str, support: str) -> str:
    return f"\n   > {markdown_escaped(quote)} ({support})" if quote else ""
