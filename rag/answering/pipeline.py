"""From question to checked answer; every front end runs this and nothing else."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rag.answering.answer_mode import answer_freely
from rag.answering.budget import Ledger, MeteredModel
from rag.answering.finishing import check_shown
from rag.answering.list_mode import answer_with_list
from rag.answering.options import AskOptions
from rag.answering.prompt import PromptBuilder
from rag.answering.records_mode import told_by_records
from rag.answering.steps import Parts
from rag.answering.understanding import find_papers, understand
from rag.answering.work import Event, Work
from rag.errors import UsageError
from rag.prompting.templates import Prompts
from rag.records import Answer
from rag.retrieval.constraints import Facets
from rag.retrieval.rerank import ModelReranker, open_reranker
from rag.retrieval.retriever import Retriever

if TYPE_CHECKING:
    from rag.protocols import ChatModel, Embedder, Reranker
    from rag.settings import Settings
    from rag.store.joined import JoinedLibrary
    from rag.store.library import Library
    from rag.verification import Verifier

_DEFAULTS = AskOptions()


class AnswerRun(Iterator[Event]):
    """One question being answered: iterate for text deltas and `Progress`, the final `Answer` comes last.

    The deltas are for display while they come; the answer's text may differ from them where a check marked, repaired or replaced
    something. After an interruption, `partial()` gives what came so far.
    """

    def __init__(self, work: Work, parts: Parts) -> None:
        self._work = work
        self._parts = parts
        self._events = _events(work, parts)
        self._final: Answer | None = None

    def __iter__(self) -> AnswerRun:
        return self

    def __next__(self) -> Event:
        event = next(self._events)
        if isinstance(event, Answer):
            self._final = event
        return event

    def close(self) -> None:
        """Stops working on the question; connections to the model are closed."""
        self._events.close()

    def partial(self) -> Answer:
        """The final answer when it is there, else what came until now, with `finish` set to `interrupted`."""
        if self._final is not None:
            return self._final
        self.close()
        check_shown(self._work, self._parts)
        return replace(self._work.answer(), finish="interrupted")


class Answerer:
    """Answers questions about one open library (or several joined) with one chat model; safe to use from several threads."""

    def __init__(
        self,
        library: Library | JoinedLibrary,
        retriever: Retriever,
        embedder: Embedder,
        model: ChatModel,
        verifier: Verifier,
        settings: Settings,
    ) -> None:
        self.library = library
        self.retriever = retriever
        self.embedder = embedder
        self.model = model
        self.verifier = verifier
        self.settings = settings
        self._prompts = Prompts(settings.prompts)
        self._retriever = retriever
        self._reranker: Reranker | None = None
        if settings.reranker:
            # Reranking is a step of its own here: its tokens count, and its failure costs nothing but a note.
            self._retriever = Retriever(library, embedder, replace(settings, reranker=None))
            self._reranker = open_reranker(settings)
        self._facets: tuple[int, Facets] | None = None

    def stream(self, question: str, options: AskOptions = _DEFAULTS) -> AnswerRun:
        """Text deltas and `Progress` while working, then the `Answer`.

        Iterating raises `UsageError` for an empty question or a broken prompt file, `BudgetError` when a token limit forbids the
        question, `ModelError` when the model fails before its first word, `CorpusError` for a damaged corpus.
        """
        work = Work(question, options, self.model.name, self.library.name, Ledger(self.settings.max_tokens_per_question))
        return AnswerRun(work, self._parts(work.ledger))

    def ask(self, question: str, options: AskOptions = _DEFAULTS) -> Answer:
        """The finished answer; raises as `stream` does."""
        run = self.stream(question, options)
        for _ in run:
            continue
        return run.partial()

    def facets(self) -> Facets:
        """What the corpus's papers can be restricted by; read again when their number has changed."""
        count = self.library.count()
        if self._facets is None or self._facets[0] != count:
            self._facets = (count, Facets.of(self.library.papers()))
        return self._facets[1]

    def _parts(self, ledger: Ledger) -> Parts:
        model = MeteredModel(self.model, ledger)
        builder = PromptBuilder(self._prompts, model)
        reranker = ModelReranker(model, self.settings.prompts) if self.settings.reranker == "llm" else self._reranker
        return Parts(self.library, self._retriever, reranker, model, self.verifier, self.settings, self._prompts, builder, self.facets)


def _events(work: Work, parts: Parts) -> Generator[Event, None, None]:
    if not work.question.strip():
        raise UsageError("The question is empty. Ask something, for example: which papers study turn-taking?")
    parts.prompts.check()
    plan = yield from understand(work, parts)
    if (told := told_by_records(work, plan, parts)) is not None:
        yield work.show(told)
        yield work.answer()
        return
    yield from find_papers(work, plan, parts)
    if plan.mode == "list":
        yield from answer_with_list(work, plan, parts)
    else:
        yield from answer_freely(work, parts)
    yield work.answer()
