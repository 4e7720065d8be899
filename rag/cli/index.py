"""`rag index`: bring a corpus in line with its source files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli import common
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.records import SyncReport

_MOST_SHOWN = 20
_LINE_EVERY_S = 3.0


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command()(index)


def index(
    paths: Annotated[list[str], typer.Argument(help="Files, folders, globs or archives; `-` reads stdin.")],
    corpus: Annotated[str | None, typer.Option("--corpus", "-c", help="Corpus to fill.", show_default="papers")] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove papers that are no longer in PATHS.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    merge: Annotated[bool, typer.Option("--merge", help="Merge papers with near-identical text.")] = False,
    field_map: Annotated[str | None, typer.Option("--map", help="Which field is which: title=headline,abstract=summary.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Reader to use.", show_default="by content")] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for another process that is indexing.")] = 0,
    json: common.JsonOption = False,
) -> None:
    """Add papers from files to a corpus, replace changed ones, report the rest.

    Reads JSON, JSONL, CSV, BibTeX, RIS, PubMed, OpenReview, arXiv, OpenAlex and Semantic Scholar exports, plain text, .gz and .zip.

    Example: rag index papers.jsonl library.bib --corpus iclr2025
    """
    with common.open_assistant(corpus=corpus) as assistant, progress_bar("indexing") as show:
        before = _active()
        report = assistant.sync(
            [Path(path) if path != "-" else path for path in paths],
            prune=prune, dry_run=dry_run, merge=merge, wait_s=wait, mapping=_mapping(field_map), format=format, progress=show,
        )  # fmt: skip
    if json:
        common.print_json(_report_json(report))
    else:
        _print_report(report, dry_run=dry_run)
    if (after := _active()) != before:
        common.note(f"`ask` now answers from {after}; `rag use {before}` goes back.")
    if report.rejected and not _read(report):
        raise typer.Exit(common.FAILED)


def _active() -> str:
    """The corpus that `ask` would answer from now."""
    return common.open_assistant().corpora.active()


def _read(report: SyncReport) -> int:
    """How many papers could be read."""
    return report.added + report.changed + report.unchanged + report.merged


def _mapping(text: str | None) -> dict[str, str] | None:
    if not text:
        return None
    pairs = [pair.partition("=") for pair in text.split(",")]
    if wrong := next((pair[0] for pair in pairs if not (pair[0].strip() and pair[2].strip())), None):
        raise UsageError(f"--map part {wrong!r} is not of the form field=key. Example: --map title=headline,abstract=summary.")
    return {field.strip(): key.strip() for field, _, key in pairs}


def _report_json(report: SyncReport) -> dict[str, object]:
    return {
        "added": report.added,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "rejected": [{"file": r.file, "line": r.line, "reason": r.reason} for r in report.rejected],
        "merged": report.merged,
        "embedded": report.embedded,
        "repaired": list(report.repaired),
        "duplicates": [{"papers": [first, second], "similarity": round(score, 4)} for first, second, score in report.duplicates],
    }


def _print_report(report: SyncReport, *, dry_run: bool) -> None:
    counts = {name: getattr(report, name) for name in ("added", "changed", "unchanged", "removed")}
    line = ", ".join(f"{count} {name}" for name, count in counts.items())
    common.print_text(f"{'Would be: ' if dry_run else ''}{line}, {len(report.rejected)} rejected")
    for rejected in report.rejected[:_MOST_SHOWN]:
        line = f":{rejected.line}" if rejected.line else ""  # 0: the whole file
        common.note(f"rejected {rejected.file}{line}: {rejected.reason}")
    if len(report.rejected) > _MOST_SHOWN:
        common.note(f"... and {len(report.rejected) - _MOST_SHOWN} more; --json lists all.")
    if report.repaired:
        places, rest = report.repaired[:_MOST_SHOWN], len(report.repaired) - _MOST_SHOWN
        common.note(f"repaired wrongly decoded text in {len(report.repaired)} records: {', '.join(places)}{' ...' if rest > 0 else ''}")
    for first, second, score in report.duplicates[:_MOST_SHOWN]:
        common.note(f"near-identical ({score:.2f}): {first} and {second}; --merge merges such papers")


@contextmanager
def progress_bar(verb: str, noun: str = "papers") -> Iterator[Callable[[int, int | None], None]]:
    """Shows rate and remaining time on stderr: a bar on a terminal, elsewhere a line every few seconds."""
    console = common.console(stderr=True)
    if not console.is_terminal:
        yield _Lines(verb, noun)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn(verb), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn(),
        console=console, transient=True,
    ) as bar:  # fmt: skip
        task = bar.add_task(verb, total=None, rate="")
        started = time.monotonic()

        def show(done: int, total: int | None) -> None:
            rate = done / max(time.monotonic() - started, 1e-9)
            bar.update(task, completed=done, total=total, rate=f"{rate:.0f} {noun}/s")

        yield show


class _Lines:
    """Progress as plain lines, for logs and pipes."""

    def __init__(self, verb: str, noun: str) -> None:
        self._verb, self._noun = verb, noun
        self._started = self._last = time.monotonic()

    def __call__(self, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self._last < _LINE_EVERY_S:
            return
        self._last = now
        rate = done / max(now - self._started, 1e-9)
        left = f", about {_duration((total - done) / rate)} left" if total and rate else ""
        common.note(f"{self._verb}: {done}{f' of about {total}' if total else ''} {self._noun}, {rate:.0f} {self._noun}/s{left}")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s" if minutes else f"{rest} s"
