"""Filters: the grammar, its errors, and what passes."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_papers import make_paper

from rag.errors import UsageError
from rag.records import Paper
from rag.store.conditions import FIELDS, Comparison, Condition, Group, Negation, fold
from rag.store.filters import Filters, parse_where
from rag.store.rows import FACET_COLUMNS, facet_row


def passing(papers: list[Paper], filters: Filters) -> list[str]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE TABLE facets ({', '.join(FACET_COLUMNS)})")
        marks = ", ".join("?" * len(FACET_COLUMNS))
        connection.executemany(f"INSERT INTO facets VALUES ({marks})", [facet_row(paper) for paper in papers])
        condition, parameters = filters.sql()
        return [key for (key,) in connection.execute(f"SELECT id FROM facets WHERE {condition} ORDER BY rowid", parameters)]
    finally:
        connection.close()


PAPERS = [
    make_paper(
        1, id="a", year=2023, venue="ICLR 2023", authors=("Ada Lovelace",), keywords=("LoRA", "fine-tuning"), decision="Accept (oral)"
    ),
    make_paper(
        2, id="b", year=2025, venue="iclr 2025", authors=("Zoë Müller", "Bob Ada"), categories=("cs.CL", "cs.AI"), published="2025-03-01"
    ),
    make_paper(3, id="C", year=None, venue=None, authors=(), doi="10.1/ABC", published=None, track="Datasets and Benchmarks"),
    make_paper(4, id="d", year=2025, venue="NeurIPS", authors=('O\'Neil "Q"',), published="2025", area="theory"),
]


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("", ["a", "b", "C", "d"]),
        ("year>=2024 and venue~ICLR", ["b"]),
        ("year=2023 or year=2025", ["a", "b", "d"]),
        ("year==2023", ["a"]),
        ("year!=2025", ["a", "C"]),
        ("not year=2025", ["a", "C"]),
        ("year<2025", ["a"]),
        ("year<=2025", ["a", "b", "d"]),
        ("venue~iclr and not (year<2024)", ["b"]),
        ("venue='ICLR 2023'", ["a"]),
        ("venue=ICLR", []),
        ("author~ada", ["a", "b"]),
        ('author="ada lovelace"', ["a"]),
        ("author=ada", []),
        ("author~muller", ["b"]),
        ("AUTHOR ~ MÜLLER", ["b"]),
        (r'author="O\'Neil \"Q\""', ["d"]),
        ("keyword=lora", ["a"]),
        ("keywords~TUNING", ["a"]),
        ("category=cs.CL", ["b"]),
        ("category~cs.", ["b"]),
        ("decision~oral", ["a"]),
        ("track~benchmarks", ["C"]),
        ("area=Theory", ["d"]),
        ("id=C", ["C"]),
        ("id=c", []),
        ("doi=https://doi.org/10.1/abc", ["C"]),
        ("since=2025-02", ["b", "d"]),
        ("since=2025-04", ["d"]),
        ("published<2025", ["a"]),
        ("published=2025-03", ["b", "d"]),
        ("published>2023", ["b", "d"]),
        ("year=2023 or year=2025 and venue~neurips", ["a", "d"]),
        ("(year=2023 or year=2025) and venue~neurips", ["d"]),
        ("not not year=2023", ["a"]),
        ('author!="Ada Lovelace"', ["b", "C", "d"]),
        ('title~"number 3"', ["C"]),
    ],
)
def test_where_passes_exactly_these(where: str, ids: list[str]) -> None:
    assert passing(PAPERS, parse_where(where)) == ids


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("venue~ICLR 2025", "at character 12 ('2025'): expected `and`, `or` or the end"),
        ("venue ICLR", "at character 7 ('ICLR'): expected one of = != < <= > >= ~ after 'venue'"),
        ("year>=", "at character 7 (the end): expected a value after year>="),
        ("(year=2020", "at character 11 (the end): expected `)` for the `(` at character 1"),
        ("year=2020)", "at character 10 (')'): expected `and`"),
        ('title="abc', "at character 7 ('\"'): a quote is never closed"),
        ("year~20", "'year' does not take '~'. It takes: = != < <= > >="),
        ("venue>ICLR", "'venue' does not take '>'. It takes: = != ~"),
        ("year=recent", "'recent' is not a year"),
        ("since=yesterday", "'yesterday' is not a date"),
        ("since=2025-13", "'2025-13' is not a date"),
        ("foo=1", "No field named 'foo'. Fields: year, venue, author"),
        ("and year=1", "at character 1 ('and'): expected a field"),
        ("year=2020 and", "at character 14 (the end): expected a field"),
        ('venue=""', "'venue' is compared with nothing"),
        ("venue=a\\b", "at character 8 ('\\\\'): unexpected character"),
        ("(" * 40 + "year=1" + ")" * 40, "nested more than 30 deep"),
        (" or ".join(["year=1"] * 300), "more than 200 comparisons"),
    ],
)
def test_a_wrong_condition_is_pointed_at(where: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_where(where)
    assert message in str(caught.value)


def test_filters_of_options_must_all_hold() -> None:
    filters = Filters.of(year="2023-2025", venue="ICLR", author="ada", where="decision~oral")
    assert passing(PAPERS, filters) == ["a"]
    assert (
        filters.describe()
        == 'year >= 2023 and year <= 2025 and venue contains "ICLR" and author contains "ada" and decision contains "oral"'
    )


@pytest.mark.parametrize(
    ("year", "where"),
    [
        ("2025", "year=2025"),
        (2025, "year=2025"),
        ("2023-2025", "year>=2023 and year<=2025"),
        ("2023-", "year>=2023"),
        ("-2025", "year<=2025"),
    ],
)
def test_years_and_ranges(year: str | int, where: str) -> None:
    assert str(Filters.of(year=year)) == where


@pytest.mark.parametrize("year", ["", "25", "2025 2026", "-", "x", "20250"])
def test_other_years_are_refused(year: str) -> None:
    with pytest.raises(UsageError, match="is not a year or a range of years"):
        Filters.of(year=year)


def test_empty_filters_restrict_nothing() -> None:
    assert not Filters()
    assert Filters().describe() == ""
    assert Filters.of() == Filters() == parse_where("  ")
    assert Filters().and_(Filters.of(year=2025)) == Filters.of(year=2025)
    assert Filters.of(year=2025).and_(Filters.of(year=2025)) == Filters.of(year=2025)


def test_negation_and_precedence_in_words() -> None:
    assert parse_where("not (year<2020 or venue=x) and id~q").describe() == 'not (year < 2020 or venue is "x") and id contains "q"'


def values(name: str) -> st.SearchStrategy[str]:
    if FIELDS[name].kind == "number":
        return st.integers(0, 9999).map(str)
    if FIELDS[name].kind == "date":
        return st.dates().map(lambda day: f"{day:%Y-%m-%d}".zfill(10)[:10])
    return st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12).map(lambda t: " ".join(t.split())).filter(fold)


@st.composite
def comparisons(draw: st.DrawFn) -> Comparison:
    name = draw(st.sampled_from(sorted(FIELDS)))
    return Comparison(name, draw(st.sampled_from(FIELDS[name].operators)), draw(values(name)))  # type: ignore[arg-type]


def groups(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.builds(Negation, parts) | st.builds(Group, st.sampled_from(["and", "or"]), several)


CONDITIONS = st.recursive(comparisons(), groups, max_leaves=8)


@given(CONDITIONS)
def test_a_written_condition_reads_back_as_itself(condition: Condition) -> None:
    assert parse_where(str(condition)) == Filters(condition)


@given(CONDITIONS)
def test_negation_passes_exactly_the_rest(condition: Condition) -> None:
    some, rest = passing(PAPERS, Filters(condition)), passing(PAPERS, Filters(Negation(condition)))
    assert sorted(some + rest) == sorted(paper.id for paper in PAPERS)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        filters = parse_where(text)
    except UsageError:
        return
    passing(PAPERS, filters)


@given(st.text(max_size=40))
def test_folding_is_stable(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_equality_is_containment_of_the_whole_entry() -> None:
    paper = replace(PAPERS[0], keywords=("deep learning", "graph"))
    assert passing([paper], parse_where('keyword="deep learning"')) == ["a"]
    assert passing([paper], parse_where('keyword="learning graph"')) == []
    assert passing([paper], parse_where('keyword~"learning graph"')) == []


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("2024", "for the year write year=2024. Example: "),
        ("ICLR", "for a venue write venue~ICLR. Example: "),
        ("year", "after 'year'. Example: "),
        ("year>=abc", "such as year>=2024. Example: "),
        ("foo=1", "id, doi, since. Example: "),
        ("(year=2024", "at character 1. Example: "),
        ('venue="x', "never closed. Example: "),
        ("year=2024 and", "such as year or venue. Example: "),
        (" or ".join(["year=1"] * 201), "several searches. Example: "),
        ("(" * 40 + "year=1", "deep. Example: "),
    ],
)
def test_every_error_of_the_grammar_shows_what_is_right(text: str, advice: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_where(text)
    example = str(caught.value).rpartition("Example: ")[2].rstrip(".")
    assert advice in str(caught.value)
    assert str(parse_where(example)) == example
