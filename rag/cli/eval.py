"""`rag eval`: how good search, answers, checks and follow-ups are, on labelled data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rag.cli import common

_eval = typer.Typer(no_args_is_help=True, help="Measure quality on labelled data (extra `eval`).")
CompareOption = Annotated[
    tuple[str, str] | None, typer.Option(help="Two variants, tested in pairs: 'lexical=0.3' 'lexical=0.5'.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.add_typer(_eval, name="eval")


@_eval.command()
def retrieval(
    folder: Annotated[Path, typer.Argument(help="A folder in the BEIR layout: corpus.jsonl, queries.jsonl, qrels/.")],
    split: Annotated[str, typer.Option(help="Which file of qrels/.")] = "test",
    similar: Annotated[bool, typer.Option("--similar", help="Search with each query's own paper (`metadata.paper_id`).")] = False,
    compare: CompareOption = None,
    json: common.JsonOption = False,
) -> None:
    """Measure search: nDCG, recall, MRR, hit rates and R-precision, with 95% bootstrap intervals.

    Example: rag eval retrieval data/scifact --json
    """
    from rag.evaluation import retrieval as measured

    with common.open_assistant() as assistant:
        if compare:
            comparison = measured.compare_retrieval(folder, assistant.settings, *compare, split=split)
            _show(measured.comparison_json(comparison), measured.comparison_rows(comparison), json=json)
            return
        figures = measured.evaluate_retrieval(folder, assistant.settings, split=split, similar=similar)
    _show(measured.figures_json(figures), measured.figures_rows(figures), json=json)


@_eval.command()
def answers(
    file: Annotated[Path, typer.Argument(help="JSON lines with `question`, `papers` and, if need be, `kind` and `answer_any`.")],
    corpus: common.CorpusOption = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Chat model, or `offline`.", show_default=False)] = None,
    compare: Annotated[
        tuple[str, str] | None, typer.Option(help="Two variants, tested in pairs: 'model=offline' 'model=gpt-4o-mini'.", show_default=False)
    ] = None,
    json: common.JsonOption = False,
) -> None:
    """Measure answers: right paper first, complete lists, refusals, facts and citations, with 95% bootstrap intervals.

    Example: rag eval answers questions.jsonl --corpus seeds
    """
    from rag.cli.index import progress_bar
    from rag.evaluation import answers as measured

    def figures_of(variant: str) -> measured.AnswerFigures:
        settings = {"corpus": corpus, "model": model, "log": False} | measured.parse_variant(variant)
        with common.open_assistant(**settings) as assistant, progress_bar("asking", "questions") as advance:
            return measured.evaluate_answers(file, assistant, system=variant, progress=advance)

    if compare:
        comparison = measured.compare_answers(*map(figures_of, compare))
        _show(measured.comparison_json(comparison), measured.comparison_rows(comparison), json=json)
        return
    figures = figures_of("")
    _show(measured.answers_json(figures), measured.answers_rows(figures), json=json)


@_eval.command()
def support(
    file: Annotated[Path, typer.Argument(help="JSON lines with `claim`, `doc_id` and `label` (SUPPORT, CONTRADICT, NONE).")],
    corpus: Annotated[Path, typer.Option(help="JSON lines with `_id`, `title` and `text`.")],
    json: common.JsonOption = False,
) -> None:
    """Measure the check of citations: AUROC of the support score against unrelated and contradicting abstracts.

    Example: rag eval support claims.jsonl --corpus corpus.jsonl
    """
    from rag.evaluation.support import evaluate_support

    with common.open_assistant() as assistant:
        figures = asdict(evaluate_support(file, corpus, assistant.embedder))
    _show(figures, [("measure", "value"), *((name, str(value)) for name, value in figures.items())], json=json)


@_eval.command()
def dialogues(
    file: Annotated[Path, typer.Argument(help='JSON lines: {"turns": [{"question", "papers", "abstain"}]}.')],
    corpus: common.CorpusOption = None,
    rewriting: Annotated[bool, typer.Option("--rewriting", help="Let a scripted model rewrite follow-ups as `standalone` says.")] = False,
    json: common.JsonOption = False,
) -> None:
    """Measure follow-up questions: is the right paper first, and is a refusal given where it should be.

    Example: rag eval dialogues dialogues.jsonl --corpus seeds
    """
    from rag.evaluation import dialogues as measured

    with common.open_assistant(corpus=corpus) as assistant:
        figures = measured.evaluate_dialogues(file, assistant, rewriting=rewriting)
    _show(measured.dialogues_json(figures), measured.dialogues_rows(figures), json=json)


def _show(figures: dict[str, object], rows: Sequence[tuple[str, ...]], *, json: bool) -> None:
    if json:
        common.print_json(figures)
        return
    from rich.table import Table

    heading, *body = rows
    table = Table(*heading, box=None, header_style="dim", pad_edge=False)
    for row in body:
        table.add_row(*row)
    common.console().print(table)
