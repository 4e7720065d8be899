"""Where the chat prints: answers as they come, sources below, notes apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from rag.cli import render
from rag.cli.common import console
from rag.cli.status import status_line
from rag.records import Answer, Hit, Paper, Progress
from rag.text.clean import harmless_text, terminal_text

if TYPE_CHECKING:
    from rich.console import Console


class Screen:
    """Prints on a console for answers and one for notes; both default to the process's own."""

    def __init__(self, out: Console | None = None, notes: Console | None = None) -> None:
        self.out = out or console()
        self.notes = notes or out or console(stderr=True)

    def line(self, text: str = "") -> None:
        """Prints text as it is, with all that could drive a terminal removed."""
        self.out.print(terminal_text(text), soft_wrap=not self.out.is_terminal)

    def note(self, text: str) -> None:
        """Prints a remark of the chat itself, dimmed."""
        self.notes.print(terminal_text(text), style="dim", soft_wrap=not self.notes.is_terminal)

    def error(self, text: str) -> None:
        """Prints one line about what went wrong."""
        self.notes.print(f"error: {terminal_text(text)}", style="red", soft_wrap=not self.notes.is_terminal)

    def hits(self, hits: Sequence[Hit]) -> None:
        """Prints search results."""
        render.render_hits(hits, self.out)

    def paper(self, paper: Paper) -> None:
        """Prints all that is known of a paper."""
        render.render_paper(paper, self.out)

    def answer_stream(self) -> render.AnswerStream:
        """Prints an answer piece by piece."""
        return render.AnswerStream(self.out)

    def text(self, text: str) -> None:
        """Prints a text of several lines as an answer is printed."""
        if not self.out.is_terminal:
            self.out.print(harmless_text(text), soft_wrap=True)
            return
        stream = self.answer_stream()
        stream.feed(text)
        stream.close()

    def below(self, answer: Answer) -> None:
        """Prints what stands below an answer: its sources, or the nearest papers, and notes."""
        if answer.abstained:
            render.render_nearest(answer, self.out)
        elif answer.citations:
            self.line()
            render.render_sources(answer, self.out)
        render.render_notes(answer, self.notes)

    def signals(self, answer: Answer, limit: int = 10) -> None:
        """Prints what was retrieved and why."""
        if answer.retrieval is not None:
            render.render_signals(answer.retrieval.hits[:limit], self.notes)

    def status(self) -> AbstractContextManager[Callable[[Progress | None], None]]:
        """A function that shows the step under way; None takes the line away."""
        return status_line(self.notes)
