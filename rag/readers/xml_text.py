"""PubMed XML and Atom feeds (arXiv's API), record by record: a broken record costs no other, and entities never expand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rag.readers.decoding import RECORD_LIMIT
from rag.readers.nbib import without_full_stop
from rag.readers.raw import Document, Fault, Raw

_OPEN = re.compile(r"<(PubmedArticle|PubmedBookArticle|(?:[\w.-]+:)?entry)(?=[\s>])")
_ROOT = re.compile(r"<[A-Za-z][^<>]*\sxmlns[^<>]*>")
_HEADER_LIMIT = 100_000
_TAIL = 100


def read_xml(document: Document) -> Iterator[Raw | Fault]:
    """One record for each `PubmedArticle`, `PubmedBookArticle` or Atom `entry`."""
    header, found = document.head[:_HEADER_LIMIT], False
    if "<!ENTITY" in header:
        yield Fault(1, "declares XML entities, which are not expanded")
    root = _ROOT.search(header)
    for line, text, problem in _fragments(document.blocks):
        found = True
        yield Fault(line, problem) if problem else _record(line, text, root[0] if root else "<root>")
    if not found:
        yield Fault(0, "XML without PubmedArticle or entry elements")


def _fragments(blocks: Iterator[str]) -> Iterator[tuple[int, str, str | None]]:
    """Line, text and problem of each record; a record ends at its end tag, or unfinished where the next one starts."""
    buffer, line, opened, searched = "", 1, "", 0
    for block in blocks:
        buffer += block
        while True:
            if not opened:
                start = _OPEN.search(buffer, searched)
                cut = start.start() if start else max(0, len(buffer) - _TAIL)
                line += buffer.count("\n", 0, cut)
                buffer, searched = buffer[cut:], 0
                if start is None:
                    break
                opened, searched = start[1], 1
            end = re.compile(rf"</{opened}\s*>|<{opened}(?=[\s>])").search(buffer, searched)
            if end is None and len(buffer) <= RECORD_LIMIT:
                searched = max(1, len(buffer) - _TAIL)
                break
            place = len(buffer) if end is None else end.end() if end[0].startswith("</") else end.start()
            problem = f"longer than {RECORD_LIMIT:,} characters" if end is None else None if end[0].startswith("</") else "not closed"
            yield line, buffer[:place] if problem is None else "", problem
            line += buffer.count("\n", 0, place)
            buffer, opened, searched = buffer[place:], "", 0
    if opened:
        yield line, "", "cut off: the text ends inside it"


def _record(line: int, text: str, root: str) -> Raw | Fault:
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    name = re.split(r"[\s<>/]", root[1:], maxsplit=1)[0]
    opening = root if not root.endswith("/>") else f"{root[:-2]}>"
    try:
        element = fromstring(f"{opening}{text}</{name}>")[0]
        return Raw(line, _atom(element) if _local(element) == "entry" else _pubmed(element))
    except (ParseError, DefusedXmlException, ValueError, RecursionError) as error:
        return Fault(line, f"not valid XML: {str(error)[:200] or type(error).__name__}")


def _pubmed(element: Any) -> dict[str, object]:
    citation = _found(element, "MedlineCitation", "BookDocument")
    if citation is None:
        return {}
    article = _found(citation, "Article", ".")
    date = _found(article, "Journal/JournalIssue/PubDate", "ArticleDate", "Book/PubDate")
    ids = [*element.findall("PubmedData/ArticleIdList/ArticleId"), *article.findall("ELocationID")]
    pmid = _text(citation.find("PMID"))
    return {
        "id": pmid,
        "title": without_full_stop(_marked_up(article.find("ArticleTitle")).strip()) or _marked_up(article.find("Book/BookTitle")),
        "abstract": " ".join(_section(part) for part in article.findall("Abstract/AbstractText")),
        "authors": [_author(author) for author in article.findall("AuthorList/Author")],
        "published": " ".join(_text(part) for part in date) if date is not None else None,
        "venue": _text(article.find("Journal/Title")) or _text(article.find("Book/BookTitle")),
        "doi": next((_text(each) for each in ids if "doi" in (each.get("IdType"), each.get("EIdType"))), None),
        "url": f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid.isdigit() else None,
        "keywords": [_text(word) for word in citation.findall("KeywordList/Keyword")],
        "categories": [_text(name) for name in citation.findall("MeshHeadingList/MeshHeading/DescriptorName")],
    }


def _found(element: Any, *paths: str) -> Any:
    """The first of `paths` that is there; an element without children is false, so `or` will not do."""
    return next((found for path in paths if (found := element.find(path)) is not None), None)


def _section(part: Any) -> str:
    label = part.get("Label")
    return f"{label}: {_marked_up(part)}" if label else _marked_up(part)


def _author(author: Any) -> dict[str, str]:
    if group := _text(author.find("CollectiveName")):
        return {"literal": group}
    return {"family": _text(author.find("LastName")), "given": _text(author.find("ForeName")), "suffix": _text(author.find("Suffix"))}


def _atom(entry: Any) -> dict[str, object]:
    children: dict[str, list[Any]] = {}
    for child in entry:
        children.setdefault(_local(child), []).append(child)
    identifier = _text(next(iter(children.get("id", [])), None))
    own = re.search(r"arxiv\.org/abs/(.+?)(?:v\d+)?$", identifier)
    return {
        "id": own[1] if own else identifier,
        "arxiv_id": own and own[1],
        "title": _child(children, "title"),
        "abstract": _child(children, "summary") or _child(children, "content"),
        "authors": [_text(name) for author in children.get("author", []) for name in author if _local(name) == "name"],
        "published": _child(children, "published") or _child(children, "updated"),
        "venue": _child(children, "journal_ref") or ("arXiv" if own else None),
        "doi": _child(children, "doi"),
        "url": f"https://arxiv.org/abs/{own[1]}" if own else next((link.get("href") for link in children.get("link", [])), None),
        "categories": [term for each in children.get("category", []) if (term := each.get("term"))],
    }


def _child(children: dict[str, list[Any]], name: str) -> str:
    return _text(children[name][0]) if name in children else ""


def _local(element: Any) -> str:
    return str(element.tag).rsplit("}", 1)[-1]


def _text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def _marked_up(element: Any) -> str:
    """What is inside an element, its own markup (`<sub>`, `<i>`) kept for later."""
    if element is None:
        return ""
    from xml.etree.ElementTree import tostring
    from xml.sax.saxutils import escape

    return escape(element.text or "") + "".join(tostring(child, encoding="unicode") for child in element)
