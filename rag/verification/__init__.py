"""Checks an answer claim by claim against the abstracts it cites."""

from __future__ import annotations

from rag.verification.quotes import best_quote
from rag.verification.statements import RawStatement, cited_numbers, split_statements
from rag.verification.verifier import Verifier

__all__ = ["RawStatement", "Verifier", "best_quote", "cited_numbers", "split_statements"]
