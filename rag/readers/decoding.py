"""Bytes to text: encodings recognised, wrong bytes survived, lines of bounded length."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

BLOCK_BYTES = 1 << 16
RECORD_LIMIT = 8_000_000
"""Longest record in characters; bounds memory, since parsing JSON can take fifty times the size of its text."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WINDOWS_FALLBACK = "rag-windows-1252"


class Readable(Protocol):
    """Something that gives bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, at most `size` unless it is negative; empty at the end."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end; `text` is None when it was longer than the limit and has been skipped."""

    number: int
    text: str | None


def encoding_of(head: bytes) -> str:
    """The encoding of a text that starts with `head`; UTF-8 unless a mark or the pattern of NUL bytes says otherwise."""
    for bom, name in _BOMS:
        if head.startswith(bom):
            return name
    sample = head[:4096]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    quarter = len(sample) // 8
    if odd > quarter and even <= odd // 4:
        return "utf-16-le"
    return "utf-16-be" if even > quarter and odd <= even // 4 else "utf-8"


def decoded(stream: Readable) -> Iterator[str]:
    """The text of `stream` in blocks; bytes that are not UTF-8 are read as Windows-1252, one by one, so that mixed files survive.

    Raises `OSError` and `EOFError` as the stream does.
    """
    head = stream.read(BLOCK_BYTES)
    encoding = encoding_of(head)
    decoder = codecs.getincrementaldecoder(encoding)(_WINDOWS_FALLBACK if encoding.startswith("utf-8") else "replace")
    block = head
    while block:
        if text := decoder.decode(block):
            yield text
        block = stream.read(BLOCK_BYTES)
    if text := decoder.decode(b"", final=True):
        yield text


def numbered_lines(blocks: Iterator[str], limit: int = RECORD_LIMIT) -> Iterator[Line]:
    r"""Lines of a text, numbered from 1; `\n`, `\r\n` and `\r` end a line, other separators do not."""
    number, pending, length = 1, list[str](), 0
    for line, ended in _pieces(blocks):
        length += len(line)
        if length <= limit:
            pending.append(line)
        if ended:
            yield Line(number, "".join(pending) if length <= limit else None)
            number, pending, length = number + 1, [], 0
    if length:
        yield Line(number, "".join(pending) if length <= limit else None)


def _pieces(blocks: Iterator[str]) -> Iterator[tuple[str, bool]]:
    """Stretches without line ends, each with whether a line ends after it."""
    after_return = False
    for block in blocks:
        text = block[1:] if after_return and block.startswith("\n") else block
        after_return = block.endswith("\r")
        *ended, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        yield from ((line, True) for line in ended)
        yield rest, False


def _windows_fallback(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error(_WINDOWS_FALLBACK, _windows_fallback)
