"""What all tests share: an empty home, no settings from outside."""

from pathlib import Path

import pytest
from hypothesis import settings

from rag.settings import environment_variables

pytest_plugins = ["openai_server.plugin"]

# The suite tries the same examples in every run; `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile("suite", derandomize=True)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty `RAG_HOME`; no key, no server and no `.env` of the developer's reaches a test."""
    for name in environment_variables():
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    monkeypatch.setenv("RAG_HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder
