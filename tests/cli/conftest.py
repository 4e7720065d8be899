"""Running the commands as a shell does, in this process."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from rag.cli import ask, main
from rag.errors import RagError


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Outcome]


def _runner(app: typer.Typer) -> Run:
    def run(*arguments: str, input: str | None = None) -> Outcome:
        result = CliRunner().invoke(app, list(arguments), input=input)
        if isinstance(result.exception, RagError):
            return Outcome(result.exception.exit_code, result.stdout, f"{result.stderr}error: {result.exception}")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def run_ask() -> Run:
    return _runner(ask.app)


@pytest.fixture
def run_rag() -> Run:
    return _runner(main.app)


@pytest.fixture
def two_papers(tmp_path: Path) -> Path:
    """A JSONL file of two papers and one record that is none."""
    lines = [
        {
            "id": "a1",
            "title": "Turns in Dialogue",
            "abstract": "We study turn-taking in spoken dialogue. Backchannels occur in 12.5% of turns.",
            "authors": ["Ada Lovelace"],
            "year": 2024,
            "venue": "ICLR 2024",
            "url": "https://example.org/a1",
        },
        {
            "id": "b2",
            "title": "Low-Rank Adapters",
            "abstract": "We propose adapters of low rank for fine-tuning. They save memory.",
            "authors": ["Alan Turing", "Ada Lovelace"],
            "year": 2025,
            "venue": "COLM 2025",
        },
    ]
    path = tmp_path / "papers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + "{broken\n", encoding="utf-8")
    return path
