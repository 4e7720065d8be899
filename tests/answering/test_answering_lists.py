"""List mode: counting, judging with quotes, limits; questions in other languages."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from answering_parts import PAPERS, FakeRetriever, ScriptedModel, answerer

from rag.answering import AskOptions
from rag.answering.judge import quoted
from rag.errors import ModelError
from rag.models.offline import OfflineModel
from rag.records import Progress

QUESTION = "Which papers study turn-taking?"
GERMAN = "Welche Ergebnisse gibt es für die Anpassung von Sprachmodellen?"


def verdicts(*matches: tuple[int, str]) -> str:
    return json.dumps({"verdicts": [{"number": number, "matches": True, "quote": quote} for number, quote in matches]})


def test_the_offline_list_names_all_matches_with_their_evidence() -> None:
    answer = answerer(OfflineModel(), retriever=FakeRetriever(matched=2)).ask(QUESTION)
    head, empty, *lines = answer.text.split("\n")
    assert (head, empty) == ("2 of 3 papers match (3 scanned, 3 judged):", "")
    assert len(lines) == 2
    assert (answer.mode, answer.scanned, answer.judged, answer.matched) == ("list", 3, 3, 2)
    assert [citation.number for citation in answer.citations] == [1, 2]
    assert [statement.verdict for statement in answer.statements] == ["quoted", "quoted"]
    assert all(answer.text[s.start : s.end] == s.text for s in answer.statements)


@pytest.mark.parametrize(
    ("question", "matched", "head"),
    [
        ("How many papers study turn-taking?", 1, "1 of 3 papers matches (3 scanned, 3 judged)."),
        ("How many papers study turn-taking?", 3, "All 3 papers match (3 scanned, 3 judged)."),
        ("List two papers about turn-taking", 3, "All 3 papers match (3 scanned, 3 judged). The best 2:"),
    ],
)
def test_the_head_says_how_many_match(question: str, matched: int, head: str) -> None:
    assert answerer(OfflineModel(), retriever=FakeRetriever(matched=matched)).ask(question).text.split("\n")[0] == head


def test_max_shown_limits_what_is_shown_and_not_what_is_counted() -> None:
    answer = answerer(OfflineModel()).ask(QUESTION, AskOptions(max_shown=1))
    assert (answer.matched, len(answer.citations)) == (3, 1)
    assert answer.text.startswith("All 3 papers match (3 scanned, 3 judged). The best 1:")


def test_no_match_abstains() -> None:
    answer = answerer(OfflineModel(), retriever=FakeRetriever(matched=0)).ask(QUESTION)
    assert (answer.abstained, answer.matched, answer.reason) == (True, 0, "None of 3 papers matches.")


def test_numbers_of_the_conversation_stay_in_a_list() -> None:
    answer = answerer(OfflineModel(), retriever=FakeRetriever(matched=2)).ask(QUESTION, AskOptions(numbers={"p2": 1}))
    assert [(c.number, c.paper.id) for c in answer.citations] == [(1, "p2"), (2, "p1")]


class TestJudging:
    def test_only_matches_with_a_quote_from_the_abstract_count(self) -> None:
        model = ScriptedModel([verdicts((1, "We study Turn-Taking in spoken dialogue"), (2, "LoRA cures everything"), (3, "heads"))])
        answer = answerer(model).ask(QUESTION)
        assert answer.text == (
            "1 of 3 papers matches (3 scanned, 3 judged):\n\n"
            "- “Talking Turns: When Machines Take the Floor” [1]: We study turn-taking in spoken dialogue [1]."
        )
        assert (answer.matched, answer.judged, answer.citations[0].quote) == (1, 3, "We study turn-taking in spoken dialogue")
        assert model.requests[0].schema is not None

    def test_candidates_below_the_cut_are_judged_too(self) -> None:
        model = ScriptedModel([verdicts((3, "Attention heads can be pruned after training"))])
        answer = answerer(model, retriever=FakeRetriever(matched=1)).ask(QUESTION)
        assert [citation.paper.id for citation in answer.citations] == ["p3"]

    def test_a_judge_that_accepts_everything_is_not_believed(self) -> None:
        papers = [replace(PAPERS[n % 3], id=f"x{n}") for n in range(6)]
        model = ScriptedModel([verdicts(*((n + 1, PAPERS[n % 3].abstract.split(". ")[0]) for n in range(6)))])
        answer = answerer(model, papers, retriever=FakeRetriever(papers, matched=2)).ask(QUESTION)
        assert [citation.paper.id for citation in answer.citations] == ["x0", "x1"]
        assert answer.notes == ("scripted accepted 6 papers without distinction; the search's own scores decide on them.",)

    def test_a_judge_may_accept_everything_that_the_search_accepts_mostly_too(self) -> None:
        papers = [replace(PAPERS[n % 3], id=f"x{n}") for n in range(6)]
        model = ScriptedModel([verdicts(*((n + 1, PAPERS[n % 3].abstract.split(". ")[0]) for n in range(6)))])
        answer = answerer(model, papers, retriever=FakeRetriever(papers, matched=3)).ask(QUESTION)
        assert answer.matched == 6

    def test_the_model_may_find_that_none_matches(self) -> None:
        answer = answerer(ScriptedModel([verdicts()])).ask(QUESTION)
        assert answer.abstained
        assert answer.reason == "scripted judged the 3 nearest papers and none matches."

    def test_candidates_come_in_batches_that_fit(self) -> None:
        model = ScriptedModel([verdicts((1, "We study turn-taking in spoken dialogue systems"))], context_tokens=450)
        events = list(answerer(model).stream(QUESTION))
        assert [len(request.sources) for request in model.requests] == [1, 1, 1]
        assert [event.detail for event in events if isinstance(event, Progress) and event.step == "judge"] == ["0 of 3", "1 of 3", "2 of 3"]

    @pytest.mark.parametrize("fault", [ModelError("It broke.", kind="server"), "I would say all of them.", "[1, 2]"])
    def test_a_failing_judge_leaves_the_decision_to_the_search(self, fault: object) -> None:
        answer = answerer(ScriptedModel([fault]), retriever=FakeRetriever(matched=2)).ask(QUESTION)  # type: ignore[list-item]  # scripted
        assert [citation.paper.id for citation in answer.citations] == ["p1", "p2"]
        assert answer.notes[0].startswith("Judging failed after 0 of 3 papers (")

    def test_a_judge_failing_midway_decides_as_far_as_it_came(self) -> None:
        model = ScriptedModel([verdicts((1, "not in there at all")), ModelError("It broke.", kind="server")], context_tokens=450)
        answer = answerer(model, retriever=FakeRetriever(matched=2)).ask(QUESTION)
        assert [citation.paper.id for citation in answer.citations] == ["p2"]

    @pytest.mark.parametrize(
        "reply", ['{"verdicts": [{"number": "1", "matches": true, "quote": "We study turn-taking in spoken dialogue"}]}']
    )
    def test_numbers_in_quotes_are_understood(self, reply: str) -> None:
        assert answerer(ScriptedModel([reply])).ask(QUESTION).matched == 1

    @pytest.mark.parametrize(
        ("quote", "found"),
        [
            ("  “we STUDY turn-taking …” ", "We study turn-taking"),
            ("91.5% accuracy", None),
            ("with 91.5% accuracy", "with 91.5% accuracy"),
            ("with 19.5% accuracy", None),
            ("", None),
        ],
    )
    def test_a_quote_must_stand_in_the_abstract(self, quote: str, found: str | None) -> None:
        span = quoted(quote, PAPERS[0].abstract)
        assert (span.text if span else None) == found
        assert span is None or PAPERS[0].abstract[span.start : span.end] == span.text


class TestLanguages:
    def test_a_question_is_translated_for_the_search_and_answered_in_its_language(self) -> None:
        model = ScriptedModel(["What is known about adapting language models?", "LoRA passt Sprachmodelle mit wenigen Parametern an [2]."])
        retriever = FakeRetriever()
        answer = answerer(model, retriever=retriever).ask(GERMAN)
        assert "adapting language models" in retriever.plans[0].topic
        assert model.steps()[:2] == ["translate", "answer"]
        assert "Answer in German" in model.requests[1].messages[0].content
        assert GERMAN in model.requests[1].messages[-1].content
        assert answer.notes[0] == "Searched in English: What is known about adapting language models?"
        assert answer.statements[0].verdict != "unsupported"

    @pytest.mark.parametrize(
        "reply",
        ["", "Welche Ergebnisse gibt es für die Anpassung von Sprachmodellen?", "x" * 3_000, ModelError("It broke.", kind="server")],
    )
    def test_without_a_translation_the_question_is_searched_as_it_stands(self, reply: object) -> None:
        model = ScriptedModel([reply, "LoRA passt Sprachmodelle an [2]."])  # type: ignore[list-item]  # scripted
        answer = answerer(model).ask(GERMAN)
        assert answer.citations[0].paper.id == "p2"
        assert answer.notes[0].startswith("Translation failed (")
        assert answer.notes[0].endswith("; the question was searched as it stands.")

    @pytest.mark.parametrize("reply", ["Here is the translation:\n“What about LoRA?”", "Question: What about LoRA?", '"What about LoRA?"'])
    def test_wrapping_around_a_translation_is_taken_off(self, reply: str) -> None:
        answer = answerer(ScriptedModel([reply, "LoRA [2]."])).ask(GERMAN)
        assert answer.notes[0] == "Searched in English: What about LoRA?"

    def test_the_offline_model_translates_nothing(self) -> None:
        answer = answerer(OfflineModel()).ask("¿Qué trabajos estudian LoRA y AdamW?")
        assert answer.mode == "list"
        assert answer.usage.steps == ()

    def test_offline_the_reader_learns_what_was_searched(self) -> None:
        answer = answerer(OfflineModel()).ask("¿Qué trabajos estudian LoRA y AdamW?")
        assert answer.notes == ("The search reads English, and this question is Spanish: it looked for LoRA AdamW.",)
