"""The options of a question as they stand in the log, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from rag.answering.options import AskOptions
from rag.conversation.exchange import Exchange
from rag.conversation.followup import Standalone
from rag.errors import UsageError
from rag.store.filters import parse_where

_PLAIN = ("k", "mode", "max_shown", "strict", "verify", "repair", "standalone")


def read_options(options: Mapping[str, Any]) -> AskOptions:
    """Options given by name. Raises `UsageError` for an unknown name or a wrong value."""
    known = {field.name for field in fields(AskOptions)}
    if unknown := sorted(set(options) - known):
        raise UsageError(f"No option named {unknown[0]!r}. Known: {', '.join(sorted(known))}.")
    return AskOptions(**options)


def with_standalone(options: AskOptions, found: Standalone, question: str) -> AskOptions:
    """The options with what the conversation adds: the question that stands alone, its papers and restrictions."""
    return replace(
        options,
        standalone=found.text if found.text != question else "",
        focus=tuple(dict.fromkeys((*options.focus, *found.focus))),
        filters=options.filters.and_(found.filters).and_(found.within),
        mode=options.mode or found.mode,
    )


def options_to_json(options: AskOptions, found: Standalone) -> dict[str, Any]:
    """What is needed to ask the same again, as JSON values."""
    return {
        **{name: getattr(options, name) for name in _PLAIN},
        "filters": str(options.filters),
        "numbers": dict(options.numbers),
        "focus": list(options.focus),
        "carried": str(found.filters),
        "new_topic": found.is_new_topic,
    }


def options_from_json(exchange: Exchange) -> AskOptions:
    """The options of a logged question, without its history; those that are missing have their defaults."""
    logged = exchange.options
    plain = {name: logged[name] for name in _PLAIN if name in logged}
    return AskOptions(
        **plain,
        filters=parse_where(logged["filters"]) if logged.get("filters") else AskOptions().filters,
        numbers=dict(logged.get("numbers", {})),
        focus=tuple(logged.get("focus", ())),
        conversation=exchange.conversation,
    )
