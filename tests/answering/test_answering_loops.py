"""Where a reply began to repeat itself."""

import pytest

from rag.answering.loops import loop_start

START = "LoRA adapts models [1]. "


@pytest.mark.parametrize(
    ("loop", "kept"),
    [
        ("It is good. ", START + "It is good."),
        ("and so on, ", START.rstrip()),
        ("The same sentence comes again, word for word [2]. ", START + "The same sentence comes again, word for word [2]."),
    ],
)
def test_the_first_round_stays(loop: str, kept: str) -> None:
    text = START + loop * 20
    assert text[: loop_start(text)] == kept


def test_a_list_that_counts_up_without_end_is_a_loop() -> None:
    text = START + "\n".join(f"- Paper {number} studies adapters [1]." for number in range(40))
    assert 0 < loop_start(text) < 400


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        START,
        "\n".join(f"- {2015 + i}: {i} papers [{i}]" for i in range(9)),
        "no no no no no",
        "-" * 300,
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |",
        "First, X. Second, X. Third, Y. " * 2,
    ],
)
def test_ordinary_text_is_no_loop(text: str) -> None:
    assert loop_start(text) == 0
