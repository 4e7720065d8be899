"""Whatever a file holds, reading it gives papers and rejected records and nothing else."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.exports import export_papers
from rag.readers import FORMATS, read_papers
from rag.readers.decoding import numbered_lines
from rag.readers.json_split import JsonSplitter
from rag.readers.names import author_names
from rag.records import Paper, Rejected
from rag.text.clean import clean_text

LIMITS = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
SEEDS = {
    "text": "Heading\n\nFirst abstract. It goes on.\n\nSecond abstract.\n",
    "json": '[\n{"id": "a", "title": "T", "abstract": "A."},\n{"id": "b", "title": "U", "abstract": "B."}\n]\n',
    "bibtex": "@misc{a,\n  title = {T},\n  abstract = {A.},\n  author = {L, F and {G}}\n}\n@misc{b, title={U}, abstract={B.}}\n",
    "ris": "TY  - JOUR\nTI  - T\nAB  - A.\nAU  - L, F\nER  - \nTY  - JOUR\nTI  - U\nAB  - B.\nER  - \n",
    "csv": 'id,title,abstract\na,T,"A\n""q""."\nb,U,B.\n',
    "nbib": "PMID- 1\nTI  - T\n      U\nAB  - A.\nFAU - L, F\n\nPMID- 2\nTI  - U\nAB  - B.\n",
    "xml": "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>T</ArticleTitle><Abstract>"
    "<AbstractText>A.</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>",
}
MUTATIONS = st.lists(
    st.tuples(
        st.integers(0, 400),
        st.integers(0, 8),
        st.one_of(st.binary(max_size=6), st.sampled_from([b'"', b"{", b"}", b"\n", b"]", b"@", b"<", b"&"])),
    ),
    max_size=6,
)


def check(path: Path, **options: object) -> None:
    for record in read_papers([path], **options):
        assert isinstance(record, (Paper, Rejected))
        if isinstance(record, Paper):
            assert record.id
            assert record.title == clean_text(record.title) != ""
            assert record.abstract == clean_text(record.abstract) != ""
            json.dumps(export_papers([record], "jsonl")).encode()


@pytest.mark.parametrize("name", FORMATS)
@LIMITS
@given(mutations=MUTATIONS)
def test_damaged_files_never_crash_a_reader(name, mutations, tmp_path):
    content = SEEDS[name].encode()
    for place, removed, added in mutations:
        content = content[:place] + added + content[place + removed :]
    (tmp_path / "x").write_bytes(content)
    check(tmp_path / "x", format=name)
    check(tmp_path / "x")


@pytest.mark.parametrize("name", FORMATS)
@LIMITS
@given(text=st.text(max_size=300))
def test_any_text_can_be_read_as_any_format(name, text, tmp_path):
    (tmp_path / "x").write_text(text, encoding="utf-8", errors="surrogatepass")
    check(tmp_path / "x", format=name)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELD_NAMES = (
    "id title abstract authors year venue url doi arxiv_id decision track primary_area keywords categories published content authorships "
    "abstract_inverted_index authors_parsed externalIds bibtex site metadata versions primary_location"
)


@LIMITS
@given(record=st.dictionaries(st.sampled_from(FIELD_NAMES.split()), json_values))
def test_any_value_in_any_field_does_no_harm(record, tmp_path):
    (tmp_path / "x.jsonl").write_text(json.dumps({"title": "T", "abstract": "A.", **record}) + "\n")
    check(tmp_path / "x.jsonl")


@LIMITS
@given(text=st.text(alphabet='{}[]",:\\\n ab1', max_size=200), cuts=st.lists(st.integers(0, 200), max_size=5))
def test_splitting_json_does_not_depend_on_the_blocks(text, cuts):
    def values(blocks: list[str]) -> list[tuple[int, str, bool]]:
        splitter = JsonSplitter()
        found = [value for block in blocks for value in splitter.feed(block)]
        return [(value.line, value.text, value.problem is None) for value in [*found, *splitter.close()] if value.problem is None]

    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    assert values([text[a:b] for a, b in zip(edges, edges[1:], strict=False)]) == values([text])


@LIMITS
@given(
    records=st.lists(st.dictionaries(st.text(max_size=5), json_values, min_size=1, max_size=3), max_size=6),
    indent=st.sampled_from([None, 0, 2]),
)
def test_splitting_sound_json_gives_every_record(records, indent):
    splitter = JsonSplitter()
    text = json.dumps(records, indent=indent)
    values = [*splitter.feed(text), *splitter.close()]
    assert [json.dumps(json.loads(value.text)) for value in values] == [json.dumps(record) for record in records]


@LIMITS
@given(text=st.text(alphabet="ab\r\n\x0b\u2028", max_size=80), cuts=st.lists(st.integers(0, 80), max_size=4))
def test_lines_do_not_depend_on_the_blocks(text, cuts):
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    blocks = [text[a:b] for a, b in zip(edges, edges[1:], strict=False)]
    expected = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    expected = expected[:-1] if expected[-1] == "" else expected
    lines = list(numbered_lines(iter(blocks)))
    assert [line.text for line in lines] == expected
    assert [line.number for line in lines] == list(range(1, len(expected) + 1))


@LIMITS
@given(text=st.text(max_size=100))
def test_authors_are_found_in_any_text(text):
    assert all(isinstance(name, str) for name in author_names(text))
