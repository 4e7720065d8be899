"""One syncing process per corpus: a file lock that tells who holds it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from rag.errors import CorpusError
from rag.store.catalog import catalog_errors


@contextmanager
def corpus_lock(folder: Path, *, wait_s: float = 0.0) -> Iterator[None]:
    """Holds the corpus in `folder` for writing. The system frees it when the process ends, however it ends.

    Raises `CorpusError` that names the holder when another process still has it after `wait_s` seconds.
    """
    with catalog_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "lock")
        try:
            lock.acquire(timeout=wait_s, poll_interval=0.1)
        except Timeout as error:
            raise CorpusError(_in_use(folder, wait_s), retryable=True) from error
    try:
        with catalog_errors(folder):
            _holder_file(folder).write_text(json.dumps({"pid": os.getpid(), "since": time.time()}), encoding="utf-8")
        yield
    finally:
        with suppress(OSError):
            _holder_file(folder).unlink()
        lock.release()


def lock_holder(folder: Path) -> str:
    """Who holds the corpus's lock, in words: `process 4711, since 14:02:31`; empty when nobody does."""
    if not (folder / "lock").is_file():
        return ""
    try:
        with FileLock(folder / "lock", timeout=0):
            return ""
    except Timeout:
        return _describe(folder)
    except OSError:
        return ""


def _in_use(folder: Path, wait_s: float) -> str:
    waited = f" Waited {wait_s:g} s." if wait_s else ""
    return (
        f"Corpus {folder.name!r} is being written by {_describe(folder)}.{waited} Run it again when that has finished, "
        "or wait for it with `rag index --wait SECONDS`."
    )


def _describe(folder: Path) -> str:
    try:
        holder = json.loads(_holder_file(folder).read_text(encoding="utf-8"))
        since = datetime.fromtimestamp(holder["since"]).strftime("%H:%M:%S")
        return f"process {holder['pid']}, since {since}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _holder_file(folder: Path) -> Path:
    return folder / "lock.holder"
