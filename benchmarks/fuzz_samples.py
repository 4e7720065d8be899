# ruff: noqa: E501 - samples stand as the services write them
"""One small sound file per layout, for `fuzz_readers.py` to damage."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

_PAPERS = [
    {
        "id": "a",
        "title": "On birds",
        "abstract": "Birds <i>sing</i> at $x_t$ &amp; 5\\%.",
        "authors": ["A B", "C D"],
        "year": 2024,
        "keywords": ["x; y"],
    },
    {
        "id": "b",
        "title": "On rivers",
        "abstract": "Rivers flow. Caf\u00e9.",
        "author": "L, F and M, G",
        "date": "6 May 2024",
        "url": "https://x.org",
    },
]
_NOTE = {
    "id": "n", "forum": "f", "pdate": 1737590400000, "content": {"title": {"value": "T"}, "abstract": {"value": "A."}, "authors": {"value": ["A B"]}},
}  # fmt: skip
_WORK = {
    "id": "https://openalex.org/W1", "doi": "https://doi.org/10.1/x", "title": "T", "publication_year": 2018, "publication_date": "2018-02-13",
    "primary_location": {"landing_page_url": "https://x.org", "source": {"display_name": "J"}}, "authorships": [{"author": {"display_name": "A B"}}],
    "abstract_inverted_index": {"Despite": [0], "interest": [1, 3], "in": [2]}, "keywords": [{"display_name": "k"}],
}  # fmt: skip
_SNAPSHOT = {
    "id": "0704.0001", "title": "T\n  U", "categories": "hep-ph cs.CL", "abstract": "  A.\n", "update_date": "2008-11-26", "journal-ref": None,
    "authors_parsed": [["L", "F", ""]], "versions": [{"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"}],
}  # fmt: skip
_SCHOLAR = {
    "paperId": "6", "externalIds": {"DOI": "10.1/x", "ArXiv": "1805.02262"}, "title": "T", "abstract": "A.", "journal": {"name": "J"},
    "authors": [{"name": "A B"}], "s2FieldsOfStudy": [{"category": "CS"}],
}  # fmt: skip
_LISTED = {
    "id": "p",
    "title": "T",
    "abstract": "A.",
    "author": "A B;C D",
    "bibtex": "@x{y,\nyear={2024}}",
    "site": "https://x.org",
    "status": "Oral",
}
_BIBTEX = r"""@string{iclr = "ICLR"}
@InProceedings{arora2025,
  title = {Talking {T}urns at 5\% cost}, author = {Arora, S and G{\"o}del, K and {The Team}}, booktitle = iclr, year = 2025, month = mar,
  abstract = {For $x_t$ --- {\em not}; na{\"\i}ve.}, eprint = {2503.01174}, archivePrefix = {arXiv}
}
@article{b, title="Q", abstract="With {braces}.", date={2024-02-03}, doi={10.1/x}}
"""
_RIS = "TY  - CONF\nAU  - L, F\nTI  - T\nAB  - A\nB.\nPY  - 2025\nDA  - 2025/03/01/\nUR  - https://x.org\nER  - \n\nTY  - JOUR\nT1  - U\nN2  - B.\nER  - \n"
_NBIB = (
    "PMID- 1\nDP  - 2019 Aug 26\nTI  - T\n      U.\nLID - 10.1/x [doi]\nAB  - A.\nFAU - L, F\nMH  - *B/x\n\nPMID- 2\nTI  - U\nAB  - B.\n"
)
_ARTICLE = (
    "<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><Journal><JournalIssue><PubDate><Year>2019</Year></PubDate></JournalIssue></Journal>"
    "<ArticleTitle>H<sub>2</sub></ArticleTitle><Abstract><AbstractText Label='X'>A &lt; b.</AbstractText></Abstract><AuthorList><Author>"
    "<LastName>L</LastName></Author></AuthorList></Article></MedlineCitation></PubmedArticle>\n"
)
_ATOM = (
    '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/2301.00001v2</id><title>T</title>'
    '<summary>A.</summary><author><name>A B</name></author><link href="https://x.org"/><category term="cs.CL"/></entry></feed>'
)


def _zipped(content: bytes) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.jsonl", content)
        archive.writestr("b.csv", b"title,abstract\nT,A.\n")
    return body.getvalue()


_LINES = "".join(json.dumps(paper, ensure_ascii=False) + "\n" for paper in _PAPERS).encode()

SAMPLES: dict[str, bytes] = {
    "text": "Heading\n\nFirst abstract. It goes on.\n\nSecond abstract,\nwrapped. \u8bba\u6587\n".encode(),
    "json lines": _LINES,
    "json": json.dumps(_PAPERS, indent=1).encode(),
    "json compact": json.dumps(_PAPERS).encode(),
    "openreview": json.dumps({"notes": [_NOTE, _NOTE], "count": 2}, indent=1).encode(),
    "openalex": json.dumps({"meta": {}, "results": [_WORK]}, indent=1).encode(),
    "arxiv snapshot": (json.dumps(_SNAPSHOT) + "\n").encode(),
    "semantic scholar": json.dumps({"data": [_SCHOLAR]}).encode(),
    "paperlists": json.dumps([_LISTED], indent=0).encode(),
    "bibtex": _BIBTEX.encode(),
    "ris": _RIS.encode(),
    "csv": b'id,title,abstract,authors\na,T,"A\n""q"", b.",L F; M G\nb,U,B.,\n',
    "csv utf-16": "id;title;abstract\na;T;A\u00e9.\n".encode("utf-16"),
    "tsv": b'PT\tAU\tTI\tAB\tPY\nJ\tDoe, J\t"T" x\tThey "sing.\t2021\n',
    "nbib": _NBIB.encode(),
    "pubmed xml": f'<?xml version="1.0"?>\n<PubmedArticleSet>\n{_ARTICLE}{_ARTICLE}</PubmedArticleSet>'.encode(),
    "atom": _ATOM.encode(),
    "gzip": gzip.compress(_LINES, mtime=0),
    "zip": _zipped(_LINES),
}
TOKENS = (
    b'"', b"{", b"}", b"[", b"]", b"\n", b"\r", b"\x00", b"\\", b",", b"\t", b"@", b"<", b">", b"&", b"&#0;", b"\\u0000", b"\\ud800", b"\xff", b"\xfe\xff",
    b"null", b"[[[[[[[[", b'{"a":', b"1e999", b"-0", b"$", b"``", b"''", b"\\emph{", b"\xcc\x81" * 40, b"<!ENTITY x 'y'>", b"&x;", b"<![CDATA[", b"ER  - ",
    b"TY  - ", b"PMID- ", b"@misc{", b"</PubmedArticle>", b"<entry>", b"\xe2\x80\xae", b"sep=;\n", b"=1+1", b"9" * 400,
)  # fmt: skip
