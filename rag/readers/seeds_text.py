"""The bundled layout: a heading line, then abstracts separated by blank lines; titles and authors in `papers.jsonl` beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag.readers.decoding import RECORD_LIMIT, decoded, numbered_lines
from rag.readers.raw import Document, Fault, Fields, Raw

SIDECAR = "papers.jsonl"
_HEADING_LENGTH = 200
_SURE_HEADING_LENGTH = 60
_SENTENCE_ENDS = tuple(".!?。！？…।؟")
_TITLE_LENGTH = 120


def read_seeds_text(document: Document) -> Iterator[Raw | Fault]:
    """One record for each abstract; what the sidecar knows about (file, position) is added to it."""
    sidecar = _sidecar(document)
    known = dict(sidecar)
    position = 0
    for line, text in _abstracts(document):
        if text is None:
            yield Fault(line, f"longer than {RECORD_LIMIT:,} characters")
            continue
        position += 1
        fields = known.pop(position, None)
        yield Raw(line, {**(fields or {"title": first_sentence(text)}), "abstract": text}, verbatim=True)
    for missing in known:
        yield Fault(0, f"{SIDECAR} describes abstract {missing}, but the file has {position}")


def sidecar_files(path: Path) -> tuple[str, ...]:
    """Names of the text files that a `papers.jsonl` describes, in order of first mention; empty when it is no sidecar."""
    if path.name != SIDECAR:
        return ()
    return tuple(dict.fromkeys(str(entry["file"]) for entry in _entries(path)))


def first_sentence(text: str) -> str:
    """A title for a text without one: its first sentence, cut at a word when it is long."""
    from rag.text.sentences import split_sentences

    flat = " ".join(text[:2000].split())
    spans = split_sentences(flat)
    sentence = spans[0].text.rstrip(" .。") if spans else flat
    if len(sentence) <= _TITLE_LENGTH:
        return sentence
    return sentence[:_TITLE_LENGTH].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def _abstracts(document: Document) -> Iterator[tuple[int, str | None]]:
    for index, (line, lines) in enumerate(_paragraphs(document.blocks)):
        if index == 0 and lines is not None:
            lines, line = _without_heading(lines, line)
        if lines is None or lines:
            yield line, None if lines is None else "\n".join(lines)


def _paragraphs(blocks: Iterator[str]) -> Iterator[tuple[int, list[str] | None]]:
    """Stretches of lines between blank ones, with the number of the first; None for one that is too long."""
    start, lines, length = 0, list[str](), 0
    for line in numbered_lines(blocks):
        if line.text is not None and not line.text.strip("\ufeff \t\x0b\x0c\xa0\u2028\u2029\u3000").strip():
            if start:
                yield start, None if length > RECORD_LIMIT else lines
            start, lines, length = 0, [], 0
            continue
        start = start or line.number
        length += len(line.text) + 1 if line.text is not None else RECORD_LIMIT + 1
        if length <= RECORD_LIMIT:
            lines.append(line.text or "")
    if start:
        yield start, None if length > RECORD_LIMIT else lines


def _without_heading(lines: list[str], line: int) -> tuple[list[str], int]:
    """The first paragraph without the file's heading; empty when it is nothing else."""
    first = lines[0].strip("\ufeff ")
    if len(lines) == 1:
        short = len(first) <= _SURE_HEADING_LENGTH or (len(first) <= _HEADING_LENGTH and not first.endswith(_SENTENCE_ENDS))
        return ([], line) if short else (lines, line)
    if len(first) <= _SURE_HEADING_LENGTH and len(lines[1]) > 2 * len(first) and not first.endswith(_SENTENCE_ENDS):
        return lines[1:], line + 1
    return lines, line


def _sidecar(document: Document) -> dict[int, Fields]:
    if document.folder is None:
        return {}
    name = Path(document.name).name
    return {int(entry["position"]): _described(entry) for entry in _entries(document.folder / SIDECAR) if entry["file"] == name}


def _described(entry: dict[str, Any]) -> Fields:
    return {key: value for key, value in entry.items() if key not in {"file", "position", "abstract"}}


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    """Sidecar entries, none when the first line is none; later lines that are none are skipped: their abstracts are read without them."""
    if not path.is_file():
        return
    with path.open("rb") as stream:
        for line in numbered_lines(decoded(stream)):
            entry = _entry(line.text or "")
            if entry is not None:
                yield entry
            elif line.number == 1:
                return


def _entry(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    is_entry = isinstance(entry, dict) and isinstance(entry.get("file"), str) and isinstance(entry.get("position"), int)
    return entry if is_entry else None
