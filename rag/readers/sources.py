"""What the user named (files, folders, patterns, archives, standard input) to the streams that are read."""

from __future__ import annotations

import glob
import gzip
import lzma
import os
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from rag.errors import SourceError
from rag.readers.decoding import Readable
from rag.readers.meter import Meter
from rag.readers.seeds_text import sidecar_files

STDIN = "-"
SUFFIXES = (".txt", ".json", ".jsonl", ".ndjson", ".bib", ".ris", ".csv", ".tsv", ".nbib", ".xml", ".gz", ".zip")
"""What a folder is searched for; a file named outright may end in anything."""

READ_FAULTS = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError, NotImplementedError)
"""What damaged, encrypted and unreadable files raise while they are read."""

_OFFICE_MARK = "[Content_Types].xml"
_ZIP_FAULTS = (ValueError, LookupError, OverflowError, struct.error)  # what zipfile raises on some damaged directories
_PEEK_BYTES = 1 << 16
_BOMB_FLOOR_BYTES = 50_000_000
_BOMB_RATIO = 150


@dataclass(frozen=True, slots=True)
class Stream:
    """A text to open: the name shown in messages, and where it stands on disk if it is a plain file there."""

    name: str
    open: Callable[[], Readable]
    folder: Path | None = None


class BombError(OSError):
    """An archive expands beyond all measure."""


def expand_paths(paths: Sequence[str | Path]) -> list[str]:
    """Files in the order given, folders and patterns sorted; each file once, `-` for standard input.

    Raises `SourceError` for a path or pattern that matches nothing and for a folder without a file that could be read.
    """
    found = (name for path in paths for name in _expand(str(path)))
    named = [inner for name in found for inner in _instead_of_sidecar(name)]
    unique: dict[str, str] = {}
    for name in named:
        unique.setdefault(name if name == STDIN else os.path.realpath(name), name)
    return list(unique.values())


def open_streams(name: str, meter: Meter) -> Iterator[Stream]:
    """The texts in a file: itself, what is inside its gzip layer, or each member of a zip archive.

    Raises one of `READ_FAULTS` when it cannot be read.
    """
    if name == STDIN:
        yield from _unpacked("stdin", sys.stdin.buffer, None)
        return
    path = Path(name)
    with path.open("rb") as body, meter.reading(body):
        yield from _unpacked(path.as_posix(), body, path.parent)


def _expand(name: str) -> list[str]:
    if name == STDIN:
        return [name]
    path = Path(name).expanduser()
    if path.is_dir():
        files = sorted(str(file) for file in path.rglob("*") if _is_wanted(file, path))
        if not files:
            raise SourceError(f"No readable file in folder {name!r}. Files there should end in one of: {', '.join(SUFFIXES)}.")
        return files
    if path.exists():
        return [str(path)]
    matches = sorted(match for match in glob.glob(str(path), recursive=True) if Path(match).is_file())
    if not matches:
        raise SourceError(f"No file, folder or pattern match named {name!r}. Check the spelling, or use - for standard input.")
    return matches


def _is_wanted(file: Path, folder: Path) -> bool:
    hidden = any(part.startswith((".", "__MACOSX")) for part in file.relative_to(folder).parts)
    return file.suffix.lower() in SUFFIXES and not hidden and file.is_file()


def _instead_of_sidecar(name: str) -> list[str]:
    """A sidecar holds no abstracts: in its place stand the text files it describes."""
    path = Path(name)
    texts = [str(path.parent / text) for text in sidecar_files(path)] if name != STDIN else []
    present = [text for text in texts if Path(text).is_file() and Path(text).parent == path.parent]
    return present or [name]


def _unpacked(name: str, body: BinaryIO, folder: Path | None) -> Iterator[Stream]:
    replay = Replay(body)
    if replay.head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        yield from _members(name, body if folder else _copied(replay))
    else:
        yield Stream(name, lambda: _unzipped(replay), None if replay.head.startswith(b"\x1f\x8b") else folder)


def _members(name: str, archive: BinaryIO) -> Iterator[Stream]:
    """Members of a zip archive, read as streams and never written: a path like `../x` in it is only a name."""
    with _archive(archive) as opened:
        if _OFFICE_MARK in opened.namelist():
            raise zipfile.BadZipFile("it is an Office file; save it as CSV")
        wanted = [member for member in opened.infolist() if _is_member_wanted(member)]
        if not wanted:
            raise zipfile.BadZipFile(f"no member ends in one of {', '.join(SUFFIXES)}")
        for member in wanted:
            yield Stream(f"{name}!{member.filename}", partial(_open_member, opened, member))


def _archive(file: BinaryIO) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except _ZIP_FAULTS as error:
        raise zipfile.BadZipFile(f"damaged archive: {error}") from error


def _is_member_wanted(member: zipfile.ZipInfo) -> bool:
    parts = member.filename.split("/")
    hidden = any(part.startswith((".", "__MACOSX")) and part.strip(".") for part in parts)
    return not member.filename.endswith("/") and not hidden and member.filename.lower().endswith(SUFFIXES)


def _open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Readable:
    try:
        body = archive.open(member)
    except _ZIP_FAULTS as error:
        raise zipfile.BadZipFile(f"damaged archive: {error}") from error
    return _unzipped(Replay(_Guarded(body, lambda: member.compress_size)))


def _unzipped(replay: Replay) -> Readable:
    if not replay.head.startswith(b"\x1f\x8b"):
        return replay
    return _Guarded(gzip.GzipFile(fileobj=cast(BinaryIO, replay)), lambda: replay.given)


def _copied(replay: Replay) -> BinaryIO:
    """Standard input as a file that can be searched, which zip archives need."""
    copy = cast(BinaryIO, tempfile.TemporaryFile())
    while block := replay.read(_PEEK_BYTES):
        copy.write(block)
    copy.seek(0)
    return copy


class Replay:
    """A stream whose first bytes can be looked at before it is read."""

    def __init__(self, body: Readable) -> None:
        self._body = body
        self.head = body.read(_PEEK_BYTES)
        self._pending = self.head
        self.given = 0

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, at most `size` unless it is negative; empty at the end."""
        if self._pending:
            cut = len(self._pending) if size < 0 else size
            block, self._pending = self._pending[:cut], self._pending[cut:]
        else:
            block = self._body.read(size)
        self.given += len(block)
        return block


class _Guarded:
    """A decompressed stream that stops when it grows out of proportion to what it came from."""

    def __init__(self, body: Readable, packed_bytes: Callable[[], int]) -> None:
        self._body = body
        self._packed_bytes = packed_bytes
        self._given = 0

    def read(self, size: int = -1, /) -> bytes:
        block = self._body.read(size)
        self._given += len(block)
        if self._given > _BOMB_FLOOR_BYTES and self._given > _BOMB_RATIO * max(self._packed_bytes(), 1):
            raise BombError(f"it expands to more than {_BOMB_RATIO} times its packed size")
        return block
