"""What a format hands on: the fields of one record under its own names, before they become a `Paper`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Raw:
    """One record of a source; `fields` carry the source's own names and shapes."""

    line: int
    fields: Fields
    latex: bool = False
    """True when texts follow BibTeX's rules for braces, ties and dashes."""
    verbatim: bool = False
    """True when the texts are plain already and must not be touched beyond white space."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A record that could not be read, where and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Document:
    """A text to read: its name for messages, its first characters, and all of it in blocks."""

    name: str
    head: str
    blocks: Iterator[str]
    folder: Path | None = None
    """Where the file stands, for formats that come with a second file; None inside archives and for standard input."""


class Format(Protocol):
    """Reads one layout."""

    def __call__(self, document: Document, /) -> Iterator[Raw | Fault]:
        """Records in the order of the source; a fault in one costs none of the others."""
