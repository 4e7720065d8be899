"""One record's fields, whatever they are called, to a `Paper`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from rag.errors import UsageError
from rag.readers.identifiers import arxiv_id_of, date_of, doi_of, paper_id, web_address, year_of
from rag.readers.names import AUTHOR_LIMIT, author_names, split_terms
from rag.readers.raw import Fields, Raw
from rag.records import REPAIRED, Paper, Rejected
from rag.text.clean import clean_text, plain_text
from rag.text.latex import latex_to_text

TITLE_LIMIT = 3_000
ABSTRACT_LIMIT = 100_000

# Names without case and punctuation, the best first: `Abstract Note` is `abstractnote`.
_NAMES = {
    "id": "id paperid key citationkey forum corpusid ututiquewosid ut eid pmid accessionnumber uid recordid docid",
    "title": "title documenttitle articletitle papertitle primarytitle displayname ti t1 name headline",
    "abstract": "abstract abstractnote abstracttext paperabstract ab n2 summary description text body",
    "authors": "authorfullnames authors author af au authornames authorlist creators creator contributors a1 fau",
    "year": "year publicationyear pubyear py yr y1",
    "published": "published publicationdate publisheddate datepublished date issued coverdate earlyaccessdate da created updated",
    "venue": "venue booktitle journal conference journaltitle publicationtitle sourcetitle containertitle conferencename proceedings so jo "
    "jf t2 jt secondarytitle publication journalname journalref",
    "url": "url link site openreviewurl paperurl landingpageurl ur urls href pdfurl pdflink pdf",
    "doi": "doi di do dois",
    "arxiv_id": "arxivid arxiv",
    "decision": "decision status presentation accepttype",
    "track": "track",
    "area": "primaryarea area researcharea subjectarea",
    "keywords": "keywords keyword authorkeywords tags manualtags de kw ot indexkeywords keywordsplus",
    "categories": "categories category fieldsofstudy subjectareas subjects wc wosscategories primarycategory mh",
}
_WANTED = {field: tuple(names.split()) for field, names in _NAMES.items()}
TITLE_NAMES, ABSTRACT_NAMES = frozenset(_WANTED["title"]), frozenset(_WANTED["abstract"])
"""What columns of titles and abstracts are called, as `bare_name` gives it."""
# A UTF-8 lead byte read as one character has another beyond ASCII behind it; only then is ftfy asked, which takes longer.
_SUSPICIOUS = re.compile(r"[\u00c2-\u00f4\u221a\u0412-\u0414\u0420\u0421][^\x00-\x7f]")


class PaperMaker:
    """Makes papers out of the records of one file; `mapping` names the source's own field for some of ours."""

    def __init__(self, name: str, mapping: Mapping[str, str] | None = None) -> None:
        self._name = name
        self._mapping = {field: source.lower().split(".") for field, source in (mapping or {}).items()}

    def make(self, raw: Raw) -> Paper | Rejected:
        """The paper, or why there is none: no title, no abstract, or something beyond all measure."""
        fields = self._wanted(raw.fields)
        texts = _Texts(raw)
        title, abstract = texts.line(fields.get("title")), texts.line(fields.get("abstract"))
        authors = [name for each in author_names(fields.get("authors")) if (name := texts.line(each))]
        if problem := _problem(title, abstract, authors):
            return Rejected(self._name, raw.line, problem)
        doi = doi_of(first_text(fields.get("doi")))
        arxiv_id = arxiv_id_of(first_text(fields.get("arxiv_id"))) or arxiv_id_of(fields.get("url"), prefixed=True) or _arxiv_doi(doi)
        venue = texts.line(fields.get("venue")) or None
        published = date_of(fields.get("published"))
        return Paper(
            id=paper_id(fields.get("id"), first_text(fields.get("abstract")), doi=doi, arxiv_id=arxiv_id),
            title=title,
            abstract=abstract,
            authors=tuple(authors),
            year=year_of(fields.get("year")) or year_of(published) or year_of(venue),
            venue=venue,
            url=web_address(first_text(fields.get("url"))) or _address(doi, arxiv_id),
            doi=doi,
            arxiv_id=arxiv_id,
            decision=texts.line(fields.get("decision")) or None,
            track=texts.line(fields.get("track")) or None,
            area=texts.line(fields.get("area")) or None,
            keywords=texts.lines(split_terms(fields.get("keywords"))),
            categories=texts.lines(split_terms(fields.get("categories"))),
            published=published,
            sources=(f"{self._name}:{raw.line}{REPAIRED if texts.repaired else ''}",),
        )

    def _wanted(self, fields: Fields) -> dict[str, object]:
        """Our names to the source's values; a mapped field takes nothing but what it was mapped to."""
        present: dict[str, object] = {}
        for key, value in fields.items():
            if not _is_empty(value):
                present.setdefault(bare_name(key), value)
        found = {field: value for field, names in _WANTED.items() if (value := _first_present(present, names)) is not None}
        for field, path in self._mapping.items():
            found[field] = _at_path(fields, path)
        return found


def check_mapping(mapping: Mapping[str, str] | None) -> None:
    """Raises `UsageError` when `mapping` names a field that papers do not have."""
    for field in mapping or {}:
        if field not in _WANTED:
            raise UsageError(f"No paper field named {field!r} to map to. Known: {', '.join(_WANTED)}.")


def first_text(value: object, depth: int = 4) -> str:
    """`value` as one text: of a list its texts, of `{"value": x}` that x, of a number its digits; empty for nothing."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        inner = value.get("value", value.get("name", value.get("display_name", value.get("#text"))))
        return first_text(inner, depth - 1) if depth else ""
    if isinstance(value, (list, tuple)):
        return " ".join(text for each in value[:1000] if depth and (text := first_text(each, depth - 1)))
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


class _Texts:
    """Cleans the texts of one record and remembers whether an encoding had to be repaired."""

    def __init__(self, raw: Raw) -> None:
        self._raw = raw
        self.repaired = False

    def line(self, value: object) -> str:
        text = first_text(value)
        if len(text) > 4 * ABSTRACT_LIMIT:
            return text[: 4 * ABSTRACT_LIMIT]  # far beyond any limit: rejected later, not worth cleaning
        if not text.isascii():
            text = self._without_mojibake(text)
        if self._raw.verbatim:
            return clean_text(text)
        return plain_text(latex_to_text(text, bibtex=True) if self._raw.latex else text)

    def lines(self, values: Iterable[str]) -> tuple[str, ...]:
        return tuple(text for value in values if (text := self.line(value)))

    def _without_mojibake(self, text: str) -> str:
        if not _SUSPICIOUS.search(text):
            return text
        from ftfy import fix_encoding
        from ftfy.badness import is_bad

        if not is_bad(text):
            return text
        fixed = fix_encoding(text)
        self.repaired = self.repaired or fixed != text
        return fixed


def _problem(title: str, abstract: str, authors: list[str]) -> str | None:
    if not title:
        return "no title" if abstract else "neither title nor abstract"
    if not abstract:
        return f"no abstract: {title[:80]!r}"
    if len(title) > TITLE_LIMIT:
        return f"title of more than {TITLE_LIMIT:,} characters: {title[:40]!r}"
    if len(abstract) > ABSTRACT_LIMIT:
        return f"abstract of more than {ABSTRACT_LIMIT:,} characters: {title[:80]!r}"
    return f"more than {AUTHOR_LIMIT:,} authors: {title[:80]!r}" if len(authors) > AUTHOR_LIMIT else None


def _first_present(present: Mapping[str, object], names: Iterable[str]) -> object:
    return next((present[name] for name in names if name in present), None)


def _at_path(fields: object, path: list[str]) -> object:
    for step in path:
        if not isinstance(fields, Mapping):
            return None
        fields = next((value for key, value in fields.items() if str(key).lower() == step), None)
    return fields


def _is_empty(value: object) -> bool:
    return value is None or value in ("", [], {}) or (isinstance(value, str) and not value.strip())


def bare_name(key: object) -> str:
    """A field's name without case and punctuation."""
    return re.sub(r"[\W_]", "", str(key)[:100].lower())


def _arxiv_doi(doi: str | None) -> str | None:
    return (
        arxiv_id_of(doi.removeprefix("10.48550/").replace("arxiv.", "arxiv:", 1), prefixed=True)
        if doi and doi.startswith("10.48550/")
        else None
    )


def _address(doi: str | None, arxiv_id: str | None) -> str | None:
    if doi:
        return f"https://doi.org/{doi}"
    return f"https://arxiv.org/abs/{arxiv_id}" if arxiv_id else None
