"""The layouts that can be read, and how a text's layout is told from its first characters."""

from __future__ import annotations

from collections.abc import Mapping

from rag.errors import UsageError
from rag.readers.json_text import read_json
from rag.readers.raw import Format
from rag.readers.seeds_text import read_seeds_text

FORMATS: Mapping[str, Format] = {"text": read_seeds_text, "json": read_json}
"""Name (as in `--format`) to reader."""


def format_named(name: str) -> Format:
    """The reader called `name`; raises `UsageError` for an unknown one."""
    if name not in FORMATS:
        raise UsageError(f"No format named {name!r}. Known: {', '.join(FORMATS)}. Leave it out to have it recognised by content.")
    return FORMATS[name]


def format_of(head: str) -> Format:
    """The reader for a text that starts with `head`."""
    start = head.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[")):
        return read_json
    return read_seeds_text
