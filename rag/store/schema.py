"""The catalog's tables, and the steps from one version of them to the next."""

from __future__ import annotations

import sqlite3

from rag.errors import CorpusError

VERSION = 1

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- The papers as read: the source of truth. Lists are JSON; `rules` names how the chunks were made.
CREATE TABLE papers (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, abstract TEXT NOT NULL, authors TEXT NOT NULL, year INTEGER,
    venue TEXT, url TEXT, doi TEXT, arxiv_id TEXT, decision TEXT, track TEXT, area TEXT, keywords TEXT NOT NULL,
    categories TEXT NOT NULL, published TEXT, sources TEXT NOT NULL,
    rules TEXT NOT NULL DEFAULT '');
-- What filters read: a narrow table of folded values, so that a scan touches no abstract. Lists are lines between line breaks;
-- `length` counts index terms.
CREATE TABLE facets (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL, title TEXT NOT NULL, authors TEXT NOT NULL, year INTEGER, venue TEXT, doi TEXT,
    arxiv_id TEXT, decision TEXT, track TEXT, area TEXT, keywords TEXT NOT NULL, categories TEXT NOT NULL, published TEXT,
    length INTEGER NOT NULL DEFAULT 0);
CREATE INDEX facets_doi ON facets (doi) WHERE doi IS NOT NULL;
CREATE INDEX facets_arxiv_id ON facets (arxiv_id) WHERE arxiv_id IS NOT NULL;
-- Which record of which source became which paper; several after a merge.
CREATE TABLE sightings (
    record TEXT NOT NULL, origin TEXT NOT NULL, n INTEGER NOT NULL, hash BLOB NOT NULL, sources TEXT NOT NULL,
    PRIMARY KEY (record, origin)) WITHOUT ROWID;
CREATE INDEX sightings_n ON sightings (n);
CREATE TABLE signatures (n INTEGER PRIMARY KEY, signature BLOB NOT NULL);
CREATE TABLE vectors (v INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, text TEXT NOT NULL, vector BLOB NOT NULL);
CREATE TABLE chunks (
    n INTEGER NOT NULL, i INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, v INTEGER NOT NULL,
    copied INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (n, i)) WITHOUT ROWID;
CREATE INDEX chunks_pending ON chunks (n) WHERE copied = 0;
CREATE INDEX chunks_v ON chunks (v);
-- Ids that left the catalog and are still in Chroma.
CREATE TABLE removals (chunk TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE INDEX papers_rules ON papers (rules);
CREATE VIRTUAL TABLE terms USING fts5 (title, abstract, tokenize = "unicode61 remove_diacritics 0");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (terms, row);
CREATE VIRTUAL TABLE instances USING fts5vocab (terms, instance);
"""

# Version n of the tables becomes n + 1 by running _STEPS[n].
_STEPS: dict[int, str] = {0: _TABLES}


def migrate(connection: sqlite3.Connection) -> None:
    """Brings the tables of an open catalog to `VERSION`, in one transaction; nothing when they are there already.

    Raises `CorpusError` for a catalog of a later version of this program.
    """
    if version(connection) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in range(version(connection), VERSION):
            for statement in filter(str.strip, _STEPS[step].split(";\n")):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def version(connection: sqlite3.Connection) -> int:
    """The version of the catalog's tables; 0 for a new file.

    Raises `CorpusError` for a later one than this program knows.
    """
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if found > VERSION:
        raise CorpusError(f"The catalog has version {found}, this program knows {VERSION}. Update it: `pip install -U askpapers`.")
    return found
