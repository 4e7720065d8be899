"""Answering: plan, retrieve, prompt, stream, check, repair."""

from rag.answering.citations import CitationStream
from rag.answering.options import AskOptions
from rag.answering.pipeline import Answerer, AnswerRun

__all__ = ["AnswerRun", "Answerer", "AskOptions", "CitationStream"]
