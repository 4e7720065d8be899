"""A conversation: questions that lean on each other, numbers that stay, everything logged."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rag.answering.budget import Ledger, MeteredModel
from rag.answering.options import AskOptions
from rag.conversation.asking import Asked, numbers_of, turn_of
from rag.conversation.context import Turn
from rag.conversation.followup import Standalone, resolve
from rag.conversation.history import history_messages
from rag.conversation.log import ConversationLog
from rag.conversation.options import options_to_json, read_options, with_standalone
from rag.conversation.pumping import pumped
from rag.conversation.rewrite import merged, rewritten
from rag.conversation.surroundings import LibrarySurroundings
from rag.errors import LogError, RagError, UsageError
from rag.prompting.templates import Prompts
from rag.records import Answer, Progress
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.answering import Answerer
    from rag.protocols import ChatModel, Message

Event = str | Progress | Answer

LAST = "last"
"""In place of a conversation's id: the one that was asked in last."""


class TurnRun(Iterator[Event]):
    """One question being answered: iterate for text deltas and `Progress`, the final `Answer` comes last and is logged before.

    Leaving early, by `close`, an exception or by dropping the run, keeps what came as an answer with `finish` `interrupted`.
    """

    def __init__(self, events: Generator[Event, None, None]) -> None:
        self._events = events

    def __iter__(self) -> TurnRun:
        return self

    def __next__(self) -> Event:
        return next(self._events)

    def close(self) -> None:
        """Stops working on the question."""
        self._events.close()


class Conversation:
    """Questions and answers in turn; follow-ups are understood, `[3]` stays the same paper.

    Safe to use from several threads and tasks: one question at a time, others wait for it. Different conversations do not wait
    for each other.

    Args:
        answerer: The pipeline.
        log: Where exchanges are kept; None keeps nothing.
        settings: For the prompts and the limit of tokens; the answerer's when None.
        rewriter: The chat model that rewrites follow-ups; the answerer's own when None and that is a generative one.
        id: A logged conversation to continue, or `last`.

    Raises:
        UsageError: there is no such conversation.
    """

    def __init__(
        self,
        answerer: Answerer,
        *,
        log: ConversationLog | None = None,
        settings: Settings | None = None,
        rewriter: ChatModel | None = None,
        id: str | None = None,  # noqa: A002 - the field's own word
    ) -> None:
        self.answerer = answerer
        self._log = log
        self._settings = settings or answerer.settings
        self._prompts = Prompts(self._settings.prompts)
        self._rewriter = rewriter or (answerer.model if answerer.model.generative else None)
        self._turns: tuple[Turn, ...] = ()
        self._lock = threading.Lock()
        self._thread: int | None = None
        self.id = f"c{uuid.uuid4().hex[:9]}"
        if id is not None:
            self._resume(id)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns so far, oldest first, without those taken back."""
        return self._turns

    @property
    def numbers(self) -> Mapping[str, int]:
        """Paper id -> its number in this conversation."""
        return numbers_of(self._turns)

    @property
    def last(self) -> Answer | None:
        """The last answer, partial ones included."""
        return self._turns[-1].answer if self._turns else None

    def ask(self, question: str, **options: Any) -> Answer:
        """The finished answer; options and errors as in `stream`."""
        answer = next((event for event in self.stream(question, **options) if isinstance(event, Answer)), None)
        if answer is None:
            raise RagError("The answer was stopped before it came.")
        return answer

    def stream(self, question: str, **options: Any) -> TurnRun:
        """Text deltas and `Progress`, then the `Answer`, which is in the log by then.

        Args:
            question: May refer to earlier turns.
            options: Fields of `rag.answering.AskOptions`: `k`, `mode`, `filters`, `max_shown`, `strict`, `verify`, `repair`.

        Raises:
            UsageError: an option is unknown or wrong, or the question is empty.
            RagError: the question cannot be answered; the conversation goes on as if it had not been asked.
        """
        given = read_options(options)
        if not question.strip():
            raise UsageError("The question is empty. Ask something, for example: which papers study turn-taking?")
        return TurnRun(self._in_turn(question, given))

    async def aask(self, question: str, **options: Any) -> Answer:
        """Like `ask`, without blocking the event loop."""
        return await asyncio.to_thread(self.ask, question, **options)

    def astream(self, question: str, **options: Any) -> AsyncIterator[Event]:
        """Like `stream`, without blocking the event loop."""
        return pumped(lambda: self.stream(question, **options))

    def use(self, answerer: Answerer) -> None:
        """Answers further questions with another pipeline, for example with another model; the turns so far stay."""
        with self._alone():
            self.answerer = answerer
            self._rewriter = answerer.model if answerer.model.generative else None

    def undo(self) -> Turn:
        """Takes the last turn back, numbers included. Raises `UsageError` when there is none."""
        with self._alone():
            if not self._turns:
                raise UsageError("There is no turn to take back.")
            turn = self._turns[-1]
            self._turns = self._turns[:-1]
            if self._log is not None and turn.exchange is not None:
                self._log.undo(turn.exchange)
            return turn

    def retry(self, **options: Any) -> TurnRun:
        """Asks the last question again; its answer takes the place of the earlier one as soon as it is there.

        Raises `UsageError` when there is no turn.
        """
        given = read_options(options)
        if not self._turns:
            raise UsageError("There is no question to ask again.")
        return TurnRun(self._in_turn(self._turns[-1].question, given, again=True))

    def _in_turn(self, question: str, options: AskOptions, *, again: bool = False) -> Generator[Event, None, None]:
        with self._alone():
            asked = Asked(question, self._turns[:-1] if again else self._turns, self._turns[-1] if again else None)
            found = yield from self._understood(asked)
            asked.options = replace(
                with_standalone(options, found, question),
                numbers=numbers_of(asked.before),
                history=self._history(asked.before),
                conversation=self.id,
            )
            yield from self._answered(asked, found)

    def _understood(self, asked: Asked) -> Generator[Event, None, Standalone]:
        """The question in the form that stands alone: by rules, and in the model's words when there is one that can rewrite."""
        question = asked.question
        found = resolve(question, asked.before, LibrarySurroundings(self.answerer))
        if not asked.before or self._rewriter is None:
            return found
        yield Progress("rewrite")
        ledger = Ledger(self._settings.max_tokens_per_question)
        try:
            text = rewritten(question, asked.before, MeteredModel(self._rewriter, ledger), self._prompts)
        except RagError as error:
            asked.notes.append(f"Rewriting failed ({str(error).rstrip('.')}); the question was understood by rules.")
            return found
        finally:
            asked.spent += ledger.steps
        return merged(found, text, question, asked.before)

    def _answered(self, asked: Asked, found: Standalone) -> Generator[Event, None, None]:
        exchange = self._begun(asked, found)
        if found.note:
            asked.notes.append(found.note)
        if found.filters:
            asked.notes.append(f"Still restricted to {found.filters.describe()}.")
        turn = Turn(
            asked.question, Answer(asked.question, ""), found.text, asked.options.focus, found.filters, found.is_new_topic, exchange
        )
        run = self.answerer.stream(asked.question, asked.options)
        is_kept = False
        try:
            for event in run:
                if isinstance(event, Answer):
                    event, is_kept = self._kept(asked, replace(turn, answer=event)), True
                yield event
        except RagError as error:
            self._failed(exchange, str(error))
            raise
        except (GeneratorExit, KeyboardInterrupt):
            if not is_kept:
                self._kept(asked, replace(turn, answer=run.partial()))
            raise

    def _kept(self, asked: Asked, turn: Turn) -> Answer:
        """Logs the turn, then makes it part of the conversation."""
        answer = asked.completed(turn.answer)
        if self._log is not None and turn.exchange is not None:
            try:
                self._log.finish(turn.exchange, answer)
                if asked.replaced is not None and asked.replaced.exchange is not None:
                    self._log.undo(asked.replaced.exchange)
            except LogError as error:
                answer = replace(answer, notes=(*answer.notes, f"Not kept in the log: {error}"))
        self._turns = (*asked.before, replace(turn, answer=answer))
        return answer

    def _begun(self, asked: Asked, found: Standalone) -> int | None:
        """The exchange's id in the log; None when nothing is logged, with a note when that is a failure."""
        if self._log is None:
            return None
        logged = options_to_json(asked.options, found)
        corpus, model = self.answerer.library.name, self.answerer.model.name
        try:
            return self._log.begin(self.id, asked.question, corpus=corpus, model=model, options=logged, turn=len(asked.before) + 1)
        except LogError as error:
            asked.notes.append(f"Not kept in the log: {error}")
            return None

    def _failed(self, exchange: int | None, error: str) -> None:
        if self._log is None or exchange is None:
            return
        try:
            self._log.fail(exchange, error)
        except LogError:
            # The reader learns of the fault itself; a second one about the log would hide it.
            return

    def _history(self, turns: tuple[Turn, ...]) -> tuple[Message, ...]:
        model = self.answerer.model
        return history_messages(turns, model.context_tokens, model.name) if model.generative else ()

    def _resume(self, wanted: str) -> None:
        if self._log is None:
            raise UsageError(f"Conversation {wanted!r} cannot be continued: the log is off. Set RAG_LOG=true, or leave --no-log out.")
        exchanges = self._log.conversation(self._log.last_conversation() if wanted == LAST else wanted)
        self.id = exchanges[0].conversation if exchanges else wanted
        self._turns = tuple(turn_of(exchange, exchange.answer) for exchange in exchanges if exchange.answer is not None)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Waits for its turn. The lock belongs to the run, not to a thread: async callers go on in another one."""
        if self._lock.locked() and self._thread == threading.get_ident():
            raise UsageError("This conversation is still answering. Read the answer to its end or close it before the next question.")
        with self._lock:
            self._thread = threading.get_ident()
            try:
                yield
            finally:
                self._thread = None
