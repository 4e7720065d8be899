"""The layouts that can be read, and how a text's layout is told from its first characters."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rag.errors import UsageError
from rag.readers.bibtex import read_bibtex
from rag.readers.json_text import read_json
from rag.readers.nbib import read_nbib
from rag.readers.raw import Format
from rag.readers.ris import read_ris
from rag.readers.seeds_text import read_seeds_text
from rag.readers.tables import looks_like_table, read_table
from rag.readers.xml_text import read_xml

FORMATS: Mapping[str, Format] = {
    "text": read_seeds_text,
    "json": read_json,
    "bibtex": read_bibtex,
    "ris": read_ris,
    "csv": read_table,
    "nbib": read_nbib,
    "xml": read_xml,
}
"""Name (as in `--format`) to reader."""

_BIBTEX = re.compile(
    r"^\s*@\s*(?:[A-Za-z]+)\s*[{(]\s*[^\s,{}=\"]*\s*[,=\"]|^\s*@(?:comment|preamble|string)\s*[{(]", re.MULTILINE | re.IGNORECASE
)
_RIS = re.compile(r"^\ufeff?TY\s{1,3}-(?:\s|$)", re.MULTILINE)
_NBIB = re.compile(r"^\ufeff?PMID ?- *\d", re.MULTILINE)
_SUFFIXES = {
    ".csv": read_table, ".tsv": read_table, ".bib": read_bibtex, ".ris": read_ris, ".nbib": read_nbib, ".xml": read_xml, ".json": read_json,
    ".jsonl": read_json, ".ndjson": read_json,
}  # fmt: skip


def format_named(name: str) -> Format:
    """The reader called `name`; raises `UsageError` for an unknown one."""
    if name not in FORMATS:
        raise UsageError(f"No format named {name!r}. Known: {', '.join(FORMATS)}. Leave it out to have it recognised by content.")
    return FORMATS[name]


def format_of(head: str, suffix: str = "") -> Format:
    """The reader for a text that starts with `head`; the file's `suffix` decides only when the content does not."""
    start = head.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[")):
        return read_json
    if start.startswith("<"):
        return read_xml
    if looks_like_table(head.lstrip("\ufeff\r\n")):
        return read_table
    for pattern, reader in ((_RIS, read_ris), (_NBIB, read_nbib), (_BIBTEX, read_bibtex)):
        if pattern.search(head):
            return reader
    return _SUFFIXES.get(suffix.lower(), read_seeds_text)
