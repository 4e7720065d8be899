"""Where papers and vectors are kept: the catalog (SQLite), Chroma, and what keeps the two in step."""

from __future__ import annotations

from rag.store.corpora import Corpora
from rag.store.filters import Filters, parse_where
from rag.store.joined import JoinedLibrary
from rag.store.library import Library

__all__ = ["Corpora", "Filters", "JoinedLibrary", "Library", "parse_where"]
