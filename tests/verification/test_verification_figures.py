"""Figures: how they are written, and when two say the same."""

import pytest

from rag.verification.figures import mismatches, misplaced, quantities


def read(text: str) -> list[tuple[float, str, str]]:
    return [(quantity.value, quantity.kind, quantity.unit) for quantity in quantities(text)]


@pytest.mark.parametrize("text", ["12.1x faster", "12.1× faster", "12.1 times faster", "12.1-fold", r"$12.1\times$ faster"])
def test_a_multiplier_is_one_figure_however_written(text: str) -> None:
    assert read(text) == [(12.1, "times", "")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("84.3%", [(84.3, "percent", "")]),
        (r"84.3\%", [(84.3, "percent", "")]),
        ("84.3 percent", [(84.3, "percent", "")]),
        ("twenty-five percentage points", [(25.0, "percent", "")]),
        ("six datasets", [(6.0, "plain", "")]),
        ("two hundred samples", [(200.0, "plain", "")]),
        ("1,234 users", [(1234.0, "plain", "")]),
        ("10 000 adults", [(10000.0, "plain", "")]),
        ("a 7B model on 1.5M images", [(7e9, "plain", ""), (1.5e6, "plain", "")]),
        ("3 million tokens", [(3e6, "plain", "")]),
        ("2.5e-3", [(0.0025, "plain", "")]),
        (r"$3 \times 10^{4}$ steps", [(3e4, "plain", "")]),
        ("500 ms", [(0.5, "plain", "s")]),
        ("0.5 seconds", [(0.5, "plain", "s")]),
        ("10-20%", [(10.0, "percent", ""), (20.0, "percent", "")]),
        ("1 to 2 hours", [(3600.0, "plain", "s"), (7200.0, "plain", "s")]),
        ("top-5 accuracy", [(5.0, "plain", "")]),
        ("doubles the speed", [(2.0, "times", "")]),
        ("a threefold gain", [(3.0, "times", "")]),
        ("a score of -0.5", [(-0.5, "plain", "")]),
        ("$-3.2\\%$ of it", [(-3.2, "percent", "")]),
        ("between 3 - 5 layers", [(3.0, "plain", ""), (5.0, "plain", "")]),
        ("12,1 mal schneller", [(12.1, "plain", "")]),
        ("1.2k and 1,200 and 12,100", [(1200.0, "plain", ""), (1200.0, "plain", ""), (12100.0, "plain", "")]),
        ("on 2019-03-12", [(2019.0, "plain", ""), (3.0, "plain", ""), (12.0, "plain", "")]),
        ("224x224", [(224.0, "plain", ""), (224.0, "plain", "")]),
    ],
)
def test_figures_are_read_with_kind_and_unit(text: str, expected: list[tuple[float, str, str]]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize("text", ["GPT-4 and CIFAR-10", "Llama-2", "3D scenes", "one of them", "ResNet50", "H2O"])
def test_numbers_in_names_are_not_figures(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("statement", "abstract"),
    [
        ("It is 12.1x faster.", "a speed-up of 12.1×"),
        ("Six tasks.", "on 6 tasks"),
        ("Half a second: 500 ms.", "within 0.5 s"),
        ("About 12x faster.", "is 12.1 times faster"),
        ("It gains 21.1%.", "a gain of 21.07%"),
        ("Over 1.2 million pairs.", "1,200,000 pairs"),
        ("It scores 84.3.", "scores 84.3%"),
        ("Twice as fast.", "a 2x speed-up"),
    ],
)
def test_the_same_figure_in_other_writing_agrees(statement: str, abstract: str) -> None:
    assert mismatches(quantities(statement), quantities(abstract)) == ()


@pytest.mark.parametrize(
    ("statement", "abstract", "nearest"),
    [
        ("It is 12.1x faster.", "It is 21.1x faster.", "21.1x"),
        ("It gains 12%.", "It gains 21%.", "21%"),
        ("It takes 12 hours.", "It takes 12 days.", "12 days"),
        ("Seven tasks.", "on six tasks", "six"),
        ("It has 7M weights.", "It has 7B weights.", "7B"),
        ("It gains 12%.", "It is faster.", ""),
    ],
)
def test_another_figure_is_a_mismatch(statement: str, abstract: str, nearest: str) -> None:
    [found] = mismatches(quantities(statement), quantities(abstract))
    assert (found.wrong, found.nearest) == (True, nearest)


@pytest.mark.parametrize(
    ("statement", "abstract"),
    [
        ("It is 12x faster.", "It is 12.1x faster."),
        ("It gains 3.2%.", "It gains 3.2 points."),
        ("It scores 84%.", "It scores 0.84."),
        ("It scores 0.84.", "It scores 84%."),
        ("It correlates by -0.5.", "It correlates by 0.5."),
    ],
)
def test_a_rounded_figure_or_one_with_another_kind_is_only_near(statement: str, abstract: str) -> None:
    [found] = mismatches(quantities(statement), quantities(abstract))
    assert not found.wrong


def test_a_figure_in_the_place_of_another_is_found() -> None:
    paper = quantities("We reach 84.3% accuracy on images and 79.1% accuracy on text.")
    moved = quantities("They reach 79.1% accuracy on images.")
    assert [(stated.text, given.text) for stated, given in misplaced(moved, paper)] == [("79.1%", "84.3%")]
    assert misplaced(quantities("They reach 84.3% accuracy on images."), paper) == ()
