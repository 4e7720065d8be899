"""The state of a chat, and what asking does in it; knows no terminal."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rag.chat.screen import Screen
from rag.errors import RagError, UsageError
from rag.records import Answer, Citation, Paper, Progress

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from rag.conversation import Conversation, TurnRun
    from rag.store.filters import Filters

_LOADING_S = 30.0


class Chat:
    """One chat: its assistant, its conversation, the filters in force. Commands and questions act on it one at a time."""

    def __init__(
        self, open_assistant: Callable[[], Assistant], screen: Screen, *, conversation: str | None = None, verbose: bool = False
    ) -> None:
        self.screen = screen
        self.verbose = verbose
        self.filters: Filters | None = None
        self.is_over = False
        self._open = open_assistant
        self._wanted = conversation
        self._loading: Future[Assistant] | None = None
        self._conversation: Conversation | None = None
        self._papers: tuple[Paper, ...] | None = None
        self._is_offline_said = False

    def load(self) -> None:
        """Begins to load models and store in the background; repeated calls do nothing."""
        if self._loading is None:
            self._start(self._open)

    @property
    def is_loaded(self) -> bool:
        """Whether the assistant is there without waiting."""
        return self._loading is not None and self._loading.done() and self._loading.exception() is None

    @property
    def assistant(self) -> Assistant:
        """The assistant, waited for. Raises what its opening raised; the next use tries again."""
        self.load()
        loading = self._loading
        if loading is None:
            raise RagError("The chat was closed.")
        if not loading.done():
            with self.screen.status() as show:
                show(Progress("load"))
                loading.exception()
        if (error := loading.exception()) is not None:
            self._loading = None
            raise error
        return loading.result()

    @property
    def conversation(self) -> Conversation:
        """The conversation under way."""
        if self._conversation is None:
            self._conversation = self.assistant.conversation(self._wanted)
            self._wanted = None
        return self._conversation

    @property
    def last(self) -> Answer:
        """The last answer. Raises `UsageError` when there is none."""
        answer = self.conversation.last
        if answer is None:
            raise UsageError("Nothing has been asked yet.")
        return answer

    def ask(self, question: str) -> Answer:
        """Answers a question on the screen. Raises `RagError` when it cannot be answered."""
        self._say_when_offline()
        return self._show(self.conversation.stream(question, **self._options()))

    def retry(self) -> Answer:
        """Asks the last question again."""
        return self._show(self.conversation.retry(**self._options()))

    def new(self, conversation: str | None = None) -> None:
        """Begins a conversation, or goes on with a logged one. Raises `UsageError` for an unknown id."""
        self._conversation = self.assistant.conversation(conversation)

    def reopen(self, **changes: Any) -> None:
        """Goes on with other settings; a new corpus begins a new conversation, a new model keeps it.

        Raises `RagError` when they cannot be used; all stays as it was then.
        """
        before = self.assistant
        after = before.reconfigured(**changes)
        try:
            answerer = after.answerer
        except RagError:
            after.close()
            raise
        if "corpus" in changes:
            self._conversation = self._papers = None
        else:
            self.conversation.use(answerer)
        before.close()
        self._loading = Future()
        self._loading.set_result(after)

    def cited(self, number: int) -> Citation:
        """The paper with this number as it was cited last. Raises `UsageError` for a number not given yet."""
        for turn in reversed(self.conversation.turns):
            for citation in turn.answer.citations:
                if citation.number == number:
                    return citation
        numbers = sorted(self.conversation.numbers.values())
        known = f"Cited so far: {numbers[0]} to {numbers[-1]}." if numbers else "Nothing has been cited yet."
        raise UsageError(f"No source [{number}] in this conversation. {known}")

    def paper(self, wanted: str) -> Paper:
        """The paper with this number of the conversation or this id. Raises `UsageError` when there is none."""
        bare = wanted.strip("[]#")
        if bare.isdecimal() and len(bare) < 4:
            return self.cited(int(bare)).paper
        return self.assistant.paper(wanted)

    def papers(self) -> tuple[Paper, ...]:
        """All papers of the corpus, read once."""
        if self._papers is None:
            self._papers = tuple(self.assistant.papers())
        return self._papers

    def close(self) -> None:
        """Closes what was opened; what is still being opened is waited for, since onnxruntime aborts when Python ends under it."""
        loading, self._loading = self._loading, None
        if loading is None:
            return
        with suppress(TimeoutError, KeyboardInterrupt):
            if loading.exception(timeout=_LOADING_S) is None:
                loading.result().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _say_when_offline(self) -> None:
        """Says once that no language model answers, unless that was asked for."""
        settings = self.assistant.settings
        if self._is_offline_said or not settings.is_offline or settings.model == "offline":
            return
        from rag.models import offline_notice

        self._is_offline_said = True
        self.screen.note(offline_notice())

    def _options(self) -> dict[str, Any]:
        return {"filters": self.filters} if self.filters else {}

    def _start(self, opening: Callable[[], Assistant]) -> None:
        loading: Future[Assistant] = Future()
        self._loading = loading

        def run() -> None:
            try:
                assistant = opening()
                assistant.warm()
            except BaseException as error:  # noqa: BLE001 - raised again where the assistant is used
                loading.set_exception(error)
            else:
                loading.set_result(assistant)

        threading.Thread(target=run, daemon=True, name="chat-loading").start()

    def _show(self, run: TurnRun) -> Answer:
        before = self.conversation.last
        stream, draft = self.screen.answer_stream(), ""
        try:
            with self.screen.status() as show:
                for event in run:
                    if isinstance(event, Progress):
                        stream.close()
                        show(event)
                    elif isinstance(event, str) and self.screen.out.is_terminal:
                        show(None)
                        stream.feed(event)
                        draft += event
        except KeyboardInterrupt:
            run.close()
        finally:
            stream.close()
        answer = self.conversation.last
        if answer is None or answer is before:
            raise KeyboardInterrupt
        self._finish(answer, draft)
        return answer

    def _finish(self, answer: Answer, draft: str) -> None:
        """Prints what the stream has not shown."""
        if answer.text.split() != draft.split():
            if draft:
                self.screen.note("After checking the citations:")
            self.screen.text(answer.text)
        if answer.finish == "interrupted":
            self.screen.note("Stopped; what came is kept. /retry asks again.")
        self.screen.below(answer)
        if self.verbose:
            if answer.standalone not in ("", answer.question):
                self.screen.note(f"Understood as: {answer.standalone}")
            self.screen.signals(answer)
