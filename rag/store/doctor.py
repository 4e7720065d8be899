"""Is each corpus whole, and if not, how to mend it: either half is made anew from the other."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rag.errors import CorpusError
from rag.records import Finding
from rag.store import unfinished
from rag.store.catalog import Catalog
from rag.store.chunking import Indexer
from rag.store.copying import copied_to, copy_pending, forget_copies, samples
from rag.store.corpora import Corpora
from rag.store.dense import EXACT_CHUNKS
from rag.store.index import set_meta
from rag.store.lock import corpus_lock, lock_holder
from rag.store.place import chroma_place
from rag.store.probe import index_fault
from rag.store.queries import meta
from rag.store.seeds import SEEDS
from rag.store.sync import SyncOptions, SyncRun, rebuild_terms

if TYPE_CHECKING:
    from rag.protocols import Embedder
    from rag.settings import Settings
    from rag.store.chroma import ChromaStore

_LEAST_FREE_BYTES = 200 * 1024 * 1024


def check(settings: Settings, embedder: Embedder | None = None) -> tuple[Finding, ...]:
    """The state of the store: the disk, then each corpus. Nothing is changed.

    With an embedder, corpora that another one made are reported.
    """
    names = damaged_or_whole(settings)
    return (_disk(settings.home_folder), *(finding for name in names for finding in _corpus(settings, name, embedder)))


def damaged_or_whole(settings: Settings) -> list[str]:
    """Names of all corpora that have left anything on the disk, also those whose catalog is gone."""
    home = settings.home_folder
    if not home.is_dir():
        return []
    halves = ("catalog.sqlite", "chroma/chroma.sqlite3")
    return sorted(path.name for path in home.iterdir() if any((path / half).is_file() for half in halves))


def repair(settings: Settings, name: str, embedder: Embedder) -> tuple[str, ...]:
    """Mends one corpus; what was done, a line each, empty when nothing had to be.

    A damaged catalog is made anew from Chroma's records and kept aside; a damaged Chroma half from the catalog; a corpus of another
    embedder is embedded anew. Raises `CorpusError` when neither half can be read.
    """
    folder = Corpora(settings).folder(name)
    if not folder.is_dir():
        raise CorpusError(f"No corpus named {name!r}. Known: {', '.join(Corpora(settings).names())}.")
    with corpus_lock(folder):
        if name == SEEDS and _catalog_fault(folder):
            shutil.rmtree(folder)
            return ("removed the damaged bundled corpus; it is built again at its next use",)
        return tuple(_repaired(settings, name, folder, embedder))


def _repaired(settings: Settings, name: str, folder: Path, embedder: Embedder) -> Iterator[str]:
    if fault := _catalog_fault(folder):
        yield f"the catalog could not be read ({fault})"
        yield _restore(settings, name, folder, embedder)
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        if _reset_embedder(catalog, embedder.fingerprint):
            yield f"embedded anew with {embedder.fingerprint}"
            _drop_copies(catalog, _store(settings, name, folder, catalog))
        if _terms_fault(catalog):
            with catalog.writing() as connection:
                rebuild_terms(connection)
            yield "made the full-text index anew"
        with closing(_store(settings, name, folder, catalog)) as store:
            if fault := _copies_fault(catalog, store):
                yield f"copied the vectors to Chroma anew ({fault})"
                _drop_copies(catalog, store)
            run = SyncRun(name, catalog, Indexer(embedder, {}), SyncOptions(is_upkeep=True), lambda: _copy(catalog, store))
            if embedded := run.run([]).embedded:
                yield f"embedded {embedded} chunks"


def _corpus(settings: Settings, name: str, embedder: Embedder | None) -> Iterator[Finding]:
    folder = settings.home_folder / name
    fix = f"rag doctor --repair --corpus {name}"
    if holder := lock_holder(folder):
        yield Finding(f"corpus {name}", "warning", f"is being written by {holder}", "wait until it has finished")
        return
    if fault := _catalog_fault(folder):
        yield Finding(f"corpus {name}: catalog", "error", fault, fix)
        return
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        with catalog.reading() as connection:
            papers, chunks = (connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("papers", "chunks"))  # noqa: S608
            made_by = meta(connection, "fingerprint")
            remark = unfinished.told(connection, folder)
        yield Finding(f"corpus {name}: catalog", "ok", f"{papers} papers, {chunks} chunks")
        if remark:
            yield Finding(f"corpus {name}: last run", "warning", remark, f"rag index PATH --corpus {name}, with the same PATH")
        if embedder is not None and made_by not in ("", embedder.fingerprint):
            yield Finding(f"corpus {name}: embedder", "error", f"embedded by {made_by}, not {embedder.fingerprint}", fix)
        with closing(_store(settings, name, folder, catalog)) as store:
            yield _copies(name, catalog, store, fix)


def _copies(name: str, catalog: Catalog, store: ChromaStore, fix: str) -> Finding:
    with catalog.reading() as connection:
        waiting = connection.execute("SELECT count(*) FROM chunks WHERE copied = 0").fetchone()[0]
        place = copied_to(connection)
    title = f"corpus {name}: Chroma"
    if not place:
        return Finding(title, "ok", "not used: searched exactly from the catalog's vectors")
    if place != store.place.label:
        return Finding(title, "warning", f"the vectors are at {place}, the settings name {store.place.label}", fix)
    if fault := _copies_fault(catalog, store):
        return Finding(title, "error", fault, fix)
    if waiting:
        return Finding(title, "warning", f"{waiting} chunks wait to be copied; the catalog answers for them", fix)
    return Finding(title, "ok", f"{store.count()} vectors at {store.place.address}")


def _copies_fault(catalog: Catalog, store: ChromaStore) -> str:
    """What is wrong with Chroma's half; empty when it holds what the catalog believes, or was never filled."""
    with catalog.reading() as connection:
        if copied_to(connection) != store.place.label:
            return ""
        marked = {key for (key,) in connection.execute("SELECT id || '#' || i FROM papers JOIN chunks USING (n) WHERE copied = 1")}
        known = {key for (key,) in connection.execute("SELECT chunk FROM removals")}
        known |= {key for (key,) in connection.execute("SELECT id || '#' || i FROM papers JOIN chunks USING (n)")}
    if store.guard.left_mark() or len(marked) > EXACT_CHUNKS:
        # First in a process of its own: a damaged index may take this one down.
        if fault := index_fault(store, samples(catalog)):
            return fault
        store.guard.forget()
    try:
        held = store.ids()
    except CorpusError as error:
        return str(error)
    missing, strange = len(marked - held), len(held - known)
    return f"{missing} chunks are missing and {strange} are unknown to the catalog" if missing or strange else ""


def _catalog_fault(folder: Path) -> str:
    """Why the catalog cannot be used; empty when it can."""
    path = folder / "catalog.sqlite"
    if not path.is_file():
        return "the file is missing"
    try:
        with closing(Catalog(path)) as catalog, catalog.reading() as connection:
            found = str(connection.execute("PRAGMA quick_check (1)").fetchone()[0])
            orphans = connection.execute("SELECT count(*) FROM chunks WHERE v NOT IN (SELECT v FROM vectors)").fetchone()[0]
    except CorpusError as error:
        return str(error)
    if orphans:
        return f"{orphans} chunks have no vector"
    return "" if found == "ok" else found


def _terms_fault(catalog: Catalog) -> bool:
    try:
        with catalog.writing(keep=False) as connection:
            connection.execute("INSERT INTO terms (terms) VALUES ('integrity-check')")
            counts = [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("papers", "terms")]  # noqa: S608
    except CorpusError:
        return True
    return bool(counts[0] != counts[1])


def _restore(settings: Settings, name: str, folder: Path, embedder: Embedder) -> str:
    from rag.store.chroma import ChromaStore
    from rag.store.restoring import restore_catalog

    fresh = folder / "catalog.new.sqlite"
    fresh.unlink(missing_ok=True)
    with (
        closing(ChromaStore(chroma_place(settings, name, folder), "", embedder.fingerprint)) as store,
        closing(Catalog(fresh, create=True)) as catalog,
    ):
        count = restore_catalog(catalog, store)
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            (folder / f"catalog.sqlite{suffix}").replace(folder / f"catalog.sqlite.damaged{suffix}")
    fresh.replace(folder / "catalog.sqlite")
    return f"made the catalog anew from Chroma: {count} papers; the damaged one is catalog.sqlite.damaged"


def _reset_embedder(catalog: Catalog, fingerprint: str) -> bool:
    """Forgets all chunks when another embedder made them; whether it did."""
    with catalog.writing() as connection:
        if meta(connection, "fingerprint", fingerprint) == fingerprint:
            return False
        connection.execute("DELETE FROM chunks")
        connection.execute("UPDATE papers SET rules = ''")
        set_meta(connection, "fingerprint", fingerprint)
    return True


def _drop_copies(catalog: Catalog, store: ChromaStore) -> None:
    store.drop()
    with catalog.writing() as connection:
        forget_copies(connection)


def _copy(catalog: Catalog, store: ChromaStore) -> None:
    copy_pending(catalog, store)


def _store(settings: Settings, name: str, folder: Path, catalog: Catalog) -> ChromaStore:
    from rag.store.chroma import ChromaStore

    with catalog.reading() as connection:
        owner, fingerprint = meta(connection, "owner"), meta(connection, "fingerprint")
    return ChromaStore(chroma_place(settings, name, folder), owner, fingerprint)


def _disk(home: Path) -> Finding:
    existing = next(path for path in (home, *home.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < _LEAST_FREE_BYTES:
        return Finding("disk", "warning", f"{free // 1024**2} MB free at {existing}", "free space, or set RAG_HOME to another disk")
    return Finding("disk", "ok", f"{free // 1024**3} GB free at {existing}")
