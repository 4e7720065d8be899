from collections.abc import Iterator
from pathlib import Path

import pytest

from rag.embedding import MiniLM
from rag.retrieval import Retriever
from rag.settings import Settings
from rag.store.library import Library


@pytest.fixture(scope="session")
def model() -> MiniLM:
    return MiniLM()


@pytest.fixture(scope="session")
def seeds(model: MiniLM, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The bundled corpus in a home of its own."""
    with Library.open("seeds", Settings(home=Path(tmp_path_factory.mktemp("seeds"))), model) as library:
        yield library


@pytest.fixture(scope="session")
def retriever(seeds: Library, model: MiniLM) -> Retriever:
    return Retriever(seeds, model, Settings())
