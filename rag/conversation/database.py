"""The log's SQLite file: opened at first use, kept open, safe for threads and processes."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag.errors import LogError

_VERSION = 1
_SCHEMA = (
    "CREATE TABLE exchange ("
    "id INTEGER PRIMARY KEY AUTOINCREMENT, conversation TEXT NOT NULL, turn INTEGER NOT NULL, asked_at REAL NOT NULL,"
    " question TEXT NOT NULL, corpus TEXT NOT NULL, model TEXT NOT NULL, options TEXT NOT NULL,"
    " answer TEXT, error TEXT NOT NULL DEFAULT '', undone INTEGER NOT NULL DEFAULT 0)",
    "CREATE INDEX exchange_of_conversation ON exchange (conversation, turn)",
    "CREATE VIRTUAL TABLE exchange_text USING fts5"
    " (question, standalone, answer, papers, tokenize = 'porter unicode61 remove_diacritics 2')",
)
_WAIT_S = 5.0


class LogFile:
    """One connection, lent to one thread at a time. All use raises `LogError` when the file cannot be read or written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, to read from."""
        with self._lock, self._errors_translated():
            yield self._open()

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """The connection inside a transaction, which is committed at the end.

        What is committed survives the end of the process in any case, and a power cut when `durable`.
        """
        with self._lock, self._errors_translated():
            db = self._open()
            db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def close(self) -> None:
        """Closes the file; it is opened again when needed."""
        with self._lock:
            self._close()

    @contextmanager
    def _errors_translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            self._close()
            raise LogError(
                f"The log {self.path} cannot be used: {error}. Free or repair it, move it away, or set RAG_LOG=false."
            ) from error

    def _open(self) -> sqlite3.Connection:
        # A connection must not be carried into a forked process, nor be kept to a file that was removed.
        if self._connection is not None and (self._process != os.getpid() or not self.path.exists()):
            self._close()
        if self._connection is None:
            if not self.path.exists():
                # Questions are private; the journal's files inherit the mode.
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.path.touch(mode=0o600)
            self._connection = sqlite3.connect(self.path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
            self._process = os.getpid()
            weakref.finalize(self, self._connection.close)
            self._prepare(self._connection)
        return self._connection

    def _prepare(self, db: sqlite3.Connection) -> None:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            self._close()
            raise LogError(
                f"The log {self.path} is of a newer version of this program. Get that version, or set RAG_HOME to another folder."
            )
        if version == _VERSION:
            return
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN IMMEDIATE")
        if db.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in _SCHEMA:
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {_VERSION}")
        db.execute("COMMIT")

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
