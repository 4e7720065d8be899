"""Doctor: what it finds, and that either half of a corpus is made anew from the other."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from store_papers import HashEmbedder, make_paper, make_papers

from rag.errors import CorpusError
from rag.records import Paper, SyncReport
from rag.settings import Settings
from rag.store import Corpora, Library
from rag.store.doctor import check, repair

PAPERS = [
    *make_papers(20),
    make_paper(30, title="", doi="10.1/x", keywords=("a; b", "c"), categories=("cs.CL",), published="2025-03-01", decision="Accept"),
    make_paper(31, abstract="", year=None, venue=None, authors=(), sources=("other.bib:1", "third.ris:9")),
]


@pytest.fixture
def folder(settings: Settings, embedder: HashEmbedder) -> Path:
    with Corpora(settings).open_for_sync("mine", embedder) as library:
        library.sync(PAPERS)
        return library.folder


def levels(settings: Settings, embedder: HashEmbedder | None = None) -> dict[str, str]:
    return {finding.name: finding.level for finding in check(settings, embedder)}


def vectors_of(library: Library) -> dict[str, np.ndarray]:
    return {paper_id: vectors for paper_id, (_, vectors) in library.vectors([paper.id for paper in PAPERS]).items()}


def garbage(path: Path) -> None:
    path.write_bytes(b"garbage, nothing but garbage" * 500)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])


def test_a_whole_corpus_is_found_whole(settings: Settings, embedder: HashEmbedder, folder: Path) -> None:
    assert levels(settings, embedder) == {"disk": "ok", "corpus mine: catalog": "ok", "corpus mine: Chroma": "ok"}
    assert [finding.detail for finding in check(settings)][1:] == ["22 papers, 43 chunks", "43 vectors at embedded"]
    assert repair(settings, "mine", embedder) == ()


def test_an_empty_home_is_fine(settings: Settings) -> None:
    assert levels(settings) == {"disk": "ok"}
    assert not settings.home_folder.exists()


@pytest.mark.parametrize("damage", [garbage, cut, Path.unlink])
def test_the_catalog_is_made_anew_from_chroma(
    settings: Settings, embedder: HashEmbedder, folder: Path, damage: Callable[[Path], None]
) -> None:
    with Corpora(settings).open_one("mine", embedder) as library:
        before = vectors_of(library)
    damage(folder / "catalog.sqlite")
    found = {finding.name: finding for finding in check(settings, embedder)}["corpus mine: catalog"]
    assert (found.level, found.fix) == ("error", "rag doctor --repair --corpus mine")
    embedded = len(embedder.texts)
    done = repair(settings, "mine", embedder)
    assert done[1] == "made the catalog anew from Chroma: 22 papers; the damaged one is catalog.sqlite.damaged"
    assert len(embedder.texts) == embedded
    with Corpora(settings).open_for_sync("mine", embedder) as library:
        assert library.papers() == PAPERS
        after = vectors_of(library)
        assert all(np.allclose(after[key], before[key], atol=1e-6) for key in before)
        assert library.lexical(["method7"], 1)[0][0] == "p7"
        assert library.sync(PAPERS) == SyncReport(unchanged=22)
        assert library.sync([*PAPERS[1:]], prune=True) == SyncReport(unchanged=21, removed=1)
    assert set(levels(settings, embedder).values()) == {"ok"}


@pytest.mark.parametrize("damage", ["garbage", "removed", "emptied", "strangers"])
def test_chroma_is_made_anew_from_the_catalog(settings: Settings, embedder: HashEmbedder, folder: Path, damage: str) -> None:
    chroma = folder / "chroma"
    if damage == "garbage":
        for path in chroma.rglob("*.*"):
            garbage(path)
    elif damage == "removed":
        shutil.rmtree(chroma)
    else:
        with Corpora(settings).open_one("mine", embedder) as library:
            records = list(library.store.records())
            if damage == "emptied":
                library.store.delete([record.id for record in records])
            else:
                library.store.upsert([type(records[0])("stranger#0", records[0].vector, "x", {"index": 0})])
    assert levels(settings)["corpus mine: Chroma"] == "error"
    embedded = len(embedder.texts)
    assert repair(settings, "mine", embedder)[0].startswith("copied the vectors to Chroma anew")
    assert len(embedder.texts) == embedded
    assert set(levels(settings, embedder).values()) == {"ok"}
    with Corpora(settings).open_one("mine", embedder) as library:
        assert library.store.count() == 43


def test_both_halves_gone_is_told(settings: Settings, embedder: HashEmbedder, folder: Path) -> None:
    garbage(folder / "catalog.sqlite")
    shutil.rmtree(folder / "chroma")
    with pytest.raises(CorpusError, match="holds no papers of this corpus. Index its sources again with `rag index`"):
        repair(settings, "mine", embedder)
    assert (folder / "catalog.sqlite").read_bytes().startswith(b"garbage")


def test_another_embedder_embeds_anew(settings: Settings, folder: Path) -> None:
    other = HashEmbedder("other-16")
    assert levels(settings, other)["corpus mine: embedder"] == "error"
    done = repair(settings, "mine", other)
    assert done[0] == "embedded anew with other-16"
    with Corpora(settings).open_for_sync("mine", other) as library:
        query = other.embed(["Paper number 7. " + PAPERS[6].abstract])[0]
        assert library.dense(query, 1)[0].paper_id == "p7"
        assert library.store.count() == 43
        assert library.sync(PAPERS) == SyncReport(unchanged=22)
    assert set(levels(settings, other).values()) == {"ok"}


def test_a_damaged_index_of_words_is_made_anew(settings: Settings, embedder: HashEmbedder, folder: Path) -> None:
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as connection:
        connection.execute("DELETE FROM terms WHERE rowid < 10")
        connection.commit()
    assert repair(settings, "mine", embedder) == ("made the full-text index anew",)
    with Corpora(settings).open_one("mine", embedder) as library:
        assert library.lexical(["method7"], 1)[0][0] == "p7"


def test_what_waits_to_be_copied_is_told_and_copied(settings: Settings, embedder: HashEmbedder, folder: Path) -> None:
    with Corpora(settings).open_for_sync("mine", embedder) as library:
        library.sync([make_paper(50)], copy=False)
    found = {finding.name: finding for finding in check(settings)}["corpus mine: Chroma"]
    assert (found.level, found.detail) == ("warning", "2 chunks wait to be copied; the catalog answers for them")
    repair(settings, "mine", embedder)
    assert set(levels(settings).values()) == {"ok"}


def test_an_unknown_corpus_cannot_be_repaired(settings: Settings, embedder: HashEmbedder) -> None:
    with pytest.raises(CorpusError, match="No corpus named 'nope'. Known: seeds"):
        repair(settings, "nope", embedder)


def test_every_field_of_a_paper_survives_the_way_through_chroma(settings: Settings, embedder: HashEmbedder) -> None:
    full = Paper(
        id="x#y", title="T; t", abstract="One. Two! " * 30, authors=("A; B", "C"), year=2020, venue="V", url="https://u", doi="10.1/D",
        arxiv_id="2401.00001v2", decision="d", track="t", area="a", keywords=("k;1",), categories=("c",), published="2020-01-02",
        sources=("f:1", "g:2"),
    )  # fmt: skip
    with Corpora(settings).open_for_sync("mine", embedder) as library:
        library.sync([full])
        (library.folder / "catalog.sqlite").unlink()
    repair(settings, "mine", embedder)
    with Corpora(settings).open_one("mine", embedder) as library:
        assert library.papers() == [full]
