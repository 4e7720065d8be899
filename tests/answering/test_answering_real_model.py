"""Replies of the kinds that Qwen2.5-Coder-1.5B gave in trials (docs/evaluation.md), and what the pipeline makes of them."""

from __future__ import annotations

from answering_parts import FakeRetriever, ScriptedModel, answerer

from rag.errors import BudgetError, ModelError
from rag.records import Paper, Progress

CLIP = Paper(
    "clip",
    "Duoduo CLIP: Efficient 3D Understanding with Multi-View Images",
    "We introduce Duoduo CLIP, a model for 3D representation learning that learns shape encodings from multi-view images instead of "
    "point-clouds. The choice of multi-view images allows us to leverage 2D priors from off-the-shelf CLIP models. Compared with "
    "methods based on point clouds, it reduces training to only 57 A5000 hours.",
)
OTHER = Paper(
    "other",
    "Improving Long-Text Alignment",
    "We propose LongAlign, which encodes long texts in segments. It needs 20 hours of fine-tuning.",
)
QUESTION = "How many A5000 hours does Duoduo CLIP need?"
REFUSAL = "The papers given do not answer this question."
ANSWER = "Compared with methods based on point clouds, it reduces training to only 57 A5000 hours [1]."


class TestRefusingWhatThePapersAnswer:
    """It refused with three papers in the prompt, the first of which answers the question in so many words."""

    def test_it_is_asked_again_with_the_nearest_paper_alone(self) -> None:
        model = ScriptedModel([REFUSAL, ANSWER])
        events = list(answerer(model, (CLIP, OTHER)).stream(QUESTION))
        answer = events[-1]
        assert [[source.paper.id for source in request.sources] for request in model.requests] == [["clip", "other"], ["clip"]]
        assert (answer.abstained, answer.text) == (False, ANSWER)  # type: ignore[union-attr]
        assert answer.notes == ("scripted found no answer in the 2 nearest papers at first, but one in the nearest alone.",)  # type: ignore[union-attr]
        assert "".join(event for event in events if isinstance(event, str)) == ANSWER
        assert "scripted, again with the nearest paper alone" in [event.detail for event in events if isinstance(event, Progress)]

    def test_a_second_refusal_abstains(self) -> None:
        model = ScriptedModel([REFUSAL, "The papers given do not answer this question. \n"])
        answer = answerer(model, (CLIP, OTHER)).ask(QUESTION)
        assert answer.abstained
        assert answer.reason == "scripted found no answer in the 2 nearest papers."
        assert (answer.notes, len(answer.usage.steps)) == ((), 2)

    def test_a_refusal_stands_when_the_search_is_not_sure(self) -> None:
        model = ScriptedModel([REFUSAL, ANSWER])
        assert answerer(model, (CLIP, OTHER), retriever=FakeRetriever((CLIP, OTHER), answerable=0.7)).ask(QUESTION).abstained
        assert len(model.requests) == 1

    def test_a_fault_in_the_second_look_costs_nothing(self) -> None:
        for fault in (ModelError("It broke.", kind="server"), BudgetError("Too much.")):
            answer = answerer(ScriptedModel([REFUSAL, fault]), (CLIP, OTHER)).ask(QUESTION)
            assert (answer.abstained, answer.reason) == (True, "scripted found no answer in the 2 nearest papers.")


class TestMarksInFront:
    """Asked for a figure or for papers, it put the number first, as in a list of references."""

    def test_the_mark_goes_behind_what_it_belongs_to(self) -> None:
        answer = answerer(ScriptedModel(["[1] 57 A5000 hours"]), [CLIP, OTHER]).ask(QUESTION)
        assert answer.text == "57 A5000 hours [1]."
        assert [(statement.verdict, statement.citations[0].number) for statement in answer.statements] == [("quoted", 1)]

    def test_titles_in_a_row_become_lines(self) -> None:
        reply = f"[1] {CLIP.title} [2] {OTHER.title}"
        assert answerer(ScriptedModel([reply]), [CLIP, OTHER]).ask(QUESTION).text == f"- {CLIP.title} [1].\n- {OTHER.title} [2]."

    def test_a_mark_that_is_the_subject_stays(self) -> None:
        reply = "[1] reduces training to only 57 A5000 hours."
        assert answerer(ScriptedModel([reply]), [CLIP, OTHER]).ask(QUESTION).text == reply

    def test_marks_alone_are_no_answer(self) -> None:
        answer = answerer(ScriptedModel(["[1] [3]"]), [CLIP, OTHER]).ask(QUESTION)
        assert "57 A5000 hours [1]." in answer.text
        assert answer.notes == ("scripted gave no usable answer; these sentences of the abstracts stand in for it.",)


def test_a_refusal_behind_a_mark_is_a_refusal() -> None:
    answer = answerer(ScriptedModel([f"[1] {REFUSAL}"]), [CLIP, OTHER]).ask(QUESTION)
    assert (answer.abstained, answer.citations) == (True, ())
    assert answer.text.endswith(
        "The first of them says: “Compared with methods based on point clouds, it reduces training to only 57 A5000 hours.”"
    )
