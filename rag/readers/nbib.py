"""PubMed's tagged format (nbib, MEDLINE)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from rag.readers.decoding import RECORD_LIMIT, numbered_lines
from rag.readers.raw import Document, Fault, Raw

RECORD_START = re.compile(r"PMID ?- *\d")
_TAG = re.compile(r"([A-Z]{2,4}) {0,2}- (.*)")
_DOI = re.compile(r"(10\.\S+) \[doi\]")


def read_nbib(document: Document) -> Iterator[Raw | Fault]:
    """One record from each `PMID` to the next; lines that start with spaces continue the field before."""
    start, fields, last, length = 0, defaultdict[str, list[list[str]]](list), "", 0
    for line in numbered_lines(document.blocks):
        text = (line.text or "").lstrip("\ufeff")
        found = _TAG.match(text)
        if RECORD_START.match(text):
            if start:
                yield _record(start, fields, length)
            start, fields, last, length = line.number, defaultdict(list), "", 0
        length += len(text) if line.text is not None else RECORD_LIMIT + 1
        if not start or length > RECORD_LIMIT:
            continue
        if found:
            last = found[1]
            fields[last].append([found[2]])
        elif last and text.startswith(" "):
            fields[last][-1].append(text.strip())
    if start:
        yield _record(start, fields, length)


def _record(line: int, parts: Mapping[str, list[list[str]]], length: int) -> Raw | Fault:
    if length > RECORD_LIMIT:
        return Fault(line, f"longer than {RECORD_LIMIT:,} characters")
    fields = {tag: [" ".join(value) for value in values] for tag, values in parts.items()}
    pmid = fields["PMID"][0].strip() if "PMID" in fields else ""
    identifiers = " ".join(fields.get("LID", []) + fields.get("AID", []))
    doi = _DOI.search(identifiers)
    return Raw(
        line,
        {
            "id": pmid,
            "title": without_full_stop(_first(fields, "TI", "BTI", "CTI")),
            "abstract": _first(fields, "AB", "OAB"),
            "authors": fields.get("FAU") or fields.get("AU") or fields.get("CN"),
            "published": _first(fields, "DP", "DEP"),
            "venue": _first(fields, "JT", "TA", "BTI"),
            "doi": doi and doi[1],
            "url": f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid.isdigit() else None,
            "keywords": fields.get("OT"),
            "categories": [heading.replace("*", "").split("/")[0] for heading in fields.get("MH", [])],
        },
    )


def without_full_stop(title: str) -> str:
    """A title without the full stop that PubMed puts behind every one."""
    return title[:-1] if title.endswith(".") and not title.endswith("..") else title


def _first(fields: Mapping[str, list[str]], *tags: str) -> str:
    return next((" ".join(fields[tag]) for tag in tags if fields.get(tag)), "")
