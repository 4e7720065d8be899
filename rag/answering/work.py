"""One question under way: what is known so far, and the answer that can be made of it at any moment."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from rag.answering.budget import Ledger
from rag.answering.checking import Checked, citations_of
from rag.answering.citations import CitationStream
from rag.answering.options import AskOptions
from rag.protocols import Message, Source
from rag.records import Answer, Finish, Mode, Paper, Progress, Retrieval, Timing
from rag.retrieval.planner import Plan
from rag.text.clean import clean_text, harmless_text

Event = str | Progress | Answer


@dataclass
class Work:
    """Mutable on purpose: an interrupted question still has the answer that `answer()` makes of what came."""

    question: str
    options: AskOptions
    model: str
    corpus: str
    ledger: Ledger
    started: float = field(default_factory=time.perf_counter)
    plan: Plan | None = None
    retrieval: Retrieval | None = None
    sources: tuple[Source, ...] = ()
    corpora: Mapping[str, str] = field(default_factory=dict)
    """Paper id -> name of its corpus, for joined corpora."""
    messages: tuple[Message, ...] = ()
    max_tokens: int = 0
    stream: CitationStream | None = None
    shown: str = ""
    """The text that the reader has seen so far."""
    checked: Checked | None = None
    """The final text with its verdicts, once it has been checked."""
    finish: Finish = "complete"
    abstained: bool = False
    reason: str | None = None
    nearest: tuple[Paper, ...] = ()
    dropped: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    retrieve_s: float = 0.0
    first_token_s: float = 0.0

    @property
    def searched(self) -> str:
        """The question as it is searched and answered: in one line, without what only drives a terminal."""
        return clean_text(harmless_text(self.options.standalone or self.question))

    @property
    def mode(self) -> Mode:
        """Answer or list, as planned."""
        return self.plan.mode if self.plan else self.options.mode or "answer"

    @property
    def elapsed_s(self) -> float:
        """Seconds since the question was asked."""
        return time.perf_counter() - self.started

    @property
    def own_prompt(self) -> str:
        """What the prompt says apart from the conversation's history: a reply has no reason to repeat it."""
        return "\n".join(message.content for message in (*self.messages[:1], *self.messages[-1:]))

    def note(self, text: str) -> None:
        """Keeps a line for the reader, once."""
        line = " ".join(text.split())
        if line not in self.notes:
            self.notes.append(line)

    def show(self, text: str) -> str:
        """Notes that the reader sees `text` now, and when the first of it came."""
        if text and not self.first_token_s:
            self.first_token_s = self.elapsed_s
        self.shown += text
        return text

    def answer(self) -> Answer:
        """The answer as far as it has come."""
        checked = self.checked or Checked(self.shown.rstrip())
        numbers = self.stream.cited if self.stream else {}
        retrieval = self.retrieval
        return Answer(
            question=self.question,
            text=checked.text,
            abstained=self.abstained,
            reason=self.reason,
            mode=self.mode,
            model=self.model,
            corpus=self.corpus,
            scanned=retrieval.scanned if retrieval else 0,
            judged=retrieval.judged if retrieval else 0,
            matched=retrieval.matched if retrieval else None,
            citations=() if self.abstained else citations_of(checked, self.sources, numbers, self.corpora),
            statements=() if self.abstained else checked.statements,
            dropped=tuple(dict.fromkeys((*self.dropped, *(self.stream.dropped if self.stream else ())))),
            nearest=self.nearest,
            usage=self.ledger.usage(),
            timing=Timing(self.retrieve_s, self.first_token_s, self.elapsed_s),
            conversation=self.options.conversation,
            finish=self.finish,
            notes=tuple(self.notes),
            standalone=self.searched,
            retrieval=retrieval,
            prompt="\n\n".join(message.content for message in self.messages),
        )
