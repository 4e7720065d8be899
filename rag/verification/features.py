"""What is measured of a statement against a paper; the scoring model weighs these and nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag.verification.directions import direction
from rag.verification.figures import mismatches
from rag.verification.polarity import is_denied, opposed_words, stance
from rag.verification.readings import Idf, Likenesses, PaperReading, StatementReading, coverage, credit, likenesses

_UNSEEN = "zqxjkvunseen"
_SHARPNESS = 8.0
_TOP = 3


@dataclass(frozen=True, slots=True)
class Features:
    """The measurements, in the order of the model's coefficients; `cosine` and `focus` are 0 without an embedder."""

    coverage: float
    """Share of the statement's words, by IDF, in the best two neighbouring sentences and the title."""
    missing: float
    """IDF mass of the words that the paper lacks; one word that no paper has counts 1."""
    opposed: float
    """Words that the paper lacks while it has an opposite of them."""
    stance: float
    stance_share: float
    directional: float
    """1 when the statement says that something goes up or down."""
    denial: float
    """How far the statement is denied and the likeliest sentences are not, or the other way round; 0..1."""
    wrong_figures: float
    cosine: float
    """Best cosine of the statement with a sentence or the title."""
    focus: float
    """Mean of the three best cosines."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The measurements, and how much each sentence of the abstract bears on the statement (sums to at most 1)."""

    features: Features
    weights: tuple[float, ...]
    alike: Likenesses


def compare(statement: StatementReading, paper: PaperReading, idf: Idf, cosines: Sequence[float]) -> Comparison:
    """Measures a statement against a paper; `cosines` are with every sentence and, last, the title, or empty without an embedder."""
    alike = likenesses(statement.stems, paper)
    weights = _weights(statement, paper, idf, alike, cosines)
    units = (*paper.sentences, paper.title)
    agreement, share = stance(statement.words, units, weights, alike, idf)
    given_denial = sum(weight for weight, unit in zip(weights, units, strict=True) if is_denied(unit.words))
    best = sorted(cosines, reverse=True)[:_TOP]
    features = Features(
        coverage=_window_coverage(statement, paper, idf, alike),
        missing=sum(idf(stem) * (1 - credit(stem, paper.stems, alike)) for stem in statement.stems) / max(idf(_UNSEEN), 1e-9),
        opposed=float(len(opposed_words(statement.words, paper.stems, alike))),
        stance=agreement,
        stance_share=share,
        directional=float(any(direction(word.stem) for word in statement.words)),
        denial=abs(is_denied(statement.words) - given_denial),
        wrong_figures=float(sum(mismatch.wrong for mismatch in mismatches(statement.figures, paper.figures))),
        cosine=best[0] if best else 0.0,
        focus=sum(best) / len(best) if best else 0.0,
    )
    return Comparison(features, weights[:-1], alike)


def _window_coverage(statement: StatementReading, paper: PaperReading, idf: Idf, alike: Likenesses) -> float:
    pools = [sentence.stems for sentence in paper.sentences] or [frozenset[str]()]
    windows = [one | other for one, other in pairwise(pools)] or pools
    return max(coverage(statement.stems, window | paper.title.stems, alike, idf) for window in windows)


def _weights(statement: StatementReading, paper: PaperReading, idf: Idf, alike: Likenesses, cosines: Sequence[float]) -> tuple[float, ...]:
    """A softmax over sentences and title of how much each is about what the statement is about, directions left aside."""
    topic = [stem for stem in statement.stems if not direction(stem)]
    units = (*paper.sentences, paper.title)
    about = [coverage(topic, unit.stems, alike, idf) for unit in units]
    if cosines:
        about = [(one + other) / 2 for one, other in zip(about, cosines, strict=True)]
    powers = [math.exp(_SHARPNESS * (value - max(about))) for value in about]
    return tuple(power / sum(powers) for power in powers)
