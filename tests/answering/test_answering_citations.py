"""Citations while they stream: what is read, renumbered, dropped and left alone, whatever the pieces."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.answering import CitationStream
from rag.answering.citations import renumbered
from rag.protocols import Source
from rag.records import Paper

SOURCES = tuple(
    Source(number, Paper(f"p{number}", f"Title {number}", "Text.", url=f"https://openreview.net/forum?id=p{number}"))
    for number in range(1, 6)
)


def read(text: str, numbers: dict[str, int] | None = None) -> str:
    return renumbered(text, SOURCES, numbers)[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A [1]. B [2].", "A [1]. B [2]."),
        ("A [3]. B [1, 2] and C [3].", "A [1]. B [2][3] and C [1]."),
        ("A [1][2].", "A [1][2]."),
        ("A [2-4].", "A [1][2][3]."),
        ("A [2–3].", "A [1][2]."),
        ("A [1,2, 4-5].", "A [1][2][3][4]."),
        ("A [1; 2] and [3 and 4].", "A [1][2] and [3][4]."),
        ("A 【1】.", "A [1]."),
        ("A 【2†source】.", "A [1]."),
        ("A 【3†L1-L9】.", "A [1]."),
        ("A [^2].", "A [1]."),
        ("A [Paper 2], [source 3] and [#4].", "A [1], [2] and [3]."),
        (r"A \[2\].", "A [1]."),
        ("A [1?].", "A [1]."),
        ("A [1] [1][1].", "A [1]."),
        ("([1], [2])", "([1], [2])"),
        ("turn-taking[2] is", "turn-taking[1] is"),
        ("It holds (LoRA)[2].", "It holds (LoRA)[1]."),
        ("[2]: They show it.", "[1] They show it."),
        ("**Bold** [2] and *it* [1]", "**Bold** [1] and *it* [2]"),
    ],
)
def test_forms_of_citations_become_one(text: str, expected: str) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "the entry x[1] and x[1][2]",
        "call f with my_list[1]",
        "`a[1]` stays",
        "``b[`1`] [2]`` stays",
        "```python\na[1] = b [2]\n```\n",
        "$a[1]$ and $$b [2]$$",
        r"\(a [1]\) and \[b [2] + c\]",
        "(1) and (see 1)",
        "[sic] and [a, b] and [1.5] and [-1, 1]",
        "costs $5 or $10",
        "between 1 < 2 and a < b > c",
        "tokens such as <SEP> and <unk>",
        "50% of $O(\\frac{1}{T})$",
    ],
)
def test_what_is_no_citation_is_left_alone(text: str) -> None:
    assert renumbered(text, SOURCES)[0] == text
    assert renumbered(text, SOURCES)[1].cited == {}


@pytest.mark.parametrize(
    ("text", "expected", "dropped"),
    [
        ("Studied [99].", "Studied.", ("[99]",)),
        ("Studied [97][98], and again [99].", "Studied, and again.", ("[97]", "[98]", "[99]")),
        ("Studied [1, 99].", "Studied [1].", ("[99]",)),
        ("Studied [99] and left.", "Studied and left.", ("[99]",)),
        ("Studied [99]\nNext", "Studied\nNext", ("[99]",)),
        ("[99] Studied.", "Studied.", ("[99]",)),
        ("Seen ([99]) and ([98], [97]).", "Seen and.", ("[99]", "[98]", "[97]")),
        ("Seen (also [99]).", "Seen (also).", ("[99]",)),
        ("[1], [99] and [2] agree", "[1] and [2] agree", ("[99]",)),
        ("A [99], [1].", "A [1].", ("[99]",)),
        ("A【99】 b", "A b", ("【99】",)),
        ("A [0] b [2024].", "A b.", ("[0]", "[2024]")),
        ("A [123456789].", "A.", ("[123456789]",)),
        ("A [4-7].", "A [1][2].", ("[6]", "[7]")),
        ("A [1-500].", "A [1].", ("[500]",)),
    ],
)
def test_unknown_citations_vanish_and_are_reported(text: str, expected: str, dropped: tuple[str, ...]) -> None:
    out, stream = renumbered(text, SOURCES)
    assert (out, stream.dropped) == (expected, dropped)


def test_numbers_of_the_conversation_are_kept_and_extended() -> None:
    numbers = {"p2": 1, "p9": 2}
    out, stream = renumbered("New [5], old [2], new [1].", SOURCES, numbers)
    assert out == "New [3], old [1], new [4]."
    assert stream.cited == {"p5": 3, "p2": 1, "p1": 4}


def test_a_number_of_the_conversation_outside_the_context_is_dropped() -> None:
    out, stream = renumbered("Earlier [9].", SOURCES, {"p9": 9})
    assert (out, stream.dropped) == ("Earlier.", ("[9]",))


def test_a_bracket_split_over_deltas_never_shows_half() -> None:
    stream = CitationStream(SOURCES)
    shown = [stream.feed(piece) for piece in ("Seen [", "1", ", ", "2", "] he", "re [9", "9] too", ".")]
    assert all(piece.count("[") == piece.count("]") for piece in shown)
    assert "".join(shown) + stream.close() == "Seen [1][2] here too."


def test_text_is_not_held_back_for_long() -> None:
    stream = CitationStream(SOURCES)
    assert stream.feed("It is studied in two papers") == "It is studied in "


def test_a_citation_that_breaks_off_is_not_shown() -> None:
    assert read("It is so [1") == "It is so "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [this](https://evil.example/a) now", "See this now"),
        ("See [1](https://evil.example) now", "See [1] now"),
        ("![pixel](https://evil.example/x.png?q=1) Text", "pixel Text"),
        ("![1](https://evil.example/x.png) Text", "1 Text"),
        ("[![a](b)](https://evil.example)", "a"),
        ("[a [1](x) b](https://evil.example)", "a [1] b"),
        ("<a href='https://evil.example'>here</a>", "here"),
        ("<img src=x onerror=alert(1)> t", " t"),
        ("<script>alert(1)</script>", "alert(1)"),
        ("<scr<b>ipt>alert(1)", "< script>alert(1)"),
        ("<https://evil.example/x>", "evil.example/x"),
        ("at https://evil.example/x, or", "at evil.example/x, or"),
        ("at HTTPS://EVIL.example", "at EVIL.example"),
        ("at hthttps://tps://evil.example", "at evil.example"),
        ("at htt<b></b>ps://evil.example", "at evil.example"),
        ("at https:[99]//evil.example", "at evil.example"),
        ("at www.evil.example", "at evil.example"),
        ("javascript:alert(1) mailto:a@b.c", "alert(1) a@b.c"),
        ("data:text/html;base64,AAAA", "text/html;base64,AAAA"),
        ("[ref]: https://evil.example", "ref: evil.example"),
        ("[text][ref] stays", "[text][ref] stays"),
        ("<!-- hidden --> t", " t"),
        ("x <!-- never closed", "x < !-- never closed"),
        ("\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link\x1b]8;;\x07", "red link"),
        ("a\u202eb\u200bc\u2066d\ufeff\x07\x00", "abcd"),
        ("line\r\nnext\u2028third\ttab", "line\nnext\nthird tab"),
    ],
)
def test_nothing_links_anywhere_or_drives_a_terminal(text: str, expected: str) -> None:
    assert read(text) == expected


def test_the_address_of_a_cited_paper_stays() -> None:
    text = "Seen [1] at https://openreview.net/forum?id=p1. Not https://openreview.net/forum?id=p2."
    assert read(text) == "Seen [1] at https://openreview.net/forum?id=p1. Not openreview.net/forum?id=p2."


def test_a_paper_with_an_unsafe_address_allows_no_link() -> None:
    sources = (Source(1, Paper("x", "T", "A.", url="javascript:alert(1)")),)
    assert renumbered("See [1] javascript:alert(1)", sources)[0] == "See [1] alert(1)"


PIECES = st.sampled_from(
    "[ ] ( ) 1 2 9 99 - word x . ` ``` $ \\ ! < > <b> </a> <!-- --> 【 】 † ^ ? : https:// evil.example // www. [1] "
    "[99] [a](b) \x1b \x1b[0m "
    '\x1b]8;; \x07 \u200b é e\u0301 汉字 か\u3099 = " javascript:'.split(" ")
    + [" ", "\n", "\n\n", "\r", ", ", "and ", "[1, 2]", "Paper "]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=60))


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.lists(st.integers(0, 200), max_size=12))
def test_how_the_text_is_cut_into_deltas_changes_nothing(text: str, cuts: list[int]) -> None:
    whole, one = renumbered(text, SOURCES)
    borders = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    pieces = [text[a:b] for a, b in zip(borders, borders[1:], strict=False)]
    for parts in (pieces, list(text)):
        stream = CitationStream(SOURCES)
        out = "".join([stream.feed(part) for part in parts]) + stream.close()
        assert (out, stream.cited, stream.dropped) == (whole, one.cited, one.dropped)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_whatever_the_model_writes_is_harmless_and_resolves(text: str) -> None:
    out, stream = renumbered(text, SOURCES)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e\u2066-\u2069]", out)
    assert not re.search(r"[a-z][a-z0-9+.-]*://|javascript:[!-~]", out.replace("https://openreview.net/", ""), re.IGNORECASE)
    assert not re.search(r"<(?:a|b|script|img)[\s/>]|<!--", out)
    assert sorted(stream.cited.values()) == list(range(1, len(stream.cited) + 1))
    if set("`$\\") & set(out):
        return
    shown = {int(number) for number in re.findall(r"(?<![\w\]!])\[(\d+)\]", out)}
    assert shown <= set(stream.cited.values())


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_a_second_pass_changes_no_number(text: str) -> None:
    once, stream = renumbered(text, SOURCES)
    back = {f"p{number}": number for number in range(1, 6)}
    identity, _ = renumbered(text, SOURCES, back)
    assert renumbered(identity, SOURCES)[1].cited.keys() == stream.cited.keys()
    assert len(once) <= len(text) * 40 + 200
