"""List mode: how probably each candidate is one of the papers asked for, and where the list ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log1p
from typing import TYPE_CHECKING

from rag.records import Hit
from rag.retrieval.background import Background, Spread, aboutness
from rag.retrieval.fitted import MATCH
from rag.retrieval.topic import PaperWords, Topic

if TYPE_CHECKING:
    from rag.protocols import Vectors

# Many improbable papers would otherwise outweigh the few probable ones when the expected number of matches is summed.
_NEGLIGIBLE = 0.05


@dataclass(frozen=True, slots=True)
class MatchFeatures:
    """What the probability of a match is computed from."""

    height: float
    """`ln(1 + z)`, z being the paper's aboutness in standard deviations of the corpus, at least 0."""
    gap: float
    """Standard deviations between the best paper and this one."""
    full: float
    """1 when every informative word of the topic stands in the paper."""
    missing: float
    """IDF of the topic's words that do not stand in the paper."""

    @property
    def probability(self) -> float:
        """Calibrated: of papers with probability 0.7, about seven in ten match."""
        logit = MATCH["constant"] + MATCH["height"] * self.height + MATCH["gap"] * self.gap
        logit += MATCH["full"] * self.full + MATCH["missing"] * self.missing
        return 1 / (1 + exp(-logit))


def match_features(
    topic: Topic, vector: Vectors, hits: Sequence[Hit], words: Sequence[PaperWords], background: Background
) -> list[MatchFeatures]:
    """The features of each hit; `vector` is the topic's embedding, `words` are the hits' own."""
    if not hits:
        return []
    spread: Spread = background.spread(topic, vector)
    heights = [spread.standardised(score) for score in hit_aboutness(topic, hits, words, background.mean_length)]
    best = max(heights)
    found = []
    for height, held in zip(heights, words, strict=True):
        covered = topic.coverage(held)
        missing = topic.weight * (1 - covered)
        found.append(MatchFeatures(log1p(max(height, 0.0)), best - height, float(topic.weight > 0 and missing < 1e-9), missing))
    return found


def hit_aboutness(topic: Topic, hits: Sequence[Hit], words: Sequence[PaperWords], mean_length: float) -> list[float]:
    """How much each hit is about the topic, in the order of `hits`; `mean_length` in terms."""
    import numpy as np

    whole = np.array([hit.signals.whole_cosine for hit in hits])
    window = np.array([hit.signals.window_cosine for hit in hits])
    lexical = np.array([topic.lexical(held, mean_length) for held in words])
    return [float(score) for score in aboutness(whole, window, lexical)]


def best_cut(probabilities: Sequence[float]) -> int:
    """How many of the papers, most probable first, make the list whose expected F1 is highest; 0 for none.

    The expectation is taken as twice the expected hits over list length plus expected matches (Ye et al., 2012, for
    independent labels).
    """
    ordered = sorted(probabilities, reverse=True)
    matches = sum(p for p in ordered if p >= _NEGLIGIBLE)
    best, cut, expected = 0.0, 0, 0.0
    for length, probability in enumerate(ordered, 1):
        expected += probability
        if (value := 2 * expected / (length + matches)) > best:
            best, cut = value, length
    return cut


def matching(hits: Sequence[Hit], features: Sequence[MatchFeatures]) -> tuple[Hit, ...]:
    """The hits that make the list, those most about the topic first, each with its probability as score.

    Probability decides what is in; among what is in, aboutness orders better (docs/evaluation.md).
    """
    probabilities = [found.probability for found in features]
    chosen = sorted(range(len(hits)), key=lambda i: -probabilities[i])[: best_cut(probabilities)]
    order = sorted(chosen, key=lambda i: -features[i].height)
    return tuple(replace(hits[i], rank=rank, score=probabilities[i]) for rank, i in enumerate(order, 1))
