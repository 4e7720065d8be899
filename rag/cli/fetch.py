"""`rag fetch`: papers from OpenReview, arXiv and OpenAlex into a JSONL file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli import common
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.fetch import Pages

OutputOption = Annotated[Path | None, typer.Option("--output", "-o", help="File to write.", show_default="named after the query")]
LimitOption = Annotated[int | None, typer.Option(min=1, help="At most this many papers.")]
UrlOption = Annotated[str | None, typer.Option("--url", help="Address of the service, for a mirror.", show_default=False)]

_fetch = typer.Typer(no_args_is_help=True, help="Fetch papers from an online service into a JSONL file for `rag index` (extra `fetch`).")


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.add_typer(_fetch, name="fetch")


@_fetch.command()
def openreview(
    venue: Annotated[str, typer.Argument(help="Id of a venue.")],
    output: OutputOption = None,
    limit: LimitOption = None,
    force: common.ForceOption = False,
    url: UrlOption = None,
) -> None:
    """Fetch the papers of a venue on OpenReview.

    Example: rag fetch openreview ICLR.cc/2025/Conference -o iclr2025.jsonl
    """
    from rag.fetch import openreview_pages

    _download(openreview_pages(venue, base_url=url), f"openreview {venue}", output, limit=limit, force=force)


@_fetch.command()
def arxiv(
    query: Annotated[str, typer.Argument(help="A query in arXiv's syntax.")],
    output: OutputOption = None,
    limit: LimitOption = None,
    force: common.ForceOption = False,
    url: UrlOption = None,
) -> None:
    """Fetch the papers that match a query on arXiv, newest first.

    Example: rag fetch arxiv 'cat:cs.CL AND turn-taking' -o turns.jsonl --limit 500
    """
    from rag.fetch import arxiv_pages

    _download(arxiv_pages(query, base_url=url), f"arxiv {query}", output, limit=limit, force=force)


@_fetch.command()
def openalex(
    query: Annotated[str, typer.Argument(help="Words to search for in title, abstract and full text.")],
    filter: Annotated[list[str] | None, typer.Option("--filter", help="OpenAlex filter as key:value; may be repeated.")] = None,  # noqa: A002
    output: OutputOption = None,
    limit: LimitOption = None,
    force: common.ForceOption = False,
    url: UrlOption = None,
) -> None:
    """Fetch the works that match a query on OpenAlex.

    Example: rag fetch openalex 'turn-taking dialogue' --filter publication_year:2024 -o turns.jsonl
    """
    from rag.fetch import openalex_pages

    filters = dict(_pair(text) for text in filter or [])
    pages = openalex_pages(query, filters=filters, base_url=url)
    _download(pages, f"openalex {query} {sorted(filters.items())}", output, limit=limit, force=force)


def _pair(text: str) -> tuple[str, str]:
    key, colon, value = text.partition(":")
    if not (key and colon and value):
        raise UsageError(f"--filter {text!r} is not of the form key:value. Example: --filter publication_year:2024.")
    return key, value


def _download(pages: Pages, query: str, output: Path | None, *, limit: int | None, force: bool) -> None:
    from rag.cli.index import progress_bar
    from rag.fetch import download

    target = output or Path(f"{''.join(c if c.isalnum() else '-' for c in query)[:80].strip('-')}.jsonl")
    with progress_bar("fetching") as show:
        count = download(pages, query, target, limit=limit, force=force, progress=show)
    if not count:
        common.note(f"Nothing was found for {query.partition(' ')[2]!r}.")
    common.print_text(f"{count} papers in {target}. Index them: rag index {target}")
