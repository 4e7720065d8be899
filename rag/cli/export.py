"""`rag export`: papers in the formats of other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rag.cli import common

if TYPE_CHECKING:
    from rag.store.filters import Filters

Format = Literal["markdown", "json", "jsonl", "csv", "bibtex", "ris", "csl"]


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command()(export)


@common.with_filters
def export(
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of papers; all that pass the filters when none is given.")] = None,
    corpus: common.CorpusOption = None,
    format: Annotated[Format, typer.Option("--format", "-f", help="What to write.")] = "bibtex",
    query: Annotated[str | None, typer.Option("--search", help="Only the best papers for this query.", show_default=False)] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many papers with --search.")] = 10,
    output: common.OutputOption = None,
    force: common.ForceOption = False,
    *,
    filters: Filters,
) -> None:
    """Write papers as Markdown, JSON, JSONL, CSV, BibTeX, RIS or CSL-JSON.

    Example: rag export --format ris --year 2025 -o papers.ris
    """
    from rag.exports import export_papers

    with common.open_assistant(corpus=corpus) as assistant:
        if ids:
            papers = [assistant.paper(paper_id) for paper_id in ids]
        elif query:
            papers = [hit.paper for hit in assistant.search(query, k, filters=filters)]
        else:
            papers = assistant.papers(filters=filters)
    common.write_or_print(export_papers(papers, format), output, force=force)
