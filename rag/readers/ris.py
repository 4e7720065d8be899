"""RIS, record by record."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.readers.decoding import RECORD_LIMIT, numbered_lines
from rag.readers.raw import Document, Fault, Raw

RECORD_START = re.compile(r"TY\s{1,3}-(?:\s|$)")
_TAG = re.compile(r"([A-Z][A-Z0-9])\s{1,3}-(?:\s+|$)(.*)")
_LIST_TAGS = ["A1", "AU", "KW", "UR", "L1", "L2", "DO"]
_NAMES = {
    "id": ("ID", "AN"),
    "title": ("TI", "T1", "CT"),
    "abstract": ("AB", "N2"),
    "year": ("PY", "Y1"),
    "published": ("DA", "Y1", "PY"),
    "venue": ("T2", "JO", "JF", "BT", "JA", "J2", "T3"),
}


def read_ris(document: Document) -> Iterator[Raw | Fault]:
    """One record from each `TY` to its `ER`, or to the next `TY` when that is missing."""
    start, lines, length = 0, list[str](), 0
    for line in numbered_lines(document.blocks):
        text = (line.text or "").lstrip("\ufeff")
        found = _TAG.match(text)
        tag = found[1] if found else ""
        if tag == "TY" and start:
            yield _record(start, lines, length)
            start = 0
        if tag == "TY":
            start, lines, length = line.number, [], 0
        if not start:
            continue
        length += len(text) if line.text is not None else RECORD_LIMIT + 1
        if length <= RECORD_LIMIT:
            lines.append(f"{tag}  - {found[2]}" if found else text)
        if tag == "ER":
            yield _record(start, lines, length)
            start = 0
    if start:
        yield _record(start, lines, length)


def _record(line: int, lines: list[str], length: int) -> Raw | Fault:
    from rispy import RisParser
    from rispy.config import TAG_KEY_MAPPING

    if length > RECORD_LIMIT:
        return Fault(line, f"longer than {RECORD_LIMIT:,} characters")
    parser = RisParser(
        mapping={tag: tag for tag in TAG_KEY_MAPPING}, list_tags=_LIST_TAGS, delimiter_tags_mapping={}, skip_unknown_tags=True
    )
    ended = lines if lines[-1].startswith("ER  -") else [*lines, "ER  - "]
    try:
        records = parser.parse_lines(iter(ended))
    except (LookupError, TypeError, AttributeError, ValueError) as error:  # what it raises on some damage
        return Fault(line, f"not valid RIS: {type(error).__name__}")
    return Raw(line, _fields(records[0])) if records else Fault(line, "not valid RIS: no end")


def _fields(record: dict[str, object]) -> dict[str, object]:
    found: dict[str, object] = {name: next((record[tag] for tag in tags if record.get(tag)), None) for name, tags in _NAMES.items()}
    addresses = [text for tag in ("UR", "L2", "L1") for text in _texts(record.get(tag))]
    return {
        **found,
        "arxiv_id": next((text for text in (str(record.get(tag) or "") for tag in ("AN", "M1", "C7")) if "arxiv" in text.lower()), None),
        "authors": _texts(record.get("AU")) + _texts(record.get("A1")),
        "keywords": _texts(record.get("KW")),
        "doi": next(iter(_texts(record.get("DO"))), None) or next((text for text in addresses if "doi.org/" in text), None),
        "url": next((text for text in addresses if text.lower().startswith("http")), None),
    }


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str) and text] if isinstance(value, list) else []
