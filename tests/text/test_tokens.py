"""Counting tokens without the network."""

import pytest

from rag.text.tokens import count_tokens


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "none"))


def test_the_bundled_table_counts_like_cl100k() -> None:
    assert count_tokens("hello world") == 2
    assert count_tokens("hello world", "gpt-4o") == 2
    assert count_tokens("") == 0


def test_special_tokens_in_a_text_are_only_text() -> None:
    assert count_tokens("<|endoftext|>") == 7


def test_long_runs_without_spaces_are_counted_in_bounded_time() -> None:
    assert count_tokens("a" * 200_000) > 20_000
