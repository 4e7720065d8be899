"""Remembers in the catalog that a sync has begun, until it has ended: a run that was killed never looks complete."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from rag.store.catalog import Catalog
from rag.store.index import set_meta
from rag.store.lock import lock_holder
from rag.store.queries import meta

_MARK = "unfinished"


def begin(catalog: Catalog) -> str:
    """Marks the corpus as being synced; the mark that an earlier run left."""
    with catalog.writing(renews=False) as connection:
        earlier = meta(connection, _MARK)
        set_meta(connection, _MARK, "0")
    return earlier


def note_written(connection: sqlite3.Connection, papers: int) -> None:
    """Keeps how many papers the running sync has added or changed, in the transaction that does so."""
    set_meta(connection, _MARK, str(papers))


def end(catalog: Catalog, *, as_before: str = "") -> None:
    """Takes the mark away, or puts the earlier one back.

    It goes after the last batch, never before: a kill between the two costs a needless run, not a paper.
    """
    with catalog.writing(renews=False) as connection:
        if as_before:
            set_meta(connection, _MARK, as_before)
        else:
            connection.execute("DELETE FROM meta WHERE key = ?", (_MARK,))


def is_marked(connection: sqlite3.Connection) -> bool:
    """Whether a sync has begun and not ended."""
    return bool(meta(connection, _MARK))


def told(connection: sqlite3.Connection, folder: Path) -> str:
    """What the reader should know of the corpus in `folder`: that it is still being indexed, or that its last run broke off; else empty."""
    papers = meta(connection, _MARK)
    if not papers:
        return ""
    if holder := lock_holder(folder):
        return f"Corpus {folder.name!r} is being indexed by {holder}; what is in it may not be all."
    written = f"after {papers} new or changed papers" if papers != "0" else "before it wrote a paper"
    return f"The last `rag index` run of corpus {folder.name!r} broke off {written}; run it again to complete it."
