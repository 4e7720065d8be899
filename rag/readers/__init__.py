"""Readers: any pile of abstracts to papers."""

from rag.readers.formats import FORMATS
from rag.readers.identifiers import paper_id
from rag.readers.meter import Meter
from rag.readers.read import read_papers

__all__ = ["FORMATS", "Meter", "paper_id", "read_papers"]
