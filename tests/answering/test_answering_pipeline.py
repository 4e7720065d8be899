"""The pipeline from question to answer, with parts in memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from answering_parts import PAPERS, FakeRetriever, ScriptedModel, answerer

from rag.answering import AskOptions
from rag.errors import BudgetError, ModelError, UsageError
from rag.models.offline import OfflineModel
from rag.prompting.framing import framed
from rag.prompting.templates import REFUSAL, Prompts
from rag.protocols import Message, Source
from rag.records import Answer, Progress

QUESTION = "How accurate is the judge model at turn changes?"
TRUE = "Our judge model predicts turn changes with 91.5% accuracy"


def ask(*replies: object, question: str = QUESTION, options: AskOptions = AskOptions(), **model: object) -> Answer:  # noqa: B008 - frozen
    return answerer(ScriptedModel(list(replies), **model)).ask(question, options)  # type: ignore[arg-type]


def deltas_of(events: list[object]) -> str:
    return "".join(event for event in events if isinstance(event, str))


class TestAnswerMode:
    def test_the_offline_answer_quotes_its_paper(self) -> None:
        answer = answerer(OfflineModel()).ask(QUESTION)
        assert answer.text == f"{TRUE} [1]."
        assert [(c.number, c.paper.id, c.support) for c in answer.citations] == [(1, "p1", "quoted")]
        assert (answer.mode, answer.model, answer.corpus, answer.scanned) == ("answer", "offline", "tests", 3)
        assert (answer.usage.prompt_tokens, answer.usage.steps) == (0, ())

    def test_deltas_progress_and_answer_come_in_this_order(self) -> None:
        events = list(answerer(ScriptedModel([f"{TRUE} [1]."])).stream(QUESTION))
        assert [event.step for event in events if isinstance(event, Progress)] == ["retrieve", "answer", "verify"]
        assert isinstance(events[-1], Answer)
        assert deltas_of(events) == events[-1].text == f"{TRUE} [1]."

    def test_numbers_follow_first_use_and_unknown_ones_are_reported(self) -> None:
        answer = ask("Attention heads can be pruned after training [3]. LoRA adapts language models with few parameters [2][77].")
        assert answer.text == "Attention heads can be pruned after training [1]. LoRA adapts language models with few parameters [2]."
        assert [(c.number, c.paper.id) for c in answer.citations] == [(1, "p3"), (2, "p2")]
        assert answer.dropped == ("[77]",)

    def test_numbers_of_the_conversation_stay(self) -> None:
        options = AskOptions(numbers={"p2": 1, "gone": 2})
        answer = ask("Heads can be pruned after training [4]. LoRA adapts language models [1].", options=options)
        assert [(c.number, c.paper.id) for c in answer.citations] == [(1, "p2"), (3, "p3")]

    def test_papers_in_focus_come_first_and_prevent_abstaining(self) -> None:
        model = ScriptedModel(["We remove 40% of the heads without loss [1]."])
        answer = answerer(model, retriever=FakeRetriever(answerable=0.0)).ask(QUESTION, AskOptions(focus=("p3",), k=2))
        assert answer.citations[0].paper.id == "p3"
        assert [source.paper.id for source in model.requests[0].sources] == ["p3", "p1", "p2"]

    def test_the_model_sees_history_and_the_resolved_question(self) -> None:
        model = ScriptedModel([f"{TRUE} [1]."])
        history = (Message("user", "Which papers study turn-taking?"), Message("assistant", "One does [1]."))
        answer = answerer(model).ask("And how well?", AskOptions(history=history, standalone=QUESTION, conversation="c1"))
        assert model.requests[0].messages[1:3] == history
        assert QUESTION in model.requests[0].messages[-1].content
        assert (answer.question, answer.standalone, answer.conversation) == ("And how well?", QUESTION, "c1")

    def test_tokens_come_from_the_server_or_are_marked_as_estimated(self) -> None:
        assert ask(f"{TRUE} [1].").usage.estimated is False
        estimated = ask(f"{TRUE} [1].", usage=None).usage
        assert estimated.estimated is True
        assert estimated.prompt_tokens > 200
        assert 5 < estimated.completion_tokens < 30

    @pytest.mark.parametrize("question", ["", "   \n"])
    def test_an_empty_question_is_refused(self, question: str) -> None:
        with pytest.raises(UsageError, match="empty"):
            ask("x", question=question)

    def test_the_prompt_is_kept_for_the_log(self) -> None:
        assert "<<<paper [1]>>>" in ask(f"{TRUE} [1].").prompt


class TestAbstaining:
    def test_a_question_beyond_the_corpus_names_the_nearest_papers(self) -> None:
        model = ScriptedModel(["never asked"])
        answer = answerer(model, retriever=FakeRetriever(answerable=0.01)).ask("Who won the cup?")
        assert answer.abstained
        assert answer.reason == "Nothing is close to it."
        assert [paper.id for paper in answer.nearest] == ["p1", "p2", "p3"]
        assert answer.text.startswith(
            "No paper in corpus 'tests' answers this question. Nothing is close to it. Nearest, but not about this: “Talking"
        )
        assert (model.requests, answer.citations) == ([], ())

    def test_the_model_decides_in_doubtful_cases(self) -> None:
        doubtful = FakeRetriever(answerable=0.3)
        assert not answerer(ScriptedModel([f"{TRUE} [1]."]), retriever=doubtful).ask(QUESTION).abstained
        assert answerer(OfflineModel(), retriever=doubtful).ask(QUESTION).abstained

    @pytest.mark.parametrize(
        "reply",
        [
            "The papers given do not answer this question.",
            "the papers given do not answer this question",
            "“The papers given do not answer this question.” They are about other things.",
        ],
    )
    def test_the_refusal_of_the_prompt_abstains_and_is_not_shown(self, reply: str) -> None:
        events = list(answerer(ScriptedModel([reply])).stream(QUESTION))
        answer = events[-1]
        assert isinstance(answer, Answer)
        assert answer.abstained
        assert answer.reason == "scripted found no answer in the 3 nearest papers."
        assert deltas_of(events) == answer.text
        assert answer.text.startswith(
            "No answer was found in corpus 'tests'. scripted found no answer in the 3 nearest papers. Nearest: “Talking"
        )
        assert answer.text.endswith(" The first of them says: “Our judge model predicts turn changes with 91.5% accuracy.”")

    def test_a_bare_topic_is_put_to_the_model_as_a_question(self) -> None:
        model = ScriptedModel([f"{TRUE} [1]."])
        for asked in ("turn-taking in dialogue.", "which papers treat turn-taking", "Sprecherwechsel in Dialogen"):
            answerer(model).ask(asked, AskOptions(mode="answer"))
        questions = [
            request.messages[-1].content.split("Question: ")[1].splitlines()[0] for request in model.requests if request.step == "answer"
        ]
        assert questions[0] == "What do the papers say about “turn-taking in dialogue”?"
        assert questions[1] == "which papers treat turn-taking"

    def test_an_empty_corpus_abstains(self) -> None:
        answer = answerer(OfflineModel(), ()).ask(QUESTION)
        assert (answer.abstained, answer.nearest) == (True, ())


class TestChecks:
    WRONG = "The moon consists of green cheese entirely [1]."

    def test_unsupported_citations_are_marked_in_text_and_statements(self) -> None:
        answer = ask(f"{self.WRONG} {TRUE} [1].", options=AskOptions(repair=False))
        assert answer.text == f"The moon consists of green cheese entirely [1?]. {TRUE} [1]."
        assert [statement.verdict for statement in answer.statements] == ["unsupported", "quoted"]
        assert all(answer.text[s.start : s.end] == s.text for s in answer.statements)

    def test_repair_is_asked_once_and_names_what_failed(self) -> None:
        model = ScriptedModel([f"{self.WRONG} {TRUE} [1].", f"{TRUE} [1]."])
        answer = answerer(model).ask(QUESTION)
        assert answer.text == f"{TRUE} [1]."
        assert model.steps() == ["answer", "repair"]
        assert "“The moon consists of green cheese entirely.” is not what [1] says" in model.requests[1].messages[-1].content
        assert [step.step for step in answer.usage.steps] == ["answer", "repair"]
        assert answer.usage.prompt_tokens == 200

    def test_a_repair_keeps_the_lines_that_were_right(self) -> None:
        right = "- LoRA adapts language models with few parameters [2].\n- Attention heads can be pruned after training [3]."
        answer = ask(f"{right}\n- {self.WRONG}", f"{right}\n- {TRUE} [1].")
        assert [citation.paper.id for citation in answer.citations] == ["p2", "p3", "p1"]

    def test_an_earlier_answer_may_be_repeated(self) -> None:
        history = (Message("user", "How accurate?"), Message("assistant", f"{TRUE} [1]."))
        assert ask(f"{TRUE} [1].", options=AskOptions(history=history)).text == f"{TRUE} [1]."

    def test_a_repair_that_makes_nothing_better_is_not_taken(self) -> None:
        answer = ask(f"{self.WRONG} {TRUE} [1].", f"{self.WRONG} Elephants fly over Jupiter [2]. {TRUE} [1].")
        assert "Elephants" not in answer.text
        assert "[1?]" in answer.text

    @pytest.mark.parametrize("fault", [ModelError("It broke.", kind="server"), "", "The papers given do not answer this question."])
    def test_a_failing_repair_costs_nothing_but_a_note(self, fault: object) -> None:
        answer = ask(f"{self.WRONG} {TRUE} [1].", fault)
        assert f"{TRUE} [1]." in answer.text
        assert any(note.startswith("Repair failed (") for note in answer.notes)

    def test_an_uncited_statement_gets_the_citation_that_supports_it(self) -> None:
        answer = ask(f"{TRUE}. LoRA adapts language models with few parameters [2].")
        assert answer.text == f"{TRUE} [1]. LoRA adapts language models with few parameters [2]."
        assert [(c.number, c.paper.id, c.added) for c in answer.citations] == [(1, "p1", True), (2, "p2", False)]
        assert answer.statements[0].citations[0].added

    def test_a_statement_that_cites_nothing_is_named(self) -> None:
        answer = ask(f"{TRUE} [1]. Elephants fly over Jupiter [42].", options=AskOptions(repair=False))
        assert answer.text == f"{TRUE} [1]. Elephants fly over Jupiter."
        assert "1 statement cites no paper: “Elephants fly over Jupiter.”" in answer.notes

    def test_strict_removes_what_is_not_supported(self) -> None:
        answer = ask(f"{self.WRONG} {TRUE} [1].", options=AskOptions(strict=True, repair=False))
        assert answer.text == f"{TRUE} [1]."

    def test_strict_abstains_when_nothing_is_left(self) -> None:
        answer = ask(self.WRONG, options=AskOptions(strict=True, repair=False))
        assert answer.abstained
        assert answer.reason == "No statement of the answer is supported by the papers it cites."
        assert answer.citations == ()

    def test_checking_can_be_switched_off(self) -> None:
        model = ScriptedModel([self.WRONG])
        answer = answerer(model).ask(QUESTION, AskOptions(verify="off"))
        assert (answer.text, answer.statements) == (self.WRONG, ())
        assert answer.citations[0].quote == "We study turn-taking in spoken dialogue systems."
        assert model.steps() == ["answer"]


class TestWeakModels:
    @pytest.mark.parametrize(
        "reply",
        [
            f'{{"answer": "{TRUE}.", "citations": [1]}}',
            f'```json\n{{"answer": "{TRUE} [1]."}}\n```',
            f'{{"statements": [{{"text": "{TRUE}", "sources": ["1"]}}]}}',
            f'[{{"sentence": "{TRUE}", "paper": {{"number": 1}}}}]',
            f"```\n{TRUE} [1].\n```",
            f"Answer: {TRUE} [1].",
            f"**Answer:** {TRUE} [1].",
            f"{TRUE}.\n\nSources:\n[1] Talking Turns: When Machines Take the Floor",
            f"{TRUE}.\n\n**References**\n1. Talking Turns: When Machines Take the Floor (2025)",
            f"{TRUE} (Lovelace et al., 2025).",
            f"{TRUE} (Lovelace and Turing, 2025).",
            "According to “Talking Turns: When Machines Take the Floor”, our judge model predicts turn changes with 91.5% accuracy.",
            f"{framed(Source(1, PAPERS[0]))}\n\n{TRUE} [1].",
            f"{TRUE} [1]. " + "It is so and so and so on [1]. " * 30,
        ],
    )
    def test_an_answer_in_the_wrong_form_is_understood(self, reply: str) -> None:
        answer = ask(reply, options=AskOptions(repair=False))
        assert "91.5% accuracy" in answer.text
        assert answer.citations[0].paper.id == "p1"
        assert not set("{}`<") & set(answer.text)
        assert "Sources" not in answer.text
        assert len(answer.text) < 300

    @pytest.mark.parametrize(
        "reply", ["[1]", "[1][2].", "", "...", "{}", "```\n```", "Sources: [1]", "The model knows this by heart, honestly."]
    )
    def test_a_useless_reply_becomes_the_offline_answer_with_one_note(self, reply: str) -> None:
        answer = ask(reply, options=AskOptions(repair=False))
        assert answer.text == f"{TRUE} [1]."
        assert len(answer.notes) == 1
        assert "these sentences of the abstracts stand in for it" in answer.notes[0]

    def test_only_the_papers_of_a_bare_citation_are_used(self) -> None:
        assert ask("[3]", options=AskOptions(repair=False)).citations[0].paper.id == "p3"

    def test_a_loop_is_cut_while_it_streams(self) -> None:
        pieces = 0

        def endless() -> Iterator[str]:
            nonlocal pieces
            yield f"{TRUE} [1]. "
            while pieces < 100_000:
                pieces += 1
                yield "And so it goes on and on. "

        answer = answerer(ScriptedModel([endless()])).ask(QUESTION, AskOptions(repair=False))
        assert pieces < 100
        assert answer.text.startswith(f"{TRUE} [1].")
        assert "The model began to repeat itself; its answer was cut there." in answer.notes

    def test_a_reply_in_the_words_of_a_paper_streams(self) -> None:
        events = list(answerer(ScriptedModel([f"{PAPERS[0].abstract[:-1]} [1]."])).stream(QUESTION))
        assert len([event for event in events if isinstance(event, str)]) > 5

    def test_a_repeated_prompt_is_never_shown(self) -> None:
        rules = Prompts().render("system", language="English", refusal=REFUSAL)
        events = list(answerer(ScriptedModel([f"{rules}\n\n{TRUE} [1]."])).stream(QUESTION))
        assert deltas_of(events) == f"{TRUE} [1]."

    def test_json_is_never_shown_while_it_streams(self) -> None:
        events = list(answerer(ScriptedModel([f'{{"answer": "{TRUE}", "citations": [1]}}'])).stream(QUESTION))
        assert deltas_of(events) == f"{TRUE} [1]"


class TestFaults:
    @pytest.mark.parametrize("kind", ["authentication", "quota", "timeout", "server", "refusal", "connection"])
    def test_a_fault_before_the_first_word_is_raised(self, kind: str) -> None:
        with pytest.raises(ModelError, match="It broke"):
            ask(ModelError("It broke.", kind=kind))  # type: ignore[arg-type]

    @pytest.mark.parametrize(("finish", "expected"), [("length", "length"), ("cut", "cut"), ("content_filter", "cut")])
    def test_an_incomplete_answer_stays_and_says_so(self, finish: str, expected: str) -> None:
        answer = ask(f"{TRUE} [1]. More is", finish=finish)
        assert answer.finish == expected
        assert answer.text.startswith(f"{TRUE} [1].")
        assert "incomplete" in answer.notes[0]

    def test_a_cut_answer_is_not_repaired(self) -> None:
        model = ScriptedModel(["The moon consists of green cheese entirely [1]."], finish="cut")
        answerer(model).ask(QUESTION)
        assert model.steps() == ["answer"]

    def test_an_overflowing_context_halves_the_papers_once(self) -> None:
        model = ScriptedModel([ModelError("Too long.", kind="context_length"), f"{TRUE} [1]."])
        answer = answerer(model).ask(QUESTION, AskOptions(history=(Message("user", "before"), Message("assistant", "yes"))))
        assert [len(request.sources) for request in model.requests] == [3, 1]
        assert len(model.requests[1].messages) == 2
        assert answer.notes == ("The prompt was too long for scripted: asked again with 1 of 3 papers.",)

    def test_a_second_overflow_is_raised(self) -> None:
        with pytest.raises(ModelError, match="Too long"):
            ask(ModelError("Too long.", kind="context_length"))

    def test_what_came_before_an_interruption_is_kept(self) -> None:
        run = answerer(ScriptedModel([f"{TRUE} [1]. LoRA adapts language models [2]."])).stream(QUESTION)
        shown = ""
        while "LoRA" not in shown:
            event = next(run)
            shown += event if isinstance(event, str) else ""
        answer = run.partial()
        assert answer.finish == "interrupted"
        assert answer.text.startswith(shown.rstrip())
        assert answer.text.startswith(f"{TRUE} [1].")
        assert answer.citations[0].paper.id == "p1"
        assert list(run) == []

    def test_an_interruption_inside_the_model_keeps_the_text_too(self) -> None:
        def interrupted() -> Iterator[str]:
            yield f"{TRUE} [1]. Mo"
            raise KeyboardInterrupt

        run = answerer(ScriptedModel([interrupted()])).stream(QUESTION)
        with pytest.raises(KeyboardInterrupt):
            list(run)
        assert run.partial().text.startswith(f"{TRUE} [1].")
        assert run.partial().finish == "interrupted"

    def test_the_final_answer_is_not_called_interrupted(self) -> None:
        run = answerer(OfflineModel()).stream(QUESTION)
        list(run)
        assert run.partial().finish == "complete"


class TestBudget:
    def test_a_question_beyond_the_limit_is_refused_with_both_numbers(self) -> None:
        model = ScriptedModel([f"{TRUE} [1]."])
        with pytest.raises(BudgetError, match=r"takes \d+ tokens, and \d+ are available"):
            answerer(model, max_tokens_per_question=100).ask(QUESTION)
        assert model.requests == []

    def test_papers_are_left_out_to_keep_the_limit(self) -> None:
        model = ScriptedModel([f"{TRUE} [1]."])
        answer = answerer(model, max_tokens_per_question=450).ask(QUESTION, AskOptions(repair=False))
        assert len(model.requests[0].sources) < 3
        assert answer.notes == (f"{len(model.requests[0].sources)} of 3 papers fit into the prompt.",)

    def test_repair_beyond_the_limit_is_left_out_with_a_note(self) -> None:
        model = ScriptedModel([f"The moon consists of green cheese entirely [1]. {TRUE} [1]."], usage=(800, 150))
        answer = answerer(model, max_tokens_per_question=1_000).ask(QUESTION)
        assert model.steps() == ["answer"]
        assert any("50 of 1,000 are left for this question" in note for note in answer.notes)

    def test_a_question_too_long_for_the_model_is_refused(self) -> None:
        with pytest.raises(BudgetError, match=r"takes [\d,]+ tokens, and [\d,]+ are available for scripted"):
            ask("x", question="why? " * 5_000, context_tokens=4_000)

    def test_history_goes_before_papers(self) -> None:
        history = tuple(Message(role, "word " * 400) for role in ("user", "assistant") * 10)  # type: ignore[arg-type]
        model = ScriptedModel([f"{TRUE} [1]."], context_tokens=2_000)
        answerer(model).ask(QUESTION, AskOptions(history=history))
        request = model.requests[0]
        assert len(request.sources) == 3
        assert len(request.messages) == 2 or request.messages[1].role == "user"
        assert 2 < len(request.messages) + 2 < len(history)


def test_escape_sequences_of_a_pasted_question_are_not_searched() -> None:
    found = FakeRetriever()
    answer = answerer(ScriptedModel(["Machines interrupt too often [1]."]), retriever=found).ask("\x1b[31mturn-taking\x1b[0m\nin speech?")
    assert found.plans[0].question == answer.standalone == "turn-taking in speech?"
