"""Sync: what is added, changed, merged, pruned and rejected, and that running it again changes nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from store_papers import HashEmbedder, make_paper, make_papers

from rag.errors import CorpusError, SourceError, UsageError
from rag.records import Chunk, Paper, Rejected, SyncReport
from rag.settings import Settings
from rag.store import Corpora, Library
from rag.store.chunking import Indexer
from rag.store.sync import SyncOptions, SyncRun

LONG = (
    "We present a dataset of spoken dialogues in nine languages with aligned transcripts and speaker labels. Each dialogue was "
    "recorded in a quiet room by two native speakers who had not met before. We describe the annotation scheme, measure agreement "
    "between three annotators, and report results of four systems. All systems fall short of human timing by a wide margin."
)


def test_a_second_run_changes_and_embeds_nothing(library: Library, embedder: HashEmbedder) -> None:
    papers = make_papers(40)
    assert library.sync(papers) == SyncReport(added=40, embedded=40)
    embedded = len(embedder.texts)
    assert library.sync(papers) == SyncReport(unchanged=40)
    # The chunking's rules are checked without the embedder.
    assert len(embedder.texts) == embedded


def test_a_changed_abstract_replaces_its_chunks(library: Library) -> None:
    library.sync([make_paper(1, abstract="One. Two. Three. Four. Five. Six. Seven.")])
    assert len(library.vectors(["p1"])["p1"][0]) == 4
    changed = make_paper(1, abstract="Something else.")
    assert library.sync([changed]) == SyncReport(changed=1, embedded=1)
    assert library.papers() == [changed]
    chunks, _ = library.vectors(["p1"])["p1"]
    assert [chunk.text for chunk in chunks] == ["Paper number 1. Something else."] * 2
    assert library.store.ids() == {"p1#0", "p1#1"}
    assert library.lexical(["seven"], 5) == []
    assert [key for key, _ in library.lexical(["els", "someth"], 5)] == ["p1"]


def test_changed_metadata_embeds_nothing_and_reaches_chroma(library: Library) -> None:
    library.sync([make_paper(1)])
    assert library.sync([make_paper(1, year=1999)]) == SyncReport(changed=1)
    assert {record.metadata["year"] for record in library.store.records()} == {1999}


def test_chroma_holds_text_vector_and_bibliography(library: Library, embedder: HashEmbedder) -> None:
    library.sync([make_paper(1, keywords=("a", "b"), doi="10.1/x")])
    records = sorted(library.store.records(), key=lambda record: record.id)
    chunks, vectors = library.vectors(["p1"])["p1"]
    assert [record.id for record in records] == [chunk.id for chunk in chunks] == ["p1#0", "p1#1"]
    assert [record.text for record in records] == [chunk.text for chunk in chunks]
    assert np.allclose([record.vector for record in records], vectors, atol=1e-6)
    wanted = {
        "paper": "p1",
        "index": 1,
        "title": "Paper number 1",
        "authors": "Ada Lovelace1; Bob Übermaß",
        "year": 2019,
        "venue": "ICLR 2025",
    }
    assert wanted.items() <= records[1].metadata.items()
    assert records[1].metadata["keywords"] == "a; b"


def test_prune_makes_the_corpus_what_was_read(library: Library) -> None:
    papers = make_papers(10)
    library.sync(papers)
    assert library.sync(papers[:3]) == SyncReport(unchanged=3)
    assert library.count() == 10
    assert library.sync(papers[:3], prune=True) == SyncReport(unchanged=3, removed=7)
    assert [paper.id for paper in library.papers()] == ["p1", "p2", "p3"]
    assert library.store.count() == 6
    assert library.lexical(["method9"], 5) == []
    assert library.document_frequency(["method9"]) == {"method9": 0}


def test_prune_spares_sources_that_could_not_be_read_whole(library: Library) -> None:
    library.sync([make_paper(1, sources=("a.jsonl:1",)), make_paper(2, sources=("b.jsonl:1",)), make_paper(3, sources=("c.jsonl:1",))])
    report = library.sync([make_paper(3, sources=("c.jsonl:1",)), Rejected("a.jsonl", 1, "not JSON")], prune=True)
    assert (report.removed, report.rejected) == (1, (Rejected("a.jsonl", 1, "not JSON"),))
    assert [paper.id for paper in library.papers()] == ["p1", "p3"]


def test_prune_after_reading_nothing_is_refused(library: Library) -> None:
    library.sync(make_papers(2))
    with pytest.raises(UsageError, match="Nothing was read, so nothing is pruned"):
        library.sync([], prune=True)
    assert library.count() == 2


def test_dry_run_reports_and_writes_nothing(library: Library, embedder: HashEmbedder) -> None:
    papers = make_papers(5)
    assert library.sync(papers, dry_run=True) == SyncReport(added=5)
    assert not library.folder.exists()
    library.sync(papers)
    count = len(embedder.texts)
    new = [make_paper(1, title="Changed"), *papers[1:3], make_paper(9)]
    assert library.sync(new, dry_run=True, prune=True) == SyncReport(added=1, changed=1, unchanged=2, removed=2)
    assert library.papers() == papers
    assert len(embedder.texts) == count


def test_a_moved_line_is_no_change(library: Library) -> None:
    library.sync([make_paper(1, sources=("a.jsonl:1",))])
    assert library.sync([make_paper(1, sources=("a.jsonl:2",))]) == SyncReport(unchanged=1)
    assert library.papers()[0].sources == ("a.jsonl:2",)


def test_the_same_id_twice_in_one_source_is_one_paper(library: Library) -> None:
    twice = [make_paper(1, sources=("a.jsonl:1",), venue=None), make_paper(1, sources=("a.jsonl:7",), title="Another")]
    assert library.sync(twice) == SyncReport(added=1, merged=1, embedded=1)
    held = library.papers()[0]
    assert (held.title, held.venue, held.sources) == ("Paper number 1", "ICLR 2025", ("a.jsonl:1", "a.jsonl:7"))
    assert library.sync(twice) == SyncReport(unchanged=1)
    assert library.papers() == [held]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"doi": "10.1/ABC"}, {"doi": "https://doi.org/10.1/abc"}),
        ({"arxiv_id": "2401.00001v2"}, {"arxiv_id": "arXiv:2401.00001"}),
        ({"arxiv_id": "http://arxiv.org/abs/2401.00001"}, {"arxiv_id": "2401.00001v1", "doi": "10.9/z"}),
    ],
)
def test_same_doi_or_arxiv_id_from_two_sources_is_merged(library: Library, one: dict[str, str], other: dict[str, str]) -> None:
    first = make_paper(1, sources=("zotero.bib:3",), url=None, **one)
    second = make_paper(1, id="W123", sources=("openalex.jsonl:9",), url="https://x.org", title="Paper Number 1.", **other)
    assert library.sync([first, second]) == SyncReport(added=1, merged=1, embedded=1)
    held = library.papers()[0]
    assert (held.id, held.title, held.url) == ("p1", "Paper number 1", "https://x.org")
    assert held.sources == ("zotero.bib:3", "openalex.jsonl:9")
    assert library.sync([second]) == library.sync([first]) == SyncReport(unchanged=1)
    assert library.sync([first, second], prune=True) == SyncReport(unchanged=1)
    assert library.papers() == [held]


def test_papers_of_one_proceedings_doi_stay_apart(library: Library) -> None:
    one = make_paper(1, doi="10.1/volume", title="Attention in bees")
    two = make_paper(2, doi="10.1/volume", title="Crystal growth on Mars")
    assert library.sync([one, two]).added == 2


def test_a_paper_stays_while_one_of_its_sources_has_it(library: Library) -> None:
    one, two = make_paper(1, sources=("a.bib:1",), doi="10.1/a"), make_paper(1, id="w", sources=("b.bib:1",), doi="10.1/a")
    library.sync([one, two, make_paper(2)])
    assert library.sync([two, make_paper(2)], prune=True) == SyncReport(unchanged=2)
    assert library.sync([make_paper(2)], prune=True) == SyncReport(unchanged=1, removed=1)


def test_the_same_id_read_later_from_another_file_replaces(library: Library) -> None:
    library.sync([make_paper(1, sources=("old.jsonl:1",), url="https://x.org")])
    report = library.sync([make_paper(1, sources=("new.jsonl:1",), abstract="New words.", url=None)])
    assert (report.changed, report.merged) == (1, 1)
    assert (library.papers()[0].abstract, library.papers()[0].url) == ("New words.", "https://x.org")


def test_near_identical_abstracts_are_reported_and_merged_on_request(library: Library) -> None:
    one = make_paper(1, abstract=LONG, venue=None, sources=("a.jsonl:1",))
    two = make_paper(2, abstract=LONG.replace("nine", "ten"), venue="ACL", sources=("b.jsonl:1",))
    other = make_paper(3, sources=("a.jsonl:2",))
    report = library.sync([one, two, other])
    assert (report.added, report.merged) == (3, 0)
    assert report.duplicates == (("p1", "p2", pytest.approx(1 - 2 / 124, abs=0.01)),)
    report = library.sync([one, two, other], merge=True)
    assert (report.added, report.changed, report.unchanged, report.merged) == (0, 1, 1, 1)
    assert [(paper.id, paper.venue, paper.sources) for paper in library.papers()] == [
        ("p1", "ACL", ("a.jsonl:1", "b.jsonl:1")),
        ("p3", "ICLR 2025", ("a.jsonl:2",)),
    ]
    assert library.store.ids() == {f"{chunk.id}" for chunks, _ in library.vectors(["p1", "p3"]).values() for chunk in chunks}
    assert library.sync([one, two, other], merge=True) == SyncReport(unchanged=2)


def test_many_copies_of_one_abstract_become_one_paper(library: Library) -> None:
    report = library.sync([make_paper(n, abstract=LONG) for n in range(1, 30)], merge=True)
    assert (report.added, report.merged, library.count()) == (1, 28, 1)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"id": " "}, "it has no id"),
        ({"title": "", "abstract": " "}, "it has neither title nor abstract"),
        ({"title": None}, "field title has the value None"),
        ({"abstract": "lone \ud800 surrogate"}, r"field abstract has the value 'lone \ud800 surrogate'"),
        ({"year": "2024"}, "field year has the value '2024'"),
        ({"year": 10**30}, "field year has the value 1000000000000000000000000000000"),
        ({"authors": ["a"]}, "field authors has the value ['a']"),
        ({"keywords": (None,)}, "field keywords has the value (None,)"),
    ],
)
def test_one_bad_record_never_stops_the_others(library: Library, changes: dict[str, object], reason: str) -> None:
    report = library.sync([make_paper(1), make_paper(2, **changes), make_paper(3)])
    assert report.added == 2
    assert report.rejected == (Rejected("papers.jsonl", 2, reason),)


def test_control_characters_and_any_script_survive(library: Library) -> None:
    paper = make_paper(1, title="NUL \x00 and 漢字 🙂", abstract="عربى. 中文摘要在这里。 Ω≈ç√∫ \x07 end.", authors=("Ж",))
    library.sync([paper])
    assert library.papers() == [paper]


def test_a_source_that_breaks_off_keeps_what_was_read(library: Library) -> None:
    def records() -> Iterator[Paper]:
        yield from make_papers(70)
        raise SourceError("the file ends in the middle")

    with pytest.raises(SourceError):
        library.sync(records())
    assert library.count() == 64
    assert library.sync(make_papers(70)) == SyncReport(added=6, unchanged=64, embedded=6)


def test_a_first_sync_that_reads_nothing_leaves_no_corpus(library: Library, settings: Settings) -> None:
    def records() -> Iterator[Paper]:
        raise SourceError("no such file")
        yield make_paper(1)

    with pytest.raises(SourceError):
        library.sync(records())
    assert not library.folder.exists()
    assert Corpora(settings).names() == ["seeds"]


def test_progress_counts_records(library: Library) -> None:
    calls: list[tuple[int, int | None]] = []
    library.sync(make_papers(40), progress=lambda done, total: calls.append((done, total)))
    library.sync(iter(make_papers(3)), progress=lambda done, total: calls.append((done, total)))
    assert calls == [(32, 40), (40, 40), (3, None)]


def test_another_embedder_is_refused_with_the_command_that_rebuilds(library: Library, settings: Settings) -> None:
    library.sync(make_papers(2))
    other = HashEmbedder("other-16")
    message = "Corpus 'mine' was embedded by hash-16, and the embedder in force is other-16.*`rag doctor --repair --corpus mine`"
    with pytest.raises(CorpusError, match=message):
        Corpora(settings).open("mine", other)
    with Corpora(settings).open_for_sync("mine", other) as again, pytest.raises(CorpusError, match=message):
        again.sync(make_papers(2))


def test_changed_chunking_re_embeds_only_what_changed(library: Library, embedder: HashEmbedder) -> None:
    library.sync(make_papers(5))
    before = len(embedder.texts)

    def chunker(paper: Paper, _: object) -> tuple[Chunk, ...]:
        whole = Chunk(f"{paper.id}#0", paper.id, 0, 0, len(paper.abstract), f"{paper.title}. {paper.abstract}")
        return whole, replace(whole, id=f"{paper.id}#1", index=1, text=f"{paper.abstract[:20]}", end=20)

    run = SyncRun("mine", library.catalog, Indexer(embedder, {}, chunker), SyncOptions(), lambda: None)
    report = run.run(make_papers(5))
    assert (report.unchanged, report.embedded) == (5, 5)
    assert embedder.texts[before:] == [paper.abstract[:20] for paper in make_papers(5)]
    assert [chunk.text for chunk in library.vectors(["p3"])["p3"][0]][1] == "We study topic3 in d"


def test_vectors_that_are_known_are_not_computed(library: Library, embedder: HashEmbedder) -> None:
    import hashlib

    paper = make_paper(1)
    text = f"{paper.title}. {paper.abstract}"
    known = {hashlib.sha256(text.encode()).hexdigest(): HashEmbedder().embed([text])[0]}
    assert library.sync([paper], known=known).embedded == 0
    assert embedder.texts == []


def test_an_older_index_of_words_is_made_anew(library: Library) -> None:
    library.sync(make_papers(3))
    with sqlite3.connect(library.folder / "catalog.sqlite") as connection:
        connection.execute("UPDATE meta SET value = 'older' WHERE key = 'terms'")
        connection.execute("DELETE FROM terms")
    connection.close()
    assert library.lexical(["method2"], 3) == []
    library.sync(make_papers(3))
    assert [key for key, _ in library.lexical(["method2"], 3)] == ["p2"]
