# ruff: noqa: E501 - samples and expected texts stand in one piece
import csv
import dataclasses
import io
import json
import re
import warnings
from pathlib import Path

import pytest
import rispy
from bibtexparser.entrypoint import parse_string
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.errors import UsageError
from rag.exports import FORMATS, export_answer, export_papers
from rag.readers import read_papers
from rag.records import Paper
from rag.resources import bundled
from rag.text.clean import plain_text


@pytest.fixture(scope="module")
def seeds() -> list[Paper]:
    return [record for record in read_papers([bundled("seeds")]) if isinstance(record, Paper)]


def test_unknown_format_names_the_known():
    with pytest.raises(UsageError, match=r"No export format named 'docx'\. Known: markdown, json, jsonl, csv, bibtex, ris, csl\."):
        export_papers([], "docx")


@pytest.mark.parametrize(
    ("format", "text"), [("json", "[]\n"), ("jsonl", ""), ("bibtex", ""), ("ris", ""), ("csl", "[]\n"), ("markdown", "")]
)
def test_no_papers(format, text):
    assert export_papers([], format) == text


@pytest.mark.parametrize("format", FORMATS)
def test_a_paper_given_twice_is_written_once(format, paper):
    assert export_papers([paper, paper], format) == export_papers([paper], format)


@pytest.mark.parametrize(("format", "name"), [("json", "x.json"), ("jsonl", "x.jsonl"), ("csv", "x.csv")])
def test_nothing_is_lost_in_formats_of_our_own(format, name, paper, bare, tmp_path):
    (tmp_path / name).write_text(export_papers([paper, bare], format), encoding="utf-8")
    read = [dataclasses.replace(record, sources=()) for record in read_papers([tmp_path / name])]
    commas = {"keywords": paper.keywords} if format != "csv" else {}
    expected = dataclasses.replace(paper, sources=(), abstract=plain_text(paper.abstract), **commas)
    assert read == [expected, bare]


@pytest.mark.parametrize(("format", "name"), [("bibtex", "x.bib"), ("ris", "x.ris"), ("csl", "x.json")])
def test_bibliographies_read_back_with_the_same_texts(format, name, seeds, tmp_path):
    (tmp_path / name).write_text(export_papers(seeds, format), encoding="utf-8")
    read = list(read_papers([tmp_path / name]))
    for paper, back in zip(seeds, read, strict=True):
        assert (back.title, back.abstract) == (plain_text(paper.title), plain_text(paper.abstract))
        assert (back.authors, back.year, back.venue, back.url, back.doi) == (paper.authors, paper.year, paper.venue, paper.url, paper.doi)


def test_bibtex_entry(paper):
    assert export_papers([paper], "bibtex") == (
        "@inproceedings{doe2025talking,\n"
        "  title = {Talking Turns: {GPT}-4 \\& 5\\% of \\textbraceleft{}sets\\textbraceright{}},\n"
        "  author = {Doe, Jane A. and van Beethoven, Ludwig and García, Jr., José and {Bird Team} and {张伟}},\n"
        "  year = {2025},\n"
        "  booktitle = {ICLR 2025},\n"
        "  doi = {10.1000/a_b},\n"
        "  url = {https://x.org/a_b?c=1&d=%20},\n"
        "  eprint = {2503.01174},\n"
        "  archiveprefix = {arXiv},\n"
        "  primaryclass = {cs.CL},\n"
        "  keywords = {turn-taking, a b},\n"
        "  abstract = {We show $x_t \\leq 5$ costs 5 \\% \\& more\\_x; \\textasciitilde{}3 -{}- ok, \\textbackslash{}method\\textbraceleft{}"
        "\\textbraceright{} \\textbraceleft{}a\\textbraceright{}.},\n"
        "  annote = {Decision: Poster; track: main; area: speech; categories: cs.CL},\n"
        "  month = mar\n}\n"
    )


def test_bibtexparser_reads_every_entry(seeds, paper, bare):
    papers = [*seeds, paper, bare]
    library = parse_string(export_papers(papers, "bibtex"))
    assert (len(library.entries), library.failed_blocks) == (59, [])
    assert len(library.entries_dict) == 59


def test_rispy_reads_every_record(seeds, paper):
    records = rispy.loads(export_papers([*seeds, paper], "ris"))
    assert len(records) == 58
    last = records[-1]
    assert (last["type_of_reference"], last["title"], last["abstract"]) == ("CONF", paper.title, paper.abstract)
    assert last["authors"] == ["Doe, Jane A.", "van Beethoven, Ludwig", "García, José, Jr.", "Bird Team", "张伟"]
    assert (last["year"], last["date"], last["doi"], last["keywords"]) == ("2025", "2025/03/01/", "10.1000/a_b", ["turn-taking", "a, b"])


def test_a_csl_processor_renders_every_item(seeds, paper, bare):
    from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
    from citeproc.source.json import CiteProcJSON

    items = json.loads(export_papers([*seeds, paper, bare], "csl"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the processor knows fewer fields than the standard
        style = CitationStylesStyle("harvard-cite-them-right", validate=False)
        bibliography = CitationStylesBibliography(style, CiteProcJSON(items), formatter.plain)
        for item in items:
            bibliography.register(Citation([CitationItem(item["id"])]))
        rendered = [str(entry) for entry in bibliography.bibliography()]
    assert len(rendered) == 59
    assert any("Doe, J.A." in entry and "2025" in entry and "Talking Turns" in entry for entry in rendered)


LATEX = Paper(
    "x",
    r"On \emph{naive} {\'e}tudes",
    r"Code at~\url{https://x.org/a_b}, see \href{https://y.org}{here}; 5\% at $x_t \leq 5$ --- ok.",
    year=2024,
)


@pytest.mark.parametrize("format", ["csv", "ris", "csl"])
def test_latex_becomes_text_where_no_latex_is_read(format):
    text = export_papers([LATEX], format)
    if format == "csl":
        found = json.loads(text)[0]
    else:
        found = rispy.loads(text)[0] if format == "ris" else next(csv.DictReader(io.StringIO(text)))
    assert found["abstract"] == r"Code at https://x.org/a_b, see here; 5% at $x_t \leq 5$ --- ok."
    assert found["title"].startswith("On naive ")


def test_latex_becomes_sound_latex_in_bibtex(tmp_path):
    text = export_papers([LATEX], "bibtex")
    assert r"  abstract = {Code at https://x.org/a\_b, see here; 5\% at $x_t \leq 5$ -{}-{}- ok.}" in text
    (tmp_path / "x.bib").write_text(text, encoding="utf-8")
    assert [record.abstract for record in read_papers([tmp_path / "x.bib"])] == [
        r"Code at https://x.org/a_b, see here; 5% at $x_t \leq 5$ --- ok."
    ]


def test_what_a_format_has_no_field_for_is_in_its_note(paper, bare):
    note = "Decision: Poster; track: main; area: speech; categories: cs.CL"
    ris = rispy.loads(export_papers([paper, bare], "ris"))
    csl = json.loads(export_papers([paper, bare], "csl"))
    bib = parse_string(export_papers([paper, bare], "bibtex")).entries
    assert (ris[0]["notes"], csl[0]["note"], bib[0]["annote"]) == ([note], note, note)
    assert "notes" not in ris[1]
    assert "note" not in csl[1]
    assert "annote" not in bib[1].fields_dict


def test_arxiv_ids_are_where_tools_look_for_them(paper):
    assert rispy.loads(export_papers([paper], "ris"))[0]["accession_number"] == "arXiv:2503.01174"
    item = json.loads(export_papers([paper], "csl"))[0]
    assert (item["archive"], item["archive_location"]) == ("arXiv", "2503.01174")


@pytest.mark.parametrize(("format", "name"), [("bibtex", "x.bib"), ("ris", "x.ris"), ("csl", "x.json")])
def test_an_arxiv_id_is_read_back(format, name, paper, tmp_path):
    (tmp_path / name).write_text(export_papers([paper], format), encoding="utf-8")
    assert [record.arxiv_id for record in read_papers([tmp_path / name])] == ["2503.01174"]


def test_csl_item(paper, bare):
    first, second = json.loads(export_papers([paper, bare], "csl"))
    assert first["author"] == [
        {"family": "Doe", "given": "Jane A."}, {"family": "van Beethoven", "given": "Ludwig"},
        {"family": "García", "given": "José", "suffix": "Jr."}, {"literal": "Bird Team"}, {"literal": "张伟"},
    ]  # fmt: skip
    assert (first["type"], first["issued"], first["container-title"]) == ("paper-conference", {"date-parts": [[2025, 3, 1]]}, "ICLR 2025")
    assert second == {"id": "suma1", "type": "article", "title": "=SUM(A1)", "abstract": "+1 better."} | {"id": second["id"]}


def test_keys_are_unique_whatever_the_order(paper):
    papers = [dataclasses.replace(paper, id=f"id{number:03}") for number in range(60)]

    def keys(order: list[Paper]) -> dict[str, str]:
        found = re.findall(r"@\w+\{(.+),", export_papers(order, "bibtex"))
        return dict(zip([each.id for each in order], found, strict=True))

    forward = keys(papers)
    assert forward == keys(papers[::-1])
    assert len(set(forward.values())) == 60
    assert [forward["id000"], forward["id001"], forward["id027"]] == ["doe2025talking", "doe2025talkinga", "doe2025talkingaa"]
    assert all(re.fullmatch(r"[a-z0-9]+", key) for key in forward.values())


@pytest.mark.parametrize(
    ("authors", "title", "key"),
    [
        (("Søren Kierkegård",), "The Ærlig Way", "kierkegard2020aerlig"),
        (("张伟",), "鸟的歌", None),
        ((), "A Study", "anon2020study"),
    ],
)
def test_keys_are_ascii(authors, title, key):
    found = re.findall(r"\{(.+),", export_papers([Paper("x", title, "A.", authors, 2020)], "bibtex"))[0]
    assert found == key or (key is None and re.fullmatch(r"paper[0-9a-f]{6}2020", found))


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@x", "\tx"])
def test_csv_never_holds_a_formula(cell):
    text = export_papers([Paper("x", f"\\emph{{{cell}}}", "A.", (f"{cell} name",), venue=cell, keywords=(cell,))], "csv")
    row = next(csv.DictReader(io.StringIO(text)))
    assert (row["venue"], row["authors"], row["keywords"]) == (f"'{cell}", f"'{cell} name", f"'{cell}")
    assert row["title"] == (f"'{cell}" if cell.strip() == cell else cell.strip())


def test_markdown_shows_titles_as_they_are(bare):
    tricky = Paper("x", "A [b](c) *d* <e> `f` snake_case $x_t$", "# no heading", ("A_B",), 2024, "V", "https://x.org/<a>")
    assert export_papers([tricky], "markdown") == (
        "## [A \\[b\\](c) \\*d\\* \\<e\\> \\`f\\` snake_case $x_t$](<https://x.org/%3Ca%3E>)\n\nA_B\n\n*V, 2024*\n\n\\# no heading\n"
    )


def test_answer_as_markdown(answer):
    assert export_answer(answer, "markdown") == (
        "# Which \\*papers\\* study turns?\n\nOne paper does [1].\n\n## Sources\n\n"
        "1. Jane A. Doe, Ludwig van Beethoven, José García Jr., Bird Team, 张伟 (2025). "
        "[Talking Turns: GPT-4 & 5% of {sets}](<https://x.org/a_b?c=1&d=%20>). *ICLR 2025*.\n   > We show $x_t \\leq 5$ (quoted)\n"
    )


def test_answer_as_json_and_rows(answer):
    assert json.loads(export_answer(answer, "json"))["answer"] == "One paper does [1]."
    assert export_answer(answer, "jsonl").count("\n") == 1
    row = next(csv.DictReader(io.StringIO(export_answer(answer, "csv"))))
    assert (row["number"], row["support"], row["score"], row["id"]) == ("1", "quoted", "0.91", "p1")


@pytest.mark.parametrize("format", ["bibtex", "ris", "csl"])
def test_answer_exports_exactly_the_cited_papers(format, answer, paper):
    assert export_answer(answer, format) == export_papers([paper], format)


def test_answer_in_an_unknown_format_is_refused(answer):
    with pytest.raises(UsageError, match="No export format named 'docx'"):
        export_answer(answer, "docx")


plain = (
    st.text(alphabet="abcXYZ {}\\%&_#~^$'`-\"@<>=,;.é中", min_size=1, max_size=60).map(plain_text).filter(lambda text: text.strip(" .,;"))
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(title=plain, abstract=plain)
def test_bibtex_of_any_text_stays_one_entry(title, abstract, tmp_path: Path):
    following = Paper("z", "Next", "Whole.")
    text = export_papers([Paper("x", title, abstract), following], "bibtex")
    library = parse_string(text)
    assert (len(library.entries), library.failed_blocks) == (2, [])
    assert {"title", "abstract"} <= set(library.entries[0].fields_dict)
    (tmp_path / "x.bib").write_text(text, encoding="utf-8")
    assert [record.abstract for record in read_papers([tmp_path / "x.bib"]) if isinstance(record, Paper)][-1] == "Whole."
