"""Questions about a paper's record are answered from the record, with a citation, and by no model."""

from __future__ import annotations

import pytest
from answering_parts import PAPERS, ScriptedModel, answerer

from rag.answering import AskOptions
from rag.answering.details import asked_detail
from rag.records import Paper

TURNS = "“Talking Turns: When Machines Take the Floor” [1]"
LORA = "“Low-Rank Adapters for Small Models” [1]"
BARE = Paper("bare", "A Paper Without a Record", "We study little.")


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("who wrote it?", f"{LORA} was written by Grace Hopper."),
        ("Who are the authors?", f"{LORA} was written by Grace Hopper."),
        ("authors?", f"{LORA} was written by Grace Hopper."),
        ("when was it published?", f"{LORA} is dated 2024 (COLM 2024)."),
        ("which conference?", f"{LORA} appeared at COLM 2024."),
        ("where can I read it?", f"{LORA} is at https://openreview.net/forum?id=p2."),
        ("was it accepted?", f"The record of {LORA} in this corpus does not say."),
    ],
)
def test_a_follow_up_about_the_record_names_what_stands_there(question: str, told: str) -> None:
    model = ScriptedModel(["It was written by John Doe [2]."])
    answer = answerer(model).ask(question, AskOptions(focus=("p2",), standalone=f"{question} (“LoRA”)"))
    assert answer.text == told
    assert model.steps() == []
    assert [(citation.paper.id, citation.quote) for citation in answer.citations] == [("p2", "")]
    assert [statement.verdict for statement in answer.statements] == ["quoted"]
    assert answer.notes == ("Answered from the records of the papers.",)


def test_several_papers_get_a_line_each() -> None:
    answer = answerer(ScriptedModel(["no"])).ask("who wrote them?", AskOptions(focus=("p1", "p3")))
    assert (
        answer.text
        == f"{TURNS} was written by Ada Lovelace and Alan Turing.\n“Pruning Attention Heads” [2] was written by Edsger Dijkstra."
    )


@pytest.mark.parametrize(
    "question", ["who wrote Talking Turns?", "who is the author of the paper on turn-taking in spoken dialogue systems?"]
)
def test_a_question_that_stands_alone_is_answered_for_the_paper_it_names(question: str) -> None:
    answer = answerer(ScriptedModel(["no"])).ask(question)
    assert (answer.mode, answer.text) == ("answer", f"{TURNS} was written by Ada Lovelace and Alan Turing.")


@pytest.mark.parametrize("question", ["who wrote the paper on quantum chemistry?", "what year did transformers appear?"])
def test_a_paper_that_is_not_named_for_certain_is_left_to_the_search(question: str) -> None:
    model = ScriptedModel(["Machines interrupt too often [1]."])
    answerer(model).ask(question, AskOptions(mode="answer"))
    assert model.steps()[:1] == ["answer"]


def test_a_record_without_the_detail_says_so() -> None:
    answer = answerer(ScriptedModel(["no"]), [BARE]).ask("who wrote it?", AskOptions(focus=("bare",)))
    assert answer.text == "The record of “A Paper Without a Record” [1] in this corpus does not say."


def test_hostile_names_can_neither_cite_nor_link() -> None:
    paper = Paper(
        "x", "Title [2]", "We study little.", authors=("Eve [3] https://evil.example", "Mallory\x1b[31m"), url="javascript:alert(1)"
    )
    ask = answerer(ScriptedModel(["no"]), [paper, *PAPERS]).ask
    text = ask("who wrote it?", AskOptions(focus=("x",))).text
    assert text == "“Title (2)” [1] was written by Eve (3) evil.example and Mallory."
    assert ask("link?", AskOptions(focus=("x",))).text == "The record of “Title (2)” [1] in this corpus does not say."


@pytest.mark.parametrize(
    "question",
    [
        "when does it fail?",
        "which papers study who wrote what?",
        "who wrote about turn-taking?",
        "what links the two?",
        "is it faster?",
        "why?",
    ],
)
def test_other_questions_are_for_the_abstracts(question: str) -> None:
    assert asked_detail(question) is None
