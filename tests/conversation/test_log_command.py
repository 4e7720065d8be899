"""`rag log`, replaying and exporting."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from conversation.conversation_fakes import BEES, FLORA, TIDE, FakeAnswerer, FakeModel, answer_citing
from typer.testing import CliRunner, Result

from rag.answering import AskOptions
from rag.cli import log as log_command
from rag.conversation import Conversation, ConversationLog
from rag.conversation.replay import changes, replay
from rag.errors import RagError, UsageError
from rag.records import Answer


def run(*arguments: str, answer: str | None = None) -> Result:
    app = typer.Typer()
    app.command()(lambda: None)
    log_command.register(app)
    return CliRunner().invoke(app, ["log", *arguments], input=answer)


@pytest.fixture
def talk(log: ConversationLog) -> Conversation:
    """Two turns: flowers, then bees."""
    papers = iter((FLORA, BEES))
    conversation = Conversation(
        FakeAnswerer(lambda question, options: answer_citing(question, next(papers), numbers=dict(options.numbers))), log=log
    )
    conversation.ask("Who counts flowers?")
    conversation.ask("And who studies bees?")
    return conversation


def test_the_list_has_the_newest_first(talk: Conversation) -> None:
    lines = [line.split("\t") for line in run().stdout.splitlines()]
    assert [(line[0], line[2], line[3], line[4]) for line in lines] == [
        ("2", talk.id, "answered", "And who studies bees?"),
        ("1", talk.id, "answered", "Who counts flowers?"),
    ]
    assert len(run("-n", "1").stdout.splitlines()) == 1


def test_search_and_what_is_not_found(talk: Conversation) -> None:
    assert run("--search", "waggle bees").stdout == ""
    assert "Nothing in the log matches" in run("--search", "zebra").stderr
    assert "Who counts flowers?" in run("--search", "drone flow").stdout or "Who counts flowers?" in run("--search", "flowers").stdout


def test_an_exchange_or_a_conversation_in_full(talk: Conversation) -> None:
    page = run("2").stdout
    assert page.startswith("2. And who studies bees?\n")
    assert f"conversation {talk.id}, turn 2 · corpus fake · model fake · answered" in page
    assert "[2] Do Bees Dance in Simulation?" in page
    whole = run(talk.id[:5]).stdout
    assert whole.index("1. Who counts flowers?") < whole.index("2. And who studies bees?")


def test_json_holds_all_that_was_logged(talk: Conversation) -> None:
    (exchange,) = json.loads(run("1", "--json").stdout)
    assert exchange["question"] == "Who counts flowers?"
    assert exchange["options"]["k"] == 8
    assert exchange["answer"]["citations"][0]["paper"]["title"] == FLORA.title
    assert exchange["answer"]["retrieval"]["hits"][0]["score"] == 1.0


def test_markdown_into_a_file_that_is_never_overwritten(talk: Conversation, tmp_path: Path) -> None:
    file = tmp_path / "talk.md"
    assert run(talk.id, "--markdown", "-o", str(file)).exit_code == 0
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# Who counts flowers?\n\n*")
    assert text.index("# Who counts flowers?") < text.index("# And who studies bees?")
    assert isinstance(run(talk.id, "--markdown", "-o", str(file)).exception, RagError)
    assert run(talk.id, "--markdown", "-o", str(file), "--force").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["99"], "No exchange 99"),
        (["nope"], "No conversation 'nope'"),
        (["--replay"], "needs the number of an exchange"),
        (["cabc", "--replay"], "needs the number of an exchange"),
        (["prune"], "Say what to remove"),
        (["prune", "--older-than", "soon"], "'soon' is not an age"),
    ],
)
def test_what_cannot_be_done_says_why(talk: Conversation, arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        raise run(*arguments).exception or AssertionError("no error")


def test_prune_asks_first_and_removes_what_was_said(talk: Conversation, log: ConversationLog) -> None:
    assert run("prune", "--keep", "1", answer="n\n").exit_code == 1
    assert len(log.latest()) == 2
    assert run("prune", "--older-than", "1d", "--yes").stderr.strip() == "Removed 0 exchanges."
    assert run("prune", "--keep", "1", answer="y\n").exit_code == 0
    assert [exchange.question for exchange in log.latest()] == ["And who studies bees?"]
    assert run("prune", "--conversation", talk.id, "--yes").stderr.strip() == "Removed 1 exchanges."


def test_an_empty_log_says_so() -> None:
    result = run()
    assert (result.exit_code, result.stdout, result.stderr.strip()) == (0, "", "The log is empty.")


def test_a_replay_asks_with_the_options_of_then(talk: Conversation, log: ConversationLog) -> None:
    asked = list[tuple[str, AskOptions]]()

    class Asking(FakeAnswerer):
        def ask(self, question: str, options: AskOptions) -> Answer:
            asked.append((question, options))
            return answer_citing(question, BEES, numbers=dict(options.numbers))

    exchange = log.get(2)
    now = replay(exchange, Asking(), log.conversation(talk.id))  # type: ignore[arg-type]
    assert asked[0][0] == "And who studies bees?"
    assert asked[0][1].numbers == {"flora": 1}
    assert asked[0][1].history == ()
    assert changes(exchange, now) == ()
    generative = Asking(model=FakeModel(generative=True))
    replay(exchange, generative, log.conversation(talk.id))  # type: ignore[arg-type]
    assert [message.content for message in asked[1][1].history] == ["Who counts flowers?", "See this [1]."]


def test_changes_name_what_is_different(talk: Conversation, log: ConversationLog) -> None:
    exchange = log.get(2)
    now = answer_citing("q", TIDE, BEES)
    now = replace(
        now, model="other", abstained=True, prompt="longer", citations=(now.citations[0], replace(now.citations[1], support="weak"))
    )
    assert changes(exchange, now) == (
        "model: fake -> other",
        "refused: no -> yes",
        "ranking: bees -> tide, bees",
        "prompt: 0 characters -> 6 characters",
        "newly cited: Learning Tides with Gaussian Processes (quoted)",
        "verdict on Do Bees Dance in Simulation?: quoted -> weak",
        "answer: worded differently",
    )
    log.undo(2)
    unfinished = log.begin("c1", "q")
    with pytest.raises(UsageError, match="has no answer to compare with: it is unfinished"):
        changes(log.get(unfinished), now)
