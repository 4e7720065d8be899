# ruff: noqa: E501 - samples stand as the services write them
import pytest

from rag.records import Paper, Rejected

BIBTEX = r"""% exported
@comment{jabref-meta: nothing}
@string{iclr = "International Conference on Learning Representations"}
@InProceedings{arora2025,
  Title     = {Talking {T}urns: {FM}s at 5\% cost},
  author    = {Arora, Siddhant and G{\"o}del, Kurt and {The Bird Team and Friends} and Jean-Fran{\c{c}}ois Le~Roux and others},
  booktitle = iclr,
  year      = 2025,
  month     = mar,
  url       = {https://x.org/a\_b},
  keywords  = {speech, turn-taking},
  abstract  = {Reward for $x_t$ --- or {\em not}; na{\"\i}ve.},
  eprint    = {2503.01174v2}, archivePrefix = {arXiv}, primaryClass = {cs.CL}
}

@article{second, title="Quoted title", abstract="With {braces} and ``quotes''.", journal={J. Birds}, date={2024-02-03}, doi={10.1000/A_b}}
"""
RIS = """TY  - CONF
AU  - Arora, Siddhant
AU  - Lu, Zhiyun
TI  - Talking Turns
AB  - First line
of the abstract.
PY  - 2025
DA  - 2025/03/01/
T2  - ICLR
UR  - https://x.org/a;b
DO  - 10.1000/x
KW  - speech
KW  - turns
ID  - arora
ER  -

TY  - JOUR
A1  - Doe, Jane
T1  - Second
N2  - Other abstract.
Y1  - 2019/05//
JO  - J. Birds
ER  -
"""
NBIB = """
PMID- 31452104
OWN - NLM
DP  - 2019 Aug 26
TI  - A study of
      two lines.
LID - 10.1186/s12864 [doi]
AB  - BACKGROUND: Birds
      sing.
FAU - Doe, Jane A
AU  - Doe JA
FAU - Roe, Richard
JT  - BMC genomics
OT  - song
MH  - *Birds/physiology

PMID- 2
TI  - Next.
AB  - More.
"""
PUBMED_XML = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "https://dtd.nlm.nih.gov/x.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation><PMID Version="1">31452104</PMID><Article>
<Journal><JournalIssue><PubDate><Year>2019</Year><Month>Aug</Month><Day>26</Day></PubDate></JournalIssue><Title>BMC genomics</Title></Journal>
<ArticleTitle>H<sub>2</sub>O in <i>E. coli</i>.</ArticleTitle>
<Abstract><AbstractText Label="BACKGROUND">p &lt; 0.05 &amp; more.</AbstractText><AbstractText Label="RESULTS">10<sup>-3</sup></AbstractText></Abstract>
<AuthorList><Author><LastName>Doe</LastName><ForeName>Jane A</ForeName></Author><Author><CollectiveName>Bird Group</CollectiveName></Author></AuthorList>
</Article><MeshHeadingList><MeshHeading><DescriptorName UI="D1">Birds</DescriptorName></MeshHeading></MeshHeadingList>
<KeywordList><Keyword>song</Keyword></KeywordList></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="doi">10.1186/s12864</ArticleId></ArticleIdList></PubmedData></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID>2</PMID><Article><ArticleTitle>Next.</ArticleTitle><Abstract><AbstractText>More.</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>
</PubmedArticleSet>
"""
ATOM = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>arXiv Query</title>
<entry><id>http://arxiv.org/abs/2301.00001v2</id><published>2023-01-01T00:00:00Z</published><title>On
 birds</title><summary> They sing. </summary><author><name>A B</name></author><author><name>C D</name></author>
<arxiv:doi xmlns:arxiv="http://arxiv.org/schemas/atom">10.1000/x</arxiv:doi><category term="cs.CL" scheme="s"/></entry>
</feed>"""


def test_bibtex(read):
    first, second = read(BIBTEX)
    assert first == Paper(
        id="arora2025", title="Talking Turns: FMs at 5% cost", abstract="Reward for $x_t$ — or not; naïve.",
        authors=("Siddhant Arora", "Kurt Gödel", "The Bird Team and Friends", "Jean-François Le Roux"), year=2025,
        venue="International Conference on Learning Representations", url="https://x.org/a_b", arxiv_id="2503.01174",
        keywords=("speech", "turn-taking"), categories=("cs.CL",), published="2025-03", sources=first.sources,
    )  # fmt: skip
    assert (second.title, second.abstract, second.venue) == ("Quoted title", "With braces and “quotes”.", "J. Birds")
    assert (second.published, second.doi, second.url) == ("2024-02-03", "10.1000/a_b", "https://doi.org/10.1000/a_b")


@pytest.mark.parametrize(
    "broken",
    [
        "@article{x, title={never closed, abstract={A}\n",
        "@article{x title}\n",
        "@article{}\n",
        "@article{x, title={T}, abstract=}\n",
        '@article{x, title="T, abstract={A}}\n',
        "@article(\n",
        "@article{x,,,===,}\n",
    ],
)
def test_broken_bibtex_entry_costs_no_other(broken, read):
    entry = "@misc{%s,\n title={T}, abstract={A.}\n}\n"
    found = read(entry % "one" + broken + entry % "two")
    assert {"one", "two"} <= {record.id for record in found if isinstance(record, Paper)}
    assert len(found) == 3


def test_field_given_twice_counts_once(read_one):
    assert read_one("@misc{x, title={T}, keywords={a}, abstract={A.}, keywords={b}}").keywords == ("a",)


def test_entries_on_one_line_are_all_read(read):
    assert [p.id for p in read("@misc{a, title={T}, abstract={A.}} @misc{b, title={U}, abstract={B.}}")] == ["a", "b"]


def test_unusual_bibtex_prints_nothing(read, capfd):
    read("@misc{a, title=undefined # {x}, abstract={A.}}\n@misc{a, title={T}, abstract={A.}}\n@strange{{}}")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("text", [RIS, RIS.replace("\n", "\r\n"), RIS.replace("  - ", " - "), RIS.replace("ER  -\n", ""), "\ufeff" + RIS])
def test_ris(text, read):
    first, second = read(text)
    assert first == Paper(
        id="arora", title="Talking Turns", abstract="First line of the abstract.", authors=("Siddhant Arora", "Zhiyun Lu"), year=2025, venue="ICLR",
        url="https://x.org/a;b", doi="10.1000/x", keywords=("speech", "turns"), published="2025-03-01", sources=first.sources,
    )  # fmt: skip
    assert (second.title, second.abstract, second.authors, second.venue) == ("Second", "Other abstract.", ("Jane Doe",), "J. Birds")
    assert (second.year, second.published) == (2019, "2019-05")


def test_broken_ris_record_costs_no_other(read):
    found = read(f"{RIS}\nTY  - JOUR\nnonsense\n  -\nER  - \n{RIS}")
    assert [isinstance(record, Paper) for record in found] == [True, True, False, True, True]


def test_nbib(read):
    first, second = read(NBIB)
    assert first == Paper(
        id="31452104", title="A study of two lines", abstract="BACKGROUND: Birds sing.", authors=("Jane A Doe", "Richard Roe"), year=2019,
        venue="BMC genomics", url="https://pubmed.ncbi.nlm.nih.gov/31452104/", doi="10.1186/s12864", keywords=("song",), categories=("Birds",),
        published="2019-08-26", sources=first.sources,
    )  # fmt: skip
    assert (second.id, second.title, second.abstract) == ("2", "Next", "More.")


def test_pubmed_xml(read):
    first, second = read(PUBMED_XML)
    assert first == Paper(
        id="31452104", title="H2O in E. coli", abstract="BACKGROUND: p < 0.05 & more. RESULTS: 10^-3", authors=("Jane A Doe", "Bird Group"), year=2019,
        venue="BMC genomics", url="https://pubmed.ncbi.nlm.nih.gov/31452104/", doi="10.1186/s12864", keywords=("song",), categories=("Birds",),
        published="2019-08-26", sources=first.sources,
    )  # fmt: skip
    assert second.sources[0].endswith(":12")


def test_atom(read_one):
    paper = read_one(ATOM)
    assert paper == Paper(
        id="2301.00001", title="On birds", abstract="They sing.", authors=("A B", "C D"), year=2023, venue="arXiv", doi="10.1000/x",
        url="https://arxiv.org/abs/2301.00001", arxiv_id="2301.00001", categories=("cs.CL",), published="2023-01-01", sources=paper.sources,
    )  # fmt: skip


ARTICLE = "<PubmedArticle><MedlineCitation><PMID>{0}</PMID><Article><ArticleTitle>T</ArticleTitle><Abstract><AbstractText>{1}</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>"  # noqa: E501


@pytest.mark.parametrize(
    "broken",
    [
        "<PubmedArticle><x></PubmedArticle>",
        "<PubmedArticle><MedlineCitation>",
        ARTICLE.format("9", "&lol9;"),
        ARTICLE.format("9", "\x00"),
        f"<PubmedArticle>{'<a>' * 20_000}{'</a>' * 20_000}</PubmedArticle>",
        ARTICLE.format("9", "<i>" * 20_000 + "x" + "</i>" * 20_000),
    ],
    ids=["mismatch", "not closed", "entity", "NUL", "deep", "deep markup"],
)
def test_broken_xml_record_costs_no_other(broken, read):
    found = read(f"<PubmedArticleSet>{ARTICLE.format(1, 'A.')}{broken}{ARTICLE.format(2, 'B.')}</PubmedArticleSet>")
    assert [record.id for record in found if isinstance(record, Paper)] == ["1", "2"]
    assert len(found) == 3


def test_entity_bomb_never_expands(read):
    bomb = '<?xml version="1.0"?>\n<!DOCTYPE x [<!ENTITY a "lol">' + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    found = read(f"{bomb}]>\n<PubmedArticleSet>{ARTICLE.format(1, '&i;')}{ARTICLE.format(2, 'B.')}</PubmedArticleSet>")
    assert [record.id for record in found if isinstance(record, Paper)] == ["2"]
    assert [record.reason for record in found if isinstance(record, Rejected)] == [
        "declares XML entities, which are not expanded", "not valid XML: undefined entity: line 1, column 115",
    ]  # fmt: skip


def test_external_entity_is_never_read(read, tmp_path):
    (tmp_path / "secret").write_text("secret")
    head = f'<!DOCTYPE x [<!ENTITY s SYSTEM "file://{tmp_path}/secret">]>'
    assert not [r for r in read(f"{head}<PubmedArticleSet>{ARTICLE.format(1, '&s;')}</PubmedArticleSet>") if isinstance(r, Paper)]


def test_other_xml_is_refused(read):
    assert [record.reason for record in read("<html><body><p>Hello</p></body></html>")] == ["XML without PubmedArticle or entry elements"]
