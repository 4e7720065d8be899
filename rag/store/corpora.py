"""The corpora under `RAG_HOME`: names, which one is active, opening, renaming, removing."""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rag.errors import CorpusError, UsageError
from rag.store import unfinished
from rag.store.catalog import Catalog, catalog_errors
from rag.store.filters import NO_FILTERS
from rag.store.index import set_meta
from rag.store.joined import JoinedLibrary
from rag.store.library import Library
from rag.store.lock import corpus_lock
from rag.store.place import chroma_place, collection_name
from rag.store.queries import count_papers, meta
from rag.store.seeds import SEEDS, count_seeds, open_seeds

if TYPE_CHECKING:
    from rag.protocols import Embedder
    from rag.settings import Settings
    from rag.store.chroma import ChromaStore

_NAME = re.compile(r"\w[\w.-]{0,63}")
# Windows opens devices under these names, whatever the folder.
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_CHOICE = "active-corpus"


class Corpora:
    """All corpora of one `RAG_HOME`; nothing is opened or written before it is asked for."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._home = settings.home_folder

    def names(self) -> list[str]:
        """Names of all corpora in alphabetical order, the bundled `seeds` last."""
        return [*self._own(), SEEDS]

    def active(self) -> str:
        """The corpus to ask: `RAG_CORPUS`, else the one chosen with `use`, else the only one of the user's own, else `seeds`."""
        if self._settings.corpus:
            return self._settings.corpus
        chosen = self._choice()
        if chosen in self.names():
            return chosen
        own = self._own()
        return own[0] if len(own) == 1 else SEEDS

    def use(self, name: str) -> None:
        """Makes a corpus the active one. Raises `CorpusError` for an unknown one."""
        self._require(name)
        with catalog_errors(self._home):
            self._home.mkdir(parents=True, exist_ok=True)
            (self._home / _CHOICE).write_text(name, encoding="utf-8")

    def folder(self, name: str) -> Path:
        """Where the corpus is or would be kept. Raises `UsageError` for a name that cannot be one."""
        return self._home / check_name(name)

    def count(self, name: str) -> int:
        """How many papers the corpus holds. Raises `CorpusError` for an unknown one."""
        self._require(name)
        path = self.folder(name) / "catalog.sqlite"
        if name == SEEDS and not path.is_file():
            return count_seeds()
        with closing(Catalog(path)) as catalog, catalog.reading() as connection:
            return count_papers(connection, NO_FILTERS)

    def remarks(self, name: str) -> tuple[str, ...]:
        """See `Library.remarks`; of a corpus that is not open. Raises `CorpusError` for an unknown one."""
        self._require(name)
        path = self.folder(name) / "catalog.sqlite"
        if not path.is_file():
            return ()
        with closing(Catalog(path)) as catalog, catalog.reading() as connection:
            text = unfinished.told(connection, self.folder(name))
        return (text,) if text else ()

    def open(self, names: str | Iterable[str], embedder: Embedder) -> Library | JoinedLibrary:
        """One corpus, or several joined; `names` may hold several separated by commas.

        Raises `CorpusError` for one that is unknown, damaged, or was embedded by another embedder.
        """
        wanted = list(dict.fromkeys(part.strip() for name in ([names] if isinstance(names, str) else names) for part in name.split(",")))
        if not any(wanted):
            raise UsageError("No corpus is named. Name one, or several separated by commas.")
        for name in wanted:
            self._require(name)
        opened = [self.open_one(name, embedder) for name in wanted]
        return opened[0] if len(opened) == 1 else JoinedLibrary(opened)

    def open_one(self, name: str, embedder: Embedder) -> Library:
        """One corpus, for reading; see `open`."""
        self._require(name)
        library = open_seeds(self._settings, embedder) if name == SEEDS else Library(name, self.folder(name), self._settings, embedder)
        library.check()
        return library

    def open_for_sync(self, name: str, embedder: Embedder) -> Library:
        """A corpus to be synced, which need not exist yet. Another one that is active as the user's only one stays active.

        Raises `UsageError` for `seeds`, which holds what ships with the package, and for a name that cannot be one.
        """
        if name == SEEDS:
            raise UsageError(f"{SEEDS!r} is the bundled corpus. Choose another name: `rag index PATH --corpus papers`.")
        own = self._own()
        if len(own) == 1 and own != [name] and self._choice() not in self.names():
            self.use(own[0])
        return Library(name, self.folder(name), self._settings, embedder)

    def rename(self, old: str, new: str) -> None:
        """Gives a corpus another name. Raises `CorpusError` when the old is unknown, in use by a sync, or the new one is taken."""
        self._require(old)
        source, target = self.folder(old), self.folder(new)
        if SEEDS in (old, new):
            raise UsageError(f"{SEEDS!r} is the bundled corpus; it cannot be renamed or replaced.")
        if target.exists():
            raise CorpusError(f"A corpus named {new!r} exists already. Choose another name, or remove it with `rag remove {new}`.")
        was_active = self._choice() == old
        with catalog_errors(source):
            with corpus_lock(source):
                self._rename_remote(old, new)
            source.rename(target)
        if was_active:
            self.use(new)

    def remove(self, name: str) -> None:
        """Removes a corpus with everything indexed for it. Raises `CorpusError` when it is unknown or in use by a sync."""
        self._require(name)
        folder = self.folder(name)
        with catalog_errors(folder):
            if folder.exists():
                with corpus_lock(folder), self._remote(name) as store:
                    if store is not None:
                        store.drop()
                shutil.rmtree(folder)
            if self._choice() == name:
                (self._home / _CHOICE).unlink()

    def _rename_remote(self, old: str, new: str) -> None:
        with self._remote(old) as store:
            if store is None:
                return
            store.rename(collection_name(new))
        with closing(Catalog(self.folder(old) / "catalog.sqlite")) as catalog, catalog.writing() as connection:
            set_meta(connection, "copied_to", chroma_place(self._settings, new, self.folder(new)).label)

    @contextmanager
    def _remote(self, name: str) -> Iterator[ChromaStore | None]:
        """The corpus's collection on a server, if its vectors are there; None when its folder holds everything."""
        from rag.store.chroma import ChromaStore

        place = chroma_place(self._settings, name, self.folder(name))
        path = self.folder(name) / "catalog.sqlite"
        if place.kind == "embedded" or not path.is_file():
            yield None
            return
        with closing(Catalog(path)) as catalog, catalog.reading() as connection:
            owner, is_there = meta(connection, "owner"), meta(connection, "copied_to") == place.label
        if not is_there:
            yield None
            return
        with closing(ChromaStore(place, owner, "")) as store:
            yield store

    def _require(self, name: str) -> None:
        if check_name(name) not in self.names():
            known = ", ".join(self.names())
            raise CorpusError(f"No corpus named {name!r}. Known: {known}. Create it with `rag index PATH --corpus {name}`.")

    def _own(self) -> list[str]:
        if not self._home.is_dir():
            return []
        folders = (path.name for path in self._home.iterdir() if (path / "catalog.sqlite").is_file())
        return sorted(unicodedata.normalize("NFC", name) for name in folders if name != SEEDS and _NAME.fullmatch(name))

    def _choice(self) -> str:
        try:
            return (self._home / _CHOICE).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return ""


def check_name(name: str) -> str:
    """The name itself. Raises `UsageError` for one that cannot name a folder on every system."""
    normal = unicodedata.normalize("NFC", name)
    if not _NAME.fullmatch(normal) or normal.endswith(".") or _DEVICES.fullmatch(normal):
        raise UsageError(
            f"{name!r} cannot name a corpus. Use 1 to 64 letters, digits, dots, hyphens and underscores, with a letter or digit in front."
        )
    return normal
