from collections.abc import Callable
from pathlib import Path

import pytest

from rag.readers import read_papers
from rag.records import Paper, Rejected

Read = Callable[..., list[Paper | Rejected]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Writes `content` to a file called `name` and reads it."""

    def write_and_read(content: str | bytes, name: str = "papers", **options: object) -> list[Paper | Rejected]:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return list(read_papers([path], **options))

    return write_and_read


@pytest.fixture
def read_one(read: Read) -> Callable[..., Paper]:
    """The same for a file of one paper."""

    def one(content: str | bytes, name: str = "papers", **options: object) -> Paper:
        (paper,) = read(content, name, **options)
        assert isinstance(paper, Paper), paper
        return paper

    return one
