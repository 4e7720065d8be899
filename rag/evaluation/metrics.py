"""Measures of rankings per query, their intervals, and the test between two systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.errors import MissingExtraError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Values = Mapping[str, float]
"""Query id to value."""

MEASURES: Mapping[str, str] = {
    "nDCG@10": "nDCG@10",
    "R@10": "R@10",
    "R@100": "R@100",
    "MRR@10": "RR@10",
    "hit@1": "Success@1",
    "hit@3": "Success@3",
    "R-precision": "Rprec",
}
"""Reported name to the name `ir-measures` knows."""

_RESAMPLES = 10_000
_SEED = 20_240_229


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over queries with its 95% bootstrap interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """B minus A over the same queries: mean, 95% interval, and the two-sided p of a paired randomisation test."""

    mean: float
    low: float
    high: float
    p: float


def score_rankings(
    qrels: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]], measures: Mapping[str, str] = MEASURES
) -> dict[str, dict[str, float]]:
    """Measure to query id to value, for every query of `qrels`; a query that is not in `rankings` counts zero.

    `rankings` gives paper ids, best first; `measures` maps the name to report to the one of `ir-measures`.
    Raises `MissingExtraError` without `ir-measures`.
    """
    try:
        import ir_measures
    except ImportError as error:
        raise MissingExtraError("Measuring retrieval", "eval") from error
    judged = [ir_measures.Qrel(query, paper, grade) for query, grades in qrels.items() for paper, grade in grades.items()]
    # Ranks as scores: equal scores would be reordered by paper id.
    run = [ir_measures.ScoredDoc(query, paper, -float(rank)) for query, papers in rankings.items() for rank, paper in enumerate(papers)]
    parsed = {ir_measures.parse_measure(theirs): ours for ours, theirs in measures.items()}
    values = {name: dict.fromkeys(qrels, 0.0) for name in measures}
    if run:
        for metric in ir_measures.iter_calc(list(parsed), judged, run):
            values[parsed[metric.measure]][metric.query_id] = float(metric.value)
    return values


def figure(values: Values) -> Figure:
    """Mean of `values` with its 95% percentile bootstrap interval (Efron, 1979); zeros when there are none."""
    import numpy as np

    if not values:
        return Figure(0.0, 0.0, 0.0)
    sample = np.fromiter(values.values(), float)
    low, high = _interval(sample)
    return Figure(float(sample.mean()), low, high)


def difference(a: Values, b: Values) -> Difference:
    """How much better `b` is than `a` over the queries of both; signs flipped at random for the test (Smucker et al., 2007)."""
    import numpy as np

    shared = [query for query in a if query in b]
    if not shared:
        return Difference(0.0, 0.0, 0.0, 1.0)
    gaps = np.array([b[query] - a[query] for query in shared])
    signs = np.random.default_rng(_SEED).integers(0, 2, (_RESAMPLES, len(gaps)), dtype=np.int8) * 2 - 1
    as_large = int((np.abs(signs @ gaps) >= abs(gaps.sum()) - 1e-12).sum())
    low, high = _interval(gaps)
    return Difference(float(gaps.mean()), low, high, (as_large + 1) / (_RESAMPLES + 1))


def _interval(sample: NDArray[np.float64]) -> tuple[float, float]:
    import numpy as np

    picks = np.random.default_rng(_SEED).integers(0, len(sample), (_RESAMPLES, len(sample)))
    low, high = np.percentile(sample[picks].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)
