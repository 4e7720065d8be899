"""JSON out of a model's reply, however it is wrapped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rag.errors import ModelError

# A fence ends on a line of its own or with the reply: three backticks may also stand in a string.
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:^[ \t]*```|```\s*\Z|\Z)", re.DOTALL | re.MULTILINE)
_CLOSERS = {"{": "}", "[": "]"}
_MAX_STARTS = 40
_MAX_CUTS = 50
_MAX_DEPTH = 60


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
        if isinstance(found, dict) or (isinstance(found, list) and any(isinstance(item, dict | str) for item in found)):
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
    """The value of a JSON text that breaks off, cut back to its last complete element with the open brackets closed; None without one."""
    for position, closing in reversed(_cuts(text)[-_MAX_CUTS:]):
        found = _parsed(text[:position] + closing)
        if found:
            return found
    return None


def _cuts(text: str) -> list[tuple[int, str]]:
    """Where elements end, with the brackets that close what is open there."""
    closers: list[str] = []
    cuts: list[tuple[int, str]] = []
    for position, character in _outside_strings(text, 0):
        if character == '"' or len(closers) > _MAX_DEPTH:
            return cuts
        if character in _CLOSERS:
            closers.append(_CLOSERS[character])
        elif character != ",":
            closers.pop()
        if character not in _CLOSERS:
            cuts.append((position + (character != ","), "".join(reversed(closers))))
    return [*cuts, (len(text), "".join(reversed(closers)))]


def _end(text: str, start: int) -> int:
    """Where the bracket that opens at `start` closes; 0 when it does not."""
    depth = 0
    for position, character in _outside_strings(text, start):
        depth += (character in _CLOSERS) - (character in "}]")
        if depth == 0 or depth > _MAX_DEPTH:
            return position + 1 if depth == 0 else 0
    return 0


def _outside_strings(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Brackets and commas outside strings with their positions; a quote that is never closed comes last."""
    for match in re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],"]', re.DOTALL).finditer(text, start):
        if len(match[0]) == 1:
            yield match.start(), match[0]
        if match[0] == '"':
            return


def _without_trailing_commas(text: str) -> str:
    return re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', lambda match: match[1] or "", text, flags=re.DOTALL)
