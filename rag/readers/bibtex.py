"""BibTeX and BibLaTeX, entry by entry, so that a broken one costs no other."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

from rag.readers.decoding import RECORD_LIMIT, numbered_lines
from rag.readers.raw import Document, Fault, Raw

ENTRY_START = re.compile(r"\s*@\s*([A-Za-z]+)\s*[{(]")
_STRING_LIMIT = 1_000_000
_MONTH = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\d{1,2}", re.IGNORECASE)
_VENUES = ("booktitle", "journal", "journaltitle", "eventtitle", "maintitle")
_ARXIV_NAMES = {"arxiv", "arxiv.org"}
_URL_ESCAPE = re.compile(r"\\([_%&#~$])")

# Without a handler of its own the parser's warnings about odd entries would reach stderr through logging's last resort.
logging.getLogger("bibtexparser").addHandler(logging.NullHandler())


def read_bibtex(document: Document) -> Iterator[Raw | Fault]:
    """One record for each entry; `@string` abbreviations are resolved, comments and preambles passed over."""
    strings = ""
    for line, kind, text in _blocks(document.blocks):
        if text is None:
            yield Fault(line, f"longer than {RECORD_LIMIT:,} characters")
        elif kind == "string":
            strings += text if len(strings) + len(text) < _STRING_LIMIT else ""
        elif kind not in ("comment", "preamble"):
            yield from _entries(line, strings, text)


def _blocks(blocks: Iterator[str]) -> Iterator[tuple[int, str, str | None]]:
    """Each `@kind{...` with all up to the next one; what stands before the first is a comment by BibTeX's rules."""
    start, kind, lines, length = 0, "", list[str](), 0
    for line in numbered_lines(blocks):
        found = ENTRY_START.match(line.text or "")
        if found:
            if start:
                yield start, kind, "\n".join(lines) if length <= RECORD_LIMIT else None
            start, kind, lines, length = line.number, found[1].lower(), [], 0
        length += len(line.text) + 1 if line.text is not None else RECORD_LIMIT + 1
        if start and length <= RECORD_LIMIT:
            lines.append(line.text or "")
    if start:
        yield start, kind, "\n".join(lines) if length <= RECORD_LIMIT else None


def _entries(line: int, strings: str, text: str) -> Iterator[Raw | Fault]:
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.model import Entry, ParsingFailedBlock

    try:
        blocks = parse_string(f"{strings}\n{text}" if strings else text).blocks
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:  # what its splitter raises on some damage
        yield Fault(line, f"not valid BibTeX: {str(error)[:200] or type(error).__name__}")
        return
    found = 0
    for block in blocks:
        if isinstance(block, ParsingFailedBlock) and isinstance(block.ignore_error_block, Entry):
            block = block.ignore_error_block  # a field given twice: the first one counts
        if isinstance(block, Entry):
            found += 1
            yield Raw(line, _fields(block.key, {field.key.lower(): str(field.value) for field in reversed(block.fields)}), latex=True)
    if not found:
        yield Fault(line, f"not valid BibTeX: {' '.join(text[:60].split())!r}")


def _fields(key: str, fields: dict[str, str]) -> dict[str, object]:
    is_arxiv = (fields.get("archiveprefix") or fields.get("eprinttype") or "").lower() in _ARXIV_NAMES
    published = fields.get("howpublished", "")
    link = published.removeprefix("\\url{").removesuffix("}") if "://" in published else ""
    return {
        "id": key,
        "title": fields.get("title"),
        "abstract": fields.get("abstract") or fields.get("annote"),
        "authors": _authors(fields.get("author") or fields.get("editor") or ""),
        "year": fields.get("year"),
        "published": fields.get("date") or _date(fields.get("year", ""), fields.get("month", "")),
        "venue": next((fields[name] for name in _VENUES if fields.get(name)), "" if link else published),
        "doi": _URL_ESCAPE.sub(r"\1", fields.get("doi", "")),
        "arxiv_id": fields.get("eprint") if is_arxiv else None,
        "url": _URL_ESCAPE.sub(r"\1", fields.get("url") or link),
        "keywords": fields.get("keywords") or fields.get("keyword"),
        "categories": fields.get("primaryclass") or fields.get("eprintclass"),
    }


def _date(year: str, month: str) -> str:
    found = _MONTH.search(month)
    if not found:
        return year
    return f"{year}-{int(found[0]):02d}" if found[0].isdigit() else f"{found[0]} {year}"


def _authors(text: str) -> list[object]:
    """Names one by one; `and` inside braces does not separate, and a name wholly in braces is never turned round."""
    names, depth, start = list[str](), 0, 0
    for match in re.finditer(r"[{}]|\s+and\s+", text, re.IGNORECASE):
        if match[0] in "{}":
            depth = max(0, depth + (1 if match[0] == "{" else -1))
        elif depth == 0:
            names.append(text[start : match.start()])
            start = match.end()
    names.append(text[start:])
    kept = (name.strip() for name in names)
    return [{"literal": name[1:-1]} if _is_braced(name) else {"name": name} for name in kept if name and name.lower() != "others"]


def _is_braced(name: str) -> bool:
    return name.startswith("{") and name.find("}") == len(name) - 1
