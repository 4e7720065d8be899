"""`ask`: one question from the shell."""

import json
from pathlib import Path
from typing import Any

import pytest

TURN_TAKING = "which papers study turn-taking?"
TALKING_TURNS = "Talking Turns: Benchmarking Audio Foundation Models on Turn-Taking Dynamics"
KEYS = {
    "question": str,
    "answer": str,
    "abstained": bool,
    "mode": str,
    "model": str,
    "corpus": str,
    "scanned": int,
    "citations": list,
    "dropped": list,
    "nearest": list,
    "usage": dict,
    "timing": dict,
    "conversation": str,
}


def test_the_first_question_is_answered_and_cited_with_its_link(run_ask: Any) -> None:
    outcome = run_ask(TURN_TAKING)
    assert outcome.code == 0
    assert "[1]" in outcome.out
    assert f"[1] {TALKING_TURNS}" in outcome.out
    assert "https://openreview.net/forum?id=2e4ECh0ikn" in outcome.out
    assert "OPENAI_API_KEY" in outcome.err


def test_json_has_the_documented_shape(run_ask: Any) -> None:
    answer = run_ask("--json", TURN_TAKING).json
    assert {key: type(answer[key]) for key in KEYS} == KEYS
    assert (answer["model"], answer["corpus"], answer["scanned"], answer["mode"]) == ("offline", "seeds", 57, "list")
    [first, *_] = answer["citations"]
    assert set(first["paper"]) == {"id", "title", "authors", "year", "venue", "url"}
    assert (first["number"], first["paper"]["title"], first["support"]) == (1, TALKING_TURNS, "quoted")
    assert [c["number"] for c in answer["citations"]] == list(range(1, len(answer["citations"]) + 1))


def test_a_question_that_the_corpus_cannot_answer_exits_with_3_and_shows_the_nearest(run_ask: Any) -> None:
    outcome = run_ask("--json", "What is the capital of Australia?")
    assert outcome.code == 3
    answer = outcome.json
    assert answer["abstained"]
    assert answer["citations"] == []
    assert answer["nearest"]
    assert answer["reason"]


@pytest.mark.parametrize("arguments", [("-",), ()])
def test_the_question_may_come_from_stdin(run_ask: Any, arguments: tuple[str, ...]) -> None:
    outcome = run_ask("--json", *arguments, input=f"{TURN_TAKING}\n")
    assert outcome.json["question"] == TURN_TAKING


def test_words_need_no_quotes(run_ask: Any) -> None:
    assert run_ask("--json", "what", "is", "PersonalLLM?").json["question"] == "what is PersonalLLM?"


def test_bibtex_holds_exactly_the_cited_papers(run_ask: Any) -> None:
    cited = run_ask("--json", TURN_TAKING).json["citations"]
    out = run_ask("--bibtex", TURN_TAKING).out
    assert out.count("@") == len(cited)
    assert "Talking" in out


def test_markdown_links_the_sources(run_ask: Any) -> None:
    assert "](<https://openreview.net/forum?id=2e4ECh0ikn>)" in run_ask("--markdown", TURN_TAKING).out


def test_an_output_file_is_never_overwritten_unasked(run_ask: Any, tmp_path: Path) -> None:
    target = tmp_path / "answer.json"
    assert run_ask("--json", "-o", str(target), TURN_TAKING).code == 0
    assert json.loads(target.read_text())["question"] == TURN_TAKING
    again = run_ask("--json", "-o", str(target), TURN_TAKING)
    assert again.code == 2
    assert "--force" in again.err
    assert run_ask("--json", "-o", str(target), "--force", TURN_TAKING).code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--json", "--bibtex", "q"), "exclude each other"),
        (("   ",), "question is empty"),
        (("-c", "nowhere", "what is LoRA?"), "No corpus named 'nowhere'"),
        (("--where", "year>>2", "what is LoRA?"), "year>>2"),
        (("-k", "0", "what is LoRA?"), "greater than"),
    ],
)
def test_wrong_usage_is_said_in_one_line(run_ask: Any, arguments: tuple[str, ...], message: str) -> None:
    outcome = run_ask(*arguments)
    assert outcome.code in (1, 2)
    assert message in outcome.err
    assert outcome.out == ""


def test_filters_hold_before_ranking_and_are_named(run_ask: Any) -> None:
    outcome = run_ask("--json", "--year", "1999", "which papers study turn-taking?")
    assert outcome.code == 3
    assert outcome.json["scanned"] == 0


def test_verbose_shows_the_signals_on_stderr(run_ask: Any) -> None:
    outcome = run_ask("-v", "what is PersonalLLM?")
    assert "BM25" in outcome.err
    assert "BM25" not in outcome.out


def test_a_conversation_is_continued(run_ask: Any) -> None:
    first = run_ask("--json", TURN_TAKING).json
    continued = run_ask("--json", "--continue", "What does it benchmark?")
    second = continued.json
    assert f"Continuing conversation {first['conversation']}, last asked: {TURN_TAKING}" in continued.err
    assert second["conversation"] == first["conversation"]
    assert second["citations"][0]["paper"]["title"] == TALKING_TURNS


def test_no_log_keeps_nothing(run_ask: Any, home: Path) -> None:
    run = run_ask("--no-log", TURN_TAKING)
    assert run.code == 0
    assert "Conversation" not in run.err
    assert not (home / "log.sqlite").exists()


def test_version_and_help(run_ask: Any) -> None:
    assert run_ask("--version").out.startswith("askpapers ")
    assert "turn-taking" in run_ask("--help").out
