"""The bundled corpus `seeds`: built from what ships with the package at its first use, without embedding anything."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from rag.embedding.bundled import bundled_vectors
from rag.errors import CorpusError
from rag.resources import bundled
from rag.store.library import Library

if TYPE_CHECKING:
    from rag.protocols import Embedder
    from rag.settings import Settings

SEEDS = "seeds"

_WAIT_S = 30.0


def open_seeds(settings: Settings, embedder: Embedder) -> Library:
    """The bundled corpus, built when it is absent, outdated or damaged; in a temporary folder when `RAG_HOME` cannot be written."""
    folder = settings.home_folder / SEEDS
    library = Library(SEEDS, folder, settings, embedder)
    try:
        if library.edition() != _edition():
            _build(library, embedder)
        return library
    except CorpusError as error:
        library.close()
        if error.retryable:
            raise
    # Nothing of the user's is in there, so a damaged one may go.
    shutil.rmtree(folder, ignore_errors=True)
    scratch = Path(mkdtemp(prefix="askpapers-"))
    library = Library(SEEDS, scratch / SEEDS, settings, embedder, on_close=lambda: shutil.rmtree(scratch, ignore_errors=True))
    _build(library, embedder)
    return library


def count_seeds() -> int:
    """How many papers ship with the package."""
    return sum(1 for line in (bundled("seeds") / "papers.jsonl").read_text(encoding="utf-8").splitlines() if line.strip())


def _build(library: Library, embedder: Embedder) -> None:
    from rag.readers import read_papers

    library.sync(read_papers([bundled("seeds")]), prune=True, wait_s=_WAIT_S, known=bundled_vectors(embedder.fingerprint), copy=False)
    library.set_edition(_edition())


def _edition() -> str:
    """Names the content of the bundled files."""
    digest = hashlib.sha256()
    for path in sorted(bundled("seeds").iterdir()):
        if path.suffix in (".txt", ".jsonl"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
