"""JSON out of a model's reply, however it is wrapped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rag.errors import ModelError

_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_CLOSERS = {"{": "}", "[": "]"}
_MAX_STARTS = 40
_MAX_CUTS = 200


def is_strict(schema: Mapping[str, Any]) -> bool:
    """True when every object of the schema is closed and requires all it names: what OpenAI's strict mode demands."""
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties):
            return False
        if not all(is_strict(inner) for inner in properties.values()):
            return False
    items = schema.get("items")
    return is_strict(items) if isinstance(items, Mapping) else True


def read_json(text: str) -> Any:
    """The first object or list in a reply: bare, in a code fence or amid prose; trailing commas and a missing end are mended.

    Raises `ModelError` (kind `protocol`) when there is none.
    """
    for candidate in (text, *_FENCE.findall(text)):
        whole = _parsed(candidate.strip())
        if isinstance(whole, dict | list):
            return whole
    for candidate in (*_FENCE.findall(text), text):
        for found in _embedded(candidate):
            return found
    raise ModelError("The model's reply holds no JSON. Ask again, or choose another model.", kind="protocol", retryable=True)


def _embedded(text: str) -> Iterator[Any]:
    starts = [match.start() for match in re.finditer(r"[{\[]", text)][:_MAX_STARTS]
    for start in starts:
        end = _end(text, start)
        found = _parsed(text[start:end]) if end else _mended(text[start:])
        # A list of plain numbers amid prose is a citation, not the reply.
        if isinstance(found, dict) or (isinstance(found, list) and any(isinstance(item, dict | list | str) for item in found)):
            yield found


def _parsed(text: str) -> Any:
    """The value of `text`; None when it is no JSON."""
    for attempt in (text, _without_trailing_commas(text)):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _mended(text: str) -> Any:
    """The value of a JSON text that breaks off: cut back to the last complete element, open brackets closed."""
    cuts = [match.start() for match in re.finditer(r",|[}\]]", text)]
    for cut in [len(text), *(position + (text[position] != ",") for position in reversed(cuts[-_MAX_CUTS:]))]:
        open_brackets, in_string = _open_at(text[:cut])
        if in_string:
            continue
        found = _parsed(text[:cut] + "".join(_CLOSERS[bracket] for bracket in reversed(open_brackets)))
        if found is not None:
            return found
    return None


def _end(text: str, start: int) -> int:
    """Where the bracket that opens at `start` closes; 0 when it does not."""
    depth = 0
    for position, character in _outside_strings(text, start):
        if character in _CLOSERS:
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0:
                return position + 1
    return 0


def _open_at(text: str) -> tuple[list[str], bool]:
    """The brackets that are open at the end of `text`, and whether a string is."""
    open_brackets: list[str] = []
    for _, character in _outside_strings(text, 0):
        if character == '"':
            return open_brackets, True
        if character in _CLOSERS:
            open_brackets.append(character)
        elif open_brackets:
            open_brackets.pop()
    return open_brackets, False


def _outside_strings(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Brackets outside strings with their positions; a quote that is never closed comes last."""
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|"', text[start:], re.DOTALL):
        if len(match[0]) == 1:
            yield start + match.start(), match[0]
        if match[0] == '"':
            return


def _without_trailing_commas(text: str) -> str:
    return re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', lambda match: match[1] or "", text, flags=re.DOTALL)
