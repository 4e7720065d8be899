"""`rag search` and `rag similar`: ranked papers without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli import common

if TYPE_CHECKING:
    from rag.records import Hit
    from rag.store.filters import Filters

CountOption = Annotated[int, typer.Option("-k", min=1, max=1000, help="How many papers.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command()(search)
    app.command()(similar)


@common.with_filters
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    corpus: common.CorpusOption = None,
    k: CountOption = 10,
    json: common.JsonOption = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the signals behind each score.")] = False,
    *,
    filters: Filters,
) -> None:
    """Show the papers that match a query best, each with its best passage.

    Example: rag search "low-rank adaptation" -k 5 --year 2025
    """
    with common.open_assistant(corpus=corpus) as assistant:
        _show(assistant.search(query, k, filters=filters), json=json, verbose=verbose)


def similar(
    paper: Annotated[str, typer.Argument(help="Id of a paper, as `rag papers` shows it.")],
    corpus: common.CorpusOption = None,
    k: CountOption = 10,
    json: common.JsonOption = False,
) -> None:
    """Show the papers most like a given one.

    Example: rag similar 2e4ECh0ikn -k 5
    """
    with common.open_assistant(corpus=corpus) as assistant:
        _show(assistant.similar(paper, k), json=json, verbose=False)


def _show(hits: list[Hit], *, json: bool, verbose: bool) -> None:
    if json:
        from rag.exports import hit_json

        common.print_json([hit_json(hit) for hit in hits])
        return
    from rag.cli.render import render_hits, render_signals

    if not hits:
        common.note("No paper matches.")
    elif verbose:
        render_signals(hits, common.console())
    else:
        render_hits(hits, common.console())
