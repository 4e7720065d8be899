"""The log: nothing lost, everything found again."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from conversation.conversation_fakes import BEES, FLORA, TIDE, answer_citing

from rag.conversation import ConversationLog
from rag.conversation.codec import MOST_HITS, answer_from_json, answer_to_json
from rag.errors import LogError, UsageError
from rag.records import Answer, Hit, Retrieval, Span, Statement, StatementCitation, StepUsage, Timing, Usage

FULL = replace(
    answer_citing("How fast?", FLORA, TIDE),
    statements=(Statement("See this [1].", 0, 13, "quoted", (StatementCitation(1, "quoted", 1.0, (Span(0, 4, "Coun"),)),)),),
    usage=Usage(120, 30, True, (StepUsage("answer", 120, 30, True),)),
    timing=Timing(0.1, 0.2, 0.3),
    nearest=(BEES,),
    notes=("A note.",),
    standalone="How fast is FloraNet?",
    prompt="system\n\nuser",
    dropped=("[9]",),
)


def test_an_answer_survives_the_way_to_json_and_back_unchanged() -> None:
    assert answer_from_json(answer_to_json(FULL)) == FULL


def test_an_abstaining_answer_without_retrieval_survives_too() -> None:
    answer = Answer("q", "No.", abstained=True, reason="Nothing near.", finish="cut")
    assert answer_from_json(answer_to_json(answer)) == answer


def test_only_the_best_hits_of_a_long_list_are_kept() -> None:
    hits = tuple(Hit(n, 1.0, FLORA, Span(0, 1, "C")) for n in range(1, 251))
    kept = answer_from_json(answer_to_json(Answer("q", "a", retrieval=Retrieval("q", hits, 250, 1.0, abstain=False))))
    assert kept.retrieval is not None
    assert kept.retrieval.hits == hits[:MOST_HITS]
    assert kept.retrieval.scanned == 250


def test_fields_of_another_version_are_ignored() -> None:
    assert answer_from_json('{"question": "q", "text": "a", "colour": "red"}') == Answer("q", "a")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"text": "a"}', '{"question": "q", "text": "a", "usage": 7}'])
def test_a_damaged_exchange_says_so(text: str) -> None:
    with pytest.raises(LogError, match="damaged"):
        answer_from_json(text)


def test_a_finished_exchange_holds_all_that_is_needed_to_replay_it(log: ConversationLog) -> None:
    exchange = log.begin("c1", "How fast?", corpus="seeds", model="offline", options={"k": 8, "focus": ["flora"]}, asked_at=1_700_000_000.0)
    log.finish(exchange, FULL)
    kept = log.get(exchange)
    assert (kept.conversation, kept.turn, kept.question, kept.asked_at) == ("c1", 1, "How fast?", 1_700_000_000.0)
    assert kept.options == {"k": 8, "focus": ["flora"]}
    assert kept.answer == FULL
    assert kept.standalone == "How fast is FloraNet?"
    assert kept.outcome == "answered"
    assert (kept.model, kept.corpus) == ("fake", "fake")


def test_a_question_is_kept_before_its_answer(log: ConversationLog) -> None:
    exchange = log.begin("c1", "How fast?", options={"standalone": "How fast is it?"})
    kept = log.get(exchange)
    assert kept.answer is None
    assert kept.outcome == "unfinished"
    assert kept.standalone == "How fast is it?"


def test_a_failure_is_kept_with_its_reason(log: ConversationLog) -> None:
    exchange = log.begin("c1", "How fast?")
    log.fail(exchange, "The server is down.")
    assert (log.get(exchange).outcome, log.get(exchange).error) == ("failed", "The server is down.")


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (replace(FULL, finish="interrupted"), "interrupted"),
        (replace(FULL, abstained=True), "abstained"),
        (replace(FULL, finish="cut"), "cut"),
    ],
)
def test_outcomes(log: ConversationLog, answer: Answer, outcome: str) -> None:
    exchange = log.begin("c1", "q")
    log.finish(exchange, answer)
    assert log.get(exchange).outcome == outcome


def test_turns_count_within_a_conversation_and_skip_those_taken_back(log: ConversationLog) -> None:
    first, second = log.begin("c1", "one"), log.begin("c1", "two")
    other = log.begin("c2", "other")
    log.undo(second)
    third = log.begin("c1", "three")
    assert [log.get(e).turn for e in (first, other, third)] == [1, 1, 2]
    assert [e.question for e in log.conversation("c1")] == ["one", "three"]
    assert log.get(second).outcome == "undone"


def test_a_conversation_is_found_by_the_beginning_of_its_id(log: ConversationLog) -> None:
    log.begin("cabc", "one")
    log.begin("cabd", "two")
    assert log.conversation("cabd")[0].question == "two"
    with pytest.raises(UsageError, match="cabc, cabd"):
        log.conversation("cab")
    with pytest.raises(UsageError, match="No conversation 'x'"):
        log.conversation("x")


def test_the_last_conversation_is_the_one_asked_in_last(log: ConversationLog) -> None:
    with pytest.raises(UsageError, match="log is empty"):
        log.last_conversation()
    log.begin("c1", "one")
    log.begin("c2", "two")
    log.begin("c1", "three")
    assert log.last_conversation() == "c1"


def test_search_finds_words_of_question_answer_and_papers(log: ConversationLog) -> None:
    log.finish(log.begin("c1", "How fast is drone counting?"), answer_citing("How fast?", FLORA, TIDE))
    log.finish(log.begin("c1", "Who studies bees?"), answer_citing("Who studies bees?", BEES))
    assert [e.question for e in log.search("dron")] == ["How fast is drone counting?"]
    assert [e.question for e in log.search("simulation dance")] == ["Who studies bees?"]
    assert [e.question for e in log.search("learning TIDES")] == ["How fast is drone counting?"]
    assert log.search("zebra") == ()


@pytest.mark.parametrize("text", ["", '"', "* OR NEAR(", "AND", "a\0b", "'; DROP TABLE exchange; --", "🙂", "x" * 10_000])
def test_no_search_text_is_a_query_of_its_own(log: ConversationLog, text: str) -> None:
    log.begin("c1", "How fast?")
    assert log.search(text) == ()


def test_prune_removes_by_age_number_and_conversation(log: ConversationLog) -> None:
    for second in range(6):
        log.begin(f"c{second % 2}", f"question {second}", asked_at=float(second))
    assert log.prune(before=2.0) == 2
    assert log.prune(keep=3) == 1
    assert log.prune(conversation="c1", before=4.0) == 1
    assert [e.question for e in log.latest()] == ["question 5", "question 4"]
    assert log.prune() == 2
    assert log.latest() == ()
    assert log.search("question") == ()


def test_reading_a_log_that_is_not_there_creates_nothing(home: Path, log: ConversationLog) -> None:
    assert log.latest() == ()
    assert log.search("x") == ()
    assert log.prune() == 0
    assert not home.exists()


def test_a_file_that_is_no_log_is_left_alone(home: Path, log: ConversationLog) -> None:
    home.mkdir()
    log.path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(LogError, match=str(log.path)):
        log.begin("c1", "q")
    assert log.path.read_bytes() == b"not a database at all" * 100


def test_a_log_of_a_newer_version_is_left_alone(home: Path, log: ConversationLog) -> None:
    home.mkdir()
    with sqlite3.connect(log.path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(LogError, match="newer version"):
        log.latest()


def test_only_the_owner_can_read_it(log: ConversationLog) -> None:
    log.begin("c1", "q")
    assert log.path.stat().st_mode & 0o077 == 0


def test_threads_write_at_once_without_loss(log: ConversationLog) -> None:
    def ask(number: int) -> None:
        for _ in range(10):
            log.finish(log.begin(f"c{number}", "q"), FULL)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(log.conversation(f"c{n}")) for n in range(6)] == [10] * 6
    assert len({e.id for e in log.latest(100)}) == 60


_WRITER = """
import sys
from rag.conversation import ConversationLog
from rag.records import Answer
log = ConversationLog(sys.argv[1])
n = 0
while True:
    exchange = log.begin("c1", f"question {n}")
    log.finish(exchange, Answer(f"question {n}", "x" * 20_000))
    print(exchange, flush=True)
    n += 1
"""


@pytest.mark.slow
def test_a_killed_process_loses_no_exchange_that_was_reported_finished(home: Path, log: ConversationLog) -> None:
    for round_number in range(8):
        with subprocess.Popen([sys.executable, "-c", _WRITER, str(home)], stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            reported = [writer.stdout.readline() for _ in range(3)]
            time.sleep(0.01 * round_number)
            os.kill(writer.pid, signal.SIGKILL)
            reported += writer.stdout.readlines()
        finished = [int(line) for line in reported if line.endswith("\n")]
        assert all(log.get(exchange).outcome == "answered" for exchange in finished)
    with sqlite3.connect(log.path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()
    turns = [exchange.turn for exchange in log.conversation("c1")]
    assert turns == list(range(1, len(turns) + 1))
