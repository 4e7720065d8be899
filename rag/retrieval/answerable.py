"""Whether a corpus answers a question at all, as a calibrated probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

from rag.records import Hit

# Logistic regression by `python benchmarks/fit_answerable.py`; figures in docs/evaluation.md.
_SCORE, _COVERAGE, _WINDOW, _SIZE, _CONSTANT = 8.09, 7.72, 1.55, 0.364, -9.74
_THRESHOLD = 0.5
_LOOKED_AT = 5
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Judgement:
    """How probably the corpus answers, and what follows from it."""

    probability: float
    abstain: bool
    reason: str | None = None
    """Why it abstains, a sentence for the reader."""


def judge_answerable(topic: str, hits: Sequence[Hit], weights: Mapping[str, float], papers: int) -> Judgement:
    """The judgement on the best hits of a search; `weights` are the topic's terms with their IDF, `papers` how many were searched."""
    if not hits or not weights:
        return Judgement(0.0, True, "It names nothing that abstracts could be searched for." if papers else "No paper passes the filters.")
    best = hits[:_LOOKED_AT]
    coverage = max(hit.signals.coverage for hit in best)
    window = max(hit.signals.window_cosine for hit in best)
    logit = _SCORE * hits[0].score + _COVERAGE * coverage + _WINDOW * window + _SIZE * log(papers) + _CONSTANT
    probability = 1 / (1 + exp(-logit))
    return Judgement(probability, probability < _THRESHOLD, _reason(topic, coverage) if probability < _THRESHOLD else None)


def _reason(topic: str, coverage: float) -> str:
    if coverage == 0:
        return f"No abstract mentions any of the words of “{topic}”."
    return f"The nearest abstracts speak of only {coverage:.0%} of “{topic}”, by the weight of its words."
