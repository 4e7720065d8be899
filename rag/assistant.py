"""The facade: ask, search and sync from Python; the command line, chat and server stand on it too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rag.errors import CorpusError, UsageError
from rag.records import Answer, Hit, Paper, Progress, SyncReport
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.answering import Answerer
    from rag.conversation import Conversation, ConversationLog
    from rag.protocols import ChatModel, Embedder
    from rag.retrieval import Retriever
    from rag.store import Corpora, Filters, JoinedLibrary, Library

DEFAULT_CORPUS = "papers"


class Assistant:
    """Answers questions about a corpus of abstracts, with checked citations.

    Settings come from the arguments, then the environment, then `.env`. Nothing is loaded before it is needed; one assistant may be
    used from several threads.

    Args:
        corpus: Name of the corpus, or several joined by commas; the active one when None.
        model: `offline` or the name of a model on the configured server.
        chat_model: A chat model of your own instead of the configured one.
        embedder: An embedder of your own instead of the configured one.
        settings: Any other field of `Settings`, for example `home` or `timeout_s`.

    Raises:
        UsageError: a setting has a wrong value.
        CorpusError: (at first use) the corpus is unknown, damaged or was built by another embedder.
    """

    def __init__(
        self,
        *,
        corpus: str | None = None,
        model: str | None = None,
        chat_model: ChatModel | None = None,
        embedder: Embedder | None = None,
        **settings: Any,
    ) -> None:
        self.settings = Settings.resolve(corpus=corpus, model=model, **settings)
        self._given_model = chat_model
        self._given_embedder = embedder
        self._lock = threading.RLock()

    def ask(self, question: str, **options: Any) -> Answer:
        """The finished answer to one question; `options` are those of `stream`."""
        return self.conversation().ask(question, **options)

    def stream(
        self, question: str, *, on_progress: Callable[[Progress], None] | None = None, **options: Any
    ) -> Generator[str | Answer, None, None]:
        """Text deltas as they arrive, then the final `Answer`.

        The final text may differ from the deltas where a check marked or repaired a statement.

        Args:
            question: In plain language.
            on_progress: Called at the start of each step that takes a while.
            options: Fields of `rag.answering.AskOptions`: `k`, `mode`, `filters`, `max_shown`, `strict`, `verify`, `repair`.

        Raises:
            RagError: the question cannot be answered; never after the first delta.
        """
        for event in self.conversation().stream(question, **options):
            if not isinstance(event, Progress):
                yield event
            elif on_progress is not None:
                on_progress(event)

    async def aask(self, question: str, **options: Any) -> Answer:
        """Like `ask`, without blocking the event loop."""
        return await asyncio.to_thread(self.ask, question, **options)

    async def astream(self, question: str, **options: Any) -> AsyncIterator[str | Answer]:
        """Like `stream`, without blocking the event loop."""
        from rag.conversation.pumping import pumped

        async for event in pumped(lambda: self.stream(question, **options)):
            yield event

    def conversation(self, id: str | None = None) -> Conversation:  # noqa: A002 - the field's own word
        """A new conversation, or the logged one with this id."""
        from rag.conversation import Conversation

        return Conversation(self.answerer, log=self.log, settings=self.settings, id=id)

    def search(self, query: str, k: int = 10, *, filters: Filters | None = None) -> list[Hit]:
        """The `k` best papers for a query, best first; empty when nothing is in the corpus."""
        from rag.store import Filters

        if k < 1:
            raise UsageError(f"k={k} is below 1. Ask for at least one paper.")
        return self.retriever.search(query, k, filters or Filters())

    def similar(self, paper_id: str, k: int = 10) -> list[Hit]:
        """The `k` papers most like the given one, best first, without itself. Raises `CorpusError` for an unknown id."""
        return self.retriever.similar(self.paper(paper_id).id, k)

    def paper(self, paper_id: str) -> Paper:
        """The paper with this id. Raises `CorpusError` when the corpus has none."""
        found = self.library.get([paper_id])
        if paper_id not in found:
            raise CorpusError(f"No paper {paper_id!r} in corpus {self.library.name!r}. `rag papers` lists the ids.")
        return found[paper_id]

    def papers(self, *, filters: Filters | None = None, sort: str | None = None, limit: int | None = None) -> list[Paper]:
        """The corpus's papers, in the order of their sources unless `sort` names a field (`-year` for descending)."""
        from rag.store import Filters

        return self.library.papers(filters=filters or Filters(), sort=sort, limit=limit)

    def sync(
        self,
        paths: Iterable[str | Path],
        *,
        prune: bool = False,
        dry_run: bool = False,
        merge: bool = False,
        wait_s: float = 0.0,
        mapping: Mapping[str, str] | None = None,
        format: str | None = None,  # noqa: A002 - the field's own word
        progress: Callable[[int, int | None], None] | None = None,
    ) -> SyncReport:
        """Brings the corpus in line with the files: adds and replaces papers; removes those that left only with `prune`.

        Args:
            paths: Files, folders, globs, or `-` for standard input.
            prune: Remove papers that are in the corpus but not in `paths`.
            dry_run: Only report what would be done.
            merge: Merge papers with near-identical text instead of only reporting them.
            wait_s: Seconds to wait for another process that is syncing the same corpus.
            mapping: Which field of a record holds what, as `{"title": "headline"}`.
            format: Name of a reader, when the content should not decide.
            progress: Called with papers done and how many there are in all, as far as the read part of the files tells.

        Raises:
            SourceError: a path cannot be read at all.
            CorpusError: the corpus is locked, damaged or was built by another embedder.
        """
        from rag.readers import Meter, read_papers

        meter = Meter()
        records = read_papers([str(path) for path in paths], mapping=mapping, format=format, meter=meter)
        metered = (lambda done, _: progress(done, meter.total(done))) if progress else None
        with self.corpora.open_for_sync(self.settings.corpus or DEFAULT_CORPUS, self.embedder) as library:
            return library.sync(records, prune=prune, dry_run=dry_run, merge=merge, wait_s=wait_s, progress=metered)

    @cached_property
    def corpora(self) -> Corpora:
        """The corpora under `RAG_HOME`."""
        from rag.store import Corpora

        return Corpora(self.settings)

    @property
    def library(self) -> Library | JoinedLibrary:
        """The open corpus."""
        with self._lock:
            return self._library

    @property
    def answerer(self) -> Answerer:
        """The pipeline from question to answer."""
        with self._lock:
            return self._answerer

    @property
    def retriever(self) -> Retriever:
        """Search in the open corpus."""
        with self._lock:
            return self._retriever

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model."""
        from rag.embedding import open_embedder

        return self._given_embedder or open_embedder(self.settings)

    @cached_property
    def model(self) -> ChatModel:
        """The chat model that answers."""
        from rag.models import open_model

        return self._given_model or open_model(self.settings)

    @cached_property
    def log(self) -> ConversationLog | None:
        """Where exchanges are kept; None when `RAG_LOG` is off."""
        from rag.conversation import ConversationLog

        return ConversationLog(self.settings.home_folder) if self.settings.log else None

    def reconfigured(self, **changes: Any) -> Self:
        """Another assistant that differs in these settings; models of your own go along, a given chat model unless `model` changes."""
        other = type(self)(
            chat_model=None if "model" in changes else self._given_model,
            embedder=None if "embedder" in changes else self._given_embedder or self.__dict__.get("embedder"),
        )
        other.settings = replace(self.settings, **changes)
        return other

    def warm(self) -> None:
        """Loads models and store now, so that the next question need not wait for them."""
        warm_embedder(self.embedder)
        _ = self.answerer

    def close(self) -> None:
        """Closes what was opened; the assistant cannot be used afterwards."""
        if "_library" in self.__dict__:
            self._library.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @cached_property
    def _library(self) -> Library | JoinedLibrary:
        return self.corpora.open(self.settings.corpus or self.corpora.active(), self.embedder)

    @cached_property
    def _retriever(self) -> Retriever:
        from rag.retrieval import Retriever

        return Retriever(self._library, self.embedder, self.settings)

    @cached_property
    def _answerer(self) -> Answerer:
        from rag.answering import Answerer
        from rag.verification import Verifier

        verifier = Verifier(self._library.idf, self.embedder)
        return Answerer(self._library, self._retriever, self.embedder, self.model, verifier, self.settings)


def warm_embedder(embedder: Embedder) -> None:
    """Loads a local embedding model; a hosted one is left alone, since a call costs money."""
    warm = getattr(embedder, "warm", None)
    if warm is not None:
        warm()
