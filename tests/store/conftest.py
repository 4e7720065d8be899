"""Fixtures of the store's tests: settings in a fresh home, and an embedder without a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from store_papers import HashEmbedder

from rag.settings import Settings
from rag.store import Corpora, Library


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
def library(settings: Settings, embedder: HashEmbedder) -> Iterator[Library]:
    """An empty corpus named `mine`, to be synced."""
    with Corpora(settings).open_for_sync("mine", embedder) as library:
        yield library
