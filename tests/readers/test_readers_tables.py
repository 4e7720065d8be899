# ruff: noqa: E501 - samples stand as the services write them
import pytest

from rag.records import Paper, Rejected

SCOPUS = (
    '\ufeff"Authors","Author full names","Author(s) ID","Title","Year","Source title","DOI","Link","Abstract","Author Keywords","EID"\n'
    '"Doe J.; Roe R.","Doe, Jane (57123456789); Roe, Richard (57123456780)","1; 2","On ""big"" birds","2021","J. Birds","10.1000/x",'
    '"https://www.scopus.com/x","Line one\nline two, with comma. © 2021","song; bird","2-s2.0-1"\n'
)
WOS = 'PT\tAU\tAF\tTI\tSO\tAB\tPY\tDI\tUT\tDE\nJ\tDoe, J; Roe, R\tDoe, Jane; Roe, Richard\tOn "big" birds\tJ BIRDS\tThey "sing.\t2021\t10.1000/x\tWOS:1\tsong; bird\n'


def test_scopus(read_one):
    paper = read_one(SCOPUS)
    assert paper == Paper(
        id="2-s2.0-1", title='On "big" birds', abstract="Line one line two, with comma. © 2021", authors=("Jane Doe", "Richard Roe"), year=2021,
        venue="J. Birds", url="https://www.scopus.com/x", doi="10.1000/x", keywords=("song", "bird"), sources=paper.sources,
    )  # fmt: skip


def test_web_of_science_tabs_have_no_quoting(read_one):
    paper = read_one(WOS)
    assert (paper.id, paper.title, paper.abstract, paper.authors) == ("WOS:1", 'On "big" birds', 'They "sing.', ("Jane Doe", "Richard Roe"))


@pytest.mark.parametrize(
    "text",
    [
        "Title,Abstract\nT,A.\n",
        "Title;Abstract\nT;A.\n",
        "title|abstract\nT|A.",
        "Article Title\tAbstract\r\nT\tA.\r\n",
        "sep=;\nTitle;Abstract\nT;A.\n",
        '"Document Title","Abstract"\n"T","A."\n',
        "Key,Item Type,Title,Abstract Note\nK,x,T,A.\n",
        "\n\nTitle,Abstract\n\nT,A.\n,\n",
    ],
)
def test_delimiters_and_column_names(text, read_one):
    paper = read_one(text)
    assert (paper.title, paper.abstract) == ("T", "A.")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "utf-32"])
def test_encodings_of_spreadsheets(encoding, read_one):
    paper = read_one("Title,Abstract,Authors\nCafé – “naïve” birds,They sing at 5 €.,Gödel\n".encode(encoding))
    assert (paper.title, paper.abstract, paper.authors) == ("Café – “naïve” birds", "They sing at 5 €.", ("Gödel",))


@pytest.mark.parametrize(
    "broken", ['2,"never closed,B.', '2,"a" b,"c', '2,T,"A\nB"x"', "2,\x00,", '2,T,"' + "x\n" * 600 + '"', "2", "2,,,,,,,,"]
)
def test_broken_row_costs_no_other(broken, read):
    found = read(f'id,title,abstract\n1,"T","A."\n{broken}\n3,T,"A, ""quoted""."\n4,T,A.\n')
    assert [record.id for record in found if isinstance(record, Paper)] == ["1", "3", "4"]
    assert [record.line for record in found if isinstance(record, Rejected)][:1] == [3]


def test_short_and_long_rows(read):
    first, second = read("title,abstract,year\nT,A.\nU,B.,2020,extra\n")
    assert (first.year, second.year) == (None, 2020)


def test_formula_cells_are_text(read_one):
    paper = read_one("title,abstract\n'=SUM(A1),\"=cmd|' /C calc'!A0\"\n")
    assert (paper.title, paper.abstract) == ("=SUM(A1)", "=cmd|' /C calc'!A0")


def test_mapping_names_columns(read_one):
    paper = read_one("Headline,Sum Mary\nT,A.\n", "x.csv", mapping={"title": "headline", "abstract": "sum mary"})
    assert (paper.title, paper.abstract) == ("T", "A.")


def test_table_without_known_columns_says_what_it_has(read):
    (rejected,) = read("Kopf,Inhalt\nT,A.\n", "x.csv")
    assert rejected.reason == "neither title nor abstract"


def test_line_numbers_count_lines_of_the_file(read):
    found = read('title,abstract\n"T\n1","A\n2."\nU,B.\n')
    assert [paper.sources[0].rsplit(":", 1)[1] for paper in found] == ["2", "5"]
