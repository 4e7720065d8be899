"""From what the user named to papers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath

from rag.readers.decoding import decoded
from rag.readers.fields import PaperMaker, check_mapping
from rag.readers.formats import format_named, format_of
from rag.readers.meter import Meter
from rag.readers.raw import Document, Fault
from rag.readers.sources import READ_FAULTS, Stream, expand_paths, open_streams
from rag.records import Paper, Rejected

_BINARY_SHARE = 0.1
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]")


def read_papers(
    paths: Sequence[str | Path],
    *,
    mapping: Mapping[str, str] | None = None,
    format: str | None = None,
    meter: Meter | None = None,
) -> Iterator[Paper | Rejected]:
    """Papers of files, folders, patterns, archives and standard input (`-`), in order, read as they are asked for.

    `mapping` names the source's own field for some of ours (`{"title": "headline", "abstract": "content.summary"}`); `format` is a
    layout's name when its content does not tell; a `meter` is told how far the reading has come. What cannot be read is a `Rejected`
    and costs no other record. A paper whose wrongly decoded text was repaired says so in its `sources`.

    Raises `SourceError` for a path that is not there and `UsageError` for an unknown format or field, both at the call.
    """
    check_mapping(mapping)
    if format is not None:
        format_named(format)
    files = expand_paths(paths)
    meter = meter or Meter()
    meter.expect(files)
    return _papers(files, mapping, format, meter)


def _papers(files: Sequence[str], mapping: Mapping[str, str] | None, format: str | None, meter: Meter) -> Iterator[Paper | Rejected]:
    for file in files:
        try:
            for stream in open_streams(file, meter):
                yield from _stream_papers(stream, mapping, format)
        except READ_FAULTS as error:
            yield Rejected(file, 0, f"cannot be read: {_told(error)}")


def _stream_papers(stream: Stream, mapping: Mapping[str, str] | None, format: str | None) -> Iterator[Paper | Rejected]:
    maker = PaperMaker(stream.name, mapping)
    count = 0
    try:
        for record in _document_papers(stream, maker, format):
            count += 1
            yield record
    except READ_FAULTS as error:
        yield Rejected(stream.name, 0, f"cannot be read on after {count} records: {_told(error)}")


def _document_papers(stream: Stream, maker: PaperMaker, format: str | None) -> Iterator[Paper | Rejected]:
    blocks = decoded(stream.open())
    head = next(blocks, "")
    if not head.strip("\ufeff \t\r\n"):
        yield Rejected(stream.name, 0, "empty")
        return
    if len(_CONTROL.findall(head)) > _BINARY_SHARE * len(head):
        yield Rejected(stream.name, 0, "not text")
        return
    if head.startswith("%PDF-"):
        yield Rejected(stream.name, 0, "a PDF; export the abstracts as text, JSON, BibTeX, RIS or CSV")
        return
    reader = format_named(format) if format else format_of(head, _suffix(stream.name))
    found = 0
    for record in reader(Document(stream.name, head, chain([head], blocks), stream.folder)):
        found += 1
        yield Rejected(stream.name, record.line, record.reason) if isinstance(record, Fault) else maker.make(record)
    if not found:
        yield Rejected(stream.name, 0, "no abstracts in it")


def _suffix(name: str) -> str:
    """The ending that names the layout: `.csv` of `papers.csv.gz`."""
    return PurePosixPath(name.lower().removesuffix(".gz")).suffix


def _told(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split())[:200] or type(error).__name__
