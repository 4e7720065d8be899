"""The offline model answers with the sentences that carry what was asked, each cited."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from rag.errors import ModelError
from rag.models.offline import OfflineModel
from rag.protocols import ChatDelta, ChatEnd, ChatRequest, Source
from rag.records import Hit, Paper, Span

SOLVER = Paper(
    "p1",
    "QuickSolve: A Parallel Solver for Diffusion Models",
    "Sampling from diffusion models is slow. However, it is unclear how to run the steps in parallel. We introduce QuickSolve, a "
    "parallel solver that needs no training. It works on three model families. Experiments show that QuickSolve is 12.1 times faster "
    "than sequential sampling. We release the code in two frameworks.",
)
DOCKING = Paper(
    "p2",
    "Flexible Docking of Proteins",
    "Docking predicts how a small molecule binds to a protein. We propose FlexDock, a regression model for flexible docking. "
    "FlexDock reaches an accuracy of 61% on a benchmark of 363 complexes. The code is public.",
)
BANDITS = Paper("p3", "Bandits with Little Memory", "We study bandits over metric spaces. Our algorithm needs logarithmic memory.")


def test_a_question_is_answered_with_the_sentence_that_carries_it() -> None:
    assert answered("What is QuickSolve?").startswith("We introduce QuickSolve, a parallel solver that needs no training [1].")


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("How much faster is QuickSolve than sequential sampling?", "12.1 times faster than sequential sampling [1]."),
        ("What accuracy does FlexDock reach?", "an accuracy of 61% on a benchmark of 363 complexes [2]."),
        ("How many complexes does the benchmark of FlexDock have?", "363 complexes [2]."),
        ("How much memory does the bandit algorithm need?", "Our algorithm needs logarithmic memory [3]."),
    ],
)
def test_a_fact_stands_in_the_answer(question: str, fact: str) -> None:
    assert fact in answered(question)


def test_the_paper_that_is_named_is_preferred_to_the_one_ranked_first() -> None:
    assert set(re.findall(r"\[(\d)\]", answered("How accurate is FlexDock?"))) == {"2"}


def test_a_question_for_papers_is_led_by_the_title() -> None:
    assert answered("which papers study flexible docking?").startswith(
        '"Flexible Docking of Proteins" [2]: We propose FlexDock, a regression'
    )
    assert answered("memory of bandits").startswith('"Bandits with Little Memory" [3]: ')


def test_papers_that_do_not_match_stay_out() -> None:
    assert "[2]" not in answered("which papers study parallel sampling of diffusion models?")
    assert "[3]" not in answered("which papers study parallel sampling of diffusion models?")


def test_papers_that_match_alike_are_all_named() -> None:
    twins = [Paper(f"t{n}", f"Turn-taking {n}", f"We study turn-taking of speakers in corpus {n}. It is hard.") for n in (1, 2)]
    text = answered("which papers study turn-taking?", [*twins, BANDITS])
    assert text.splitlines() == [
        '"Turn-taking 1" [1]: We study turn-taking of speakers in corpus 1 [1].',
        '"Turn-taking 2" [2]: We study turn-taking of speakers in corpus 2 [2].',
    ]


def test_of_papers_with_the_same_words_the_one_that_the_search_rates_far_higher_leads() -> None:
    ahead, behind = (Paper(f"t{n}", f"Turn-taking {n}", f"We study turn-taking of speakers in corpus {n}.") for n in (1, 2))
    scores = {behind: 0.2, ahead: 0.9}
    given = tuple(Source(n, paper, Hit(n, score, paper, Span(0, 0, ""))) for n, (paper, score) in enumerate(scores.items(), start=1))
    text = "".join(item.text for item in streamed("which papers study turn-taking?", given)[:-1])
    assert text.startswith('"Turn-taking 1" [2]: ')


def test_of_two_papers_named_both_are_quoted() -> None:
    text = answered("compare QuickSolve with FlexDock", [SOLVER, BANDITS, replace(DOCKING, title="FlexDock: Flexible Docking")])
    assert set(re.findall(r"\[(\d)\]", text)) == {"1", "3"}


def test_a_list_has_one_line_for_each_source_in_order() -> None:
    assert answered("which papers propose a model?", mode="list").splitlines() == [
        '- "QuickSolve: A Parallel Solver for Diffusion Models" [1]: Sampling from diffusion models is slow [1].',
        '- "Flexible Docking of Proteins" [2]: We propose FlexDock, a regression model for flexible docking [2].',
        '- "Bandits with Little Memory" [3]: We study bandits over metric spaces [3].',
    ]


def test_findings_are_preferred_to_the_state_of_the_field() -> None:
    assert "unclear" not in answered("parallel steps of diffusion models")


def test_without_shared_words_the_passage_decides() -> None:
    abstract = BANDITS.abstract
    start = abstract.index("Our")
    hit = Hit(1, 1.0, BANDITS, Span(start, len(abstract), abstract[start:]))
    text = "".join(item.text for item in streamed("¿cuánta memoria?", (Source(1, BANDITS, hit),))[:-1])
    assert text == "Our algorithm needs logarithmic memory [1]."


def test_sentences_are_verbatim_and_every_one_is_cited() -> None:
    for paper, text in ((SOLVER, answered("How does QuickSolve work?")), (DOCKING, answered("What does FlexDock do?"))):
        for sentence in re.split(r"(?<=\]\.) ", text):
            assert re.sub(r" \[\d\]", "", sentence) in paper.abstract


def test_brackets_of_an_abstract_never_pass_for_citations() -> None:
    paper = Paper("x", "A Reply to [2]", "We extend gradient clipping as in [2] and [3, 4] and 【5】 to graphs.")
    assert answered("Who extends gradient clipping?", [paper]) == (
        '"A Reply to (2)" [1]: We extend gradient clipping as in (2) and (3, 4) and (5) to graphs [1].'
    )


@pytest.mark.parametrize(
    ("sentence", "cited"),
    [
        ("We ask why", "We ask why [1]"),
        ("Is it true?", "Is it true [1]?"),
        ("They say “yes.”", "They say “yes [1].”"),
        ("Wait...", "Wait [1]..."),
    ],
)
def test_the_citation_stands_before_the_final_stop(sentence: str, cited: str) -> None:
    assert answered("?", [Paper("x", "T", sentence)]) == cited


def test_a_paper_without_abstract_is_cited_by_its_title() -> None:
    assert answered("which papers study x?", [Paper("x", "Only a Title", "")]) == '"Only a Title" [1].'
    assert answered("What is x?", [Paper("x", "Only a Title", "")]) == '"Only a Title" [1].'


def test_the_same_request_gives_the_same_answer_word_by_word() -> None:
    first, second = (streamed("What is QuickSolve?", sources()) for _ in range(2))
    assert first == second
    assert [item.text for item in first[:3]] == ["We", " introduce", " QuickSolve,"]
    assert first[-1] == ChatEnd("stop", 0, 0)


def test_without_sources_nothing_is_made_up() -> None:
    with pytest.raises(ModelError, match="none was given") as raised:
        streamed("What is QuickSolve?", ())
    assert raised.value.kind == "empty"


@pytest.mark.parametrize("question", ["", "?", "the of and", "\x00", "[1] [2]", "a" * 10_000, "🙂", '"NEAR(" OR *'])
def test_odd_questions_still_get_an_answer(question: str) -> None:
    assert re.search(r"\[[123]\]", answered(question))


def test_it_introduces_itself_as_not_generative() -> None:
    model = OfflineModel()
    assert (model.name, model.generative, model.context_tokens > 100_000) == ("offline", False, True)


def test_an_answer_takes_little_time() -> None:
    many = sources([SOLVER, DOCKING, BANDITS] * 3)
    streamed("What is QuickSolve?", many)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        streamed("How much faster is QuickSolve?", many)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.02


def sources(papers: list[Paper] | None = None) -> tuple[Source, ...]:
    return tuple(Source(number, paper) for number, paper in enumerate(papers or [SOLVER, DOCKING, BANDITS], start=1))


def streamed(question: str, given: tuple[Source, ...], mode: str = "answer") -> list[ChatDelta | ChatEnd]:
    return list(OfflineModel().stream(ChatRequest("answer", (), 500, question, given, mode)))


def answered(question: str, papers: list[Paper] | None = None, mode: str = "answer") -> str:
    return "".join(item.text for item in streamed(question, sources(papers), mode)[:-1])
