import math

import pytest

from rag.evaluation.metrics import MEASURES, Difference, Figure, difference, figure, score_rankings


def test_measures_of_one_ranking() -> None:
    values = score_rankings({"q": {"a": 1, "b": 1, "c": 0}}, {"q": ["x", "a", "c", "b"]})
    assert set(values) == set(MEASURES)
    assert values["hit@1"]["q"] == 0
    assert values["hit@3"]["q"] == 1
    assert values["MRR@10"]["q"] == 0.5
    assert values["R@10"]["q"] == 1
    assert values["R-precision"]["q"] == 0.5
    ideal = 1 + 1 / math.log2(3)
    assert values["nDCG@10"]["q"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / ideal)


def test_a_query_without_results_counts_zero() -> None:
    values = score_rankings({"q": {"a": 1}, "r": {"a": 1}}, {"q": ["a"]})
    assert values["nDCG@10"] == {"q": 1.0, "r": 0.0}
    assert score_rankings({"q": {"a": 1}}, {})["hit@1"] == {"q": 0.0}


def test_the_given_order_decides_not_the_id() -> None:
    assert score_rankings({"q": {"a": 1}}, {"q": ["z", "a"]})["hit@1"]["q"] == 0
    assert score_rankings({"q": {"a": 1}}, {"q": ["a", "z"]})["hit@1"]["q"] == 1


def test_an_interval_holds_the_mean_and_is_the_same_each_time() -> None:
    values = {str(n): float(n % 2) for n in range(100)}
    first = figure(values)
    assert first == figure(values)
    assert first.mean == 0.5
    assert 0.38 < first.low < 0.42
    assert 0.58 < first.high < 0.62


def test_no_queries_give_zeros() -> None:
    assert figure({}) == Figure(0, 0, 0)
    assert difference({"q": 1.0}, {"r": 1.0}) == Difference(0, 0, 0, 1)


def test_equal_systems_do_not_differ() -> None:
    values = {str(n): float(n % 3) for n in range(30)}
    assert difference(values, values) == Difference(0, 0, 0, 1)


def test_a_system_that_is_always_better_differs() -> None:
    a = {str(n): 0.0 for n in range(30)}
    b = {str(n): 1.0 for n in range(30)}
    gap = difference(a, b)
    assert (gap.mean, gap.low, gap.high) == (1, 1, 1)
    assert gap.p < 0.001


def test_one_query_of_many_is_no_proof() -> None:
    a = {str(n): 0.0 for n in range(30)}
    assert difference(a, {**a, "3": 1.0}).p == 1
