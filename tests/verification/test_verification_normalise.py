"""Comparable forms of a text, and the way back to the original."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.verification.normalise import normalise, without_citations


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A  Line\nbreak", "a line break"),
        ("“Quoted” – it’s", '"quoted" - it\'s'),
        ("ﬁne-tuning e\u00ad\u200bﬃcient", "fine-tuning efficient"),
        ("**bold** and *emphasis* and `code`", "bold and emphasis and code"),
        ("- item one", "item one"),
        ("## Heading", "heading"),
        ("[a link](https://example.org)", "a link"),
        ("snake_case stays, _this_ does not", "snake_case stays, this does not"),
        (r"$O(\frac{1}{T})$", "o(1/t)"),
        (r"\textit{private data}", "private data"),
        (r"$12.1\times$ and 84.3\%", "12.1× and 84.3%"),
        (r"$\ell_{p}$-norm of $x^{2}$", "ell^p-norm of x^2"),
        ("TNF-α", "tnf-alpha"),
        ("Straße", "strasse"),
        ("costs $5", "costs $5"),
    ],
)
def test_markup_case_and_unicode_are_evened_out(text: str, expected: str) -> None:
    assert normalise(text).text == expected


def test_case_and_greek_stay_without_folding() -> None:
    assert normalise("LoRA  with **α**", fold=False).text == "LoRA with α"


def test_a_stretch_leads_back_to_the_original() -> None:
    source = r"We use **ﬁne** tuning of $\frac{a}{b}$ here."
    found = normalise(source)
    start = found.text.index("fine tuning")
    assert found.original(start, start + len("fine tuning"), source).text == "ﬁne** tuning"
    fraction = found.text.index("a/b")
    assert found.original(fraction, fraction + 3, source).text == "a}{b"


@settings(deadline=None, max_examples=80)
@given(st.text(max_size=200))
def test_offsets_are_ordered_and_inside_the_source(text: str) -> None:
    found = normalise(text)
    assert len(found.text) == len(found.starts) == len(found.ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(found.starts, found.ends, strict=True))
    assert list(found.starts) == sorted(found.starts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is fast [1].", "It is fast."),
        ("It is fast [1, 2][3?] and small【4】.", "It is fast and small."),
        ("For $p \\in [1,2]$ it holds [3].", "For $p \\in [1,2]$ it holds."),
        ("Read `a[1]` here [2].", "Read `a[1]` here."),
    ],
)
def test_citations_are_taken_out_and_formulas_left(text: str, expected: str) -> None:
    assert without_citations(text) == expected
