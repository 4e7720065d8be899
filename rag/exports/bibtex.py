"""BibTeX that BibTeX, Biber, Zotero and JabRef read: UTF-8, specials escaped, mathematics kept, capitals protected."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.exports.keys import citation_keys
from rag.exports.kinds import kind_of
from rag.exports.people import person_of
from rag.exports.texts import readable, remark
from rag.records import Paper
from rag.text.latex import split_math

_SPECIALS = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{char: f"\\{char}" for char in "&%#_$"},
}
_SPECIAL = re.compile(r"[\\{}~^&%#_$]")
_DASHES = re.compile(r"-(?=-)")
_CAPITALS = re.compile(r"(?<![\w\\{])(?=\w*[A-Z])(?:\w[\w]*[A-Z]\w*|\w*\d\w*[A-Z]\w*)(?![\w}])")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def papers_as_bibtex(papers: Sequence[Paper]) -> str:
    """One entry for each paper; keys as `citation_keys` makes them."""
    return "\n".join(_entry(paper, key) for paper, key in zip(papers, citation_keys(papers), strict=True))


def latex_escaped(text: str) -> str:
    """`text` with LaTeX's special characters escaped, mathematics left alone where it is sound."""
    return "".join(piece if is_math and _is_sound(piece) else _escaped(piece) for piece, is_math in split_math(text))


def _entry(paper: Paper, key: str) -> str:
    kind = kind_of(paper)
    venue_field = {"conference": "booktitle", "journal": "journal", "preprint": "howpublished"}[kind]
    month = int(paper.published[5:7]) if paper.published and len(paper.published) >= 7 else 0
    fields = {
        "title": _title(paper.title),
        "author": " and ".join(_author(name) for name in paper.authors),
        "year": str(paper.year or ""),
        venue_field: latex_escaped(paper.venue or ""),
        "doi": _bare(paper.doi),
        "url": _bare(paper.url),
        "eprint": _bare(paper.arxiv_id),
        "archiveprefix": "arXiv" if paper.arxiv_id else "",
        "primaryclass": _bare(paper.categories[0]) if paper.arxiv_id and paper.categories else "",
        "keywords": latex_escaped(", ".join(" ".join(keyword.replace(",", " ").split()) for keyword in paper.keywords)),
        "abstract": latex_escaped(readable(paper.abstract)),
        # Not `note`, which most styles print in the list of references.
        "annote": latex_escaped(remark(paper)),
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    if month:
        lines.append(f"  month = {_MONTHS[month - 1]}")
    kind_name = {"conference": "inproceedings", "journal": "article", "preprint": "misc"}[kind]
    return f"@{kind_name}{{{key},\n" + ",\n".join(lines) + "\n}\n"


def _title(title: str) -> str:
    pieces = split_math(readable(title))
    return "".join(latex_escaped(piece) if is_math else _CAPITALS.sub(r"{\g<0>}", _escaped(piece)) for piece, is_math in pieces)


def _author(name: str) -> str:
    person = person_of(name)
    if not person.given:
        return f"{{{_escaped(person.family)}}}"
    return ", ".join(_escaped(part) for part in (person.family, person.suffix, person.given) if part)


def _escaped(text: str) -> str:
    return _DASHES.sub("-{}", _SPECIAL.sub(lambda match: _SPECIALS[match[0]], text))


def _is_sound(math: str) -> bool:
    """Braces pair up, so that the field ends where it should, and no comment sign swallows the rest."""
    depth = 0
    for char in math:
        depth += (char == "{") - (char == "}")
        if depth < 0:
            return False
    return depth == 0 and not re.search(r"(?<!\\)%", math)


def _bare(address: str | None) -> str:
    """DOIs and URLs stand as they are, which is what BibTeX styles expect; what would end the field is left out."""
    return re.sub(r"[{}\\\s]", "", address or "")
