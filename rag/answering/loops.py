"""Finding where a reply began to repeat itself."""

from __future__ import annotations

import re

LOOP_NOTE = "The model began to repeat itself; its answer was cut there."
"""What the reader is told."""

_LONGEST_PERIOD = 400
_SHORTEST_LOOP = 80
_REPEATS = 3
_TAIL = 1_600


def loop_start(text: str) -> int:
    """Where the repetitions begin that `text` ends with, its first round kept; 0 when it ends with none.

    A loop is a stretch of at most 400 characters that comes at least three times in a row, 80 characters or more in all; the numbers
    in it may differ, as in a list that counts up.
    """
    offset = max(len(text) - _TAIL, 0)
    tail = re.sub(r"\d", "0", text[offset:])
    for period in range(1, min(_LONGEST_PERIOD, len(tail) // _REPEATS) + 1):
        length = _repeated(tail, period)
        if length >= max(period * _REPEATS, _SHORTEST_LOOP) and re.search(r"\w", tail[-period:]):
            return _first_round_end(text, offset + len(tail) - length, period)
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
    """The end of the first round, moved back to the end of a sentence or line when one lies in it."""
    end = start + period
    borders = [match.end() for match in re.finditer(r"[.!?](?:\s*\[\d+\])*(?=\s|$)|\n", text[:end])]
    return borders[-1] if borders and borders[-1] > max(start - period, 0) else end
