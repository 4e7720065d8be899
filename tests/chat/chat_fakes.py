"""An assistant with a scripted pipeline, and a chat that prints into a string."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from io import StringIO
from types import SimpleNamespace
from typing import Any

from conversation.conversation_fakes import BEES, FLORA, PAPERS, FakeAnswerer, FakeModel
from rich.console import Console

from rag.chat.chat import Chat
from rag.chat.screen import Screen
from rag.conversation import Conversation, ConversationLog
from rag.errors import CorpusError, UsageError
from rag.records import Hit, Paper, Span
from rag.settings import Settings


class FakeAssistant:
    """As much of `rag.Assistant` as the chat uses."""

    def __init__(self, *, answerer: FakeAnswerer | None = None, **settings: Any) -> None:
        self.settings = Settings.resolve(**{"model": "offline", **settings})
        self._answerer = answerer or FakeAnswerer(model=FakeModel(name=self.settings.model or "offline"))
        self.corpora = SimpleNamespace(names=lambda: ["meadows", "seeds"])
        self.log = ConversationLog(self.settings.home_folder) if self.settings.log else None
        self.closed = False

    @property
    def answerer(self) -> FakeAnswerer:
        if self.settings.corpus not in (None, "seeds", "meadows"):
            raise CorpusError(f"No corpus named {self.settings.corpus!r}. Known: meadows, seeds.")
        self._answerer.library.name = self.settings.corpus or "seeds"
        return self._answerer

    @property
    def library(self) -> Any:
        return self.answerer.library

    @property
    def model(self) -> FakeModel:
        return self._answerer.model

    def conversation(self, id: str | None = None) -> Conversation:  # noqa: A002
        return Conversation(self.answerer, log=self.log, settings=self.settings, id=id)

    def paper(self, paper_id: str) -> Paper:
        if paper_id not in PAPERS:
            raise UsageError(f"No paper {paper_id!r} in corpus 'seeds'.")
        return PAPERS[paper_id]

    def papers(self) -> list[Paper]:
        return list(PAPERS.values())

    def similar(self, paper_id: str, k: int = 10) -> list[Hit]:
        others = [paper for paper in (FLORA, BEES) if paper.id != paper_id]
        return [Hit(n, 0.5, paper, Span(0, 5, paper.abstract[:5])) for n, paper in enumerate(others, 1)][:k]

    def reconfigured(self, **changes: Any) -> "FakeAssistant":
        return FakeAssistant(**asdict(replace(self.settings, **changes)))

    def warm(self) -> None:
        return

    def close(self) -> None:
        self.closed = True


class Told:
    """A chat and what it printed."""

    def __init__(self, open_assistant: Callable[[], Any] | None = None, *, width: int = 80, **options: Any) -> None:
        self.buffer = StringIO()
        console = Console(file=self.buffer, width=width, markup=False, emoji=False, highlight=False)
        self.chat = Chat(open_assistant or FakeAssistant, Screen(console), **options)

    def take(self) -> str:
        """What was printed since the last call."""
        text = self.buffer.getvalue()
        self.buffer.seek(0)
        self.buffer.truncate()
        return text

    def say(self, *lines: str) -> str:
        """What the chat prints for these lines."""
        from rag.chat.plain import handle

        self.take()
        for line in lines:
            handle(self.chat, line)
        return self.take()


def texts(candidates: Sequence[Any]) -> list[str]:
    return [candidate.text for candidate in candidates]
