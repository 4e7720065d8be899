"""How far reading has come, from the bytes of the files, so that the number of papers in all can be guessed before the end."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_LEAST_SHARE = 0.01


class Meter:
    """Told by the reading which file it is in; knows nothing of standard input."""

    def __init__(self) -> None:
        self._total = 0
        self._done = 0
        self._current: BinaryIO | None = None

    def expect(self, files: Sequence[str]) -> None:
        """Notes the sizes of the files to come."""
        self._total = sum(os.path.getsize(file) for file in files if Path(file).is_file())

    @contextmanager
    def reading(self, body: BinaryIO) -> Iterator[None]:
        """Watches an open file while it is read."""
        self._current = body
        try:
            yield
        finally:
            self._done += os.fstat(body.fileno()).st_size
            self._current = None

    def total(self, records: int) -> int | None:
        """How many records there are likely to be in all when `records` were read until now; None while nothing can be said."""
        here = self._current.tell() if self._current is not None and not self._current.closed else 0
        share = min((self._done + here) / self._total, 1.0) if self._total else 0.0
        return max(records, round(records / share)) if share >= _LEAST_SHARE else None
