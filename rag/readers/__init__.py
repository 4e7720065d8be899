"""Readers: any pile of abstracts to papers."""

from rag.readers.formats import FORMATS
from rag.readers.identifiers import paper_id
from rag.readers.read import read_papers

__all__ = ["FORMATS", "paper_id", "read_papers"]
