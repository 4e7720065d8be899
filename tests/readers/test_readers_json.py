# ruff: noqa: E501 - samples stand as the services write them
import json

import pytest

from rag.errors import UsageError
from rag.records import Paper, Rejected

PAPER = {"id": "p1", "title": "On birds", "abstract": "Birds sing."}
OTHER = {"id": "p2", "title": "On rivers", "abstract": "Rivers flow."}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([PAPER, OTHER]),
        json.dumps([PAPER, OTHER], indent=2),
        f"[\n{json.dumps(PAPER)},\n{json.dumps(OTHER)}\n]\n",
        f"{json.dumps(PAPER)}\n{json.dumps(OTHER)}\n",
        f"{json.dumps(PAPER)}\n\n{json.dumps(OTHER)}",
        f"\ufeff{json.dumps(PAPER)}\r\n{json.dumps(OTHER)}\r\n",
        json.dumps(PAPER, indent=1) + json.dumps(OTHER, indent=1),
        json.dumps(PAPER, indent=1) + "\n" + json.dumps(OTHER),
        json.dumps({"total": 2, "data": [PAPER, OTHER]}),
        json.dumps({"meta": {"count": 2}, "results": [PAPER, OTHER], "group_by": []}, indent=4),
        json.dumps({"data": [PAPER]}) + "\n" + json.dumps({"data": [OTHER]}),
        json.dumps({"p1": {"title": PAPER["title"], "abstract": PAPER["abstract"]}, "p2": OTHER}),
        json.dumps([[PAPER], [OTHER]], indent=1),
    ],
)
def test_every_layout_of_json_gives_the_same_papers(text, read):
    assert [(p.id, p.title, p.abstract) for p in read(text)] == [("p1", "On birds", "Birds sing."), ("p2", "On rivers", "Rivers flow.")]


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"_id": "7"}, "id", "7"),
        ({"paperId": "abc"}, "id", "abc"),
        ({"id": 12}, "id", "12"),
        ({"authors": "A B; C D"}, "authors", ("A B", "C D")),
        ({"author": ["A B", "C D"]}, "authors", ("A B", "C D")),
        ({"authors": [{"name": "A B"}, {"given": "C", "family": "D"}]}, "authors", ("A B", "C D")),
        ({"authors": [{"first": "A", "last": "B"}, {"firstName": "C", "lastName": "D"}]}, "authors", ("A B", "C D")),
        ({"creators": [{"author": {"display_name": "A B"}}]}, "authors", ("A B",)),
        ({"year": "2024"}, "year", 2024),
        ({"year": 2024.0}, "year", 2024),
        ({"publication_date": "2024-05-06T00:00:00Z"}, "year", 2024),
        ({"published": "2024-05-06"}, "published", "2024-05-06"),
        ({"date": "6 May 2024"}, "published", "2024-05-06"),
        ({"cdate": 1700000000000, "date": 1700000000000}, "published", "2023-11-14"),
        ({"issued": {"date-parts": [[2024, 5]]}}, "published", "2024-05"),
        ({"venue": "ICLR 2025"}, "year", 2025),
        ({"year": 99999}, "year", None),
        ({"journal": "J. Birds"}, "venue", "J. Birds"),
        ({"venue": {"name": "J. Birds"}}, "venue", "J. Birds"),
        ({"url": "javascript:alert(1)"}, "url", None),
        ({"url": "file:///etc/passwd"}, "url", None),
        ({"url": "https://x.org/a b"}, "url", None),
        ({"url": "http://x.org/ab"}, "url", "http://x.org/ab"),
        ({"doi": "https://doi.org/10.1000/ABC.5"}, "doi", "10.1000/abc.5"),
        ({"doi": "10.1000/abc"}, "url", "https://doi.org/10.1000/abc"),
        ({"url": "https://arxiv.org/abs/2301.00001v2"}, "arxiv_id", "2301.00001"),
        ({"doi": "10.48550/arXiv.2301.00001"}, "arxiv_id", "2301.00001"),
        ({"arxiv_id": "arXiv:hep-th/9901001v3"}, "arxiv_id", "hep-th/9901001"),
        ({"keywords": ["a; b; c"]}, "keywords", ("a", "b", "c")),
        ({"keywords": "a, b, c"}, "keywords", ("a", "b", "c")),
        ({"keywords": ["a, b", "c"]}, "keywords", ("a, b", "c")),
        ({"keywords": [{"display_name": "a"}]}, "keywords", ("a",)),
        ({"status": "Poster"}, "decision", "Poster"),
        ({"primary_area": "birds"}, "area", "birds"),
    ],
)
def test_common_names_and_shapes(fields, name, value, read_one):
    own_id = {} if name == "id" else {"id": "p1"}
    paper = read_one(json.dumps({**own_id, "title": "T", "abstract": "A.", **fields}))
    assert getattr(paper, name) == value


def test_own_id_goes_before_doi_and_doi_before_hash(read_one):
    both = {"title": "T", "abstract": "A.", "doi": "10.1000/x"}
    assert read_one(json.dumps({**both, "id": "own"})).id == "own"
    assert read_one(json.dumps(both)).id == "10.1000/x"
    assert read_one(json.dumps({"title": "T", "abstract": "A."})).id == "e53657178cb6"


def test_mapping_names_the_sources_own_fields(read_one):
    text = json.dumps({"headline": "H", "summary": "wrong", "content2": {"Body": "B."}, "title": "wrong"})
    paper = read_one(text, mapping={"title": "headline", "abstract": "content2.body"})
    assert (paper.title, paper.abstract) == ("H", "B.")


def test_mapping_of_an_unknown_field_is_refused(read):
    with pytest.raises(UsageError, match=r"No paper field named 'headline' to map to\. Known: id, title"):
        read("{}", mapping={"headline": "title"})


def test_beir_corpus(read_one):
    paper = read_one('{"_id": "4983", "title": "T", "text": "Body text.", "metadata": {"year": "2017", "text": "no"}}\n')
    assert (paper.id, paper.title, paper.abstract, paper.year) == ("4983", "T", "Body text.", 2017)


def test_paperlists_layout(read_one):
    record = {
        "id": "0UK8c2kg7c", "title": "T", "track": "main", "status": "Poster", "tldr": "", "abstract": "A.", "keywords": "k one;k two",
        "primary_area": "", "author": "Yujia Hu;Roy Ka-Wei Lee", "site": "https://openreview.net/forum?id=0UK8c2kg7c", "github": "",
        "bibtex": "@inproceedings{\nhu,\nbooktitle={First Conference},\nyear={2024},\n}",
    }  # fmt: skip
    paper = read_one(json.dumps([record], indent=0), "conf2024.json")
    assert paper == Paper(
        id="0UK8c2kg7c", title="T", abstract="A.", authors=("Yujia Hu", "Roy Ka-Wei Lee"), year=2024, venue="CONF 2024",
        url="https://openreview.net/forum?id=0UK8c2kg7c", decision="Poster", track="main", keywords=("k one", "k two"), sources=paper.sources,
    )  # fmt: skip
    assert read_one(json.dumps([record]), "x.json").venue == "First Conference"


def test_openreview_v2_notes(read_one):
    note = {
        "id": "n1", "forum": "f1", "pdate": 1737590400000,
        "content": {
            "title": {"value": "T"}, "abstract": {"value": "A."}, "authors": {"value": ["A B", "C D"]}, "keywords": {"value": ["k"]},
            "venue": {"value": "ICLR 2025 Oral"}, "primary_area": {"value": "birds"},
        },
    }  # fmt: skip
    paper = read_one(json.dumps({"notes": [note], "count": 1}))
    assert (paper.id, paper.authors, paper.year, paper.venue) == ("n1", ("A B", "C D"), 2025, "ICLR 2025 Oral")
    assert paper.decision == "Oral"
    assert (paper.url, paper.area, paper.published) == ("https://openreview.net/forum?id=f1", "birds", "2025-01-23")


def test_arxiv_snapshot(read_one):
    entry = {
        "id": "0704.0001", "submitter": "P", "authors": "C. Bal\\'azs, E. L. Berger", "title": "Prompt diphoton\n  production",
        "journal-ref": None, "doi": "10.1103/PhysRevD.76.013009", "categories": "hep-ph cs.CL", "abstract": "  A fully\ndifferential\n  calculation.\n",
        "versions": [{"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"}], "update_date": "2008-11-26",
        "authors_parsed": [["Balázs", "C.", ""], ["Berger", "E. L.", "Jr."]],
    }  # fmt: skip
    paper = read_one(json.dumps(entry) + "\n")
    assert (paper.id, paper.arxiv_id, paper.title, paper.abstract) == (
        "0704.0001", "0704.0001", "Prompt diphoton production", "A fully differential calculation.",
    )  # fmt: skip
    assert (paper.authors, paper.categories) == (("C. Balázs", "E. L. Berger Jr."), ("hep-ph", "cs.CL"))
    assert (paper.published, paper.year, paper.venue, paper.url) == ("2007-04-02", 2007, "arXiv", "https://arxiv.org/abs/0704.0001")


def test_semantic_scholar(read_one):
    record = {
        "paperId": "649d", "externalIds": {"DOI": "10.18653/V1/N18-3011", "ArXiv": "1805.02262"}, "title": "T", "abstract": "A.", "venue": "",
        "journal": {"name": "ArXiv"}, "year": 2018, "authors": [{"authorId": "1", "name": "Waleed Ammar"}], "fieldsOfStudy": ["Computer Science"],
        "publicationDate": "2018-05-06", "url": "https://www.semanticscholar.org/paper/649d",
    }  # fmt: skip
    paper = read_one(json.dumps({"total": 1, "data": [record]}))
    assert (paper.id, paper.doi, paper.arxiv_id, paper.venue) == ("649d", "10.18653/v1/n18-3011", "1805.02262", "ArXiv")
    assert (paper.authors, paper.categories, paper.published) == (("Waleed Ammar",), ("Computer Science",), "2018-05-06")


def test_openalex(read_one):
    work = {
        "id": "https://openalex.org/W27", "doi": "https://doi.org/10.7717/peerj.4375", "title": "T", "publication_year": 2018,
        "publication_date": "2018-02-13", "primary_location": {"landing_page_url": "https://x.org/1", "source": {"display_name": "PeerJ"}},
        "authorships": [{"author": {"id": "https://openalex.org/A1", "display_name": "Heather Piwowar"}, "raw_author_name": "H. P."}],
        "abstract_inverted_index": {"Despite": [0], "growing": [1], "interest": [2, 4], "in": [3], "huge": [10**12]},
        "keywords": [{"id": "k", "display_name": "Open access"}],
    }  # fmt: skip
    paper = read_one(json.dumps({"meta": {"count": 1}, "results": [work]}))
    assert (paper.id, paper.abstract, paper.venue) == ("W27", "Despite growing interest in interest huge", "PeerJ")
    assert (paper.authors, paper.year, paper.url, paper.keywords) == (("Heather Piwowar",), 2018, "https://x.org/1", ("Open access",))


def test_markup_becomes_plain_text_and_mathematics_stays(read_one):
    abstract = r"<jats:title>Abstract</jats:title><jats:p>Erd\H{o}s &amp; G\"odel: H<sub>2</sub>O, $O(\frac{1}{T})$, 5\% of <SEP> a &lt; b.</jats:p>"
    assert (
        read_one(json.dumps({"title": "T", "abstract": abstract})).abstract == r"Erdős & Gödel: H2O, $O(\frac{1}{T})$, 5% of <SEP> a < b."
    )


def test_line_of_each_record_is_known(read):
    found = read(json.dumps([PAPER, {"title": "no text"}, OTHER], indent=1))
    assert [r.line if isinstance(r, Rejected) else int(r.sources[0].rsplit(":", 1)[1]) for r in found] == [2, 7, 10]


BROKEN = {
    "wrong bracket": '{"id": "x", "title": [1, 2}',
    "missing colon": '{"id" "x"}',
    "unclosed string": '{"id": "x, "title": "T"}',
    "bare word": '{"id": nope}',
    "null": "null",
    "number": "12",
    "text": '"abc"',
    "too deep": "[" * 100_000 + "]" * 100_000,
    "deep object": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "huge integer": '{"id": ' + "9" * 5000 + "}",
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("layout", ["{0}\n{1}\n{2}\n", "[\n{0},\n{1},\n{2}\n]", "[{0}, {1}, {2}]"])
def test_broken_record_costs_no_other(broken, layout, read):
    found = read(layout.format(json.dumps(PAPER), broken, json.dumps(OTHER)))
    assert [record.id for record in found if isinstance(record, Paper)] == ["p1", "p2"]
    if "[[" not in broken or not layout.startswith("["):
        assert any(isinstance(record, Rejected) for record in found)


@pytest.mark.parametrize("layout", ["{0}\n{1}\n", "[\n{0},\n{1}\n]", "[{0}, {1}]", '{{"results": [{0}, {1}]}}'])
def test_truncated_file_keeps_what_came_before(layout, read):
    whole = layout.format(json.dumps(PAPER), json.dumps(OTHER))
    found = read(whole[: whole.index("Rivers flow")])
    assert [record.id for record in found if isinstance(record, Paper)] == ["p1"]
    assert len([record for record in found if isinstance(record, Rejected)]) == 1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"title": None, "abstract": "A."}, "no title"),
        ({"title": "T", "abstract": None}, "no abstract: 'T'"),
        ({"title": "T", "abstract": "  "}, "no abstract: 'T'"),
        ({"title": "T", "abstract": True}, "no abstract: 'T'"),
        ({"title": ["", None], "abstract": {}}, "neither title nor abstract"),
        ({}, "neither title nor abstract"),
        ({"title": "T" * 4000, "abstract": "A."}, f"title of more than 3,000 characters: {'T' * 40!r}"),
        ({"title": "T", "abstract": "a " * 60_000}, "abstract of more than 100,000 characters: 'T'"),
        ({"title": "T", "abstract": "A.", "authors": ["A B"] * 25_000}, "more than 20,000 authors: 'T'"),
    ],
)
def test_record_that_is_no_paper_says_why(fields, reason, read):
    (rejected,) = read(json.dumps(fields) + "\n" if fields else "[{}]")
    assert isinstance(rejected, Rejected)
    assert rejected.reason == reason


@pytest.mark.slow
def test_a_million_authors_are_rejected(read):
    (rejected,) = read(json.dumps({"title": "T", "abstract": "A.", "authors": ["A B"] * 1_000_000}) + "\n")
    assert rejected.reason == "more than 20,000 authors: 'T'"


def test_wrong_types_everywhere_do_no_harm(read_one):
    paper = read_one(
        json.dumps(
            {
                "id": [1],
                "title": "T",
                "abstract": "A.",
                "authors": {"x": 1},
                "year": [2],
                "venue": 5.5,
                "url": {"a": 1},
                "doi": 1,
                "arxiv_id": [],
                "keywords": 7,
                "categories": [None, [1], {"name": "c"}],
                "published": {"date-parts": "x"},
                "decision": False,
            }
        )  # fmt: skip
    )
    assert paper == Paper(paper.id, "T", "A.", venue="5.5", categories=("c",), sources=paper.sources)


def test_lone_surrogates_and_controls_are_dropped(read_one):
    paper = read_one('{"id": "\\ud800x", "title": "T\\u0000\\u202e", "abstract": "A\\udfff.\\u001b[31m"}\n')
    assert (paper.id, paper.title, paper.abstract) == ("x", "T", "A.[31m")
