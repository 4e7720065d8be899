"""Sentence boundaries in abstracts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.text.sentences import split_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ("We follow Smith et al. (2020) and use LoRA, i.e. low-rank adapters.", "See Fig. 2 for details."),
        ("The rate is $O(\\frac{1}{T})$.", "It gains 5.3 points, e.g. on SQuAD v1.1."),
        ("Code: https://github.com/a/b.c.", "We improve by 2.5x.", "*Mamba* is fast.", "\\textbf{Ours} wins."),
        ("Eq. (3) holds w.r.t. the input.", "Is it true?", "Yes!"),
        ("In the U.S. we see growth.", "Approx. 3.5M parameters (cf. Sec. 3) suffice."),
        ("It needs fewer tasks.", "By Prof. Smith's proof, Rust code.", "SAFE establishes it."),
        ("这是第一句。", "这是第二句！", "第三句？"),
    ],
)
def test_sentences_survive_abbreviations_numbers_latex_and_urls(sentences: tuple[str, ...]) -> None:
    joiner = "" if "。" in sentences[0] else " "
    assert tuple(span.text for span in split_sentences(joiner.join(sentences))) == sentences


@given(st.text(max_size=300))
def test_spans_are_ordered_and_hold_every_visible_character(text: str) -> None:
    spans = split_sentences(text)
    assert all(text[span.start : span.end] == span.text for span in spans)
    assert all(first.end <= second.start for first, second in zip(spans, spans[1:], strict=False))
    covered = {i for span in spans for i in range(span.start, span.end)}
    assert [character for i, character in enumerate(text) if i not in covered and not character.isspace()] == []
