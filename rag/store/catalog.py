"""The catalog file: connections, transactions and errors of one SQLite database.

Readers take a connection from a pool and never wait for a writer (WAL); a writer runs one transaction per batch.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, LifoQueue
from uuid import uuid4

from rag.errors import CorpusError
from rag.store.schema import VERSION, migrate, version

_BUSY_TIMEOUT_S = 10.0
_MMAP_BYTES = 1 << 30
_CACHE_KIB = 32_768


class Catalog:
    """One `catalog.sqlite`, usable from several threads; close it when done.

    Opening makes the file when `create` is true. Raises `CorpusError` for a file that cannot be opened.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self._idle: LifoQueue[sqlite3.Connection] = LifoQueue()
        self._closed = False
        with catalog_errors(path):
            if create:
                path.parent.mkdir(parents=True, exist_ok=True)
            if create or self._version() != VERSION:
                self._prepare()

    def close(self) -> None:
        """Closes every connection; closing twice is fine."""
        self._closed = True
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for queries, given back afterwards. Raises `CorpusError` for what SQLite reports."""
        if self._closed:
            raise CorpusError(f"The catalog {self.path} is closed. Open the corpus again.")
        with catalog_errors(self.path):
            try:
                connection = self._idle.get_nowait()
            except Empty:
                connection = _open_for_reading(self.path)
            try:
                yield connection
            finally:
                self._give_back(connection)

    @contextmanager
    def writing(self, *, keep: bool = True, renews: bool = True) -> Iterator[sqlite3.Connection]:
        """A transaction that is committed at the end, or rolled back when `keep` is false or an exception comes.

        With `renews`, readers that keep what they read will read it again when anything was changed.
        Raises `CorpusError` for a full disk, a read-only folder or a damaged file, with nothing of the batch written.
        """
        with catalog_errors(self.path):
            connection = _connect(f"{self.path.absolute().as_uri()}?mode=rw")
            try:
                connection.execute("BEGIN IMMEDIATE")
                before = connection.total_changes
                yield connection
                if keep and renews and connection.total_changes > before:
                    bump = "INSERT INTO meta VALUES ('generation', '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value + 1 AS TEXT)"
                    connection.execute(bump)
                connection.execute("COMMIT" if keep else "ROLLBACK")
            finally:
                if connection.in_transaction:
                    connection.rollback()
                connection.close()

    def _version(self) -> int:
        with self.reading() as connection:
            return version(connection)

    def _prepare(self) -> None:
        connection = _connect(f"{self.path.absolute().as_uri()}?mode=rwc")
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection)
            connection.execute("INSERT OR IGNORE INTO meta VALUES ('owner', ?)", (uuid4().hex,))
        finally:
            connection.close()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if self._closed:
            connection.close()
        else:
            self._idle.put(connection)


@contextmanager
def catalog_errors(path: Path) -> Iterator[None]:
    """Turns what SQLite and the file system report about `path` into a `CorpusError` with the remedy."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise CorpusError(_explain(path, error), retryable=_is_busy(error)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise CorpusError(f"Cannot use {path}: {reason}. Free space or set RAG_HOME to a folder that can be written.") from error


def _explain(path: Path, error: sqlite3.DatabaseError) -> str:
    text = str(error)
    if "full" in text or "disk I/O" in text:
        return f"The disk is full or failing at {path} ({text}). Nothing of the last batch was kept; free space and run it again."
    if "readonly" in text or "unable to open" in text:
        return f"Cannot open {path} ({text}). Check that the folder exists and can be written, or set RAG_HOME to another one."
    if _is_busy(error):
        return f"The catalog {path} is in use by another process ({text}). Try again when it has finished."
    name = path.parent.name
    return f"The catalog {path} is damaged ({text}). Rebuild it with `rag doctor --repair --corpus {name}`."


def _is_busy(error: sqlite3.DatabaseError) -> bool:
    return "locked" in str(error) or "busy" in str(error)


def _open_for_reading(path: Path) -> sqlite3.Connection:
    uri = path.absolute().as_uri()
    if os.access(path.parent, os.W_OK):
        # Not `mode=ro`: after a kill in mid-write the first to open the file must be able to roll that back.
        connection = _connect(f"{uri}?mode=rw")
    else:
        # Without a log to read, SQLite needs none of the shared memory that it cannot make in such a folder.
        connection = _connect(f"{uri}?mode=ro" + ("" if _has_log(path) else "&immutable=1"))
    connection.execute("PRAGMA query_only = ON")
    return connection


def _has_log(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.is_file() and log.stat().st_size > 0


def _connect(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA mmap_size = {_MMAP_BYTES}")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute("PRAGMA synchronous = FULL")
    return connection
