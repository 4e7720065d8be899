"""What a question asks for: an answer, a set or a count, and about which topic."""

import pytest

from rag.retrieval.constraints import Facets
from rag.retrieval.planner import plan_question

NO_FACETS = Facets()


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("which papers study turn-taking?", "turn-taking"),
        ("What papers are about graph coarsening?", "graph coarsening"),
        ("which papers adress graph coarsening?", "graph coarsening"),
        ("which papers discus graph coarsening?", "graph coarsening"),
        ("which papers on covert channels?", "covert channels"),
        ("which papers covert channels?", "covert channels"),
        ("List all papers that use contrastive learning", "contrastive learning"),
        ("can you show me papers on tokenization please?", "tokenization"),
        ("papers about sparse attention", "sparse attention"),
        ("all work on protein folding", "protein folding"),
        ("who works on causal inference?", "causal inference"),
        ("Are there any papers that use wavelets for audio?", "wavelets for audio"),
        ("is there work on unlearning?", "unlearning"),
        ("Is there a paper on soil moisture?", "soil moisture"),
        ("has anyone studied grokking?", "grokking"),
        ("Which studies examine forgetting?", "forgetting"),
        ("I'm looking for papers on quantum kernels", "quantum kernels"),
        ("what has been published on membership inference?", "membership inference"),
        ("show me everything about pruning", "pruning"),
        ("pruning papers", "pruning"),
        ("Does the corpus contain papers about agriculture?", "agriculture"),
        ("Which vision papers study calibration?", "vision calibration"),
        ("Which papers evaluate agents in games?", "evaluate agents in games"),
    ],
)
def test_questions_for_a_set_are_recognised_and_leave_their_topic(question: str, topic: str) -> None:
    plan = plan_question(question, NO_FACETS)
    assert (plan.mode, plan.count, plan.topic) == ("list", False, topic)
    assert plan.question == question


@pytest.mark.parametrize(
    "question",
    [
        "What is dropout?",
        "How does batch normalization help?",
        "Which benchmark studies disclosure rules with agents?",
        "Which matrices does the method share?",
        "what works best for pruning?",
        "How many GPU hours does training need?",
        "How much memory is saved?",
        "list the components of the model",
        "Tell me about turn-taking",
        "self-supervised dataset distillation",
        "Who wrote this paper?",
        "Give me an overview of papers on safety",
    ],
)
def test_other_questions_are_answered(question: str) -> None:
    assert plan_question(question, NO_FACETS).mode == "answer"


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("How many papers are about graphs?", "graphs"),
        ("how many posters on diffusion are there", "diffusion"),
        ("What is the number of papers on bandits?", "bandits"),
        ("Count papers about audio", "audio"),
        ("how many of the papers use reinforcement learning?", "reinforcement learning"),
        ("how many papers are there?", ""),
    ],
)
def test_counts_are_lists_that_ask_for_a_number(question: str, topic: str) -> None:
    plan = plan_question(question, NO_FACETS)
    assert (plan.mode, plan.count, plan.topic) == ("list", True, topic)


def test_a_question_about_one_paper_is_answered_but_searched_without_its_wrapping() -> None:
    plan = plan_question("Which paper introduces Adam?", NO_FACETS)
    assert (plan.mode, plan.topic) == ("answer", "Adam")


def test_all_papers_are_a_list_without_a_topic() -> None:
    assert plan_question("Can you list all the papers in the corpus?", NO_FACETS).topic == ""


@pytest.mark.parametrize(
    ("question", "limit"),
    [("list five papers about trees", 5), ("top 3 papers on trees", 3), ("12 papers about trees", 12), ("papers about 3D scenes", None)],
)
def test_the_number_asked_for_is_a_limit(question: str, limit: int | None) -> None:
    assert plan_question(question, NO_FACETS).limit == limit


def test_the_mode_can_be_forced() -> None:
    assert plan_question("What is dropout?", NO_FACETS, force_mode="list").mode == "list"
    forced = plan_question("which papers study dropout?", NO_FACETS, force_mode="answer")
    assert (forced.mode, forced.topic) == ("answer", "dropout")


@pytest.mark.parametrize("question", ["", "   ", "?!", "🙂", "x" * 50_000, "which papers " * 4_000])
def test_any_text_has_a_plan(question: str) -> None:
    assert plan_question(question, NO_FACETS).question == question
