"""Finding where a reply began to repeat itself."""

from __future__ import annotations

import re

LOOP_NOTE = "The model began to repeat itself; its answer was cut there."
"""What the reader is told."""

_BORDER = re.compile(r"[.!?](?:\s*\[\d+\])*(?=\s|$)|\n")
_LONGEST_PERIOD = 400
_TAIL = 1_600
_EXACT = (3, 80)
_COUNTING = (10, 500)
"""Least repeats and least length in all; a list of years and counts repeats its words, so numbers may differ only in long loops."""


def loop_start(text: str) -> int:
    """Where the repetitions begin that `text` ends with, its first round kept; 0 when it ends with none.

    A loop is a stretch of at most 400 characters that comes three times in a row, 80 characters or more in all; ten times and 500
    characters when only the numbers in it differ.
    """
    offset = max(len(text) - _TAIL, 0)
    tail = text[offset:]
    for form, (repeats, length) in ((tail, _EXACT), (re.sub(r"\d", "0", tail), _COUNTING)):
        for period in range(1, min(_LONGEST_PERIOD, len(form) // repeats) + 1):
            repeated = _repeated(form, period)
            if repeated >= max(period * repeats, length) and re.search(r"\w", form[-period:]):
                return _first_round_end(text, offset + len(form) - repeated, period)
    return 0


def _repeated(tail: str, period: int) -> int:
    """Length of the end of `tail` in which every character equals the one `period` before."""
    if tail[-1] != tail[-1 - period]:
        return 0
    place = len(tail) - 1
    while place >= period and tail[place] == tail[place - period]:
        place -= 1
    return len(tail) - 1 - place + period


def _first_round_end(text: str, start: int, period: int) -> int:
    """The end of the first round, moved to the end of the sentence or line that it lies in, else back to the one before."""
    end = start + period
    borders = [match.end() for match in _BORDER.finditer(text[: end + period])]
    following = [border for border in borders if border >= end]
    before = [border for border in borders if max(start - period, 0) < border < end]
    return following[0] if following else before[-1] if before else end
