"""Question files, and a whole run on the bundled corpus."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag.assistant import Assistant
from rag.cli.main import app
from rag.errors import SourceError
from rag.evaluation.answers import evaluate_answers, read_questions

TURNS = "2e4ECh0ikn"
QUESTIONS = [
    {"id": "one", "kind": "which", "question": "turn-taking of audio models", "papers": [TURNS]},
    {"question": "Which papers are about turn-taking?", "papers": [TURNS]},
    {"kind": "fact", "question": "Which dialogue data trains the judge of turn-taking?", "papers": [TURNS], "answer_any": ["turn"]},
    {"question": "Which papers study beekeeping?", "papers": []},
]


def write(path: Path, *records: object) -> Path:
    path.write_text("\n".join(json.dumps(record) for record in records) + "\n", encoding="utf-8")
    return path


def test_kind_and_id_may_be_left_out(tmp_path: Path) -> None:
    questions = read_questions(write(tmp_path / "q.jsonl", *QUESTIONS))
    assert [question.kind for question in questions] == ["which", "list", "fact", "none"]
    assert [question.id for question in questions] == ["one", "q.jsonl:2", "q.jsonl:3", "q.jsonl:4"]
    assert questions[2].facts == ("turn",)


@pytest.mark.parametrize(
    "record",
    [
        {"question": "no papers"},
        {"papers": ["a"]},
        {"question": "x", "papers": ["a"], "kind": "riddle"},
        {"question": "x", "papers": ["a"], "kind": "none"},
        {"question": "x", "papers": [], "kind": "which"},
        ["a", "list"],
    ],
)
def test_a_line_that_is_no_question_is_named(tmp_path: Path, record: object) -> None:
    with pytest.raises(SourceError, match=r"q\.jsonl:1 is no question"):
        read_questions(write(tmp_path / "q.jsonl", record))


def test_files_that_hold_no_questions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="Cannot read"):
        read_questions(tmp_path / "absent.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(SourceError, match="holds no question"):
        read_questions(tmp_path / "empty.jsonl")
    with pytest.raises(SourceError, match="same id"):
        read_questions(write(tmp_path / "twice.jsonl", QUESTIONS[0], QUESTIONS[0]))


def test_a_run_on_the_bundled_corpus(tmp_path: Path) -> None:
    file = write(tmp_path / "q.jsonl", *QUESTIONS)
    done: list[int] = []
    with Assistant(log=False) as assistant:
        figures = evaluate_answers(file, assistant, progress=lambda number, _: done.append(number))
    assert done == [1, 2, 3, 4]
    assert figures.questions == {"which": 1, "list": 1, "fact": 1, "none": 1}
    assert figures.measures["which"]["hit@1"].mean == 1
    assert figures.measures["which"]["citations valid"].mean == 1
    assert figures.measures["list"]["set recall"].mean == 1
    assert figures.measures["fact"]["fact contained"].mean == 1
    assert figures.measures["none"]["refused"].mean == 1
    assert figures.measures["all"]["answerable AUROC"].mean == 1


def test_the_command_prints_json_and_logs_nothing(tmp_path: Path, home: Path) -> None:
    file = write(tmp_path / "q.jsonl", QUESTIONS[0])
    result = CliRunner().invoke(app, ["eval", "answers", str(file), "--corpus", "seeds", "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["measures"]["which"]["hit@1"]["mean"] == 1
    assert not list(home.glob("log*"))


def test_the_command_compares_two_settings(tmp_path: Path) -> None:
    file = write(tmp_path / "q.jsonl", QUESTIONS[0])
    result = CliRunner().invoke(app, ["eval", "answers", str(file), "--compare", "model=offline", "corpus=seeds", "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["differences"]["which"]["hit@1"]["mean"] == 0
