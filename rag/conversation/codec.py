"""Answers as JSON and back, field by field, so that a logged exchange can be resumed as it was."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from rag.errors import LogError
from rag.records import Answer

Record = TypeVar("Record")

MOST_HITS = 100
"""Retrieved papers kept per exchange; a list over a large corpus retrieves thousands."""


def answer_to_json(answer: Answer) -> str:
    """The whole answer as one JSON object: citations, verdicts, retrieval with scores, prompt, tokens and timings."""
    retrieval = answer.retrieval
    if retrieval is not None and len(retrieval.hits) > MOST_HITS:
        answer = replace(answer, retrieval=replace(retrieval, hits=retrieval.hits[:MOST_HITS]))
    return json.dumps(asdict(answer), ensure_ascii=False, separators=(",", ":"))


def answer_from_json(text: str) -> Answer:
    """The answer that `answer_to_json` wrote; fields of other versions are ignored or left at their defaults.

    Raises `LogError` for anything else.
    """
    try:
        return _record(Answer, json.loads(text))
    except (ValueError, TypeError, AttributeError) as error:
        raise LogError(f"An exchange in the log is damaged ({error}). `rag log prune` removes it.") from error


def _record(kind: type[Record], values: Mapping[str, Any]) -> Record:
    hints = _hints(kind)  # type: ignore[arg-type]  # classes are hashable
    known = {name: _value(hints[name], value) for name, value in values.items() if name in hints}
    return kind(**known)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _value(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(part for part in get_args(kind) if part is not types.NoneType)
    if get_origin(kind) is tuple:
        parts = get_args(kind)
        return tuple(_value(parts[0], item) for item in value)
    return _record(kind, value) if is_dataclass(kind) and isinstance(kind, type) else value
