"""Corpora: names, the active one, renaming, removing, joining, and the bundled one."""

from __future__ import annotations

from pathlib import Path

import pytest
from store_papers import HashEmbedder, make_paper, make_papers

from rag.errors import CorpusError, UsageError
from rag.records import Paper
from rag.settings import Settings
from rag.store import Corpora, Filters, JoinedLibrary, Library
from rag.store.place import collection_name


def fill(settings: Settings, name: str, papers: list[Paper]) -> None:
    with Corpora(settings).open_for_sync(name, HashEmbedder()) as library:
        library.sync(papers, copy=False)


def test_an_unknown_corpus_is_named_with_the_known_ones(settings: Settings, embedder: HashEmbedder) -> None:
    message = "No corpus named 'iclr'. Known: seeds. Create it with `rag index PATH --corpus iclr`."
    for attempt in (
        lambda: Library.open("iclr", settings, embedder),
        lambda: Corpora(settings).use("iclr"),
        lambda: Corpora(settings).count("iclr"),
    ):
        with pytest.raises(CorpusError) as caught:
            attempt()
        assert str(caught.value) == message


def test_the_active_corpus(settings: Settings) -> None:
    corpora = Corpora(settings)
    assert (corpora.active(), corpora.names()) == ("seeds", ["seeds"])
    fill(settings, "one", make_papers(1))
    assert corpora.active() == "one"
    fill(settings, "another", make_papers(2))
    assert (corpora.active(), corpora.names()) == ("one", ["another", "one", "seeds"])
    corpora.use("another")
    assert Corpora(settings).active() == "another"
    assert Corpora(Settings(home=settings.home, corpus="given")).active() == "given"
    corpora.rename("another", "renamed")
    assert corpora.active() == "renamed"
    corpora.remove("renamed")
    assert (corpora.active(), corpora.names()) == ("one", ["one", "seeds"])
    corpora.use("seeds")
    assert corpora.active() == "seeds"


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../up",
        "a/b",
        "a\\b",
        "/tmp/x",
        ".hidden",
        "-x",
        "a b",
        "a,b",
        "con",
        "NUL.txt",
        "x" * 65,
        "a\0b",
        "a.",
        "a\n",
        "x:y",
    ],
)
def test_names_that_could_lead_elsewhere_are_refused(settings: Settings, embedder: HashEmbedder, name: str) -> None:
    corpora = Corpora(settings)
    for attempt in (
        lambda: corpora.folder(name),
        lambda: corpora.open_for_sync(name, embedder),
        lambda: corpora.remove(name),
        lambda: corpora.use(name),
    ):
        with pytest.raises(UsageError, match="cannot name a corpus"):
            attempt()


@pytest.mark.parametrize("name", ["a", "ICLR_2025", "iclr-2025.v2", "Übung", "論文", "7"])
def test_other_names_are_taken_and_fit_chroma(settings: Settings, name: str) -> None:
    import re

    fill(settings, name, make_papers(1))
    assert Corpora(settings).names() == [name, "seeds"]
    collection = collection_name(name)
    assert re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]", collection)
    assert ".." not in collection


def test_different_names_have_different_collections() -> None:
    names = ["Übung", "ubung", "-", "a_", "a-", "論文", "文論", "a..b", "a.b"]
    assert len({collection_name(name) for name in names}) == len(names)


def test_rename_and_remove(settings: Settings, embedder: HashEmbedder) -> None:
    corpora = Corpora(settings)
    with corpora.open_for_sync("old", embedder) as library:
        library.sync(make_papers(3))
    fill(settings, "taken", make_papers(1))
    with pytest.raises(CorpusError, match="A corpus named 'taken' exists already"):
        corpora.rename("old", "taken")
    corpora.rename("old", "new")
    with corpora.open_one("new", embedder) as library:
        assert (library.name, library.count(), library.store.count()) == ("new", 3, 6)
        assert library.papers() == make_papers(3)
    corpora.remove("new")
    assert corpora.names() == ["taken", "seeds"]
    assert not corpora.folder("new").exists()
    with pytest.raises(CorpusError, match="No corpus named 'new'"):
        corpora.remove("new")


def test_the_bundled_corpus_is_not_the_users_to_change(settings: Settings, embedder: HashEmbedder) -> None:
    fill(settings, "mine", make_papers(1))
    corpora = Corpora(settings)
    for attempt in (
        lambda: corpora.open_for_sync("seeds", embedder),
        lambda: corpora.rename("seeds", "x"),
        lambda: corpora.rename("mine", "seeds"),
    ):
        with pytest.raises(UsageError, match="is the bundled corpus"):
            attempt()


def test_the_bundled_corpus_opens_without_indexing(settings: Settings) -> None:
    embedder = HashEmbedder()
    corpora = Corpora(settings)
    assert corpora.count("seeds") == 57
    with Library.open("seeds", settings, embedder) as library:
        assert library.count() == 57
        assert all(paper.title and paper.authors and paper.venue and paper.url for paper in library.papers())
    written = (settings.home_folder / "seeds" / "catalog.sqlite").stat().st_mtime_ns
    count = len(embedder.texts)
    with corpora.open("seeds", embedder) as library:
        assert len(library.dense(embedder.embed(["x"])[0], 5)) == 5
    assert len(embedder.texts) == count + 1
    assert (settings.home_folder / "seeds" / "catalog.sqlite").stat().st_mtime_ns == written


def test_the_bundled_corpus_needs_no_embedding(settings: Settings) -> None:
    from rag.embedding import MiniLM

    class Refusing(MiniLM):
        def embed(self, texts: object) -> object:  # type: ignore[override]
            raise AssertionError(texts)

    with Library.open("seeds", settings, Refusing()) as library:
        assert library.count() == 57
        assert len(library.vectors(library.ids())) == 57


def test_a_damaged_bundled_corpus_is_built_again(settings: Settings, embedder: HashEmbedder) -> None:
    Library.open("seeds", settings, embedder).close()
    (settings.home_folder / "seeds" / "catalog.sqlite").write_bytes(b"x" * 5_000)
    with Library.open("seeds", settings, embedder) as library:
        assert library.count() == 57


def test_several_corpora_answer_as_one(settings: Settings, embedder: HashEmbedder) -> None:
    fill(settings, "a", make_papers(6))
    fill(settings, "b", [make_paper(4, title="Not this one"), *(make_paper(n) for n in range(7, 13))])
    with Corpora(settings).open("a, b", embedder) as joined:
        assert isinstance(joined, JoinedLibrary)
        assert joined.name == "a,b"
        assert joined.count() == 12
        assert [paper.id for paper in joined.papers()] == [f"p{n}" for n in range(1, 13)]
        assert [paper.id for paper in joined.papers(sort="-year", limit=3)] == ["p7", "p6", "p5"]
        assert joined.get(["p9", "p4", "x"]) == {"p9": make_paper(9), "p4": make_paper(4)}
        assert (joined.corpus_of("p4"), joined.corpus_of("p9")) == ("a", "b")
        assert joined.count(filters=Filters.of(venue="neurips")) == 6
        query = embedder.embed(["query"])[0]
        hits = joined.dense(query, 30)
        assert len(hits) == 24
        assert len({(hit.paper_id, hit.index) for hit in hits}) == 24
        assert [hit.cosine for hit in hits] == sorted((hit.cosine for hit in hits), reverse=True)
        assert {key for key, _ in joined.lexical(["method9", "method2"], 5)} == {"p2", "p9"}
        assert joined.document_frequency(["topic4"]) == {"topic4": 3}
        assert set(joined.vectors(["p1", "p12", "x"])) == {"p1", "p12"}
        assert joined.idf("topic4") > 0
        with pytest.raises(CorpusError, match="No paper 'x' in a,b"):
            joined.corpus_of("x")


def test_no_name_at_all_is_refused(settings: Settings, embedder: HashEmbedder) -> None:
    for names in ("", ",", []):
        with pytest.raises(UsageError):
            Corpora(settings).open(names, embedder)


def test_stray_files_in_the_home_are_no_corpora(settings: Settings) -> None:
    fill(settings, "mine", make_papers(1))
    home = Path(settings.home_folder)
    (home / "notes.txt").write_text("x")
    (home / "empty").mkdir()
    assert Corpora(settings).names() == ["mine", "seeds"]
