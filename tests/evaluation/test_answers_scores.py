"""Figures of answers, from answers that are given: every value by hand."""

from dataclasses import replace

import pytest

from rag.errors import UsageError
from rag.evaluation.answers import (
    Asked,
    Question,
    answers_json,
    answers_rows,
    compare_answers,
    comparison_json,
    comparison_rows,
    parse_variant,
    score_answers,
)
from rag.records import Answer, Citation, Hit, Paper, Retrieval, Span

PAPERS = {key: Paper(key, f"Title {key}", f"Abstract {key}.") for key in "abcdef"}


def asked(
    kind: str,
    right: str,
    *,
    cited: str = "",
    text: str = "",
    abstained: bool = False,
    probability: float = 0.9,
    facts: tuple[str, ...] = (),
) -> Asked:
    """An answer that cites the papers `cited`, in order; they are all that the search found."""
    hits = tuple(Hit(rank, 1.0, PAPERS[key], Span(0, 1, "A")) for rank, key in enumerate(cited, 1))
    citations = tuple(Citation(number, PAPERS[key], "", "supported", 1.0) for number, key in enumerate(cited, 1))
    text = text or " ".join(f"Said [{c.number}]." for c in citations)
    found = Retrieval("q", hits, 6, probability, abstained)
    answer = Answer("q", text, abstained=abstained, citations=() if abstained else citations, retrieval=found)
    return Asked(
        Question(f"{kind}-{right}-{cited}-{text}", kind, "q", tuple(right), facts), answer, tuple(cited), () if abstained else tuple(cited)
    )


def mean(measured: list[Asked], kind: str, name: str) -> float:
    return score_answers(measured).measures[kind][name].mean


def test_rankings_of_questions_for_one_paper() -> None:
    answers = [asked("which", "a", cited="abc"), asked("which", "b", cited="abc"), asked("which", "f", cited="abc")]
    assert mean(answers, "which", "hit@1") == pytest.approx(1 / 3)
    assert mean(answers, "which", "hit@3") == pytest.approx(2 / 3)
    assert mean(answers, "which", "MRR") == pytest.approx(0.5)
    assert mean(answers, "which", "cited first") == pytest.approx(1 / 3)


def test_a_returned_set_has_precision_recall_and_f1() -> None:
    answers = [asked("list", "abcd", cited="abe")]
    assert mean(answers, "list", "set precision") == pytest.approx(2 / 3)
    assert mean(answers, "list", "set recall") == pytest.approx(0.5)
    assert mean(answers, "list", "set F1") == pytest.approx(4 / 7)
    assert mean(answers, "list", "R-precision") == pytest.approx(0.5)
    assert mean(answers, "list", "set size / labels") == pytest.approx(0.75)


def test_the_size_of_sets_is_also_taken_over_all_questions_together() -> None:
    answers = [asked("list", "abcd", cited="ab"), asked("list", "c", cited="abc")]
    assert mean(answers, "list", "set size / labels") == pytest.approx((0.5 + 3) / 2)
    assert mean(answers, "list", "set size / labels, in all") == pytest.approx(5 / 5)


def test_a_question_without_results_counts_zero() -> None:
    answers = [asked("list", "ab", cited="ab"), asked("list", "cd")]
    assert mean(answers, "list", "set F1") == pytest.approx(0.5)
    assert mean(answers, "list", "hit@1") == pytest.approx(0.5)


def test_a_refused_list_returns_nothing_but_is_still_ranked() -> None:
    answers = [asked("list", "ab", cited="ab", text="Not here.", abstained=True)]
    assert mean(answers, "list", "set recall") == 0
    assert mean(answers, "list", "R-precision") == 1
    assert mean(answers, "list", "wrongly refused") == 1


@pytest.mark.parametrize(
    ("text", "contained"), [("It reaches 52.52% [1].", 1), ("It reaches $52.52\\%$ [1].", 1), ("It reaches a lot [1].", 0)]
)
def test_a_fact_is_contained_whatever_its_markup(text: str, contained: int) -> None:
    assert mean([asked("fact", "a", cited="a", text=text, facts=("52.52%", "53"))], "fact", "fact contained") == contained


@pytest.mark.parametrize(
    ("cited", "text", "valid"),
    [
        ("a", "Said [1].", 1),
        ("ab", "Said [1] and [2?].", 1),
        ("a", "Said [1] and [2].", 0),
        ("", "Said nothing.", 0),
        ("a", "A [1](http://example.org) [1].", 1),
    ],
)
def test_citations_are_valid_when_every_number_is_one(cited: str, text: str, valid: int) -> None:
    assert mean([asked("which", "a", cited=cited, text=text)], "which", "citations valid") == valid


def test_a_citation_of_a_paper_that_was_not_found_is_invalid() -> None:
    good = asked("which", "a", cited="a")
    assert good.answer.retrieval is not None
    elsewhere = replace(good.answer, retrieval=replace(good.answer.retrieval, hits=()))
    assert mean([replace(good, answer=elsewhere)], "which", "citations valid") == 0


def test_refusals_are_measured_over_all_kinds() -> None:
    answers = [
        asked("none", "", abstained=True, text="No.", probability=0.1),
        asked("none", "", cited="a", probability=0.6),
        asked("which", "a", cited="a", probability=0.9),
        asked("list", "a", cited="a", text="No.", abstained=True, probability=0.3),
        asked("fact", "a", cited="a", probability=0.8),
    ]
    assert mean(answers, "none", "refused") == 0.5
    assert mean(answers, "all", "refusal precision") == 0.5
    assert mean(answers, "all", "refusal recall") == 0.5
    assert mean(answers, "all", "wrongly refused") == pytest.approx(1 / 3)
    assert mean(answers, "all", "answerable AUROC") == pytest.approx(5 / 6)
    interval = score_answers(answers).measures["all"]["answerable AUROC"]
    assert interval.low <= interval.mean <= interval.high


def test_without_unanswerable_questions_there_is_no_whole() -> None:
    figures = score_answers([asked("which", "a", cited="a")])
    assert set(figures.measures) == {"which"}
    assert figures.questions == {"which": 1}


def test_tables_and_json_say_the_same() -> None:
    figures = score_answers([asked("which", "a", cited="a")], data="file", system="s")
    rows = answers_rows(figures)
    assert rows[0] == ("kind", "questions", "measure", "mean", "95% interval")
    assert ("which", "1", "hit@1", "1.000", "1.000-1.000") in rows
    shown = answers_json(figures)
    assert (shown["data"], shown["system"], shown["questions"]) == ("file", "s", {"which": 1})


def test_two_systems_are_compared_question_by_question() -> None:
    first = asked("which", "a", cited="ab")
    second = replace(first, ranking=("b", "a"), returned=("b", "a"))
    comparison = compare_answers(score_answers([first]), score_answers([second]))
    assert comparison.differences["which"]["hit@1"].mean == -1
    assert comparison_rows(comparison)[1][:5] == ("which", "hit@1", "1.000", "0.000", "-1.000")
    assert set(comparison_json(comparison)) == {"a", "b", "differences"}


def test_a_variant_names_settings() -> None:
    assert parse_variant("model=offline, reranker=llm") == {"model": "offline", "reranker": "llm"}
    assert parse_variant("") == {}
    with pytest.raises(UsageError, match="Unknown variant 'lexical=1'"):
        parse_variant("lexical=1")
