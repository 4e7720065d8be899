"""Conversations: stable numbers, nothing lost, one question at a time."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from conversation.conversation_fakes import BEES, FLORA, TIDE, Event, FakeAnswerer, FakeModel, answer_citing

from rag.answering import AskOptions
from rag.conversation import Conversation, ConversationLog
from rag.conversation.history import history_messages
from rag.errors import ModelError, UsageError
from rag.records import Answer, Progress, StepUsage
from rag.store.filters import Filters
from rag.text.tokens import count_tokens


def replying(*answers: Sequence[Event | BaseException] | tuple[object, ...]) -> FakeAnswerer:
    """Cites the papers given for each question in turn, numbered on from the conversation's numbers."""
    waiting = iter(answers)

    def reply(question: str, options: AskOptions) -> Answer | Sequence[Event | BaseException]:
        papers = next(waiting)
        if papers and not hasattr(papers[0], "abstract"):
            return papers
        return answer_citing(question, *papers, numbers=dict(options.numbers))

    return FakeAnswerer(reply)


def test_numbers_stay_with_their_papers() -> None:
    answerer = replying((FLORA, TIDE), (BEES,), (TIDE, FLORA))
    conversation = Conversation(answerer)
    answers = [conversation.ask(question) for question in ("Which papers?", "Who studies bees?", "Which of all?")]
    assert [[(c.number, c.paper.id) for c in answer.citations] for answer in answers] == [
        [(1, "flora"), (2, "tide")],
        [(3, "bees")],
        [(2, "tide"), (1, "flora")],
    ]
    assert answerer.asked[2][1].numbers == {"flora": 1, "tide": 2, "bees": 3}
    assert conversation.numbers == {"flora": 1, "tide": 2, "bees": 3}


def test_a_follow_up_is_asked_standing_alone_and_within_its_paper() -> None:
    answerer = replying((FLORA,), (FLORA,))
    conversation = Conversation(answerer)
    conversation.ask("Who counts flowers?")
    answer = conversation.ask("How fast is it?")
    question, options = answerer.asked[1]
    assert question == "How fast is it?"
    assert options.standalone == "How fast is “FloraNet”?"
    assert options.focus == ("flora",)
    assert answer.standalone == "How fast is “FloraNet”?"
    assert answer.conversation == conversation.id


def test_a_restriction_is_carried_on_and_said() -> None:
    answerer = replying((FLORA, TIDE), (FLORA,), (FLORA,))
    conversation = Conversation(answerer)
    conversation.ask("Which papers count or predict?")
    answer = conversation.ask("only the 2025 ones")
    assert str(answerer.asked[1][1].filters) == "year=2025"
    assert answer.notes == ("Still restricted to year is 2025.",)
    conversation.ask("How fast is it?", filters=Filters.of(venue="ICLR"))
    assert str(answerer.asked[2][1].filters) == "venue~ICLR and year=2025"


def test_the_answer_is_in_the_log_before_it_is_shown(log: ConversationLog) -> None:
    conversation = Conversation(FakeAnswerer(), log=log)
    seen = []
    for event in conversation.stream("Who counts flowers?"):
        seen.append((type(event).__name__, log.conversation(conversation.id)[0].outcome))
    assert seen == [("Progress", "unfinished"), ("str", "unfinished"), ("Answer", "answered")]


def test_the_log_holds_the_options_of_the_question(log: ConversationLog) -> None:
    conversation = Conversation(FakeAnswerer(), log=log)
    conversation.ask("Who counts flowers?", k=3, filters=Filters.of(year=2025))
    conversation.ask("How fast is it?")
    first, second = log.conversation(conversation.id)
    assert (first.options["k"], first.options["filters"], first.options["new_topic"]) == (3, "year=2025", True)
    assert second.options["focus"] == ["flora"]
    assert second.options["numbers"] == {"flora": 1}
    assert second.options["standalone"] == "How fast is “FloraNet”?"


@pytest.mark.parametrize("broken", ["folder", "damaged"])
def test_a_log_that_cannot_be_written_never_costs_the_answer(home: Path, broken: str) -> None:
    if broken == "folder":
        home.write_text("a file where the home folder should be")
    else:
        home.mkdir()
        (home / "log.sqlite").write_bytes(b"garbage" * 1000)
    conversation = Conversation(FakeAnswerer(), log=ConversationLog(home))
    answer = conversation.ask("Who counts flowers?")
    assert answer.text == "See this [1]."
    assert len(answer.notes) == 1
    assert answer.notes[0].startswith("Not kept in the log: ")
    assert conversation.ask("How fast is it?").citations[0].paper == FLORA


def test_without_a_log_nothing_is_written(home: Path) -> None:
    Conversation(FakeAnswerer()).ask("Who counts flowers?")
    assert not home.exists()


def test_a_failing_model_costs_neither_question_nor_conversation(log: ConversationLog) -> None:
    down = ModelError("The server is down.", kind="connection")
    conversation = Conversation(replying((FLORA,), (Progress("answer"), down), (FLORA,)), log=log)
    conversation.ask("Who counts flowers?")
    with pytest.raises(ModelError, match="down"):
        conversation.ask("How fast is it?")
    conversation.ask("How fast is it?")
    assert [turn.question for turn in conversation.turns] == ["Who counts flowers?", "How fast is it?"]
    assert [(e.outcome, e.error) for e in log.conversation(conversation.id)] == [
        ("answered", ""),
        ("failed", "The server is down."),
        ("answered", ""),
    ]


def test_leaving_the_stream_keeps_what_came(log: ConversationLog) -> None:
    conversation = Conversation(replying(("Flowers are", " counted by drones.")), log=log)
    run = conversation.stream("Who counts flowers?")
    assert next(run) == "Flowers are"
    run.close()
    assert conversation.last is not None
    assert conversation.last.finish == "interrupted"
    assert log.conversation(conversation.id)[0].outcome == "interrupted"


def test_ctrl_c_inside_the_pipeline_keeps_what_came(log: ConversationLog) -> None:
    conversation = Conversation(replying(("Flowers are", KeyboardInterrupt())), log=log)
    with pytest.raises(KeyboardInterrupt):
        conversation.ask("Who counts flowers?")
    assert conversation.last is not None
    assert conversation.last.text == "Flowers are"
    assert log.conversation(conversation.id)[0].outcome == "interrupted"


def test_leaving_after_the_answer_keeps_it_whole(log: ConversationLog) -> None:
    conversation = Conversation(FakeAnswerer(), log=log)
    run = conversation.stream("Who counts flowers?")
    while not isinstance(next(run), Answer):
        continue
    run.close()
    assert [e.outcome for e in log.conversation(conversation.id)] == ["answered"]
    assert len(conversation.turns) == 1


def test_undo_takes_turn_and_numbers_back(log: ConversationLog) -> None:
    conversation = Conversation(replying((FLORA,), (TIDE,), (BEES,)), log=log)
    conversation.ask("Who counts flowers?")
    conversation.ask("Who predicts tides?")
    assert conversation.undo().question == "Who predicts tides?"
    assert conversation.numbers == {"flora": 1}
    assert [(c.number, c.paper.id) for c in conversation.ask("Who studies bees?").citations] == [(2, "bees")]
    assert [e.question for e in log.conversation(conversation.id)] == ["Who counts flowers?", "Who studies bees?"]


def test_retry_asks_the_last_question_again_in_its_place() -> None:
    conversation = Conversation(replying((FLORA,), (TIDE,)))
    conversation.ask("Who counts flowers?")
    events = list(conversation.retry())
    assert [turn.question for turn in conversation.turns] == ["Who counts flowers?"]
    assert events[-1] == conversation.last


def test_a_retry_that_fails_leaves_the_earlier_answer(log: ConversationLog) -> None:
    conversation = Conversation(replying((FLORA,), (ModelError("down", kind="server"),), (TIDE,)), log=log)
    conversation.ask("Who counts flowers?")
    with pytest.raises(ModelError):
        list(conversation.retry())
    assert conversation.numbers == {"flora": 1}
    list(conversation.retry())
    assert conversation.numbers == {"tide": 1}
    assert [(e.turn, e.outcome) for e in log.conversation(conversation.id)] == [(1, "failed"), (1, "answered")]
    assert Conversation(FakeAnswerer(), log=log, id="last").numbers == {"tide": 1}


def test_undo_of_nothing_says_so() -> None:
    with pytest.raises(UsageError, match="no turn"):
        Conversation(FakeAnswerer()).undo()


@pytest.mark.parametrize("by", ["id", "beginning", "last"])
def test_a_conversation_goes_on_where_it_was_left(log: ConversationLog, by: str) -> None:
    before = Conversation(replying((FLORA, TIDE), (FLORA,)), log=log)
    before.ask("Which papers count or predict?")
    before.ask("only the 2025 ones")
    answerer = FakeAnswerer()
    after = Conversation(answerer, log=log, id={"id": before.id, "beginning": before.id[:6], "last": "last"}[by])
    assert after.id == before.id
    assert after.turns == before.turns
    after.ask("What about the second one?")
    assert answerer.asked[0][1].focus == ("tide",)
    assert answerer.asked[0][1].numbers == {"flora": 1, "tide": 2}
    assert [e.turn for e in log.conversation(before.id)] == [1, 2, 3]


def test_an_unknown_conversation_says_so(log: ConversationLog) -> None:
    with pytest.raises(UsageError, match="No conversation 'nope'"):
        Conversation(FakeAnswerer(), log=log, id="nope")
    with pytest.raises(UsageError, match="the log is off"):
        Conversation(FakeAnswerer(), id="c1")


def test_wrong_options_are_refused_before_anything_is_asked(log: ConversationLog) -> None:
    conversation = Conversation(FakeAnswerer(), log=log)
    with pytest.raises(UsageError, match="No option named 'colour'"):
        conversation.stream("q", colour="red")
    with pytest.raises(UsageError, match="k=0"):
        conversation.stream("q", k=0)
    with pytest.raises(UsageError, match="empty"):
        conversation.stream("  \n ")
    assert log.latest() == ()


def test_a_model_that_can_rewrites_the_follow_up() -> None:
    model = FakeModel("How fast is FloraNet compared with YOLO?", generative=True)
    answerer = FakeAnswerer(model=model)
    conversation = Conversation(answerer)
    conversation.ask("Who counts flowers?")
    assert model.requests == []
    answer = conversation.ask("and compared with YOLO?")
    assert [request.step for request in model.requests] == ["rewrite"]
    assert "[1] FloraNet: Counting Flowers from the Air" in model.requests[0].messages[0].content
    assert answerer.asked[1][1].standalone == "How fast is FloraNet compared with YOLO?"
    assert answerer.asked[1][1].focus == ("flora",)
    assert answer.usage.steps == (StepUsage("rewrite", 100, 10, False),)
    assert answer.usage.prompt_tokens == 100


def test_a_rewriting_may_name_a_paper_that_was_found_and_not_cited() -> None:
    def reply(question: str, options: AskOptions) -> Answer:
        answer = answer_citing(question, FLORA, TIDE, numbers=dict(options.numbers))
        return replace(answer, citations=answer.citations[:1])

    answerer = FakeAnswerer(reply, FakeModel("What do Learning Tides with Gaussian Processes predict?", generative=True))
    conversation = Conversation(answerer)
    conversation.ask("Who counts flowers?")
    conversation.ask("What does it predict?")
    assert answerer.asked[1][1].focus == ("tide",)


@pytest.mark.parametrize("reply", ["", "x" * 5_000, ModelError("down", kind="connection")])
def test_a_rewriting_that_fails_falls_back_on_the_rules(reply: str | ModelError) -> None:
    answerer = FakeAnswerer(model=FakeModel(reply, generative=True))
    conversation = Conversation(answerer)
    conversation.ask("Who counts flowers?")
    answer = conversation.ask("How fast is it?")
    assert answerer.asked[1][1].standalone == "How fast is “FloraNet”?"
    assert answerer.asked[1][1].focus == ("flora",)
    assert answer.notes[0].startswith("Rewriting failed (")


def test_an_echo_of_the_question_leaves_the_rules_reading() -> None:
    answerer = FakeAnswerer(model=FakeModel("Question: How fast is it?", generative=True))
    conversation = Conversation(answerer)
    conversation.ask("Who counts flowers?")
    conversation.ask("How fast is it?")
    assert answerer.asked[1][1].focus == ("flora",)


def test_a_generative_model_sees_earlier_turns_and_the_offline_one_does_not() -> None:
    for generative in (True, False):
        answerer = FakeAnswerer(model=FakeModel("How fast is FloraNet?", generative=generative))
        conversation = Conversation(answerer)
        conversation.ask("Who counts flowers?")
        conversation.ask("How fast is it?")
        contents = [message.content for message in answerer.asked[1][1].history]
        assert contents == (["Who counts flowers?", "See this [1]."] if generative else [])


def test_history_drops_the_oldest_turns_and_still_names_what_they_cited() -> None:
    conversation = Conversation(replying(*[(paper,) for paper in (FLORA, TIDE, BEES)] * 10))
    for number in range(30):
        conversation.ask(f"Question {number}: {'who counts flowers and tides ' * 10}?")
    messages = history_messages(conversation.turns, 4_000)
    assert sum(count_tokens(message.content) for message in messages) <= 1_000
    assert messages[-2].content.startswith("Question 29:")
    assert messages[0].content.startswith(
        "Cited earlier in this conversation:\n[1] FloraNet: Counting Flowers from the Air\n[2] Learning Tides"
    )
    assert [message.role for message in messages] == ["user", "assistant"] * (len(messages) // 2)
    assert len(messages) < 60


def test_two_hundred_turns_stay_fast(log: ConversationLog) -> None:
    papers = [
        replace(FLORA, id=f"p{n}", title=f"Paper{n}X: On Things", abstract=f"We propose Paper{n}X. " + "words " * 150) for n in range(200)
    ]
    answerer = FakeAnswerer(
        lambda question, options: answer_citing(question, papers[len(answerer.asked) - 1], numbers=dict(options.numbers)),
        FakeModel("What is it?", generative=True),
    )
    conversation = Conversation(answerer, log=log)
    seconds = []
    for number in range(200):
        started = time.perf_counter()
        conversation.ask(f"What does the next paper number {number} say about it?")
        seconds.append(time.perf_counter() - started)
    assert sorted(seconds[-50:])[25] < 0.25
    assert conversation.numbers["p199"] == 200
    assert all(sum(count_tokens(m.content) for m in options.history) <= 2_000 for _, options in answerer.asked)
    assert len(Conversation(answerer, log=log, id="last").turns) == 200


def test_threads_take_turns_in_one_conversation() -> None:
    running, most = [0], [0]

    def reply(question: str, options: AskOptions) -> Answer:
        running[0] += 1
        most[0] = max(most[0], running[0])
        time.sleep(0.01)
        running[0] -= 1
        paper = replace(TIDE, id=question)
        return answer_citing(question, paper, numbers=dict(options.numbers))

    conversation = Conversation(FakeAnswerer(reply))
    threads = [threading.Thread(target=conversation.ask, args=(f"question {n}",)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    assert sorted(conversation.numbers.values()) == list(range(1, 13))
    assert len(conversation.turns) == 12


def test_conversations_do_not_wait_for_each_other() -> None:
    one, other = Conversation(FakeAnswerer()), Conversation(FakeAnswerer())
    run = one.stream("Who counts flowers?")
    next(run)
    assert other.ask("Who counts flowers?").text == "See this [1]."
    run.close()


def test_asking_while_still_answering_in_the_same_thread_is_an_error_not_a_deadlock() -> None:
    conversation = Conversation(FakeAnswerer())
    run = conversation.stream("Who counts flowers?")
    next(run)
    with pytest.raises(UsageError, match="still answering"):
        conversation.ask("How fast is it?")
    run.close()
    assert conversation.ask("How fast is it?").text == "See this [1]."


async def test_tasks_take_turns_however_many_there_are() -> None:
    conversation = Conversation(FakeAnswerer())

    async def read(number: int) -> list[Event]:
        return [event async for event in conversation.astream(f"question {number}")]

    events = await asyncio.wait_for(asyncio.gather(*(read(number) for number in range(80))), 60)
    assert all(isinstance(each[-1], Answer) for each in events)
    assert len(conversation.turns) == 80
    assert (await conversation.aask("one more")).text == "See this [1]."


async def test_leaving_an_async_stream_keeps_what_came() -> None:
    left = threading.Event()

    def words() -> Iterator[str]:
        yield "Flowers are"
        left.wait(20)
        yield " counted."
        yield " Never read."

    conversation = Conversation(FakeAnswerer(lambda question, options: words()))  # type: ignore[arg-type,return-value]
    async with aclosing(conversation.astream("Who counts flowers?")) as events:  # type: ignore[type-var]
        async for _ in events:
            left.set()
            break
    assert conversation.last is not None
    assert conversation.last.finish == "interrupted"
    assert conversation.last.text.startswith("Flowers are")


async def test_an_error_reaches_the_task() -> None:
    conversation = Conversation(replying((ModelError("down", kind="server"),)))
    with pytest.raises(ModelError, match="down"):
        async for _ in conversation.astream("q"):
            pass
