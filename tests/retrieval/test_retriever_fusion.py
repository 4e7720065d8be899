import numpy as np
import pytest

from rag.retrieval.fusion import Ranking, fuse, lexical_ceiling, lexical_level, term_weights


def test_rare_terms_weigh_more_and_unknown_ones_most() -> None:
    weights = term_weights(("common", "rare", "unknown"), {"common": 60, "rare": 2}, 100)
    assert weights["common"] == pytest.approx(1e-6)
    assert weights["rare"] == pytest.approx(np.log(98.5 / 2.5))
    assert weights["unknown"] == pytest.approx(np.log(100.5 / 0.5))


def test_the_ceiling_is_what_bm25_cannot_pass() -> None:
    assert lexical_ceiling([1.0, 2.0]) == pytest.approx(6.6)
    assert lexical_ceiling([]) == 1.0


@pytest.mark.parametrize(
    ("papers", "bm25", "expected"),
    [
        (30, [10.0, 8.0, 6.0, 4.0, 2.0, 1.0], 6.0),
        (100, [10.0] * 20, 10.0),
        (1_000, [4.0] * 50, 2.0),
        (9_000, [3.0] * 900, 3.0),
        (30, [], 0.6),
    ],
)
def test_the_level_is_the_mean_of_the_best_tenth(papers: int, bm25: list[float], expected: float) -> None:
    assert lexical_level(bm25, papers, 10.0) == pytest.approx(expected)


def test_fusion_adds_cosines_and_lexical_units() -> None:
    one = np.array([1.0, 0.0])
    scores = fuse(one * 0.4, one * 0.8, one * 6.0, 3.0, Ranking(lexical=0.15, window=0.75))
    assert scores.tolist() == pytest.approx([0.7 + 0.3, 0.0])
