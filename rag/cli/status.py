"""The line that shows which step of an answer is under way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rag.records import Progress
from rag.text.clean import terminal_text

if TYPE_CHECKING:
    from rich.console import Console

_STEPS = {
    "retrieve": "searching",
    "translate": "translating",
    "rewrite": "resolving references",
    "rerank": "reranking",
    "judge": "judging",
    "answer": "waiting for",
    "verify": "checking citations",
    "repair": "repairing",
    "load": "loading models",
}


@contextmanager
def status_line(console: Console) -> Iterator[Callable[[Progress | None], None]]:
    """A function that shows a step on a terminal, None takes the line away; the cursor must stand at the start of a line."""
    if not console.is_terminal or console.is_dumb_terminal:
        yield lambda progress: None
        return
    status = console.status("")

    def show(progress: Progress | None) -> None:
        if progress is None:
            status.stop()
            return
        status.update(" ".join(filter(None, (_STEPS.get(progress.step, progress.step), terminal_text(progress.detail)))))
        status.start()

    try:
        yield show
    finally:
        status.stop()
