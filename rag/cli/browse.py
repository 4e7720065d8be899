"""`rag papers`, `show`, `authors`, `stats` and `open`: looking around in a corpus."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli import common
from rag.errors import CorpusError

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from rag.records import Paper
    from rag.store.filters import Filters

_BAR_WIDTH = 60
_MOST_BARS = 20
# Shorter numbers are those of citations; no source gives its papers ids of one to three digits.
_SHORTEST_ID = 4


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    for command in (papers, show, authors, stats):
        app.command()(command)
    app.command("open")(open_paper)


@common.with_filters
def papers(
    corpus: common.CorpusOption = None,
    sort: Annotated[str | None, typer.Option(help="Field to sort by; `-year` for descending.", show_default="source order")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Show at most this many.")] = None,
    json: common.JsonOption = False,
    *,
    filters: Filters,
) -> None:
    """List the papers of a corpus.

    Example: rag papers --venue ICLR --sort -year
    """
    with common.open_assistant(corpus=corpus) as assistant:
        found = assistant.papers(filters=filters, sort=sort, limit=limit)
    if json:
        from rag.exports import paper_json

        common.print_json([{**paper_json(paper), "abstract": paper.abstract} for paper in found])
    elif sys.stdout.isatty():
        _print_table(found)
    else:
        for paper in found:
            common.print_text("\t".join((paper.id, str(paper.year or ""), paper.venue or "", paper.title)))


def show(
    paper_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a paper.")],
    corpus: common.CorpusOption = None,
    similar: Annotated[int, typer.Option(min=0, max=100, help="How many similar papers to add.")] = 3,
    json: common.JsonOption = False,
) -> None:
    """Show one paper: metadata, abstract and similar papers.

    Example: rag show 2e4ECh0ikn
    """
    with common.open_assistant(corpus=corpus) as assistant:
        paper = assistant.paper(paper_id)
        hits = assistant.similar(paper_id, similar) if similar else []
    if json:
        from rag.exports import hit_json, paper_json

        common.print_json({**paper_json(paper), "abstract": paper.abstract, "similar": [hit_json(hit) for hit in hits]})
        return
    from rag.cli.render import paper_line, render_paper

    render_paper(paper, common.console())
    if hits:
        common.print_text("\nSimilar papers:")
    for hit in hits:
        common.print_text(f"  {hit.paper.id}  {paper_line(hit.paper)}")


@common.with_filters
def authors(
    corpus: common.CorpusOption = None,
    limit: Annotated[int, typer.Option(min=1, help="Show at most this many.")] = 50,
    json: common.JsonOption = False,
    *,
    filters: Filters,
) -> None:
    """List the authors of a corpus by number of papers.

    Example: rag authors --year 2025 --limit 10
    """
    with common.open_assistant(corpus=corpus) as assistant:
        counts = Counter(author for paper in assistant.papers(filters=filters) for author in dict.fromkeys(paper.authors))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]
    if json:
        common.print_json([{"author": author, "papers": count} for author, count in ranked])
        return
    for author, count in ranked:
        common.print_text(f"{count:>5}  {author}")


@common.with_filters
def stats(corpus: common.CorpusOption = None, json: common.JsonOption = False, *, filters: Filters) -> None:
    """Count a corpus by year, venue, decision, area and abstract length.

    Example: rag stats --corpus iclr2025
    """
    with common.open_assistant(corpus=corpus) as assistant:
        found = assistant.papers(filters=filters)
        remarks = assistant.library.remarks()
    tables = {
        "year": _counted(paper.year for paper in found),
        "venue": _counted(paper.venue for paper in found),
        "decision": _counted(paper.decision for paper in found),
        "area": _counted(paper.area for paper in found),
        "words in the abstract": _lengths(found),
    }
    for remark in remarks:
        common.note(remark)
    if json:
        common.print_json({"papers": len(found), **tables, "remarks": list(remarks)})
        return
    common.print_text(f"{len(found)} papers")
    for name, counts in tables.items():
        if set(counts) - {"unknown"}:
            _plot(name, counts)


def open_paper(
    paper_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a paper, or its number in the last answer.")],
    corpus: common.CorpusOption = None,
) -> None:
    """Open a paper's page in the browser.

    Example: rag open 2e4ECh0ikn
    """
    import webbrowser

    with common.open_assistant(corpus=corpus) as assistant:
        paper = (
            _cited_last(assistant, int(paper_id)) if paper_id.isdecimal() and len(paper_id) < _SHORTEST_ID else assistant.paper(paper_id)
        )
    if not paper.url:
        raise CorpusError(f"Paper {paper.id!r} has no link. `rag show {paper.id}` shows what is known of it.")
    common.print_text(paper.url)
    if not webbrowser.open(paper.url):
        common.note("No browser could be started; the link is above.")


def _cited_last(assistant: Assistant, number: int) -> Paper:
    """The paper under this number in the last answer. Raises `CorpusError` when there is none."""
    if assistant.log is None:
        raise CorpusError("The log is off (RAG_LOG), so the last answer is not known. Name a paper by its id.")
    answer = assistant.log.latest(1)[0].answer if assistant.log.latest(1) else None
    cited = {citation.number: citation.paper for citation in answer.citations} if answer else {}
    if number not in cited:
        raise CorpusError(f"The last answer has no citation [{number}]. It has: {', '.join(map(str, cited)) or 'none'}.")
    return cited[number]


def _counted(values: Iterable[str | int | None]) -> dict[str, int]:
    counts = Counter("unknown" if value in (None, "") else str(value) for value in values)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _lengths(found: list[Paper], width: int = 50) -> dict[str, int]:
    """Papers by words in the abstract, in classes of 50."""
    counts = Counter(len(paper.abstract.split()) // width * width for paper in found)
    return {f"{start}-{start + width - 1}": counts[start] for start in sorted(counts)}


def _plot(name: str, counts: dict[str, int]) -> None:
    if not sys.stdout.isatty():
        common.print_text(f"\n{name}:")
        for label, count in counts.items():
            common.print_text(f"{count:>6}  {label}")
        return
    import plotext

    shown = dict(list(counts.items())[:_MOST_BARS])
    plotext.clear_figure()
    plotext.simple_bar([label[:30] for label in shown], list(shown.values()), width=_BAR_WIDTH, title=name)
    plotext.show()
    if len(counts) > len(shown):
        common.print_text(f"(+{len(counts) - len(shown)} more)")


def _print_table(found: list[Paper]) -> None:
    from rich.table import Table
    from rich.text import Text

    from rag.text.clean import terminal_text

    table = Table(box=None, header_style="dim", pad_edge=False)
    for column in ("id", "year", "venue", "title", "authors"):
        table.add_column(column, no_wrap=column in ("id", "year"), overflow="fold")
    for paper in found:
        cells = (paper.id, str(paper.year or ""), paper.venue or "", paper.title, ", ".join(paper.authors[:2]))
        table.add_row(*(Text(terminal_text(cell)) for cell in cells))
    console = common.console()
    if len(found) <= console.height:
        console.print(table)
        return
    with console.pager(styles=True):
        console.print(table)
