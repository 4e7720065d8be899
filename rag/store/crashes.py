"""Remembers that a process died while it used Chroma's index, so that the next one does not die of the same.

A damaged index file ends the process inside Chroma's native code (1.5.9: a cut `data_level0.bin` is a segmentation fault); no
exception can be caught there.
"""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout

from rag.errors import CorpusError


class CrashGuard:
    """Wraps each use of the index in `folder`; the first use of a process leaves a mark on the disk until it has gone well.

    Entering raises `CorpusError` while there is a mark of a process that is gone. Without a folder it guards nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._mark = folder.with_name("index.trial") if folder is not None else None
        # Held as long as the trial lasts, and freed by the system when the process dies: only then is the mark a bad sign.
        self._alive = FileLock(folder.with_name("index.lock")) if folder is not None else None
        self._lock = threading.Lock()
        self._is_tried = folder is None

    def left_mark(self) -> bool:
        """Whether a process that is gone left its mark."""
        if self._mark is None or self._alive is None or not self._mark.exists():
            return False
        try:
            with self._alive.acquire(timeout=0):
                return self._mark.exists()
        except Timeout:
            return False

    def forget(self) -> None:
        """Takes the mark away, after the index was checked or made anew."""
        if self._mark is not None:
            self._mark.unlink(missing_ok=True)

    def __enter__(self) -> None:
        if self._is_tried or self._mark is None or self._alive is None:
            return
        with self._lock:
            if self._alive.is_locked:
                return
            try:
                self._alive.acquire(timeout=0)
            except Timeout:
                return
            if self._mark.exists():
                self._alive.release()
                raise CorpusError(
                    f"A process that used the vectors in {self._mark.parent} did not survive it, they may be damaged. "
                    f"Check and mend them with `rag doctor --repair --corpus {self._mark.parent.name}`."
                )
            self._mark.touch()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._is_tried or self._mark is None or self._alive is None:
            return
        with self._lock:
            if self._alive.is_locked:
                self._mark.unlink(missing_ok=True)
                self._alive.release()
            self._is_tried = kind is None
