"""Answers in statements: what is a claim, where it stands, and what it cites."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.verification import cited_numbers, split_statements


def claims(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(statement.text, statement.numbers) for statement in split_statements(answer)]


def test_each_sentence_is_a_statement_with_its_own_citations() -> None:
    answer = "Audio models interrupt users too often [1]. A judge model trained on human data follows turns [2][3]."
    assert claims(answer) == [
        ("Audio models interrupt users too often [1].", (1,)),
        ("A judge model trained on human data follows turns [2][3].", (2, 3)),
    ]


def test_a_citation_after_the_full_stop_belongs_to_the_sentence_before() -> None:
    answer = "Models struggle with backchannels. [2] They also speak out of turn.[1] Nobody knows the reason."
    assert claims(answer) == [
        ("Models struggle with backchannels. [2]", (2,)),
        ("They also speak out of turn.[1]", (1,)),
        ("Nobody knows the reason.", ()),
    ]


@pytest.mark.parametrize(
    ("marker", "numbers"),
    [
        ("[1]", (1,)),
        ("[1, 2]", (1, 2)),
        ("[1][2]", (1, 2)),
        ("[1-3]", (1, 2, 3)),
        ("【4】", (4,)),
        ("[^5]", (5,)),
        ("[2?]", (2,)),
        ("[3][3]", (3,)),
    ],
)
def test_every_way_to_write_a_citation_is_read(marker: str, numbers: tuple[int, ...]) -> None:
    assert cited_numbers(f"Pruning keeps accuracy {marker}.") == numbers


@pytest.mark.parametrize(
    "text", ["The value x[1] is read.", "Run `a[2]` first.", "Let $b[3]$ be large.", "```\ny = a[1]\n```", "In [brackets] nothing."]
)
def test_indexes_and_code_are_no_citations(text: str) -> None:
    assert cited_numbers(text) == ()


def test_a_sentence_is_cut_between_citations_at_clauses() -> None:
    answer = "Slicing speeds up large kernel sums [1], while pruning removes redundant attention heads [2]."
    assert claims(answer) == [
        ("Slicing speeds up large kernel sums [1],", (1,)),
        ("while pruning removes redundant attention heads [2].", (2,)),
    ]


def test_citations_as_subjects_keep_their_clause() -> None:
    answer = "[1] proposes slicing for sums, kernels, and tests, while [2] proposes pruning of attention heads."
    assert [numbers for _, numbers in claims(answer)] == [(1,), (2,)]
    assert claims(answer)[1][0] == "while [2] proposes pruning of attention heads."


def test_an_enumeration_is_not_torn_apart() -> None:
    answer = "Benchmarks such as Alpha [1], Beta [2], and Gamma [3] measure planning."
    assert claims(answer) == [(answer, (1, 2, 3))]


def test_a_list_item_shares_its_only_citation() -> None:
    answer = "- **Talking Turns** measures turn-taking. It finds many interruptions [1].\n- Another paper studies kernels [2]."
    assert [numbers for _, numbers in claims(answer)] == [(1,), (1,), (2,)]


def test_nested_items_inherit_the_citation_of_their_parent() -> None:
    answer = (
        "1. Talking Turns, a new benchmark [1]:\n   - measures who speaks when\n   - uses a trained judge [2]\n2. Kernel slicing is fast"
    )
    assert [numbers for _, numbers in claims(answer)] == [(1,), (1,), (2,), ()]


def test_hard_wrapped_lines_are_one_statement() -> None:
    answer = "Slicing reduces the cost of\nlarge kernel sums [1]."
    assert claims(answer) == [(answer, (1,))]


def test_what_claims_nothing_is_left_out() -> None:
    answer = """# Answer

Here are the papers:

**Findings**

Slicing reduces the cost of large kernel sums [1].

The provided abstracts do not mention memory use. Would you like more detail? I hope this helps!

| a | b |
|---|---|

```python
total = sums[1]
```

Sources:
[1] Fast Kernel Summation in High Dimensions
- [2] Another paper about something else
"""
    assert claims(answer) == [("Slicing reduces the cost of large kernel sums [1].", (1,))]


def test_text_after_a_source_list_is_read_again() -> None:
    answer = "References:\n[1] A paper about kernels\n\nSlicing reduces the cost of sums [1]."
    assert claims(answer) == [("Slicing reduces the cost of sums [1].", (1,))]


def test_a_lead_in_that_cites_is_a_claim() -> None:
    assert claims("Two papers study turn-taking in speech [1][2]:") == [("Two papers study turn-taking in speech [1][2]:", (1, 2))]


@pytest.mark.parametrize("answer", ["", "   \n\n", "[1]", "[1][2]\n", "---", "#", "```", "- ", "Sources:"])
def test_an_answer_without_claims_has_no_statements(answer: str) -> None:
    assert split_statements(answer) == ()


PIECES = st.sampled_from(
    [
        "Slicing is fast",
        " [1]",
        "[2][3]",
        ". ",
        "\n",
        "\n\n",
        "- ",
        "  - ",
        "1. ",
        "# ",
        "**",
        "`",
        "```",
        "$",
        "Sources:",
        ", while ",
        "; ",
        "【1】",
        "|",
        "é",
        "?",
        "…",
        "[",
        "]",
    ]
)


@settings(deadline=None, max_examples=80)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_statements_lie_in_order_inside_the_answer(answer: str) -> None:
    statements = split_statements(answer)
    assert all(answer[statement.start : statement.end] == statement.text for statement in statements)
    assert all(one.end <= other.start for one, other in zip(statements, statements[1:], strict=False))
    assert {number for statement in statements for number in statement.numbers} <= {1, 2, 3}


def test_a_citation_right_at_a_full_stop_ends_its_sentence() -> None:
    found = split_statements("Pruning wins on all tasks.[1] Slicing loses on all tasks. It is slow [2].")
    assert [(statement.text, statement.numbers) for statement in found] == [
        ("Pruning wins on all tasks.[1]", (1,)),
        ("Slicing loses on all tasks.", ()),
        ("It is slow [2].", (2,)),
    ]


def test_the_names_of_a_tables_columns_claim_nothing() -> None:
    found = split_statements(
        "| Model name | Main result |\n|---|---|\n| Pruning | wins on all tasks [1] |\n| Slicing | loses on tasks [2] |"
    )
    assert [statement.numbers for statement in found] == [(1,), (2,)]


def test_a_single_word_that_cites_is_a_claim() -> None:
    assert [statement.text for statement in split_statements("Slicing [1].")] == ["Slicing [1]."]
    assert split_statements("Slicing.") == split_statements("Sources: [1]") == ()


@pytest.mark.parametrize(
    "text",
    [
        "Smith et al. show that pruning wins, e.g. by 3.5 points vs. slicing (cf. Fig. 3) [1].",
        "Dr. Smith and the U.S. team show that pruning wins i.e. always [1].",
    ],
)
def test_abbreviations_and_decimals_end_no_statement(text: str) -> None:
    assert [statement.text for statement in split_statements(text)] == [text]
