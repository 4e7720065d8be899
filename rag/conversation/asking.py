"""What a question carries with it on its way to an answer, and how logged ones become turns again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rag.answering.options import AskOptions
from rag.conversation.context import Turn
from rag.conversation.exchange import Exchange
from rag.records import Answer, StepUsage, Usage
from rag.store.filters import NO_FILTERS, parse_where


@dataclass
class Asked:
    """A question on its way to an answer: what it is asked after, and what is to be added to the answer."""

    question: str
    before: tuple[Turn, ...]
    replaced: Turn | None = None
    options: AskOptions = field(default_factory=AskOptions)
    spent: list[StepUsage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def completed(self, answer: Answer) -> Answer:
        """The answer with the tokens of the rewriting and the notes."""
        usage, spent = answer.usage, self.spent
        if spent:
            prompt = usage.prompt_tokens + sum(step.prompt_tokens for step in spent)
            completion = usage.completion_tokens + sum(step.completion_tokens for step in spent)
            usage = Usage(prompt, completion, usage.estimated or any(step.estimated for step in spent), (*spent, *usage.steps))
        return replace(answer, usage=usage, notes=(*self.notes, *answer.notes))


def numbers_of(turns: Sequence[Turn]) -> dict[str, int]:
    """Paper id -> its number, of all papers cited in these turns."""
    return {citation.paper.id: citation.number for turn in turns for citation in turn.answer.citations}


def turn_of(exchange: Exchange, answer: Answer) -> Turn:
    """The turn that a logged exchange was."""
    options = exchange.options
    carried = parse_where(options["carried"]) if options.get("carried") else NO_FILTERS
    is_new = bool(options.get("new_topic", True))
    return Turn(exchange.question, answer, exchange.standalone, tuple(options.get("focus", ())), carried, is_new, exchange.id)
