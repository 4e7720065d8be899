"""Logged exchanges for other tools and for reading."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rag.conversation.codec import answer_to_json
from rag.conversation.exchange import Exchange
from rag.exports import export_answer


def exchange_json(exchange: Exchange) -> dict[str, Any]:
    """All that was logged of a question, as JSON values; `answer` is None where there is none."""
    return {
        "id": exchange.id,
        "conversation": exchange.conversation,
        "turn": exchange.turn,
        "asked_at": exchange.asked_at,
        "question": exchange.question,
        "standalone": exchange.standalone,
        "corpus": exchange.corpus,
        "model": exchange.model,
        "options": dict(exchange.options),
        "outcome": exchange.outcome,
        "error": exchange.error,
        "answer": json.loads(answer_to_json(exchange.answer)) if exchange.answer else None,
    }


def exchanges_markdown(exchanges: Sequence[Exchange]) -> str:
    """The exchanges one after the other, each a section with its answer and sources."""
    return "\n".join(_section(exchange) for exchange in exchanges)


def _section(exchange: Exchange) -> str:
    facts = [exchange.when, f"corpus {exchange.corpus}", f"model {exchange.model}", exchange.outcome]
    line = f"*{' · '.join(facts)}*"
    if exchange.answer is None:
        return f"# {exchange.question}\n\n{line}\n\n{exchange.error or 'No answer was kept.'}\n"
    heading, _, body = export_answer(exchange.answer, "markdown").partition("\n\n")
    understood = f"\n\nUnderstood as: {exchange.standalone}" if exchange.standalone != exchange.question else ""
    return f"{heading}\n\n{line}{understood}\n\n{body.strip()}\n"
