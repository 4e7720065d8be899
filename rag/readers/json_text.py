"""JSON, JSON lines and whatever mixture of both is found in the wild."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from rag.readers.decoding import RECORD_LIMIT, numbered_lines
from rag.readers.dialects import flatten
from rag.readers.json_split import JsonSplitter
from rag.readers.raw import Document, Fault, Raw

_WRAPPERS = (
    "results",
    "notes",
    "data",
    "papers",
    "items",
    "records",
    "documents",
    "publications",
    "articles",
    "submissions",
    "entries",
    "works",
)
_RECORD_KEYS = {"title", "abstract", "content", "display_name", "text", "paperid"}


def looks_like_json_lines(head: str) -> bool:
    """True when at least half of the first lines are objects of their own."""
    lines = [line.strip("\ufeff\x1e \t\r") for line in head.split("\n")[:50]]
    rows = [line.rstrip(", ") for line in lines if line not in ("", "[", "]")]
    whole = sum(isinstance(_parsed(row), dict) for row in rows if row.startswith("{") and row.endswith("}"))
    return whole > 0 and 2 * whole >= len(rows)


def read_json(document: Document) -> Iterator[Raw | Fault]:
    """One record for each object, in lines when the text is laid out so, else by brackets."""
    by_lines = looks_like_json_lines(document.head)
    for line, text, problem in _json_lines(document.blocks) if by_lines else _json_values(document.blocks):
        if problem is not None:
            yield Fault(line, problem)
        else:
            yield from _records(line, text, document.name)


def _json_lines(blocks: Iterator[str]) -> Iterator[tuple[int, str, str | None]]:
    for line in numbered_lines(blocks):
        if line.text is None:
            yield line.number, "", f"longer than {RECORD_LIMIT:,} characters"
            continue
        text = line.text.strip("\ufeff\x1e \t").rstrip(", \t")
        if text not in ("", "[", "]"):
            yield line.number, text, None


def _json_values(blocks: Iterator[str]) -> Iterator[tuple[int, str, str | None]]:
    splitter = JsonSplitter()
    for block in blocks:
        yield from ((value.line, value.text, value.problem) for value in splitter.feed(block))
    yield from ((value.line, value.text, value.problem) for value in splitter.close())


def _records(line: int, text: str, file: str) -> Iterator[Raw | Fault]:
    try:
        value = json.loads(text, strict=False)
    except RecursionError:
        yield Fault(line, "nested too deeply")
        return
    except ValueError as error:
        yield Fault(line, f"not valid JSON: {str(error)[:200]}")
        return
    if not isinstance(value, dict):
        yield Fault(line, f"not an object but {_kind(value)}")
        return
    for record in _unwrapped(value):
        yield Raw(line, flatten(record, file)) if isinstance(record, dict) else Fault(line, f"not an object but {_kind(record)}")


def _unwrapped(value: dict[str, object]) -> list[object]:
    """The records inside an API page or an object keyed by id; the object itself when it is a record."""
    if _RECORD_KEYS & {key.lower() for key in value}:
        return [value]
    for name in _WRAPPERS:
        if isinstance(inner := value.get(name), list):
            return inner
    if value and all(isinstance(inner, Mapping) and _RECORD_KEYS & {str(key).lower() for key in inner} for inner in value.values()):
        return [{"id": key, **inner} for key, inner in value.items() if isinstance(inner, Mapping)]
    return [value]


def _parsed(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _kind(value: object) -> str:
    return {type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "an array"}.get(
        type(value), "nothing"
    )
