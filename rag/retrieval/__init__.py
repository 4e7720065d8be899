"""From a question to ranked papers: cleaning, planning, fusion, reranking, and whether the corpus answers at all."""

from __future__ import annotations

from rag.retrieval.retriever import Retriever

__all__ = ["Retriever"]
