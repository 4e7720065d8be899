"""A logged question asked again, and what has changed since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag.conversation.context import Turn, shown_papers
from rag.conversation.exchange import Exchange
from rag.conversation.history import history_messages
from rag.conversation.options import options_from_json
from rag.errors import UsageError
from rag.records import Answer

if TYPE_CHECKING:
    from rag.answering import Answerer

_MOST_COMPARED = 10


def replay(exchange: Exchange, answerer: Answerer, earlier: Sequence[Exchange] = ()) -> Answer:
    """The answer to a logged question, asked again with its options and its place in the conversation; nothing is logged.

    `earlier` are the exchanges before it, which a language model is shown.
    """
    model = answerer.model
    turns = [Turn(e.question, e.answer) for e in earlier if e.answer is not None and e.id < exchange.id]
    history = history_messages(turns, model.context_tokens, model.name) if model.generative else ()
    return answerer.ask(exchange.question, replace(options_from_json(exchange), history=history))


def changes(exchange: Exchange, now: Answer) -> tuple[str, ...]:
    """What is different in an answer given now, one line each; empty when nothing is.

    Raises `UsageError` for an exchange without an answer.
    """
    before = exchange.answer
    if before is None:
        raise UsageError(f"Exchange {exchange.id} has no answer to compare with: it is {exchange.outcome}.")
    named = (
        _changed("model", before.model, now.model),
        _changed("corpus", before.corpus, now.corpus),
        _changed("papers scanned", before.scanned, now.scanned),
        _changed("mode", before.mode, now.mode),
        _changed("refused", before.abstained, now.abstained),
        _changed("papers matched", before.matched, now.matched),
        _changed("ranking", _ranked(before), _ranked(now)),
        _changed("prompt", f"{len(before.prompt)} characters", f"{len(now.prompt)} characters", equal=before.prompt == now.prompt),
    )
    text = ("answer: worded differently",) if before.text != now.text else ()
    return (*(line for line in named if line), *_citations(before, now), *text)


def _changed(name: str, before: object, now: object, *, equal: bool | None = None) -> str:
    same = before == now if equal is None else equal
    return "" if same else f"{name}: {_shown(before)} -> {_shown(now)}"


def _shown(value: object) -> str:
    return {True: "yes", False: "no", None: "-"}.get(value, str(value)) if isinstance(value, bool | None) else str(value)


def _ranked(answer: Answer) -> str:
    hits = answer.retrieval.hits[:_MOST_COMPARED] if answer.retrieval else ()
    return ", ".join(hit.paper.id for hit in hits) or "nothing"


def _citations(before: Answer, now: Answer) -> list[str]:
    was, is_now = ({c.paper.id: c.support for c in answer.citations} for answer in (before, now))
    titles = {paper.id: paper.title for answer in (before, now) for paper in shown_papers(answer)}
    lines = [f"no longer cited: {titles[paper]}" for paper in was if paper not in is_now]
    lines += [f"newly cited: {titles[paper]} ({support})" for paper, support in is_now.items() if paper not in was]
    shared = [paper for paper in was if paper in is_now and was[paper] != is_now[paper]]
    return lines + [f"verdict on {titles[paper]}: {was[paper]} -> {is_now[paper]}" for paper in shared]
