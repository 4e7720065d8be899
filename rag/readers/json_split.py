"""Cuts a stream of JSON into its records without parsing it, so that one broken record costs no other and memory stays bounded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag.readers.decoding import RECORD_LIMIT

_OUTSIDE = re.compile(r'["{}\[\],]')
_INSIDE = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'["\\\n]')
_WRAPPER = re.compile(r'"(?:results|notes|data|papers|items|records|documents|publications|articles|submissions|entries|works)"\s*:\s*$')
_FIRST_KEY = re.compile(r'\{\s*("[^"\\\n]{1,100}")\s*:')
_OPENS = {"}": "{", "]": "["}
_RESCAN_LIMIT = 24_000_000
_LOOK_BACK = 200


@dataclass(frozen=True, slots=True)
class Value:
    """The text of one record; `problem` says why it cannot be whole."""

    line: int
    text: str
    problem: str | None = None


class JsonSplitter:
    """Feeds on blocks of text; gives the elements of top-level arrays, of `{"results": [...]}` and the like, and bare objects.

    A string never runs over a line end and a bracket never closes another kind, so damage shows early; reading then goes on at
    the next `{` that starts with the same first key as the damaged record.
    """

    def __init__(self, limit: int = RECORD_LIMIT) -> None:
        self._limit = limit
        self._buffer = ""
        self._at = 0
        self._gap = 0  # where the text after the last record or separator begins
        self._start: int | None = None  # where the record begins that is being read
        self._inner: list[str] = []  # brackets open inside that record
        self._outer: list[str] = []  # containers around it: "[" of records, "{" wrapper, "x" of no interest
        self._in_string = False
        self._resume: re.Pattern[str] | None = None  # after damage: what a next record looks like
        self._line, self._line_at = 1, 0
        self._rescan_left = _RESCAN_LIMIT

    def feed(self, block: str) -> Iterator[Value]:
        """Records completed by `block`."""
        self._buffer += block
        yield from self._scan()
        if self._start is not None and len(self._buffer) - self._start > self._limit:
            yield from self._give_up(f"longer than {self._limit:,} characters")
            yield from self._scan()
        self._forget()

    def close(self) -> Iterator[Value]:
        """What is left at the end of the text: truncated records, each reported, with the whole ones between them."""
        while self._start is not None:
            yield from self._give_up("cut off: the text ends inside it")
            yield from self._scan()
        yield from self._check_gap(len(self._buffer))

    def _scan(self) -> Iterator[Value]:
        while self._find_resumption():
            pattern = _IN_STRING if self._in_string else _OUTSIDE if self._start is None else _INSIDE
            match = pattern.search(self._buffer, self._at)
            if match is None:
                self._at = len(self._buffer)
                return
            if self._in_string:
                if match[0] == "\\" and match.end() == len(self._buffer):
                    self._at = match.start()
                    return
                self._in_string = match[0] == "\\"
                self._at = match.end() + self._in_string
                continue
            self._at = match.end()
            if match[0] == '"':
                self._in_string = True
            else:
                yield from self._outside(match[0]) if self._start is None else self._inside(match[0])

    def _outside(self, mark: str) -> Iterator[Value]:
        around = self._outer[-1] if self._outer else ""
        if around in ("", "["):
            yield from self._check_gap(self._at - 1)
        self._gap = self._at
        if mark in _OPENS:
            del self._outer[-1:]
        elif mark == "{" and around in ("", "["):
            self._start, self._inner = self._at - 1, ["{"]
        elif mark == "[" and (around in ("", "[") or (around == "{" and self._follows_wrapper_key())):
            self._outer.append("[")
        elif mark != ",":
            self._outer.append("x")

    def _inside(self, mark: str) -> Iterator[Value]:
        if mark not in _OPENS:
            if mark == "[" and not self._outer and self._inner == ["{"] and self._follows_wrapper_key():
                self._outer, self._start, self._gap = ["{", "["], None, self._at
            else:
                self._inner.append(mark)
        elif self._inner.pop() != _OPENS[mark]:
            yield from self._give_up(f"not valid JSON: {mark!r} closes another bracket")
        elif not self._inner and self._start is not None:
            yield Value(self._line_of(self._start), self._buffer[self._start : self._at])
            self._start, self._gap = None, self._at

    def _follows_wrapper_key(self) -> bool:
        return _WRAPPER.search(self._buffer, max(0, self._at - _LOOK_BACK), self._at - 1) is not None

    def _give_up(self, problem: str) -> Iterator[Value]:
        """Reports the record being read and goes back to the first place behind its start where another may begin."""
        start = self._start or 0
        yield Value(self._line_of(start), self._buffer[start : start + _LOOK_BACK], problem)
        key = _FIRST_KEY.match(self._buffer, start)
        self._resume = re.compile(rf"\{{\s*{re.escape(key[1])}\s*:") if key else _FIRST_KEY
        if self._rescan_left > 0:
            self._rescan_left -= self._at - start
            self._at = start + 1
        self._start, self._inner, self._in_string = None, [], False

    def _find_resumption(self) -> bool:
        if self._resume is None:
            return True
        match = self._resume.search(self._buffer, self._at)
        self._at = self._gap = match.start() if match else max(self._at, len(self._buffer) - _LOOK_BACK)
        if match:
            self._resume = None
        return match is not None

    def _check_gap(self, end: int) -> Iterator[Value]:
        text = self._buffer[self._gap : end].strip(" \t\r\n\ufeff\x1e")
        if text and self._resume is None:
            yield Value(self._line_of(self._gap), text[:_LOOK_BACK], f"not a record: {text[:40]!r}")
        self._gap = end

    def _line_of(self, position: int) -> int:
        if position > self._line_at:
            self._line += self._buffer.count("\n", self._line_at, position)
            self._line_at = position
        return self._line

    def _forget(self) -> None:
        """Drops what has been read; of a long stretch between records only the beginning is kept."""
        needed = self._start if self._start is not None else max(self._gap, self._at - _LOOK_BACK)
        cut = max(0, min(needed, self._at) - _LOOK_BACK)
        self._line_of(cut)
        self._buffer = self._buffer[cut:]
        self._at, self._gap, self._line_at = self._at - cut, max(0, self._gap - cut), max(0, self._line_at - cut)
        if self._start is not None:
            self._start -= cut
