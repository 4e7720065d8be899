"""What all tests share: an empty home, no settings from outside."""

from pathlib import Path

import pytest

from rag.settings import environment_variables

pytest_plugins = ["openai_server.plugin"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty `RAG_HOME`; no key, no server and no `.env` of the developer's reaches a test."""
    for name in environment_variables():
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    monkeypatch.setenv("RAG_HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder
