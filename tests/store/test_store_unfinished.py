"""A sync that broke off never looks complete; one that ended never looks broken."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from store_papers import HashEmbedder, make_paper, make_papers

from rag.errors import SourceError, UsageError
from rag.records import Paper
from rag.settings import Settings
from rag.store import Corpora, Library
from rag.store.doctor import check, repair
from rag.store.queries import meta

BROKE_OFF = "The last `rag index` run of corpus 'mine' broke off after {} new or changed papers; run it again to complete it."


def breaking(papers: list[Paper]) -> Iterator[Paper]:
    yield from papers
    raise SourceError("the file ends in the middle")


@pytest.fixture
def broken(library: Library) -> Library:
    """A corpus of which 64 of 70 papers were written."""
    with pytest.raises(SourceError):
        library.sync(breaking(make_papers(70)), copy=False)
    return library


def test_a_run_that_broke_off_is_told_until_one_ends(broken: Library, settings: Settings) -> None:
    assert broken.remarks() == Corpora(settings).remarks("mine") == (BROKE_OFF.format(64),)
    broken.sync(make_papers(70), copy=False)
    assert broken.remarks() == Corpora(settings).remarks("mine") == ()


def test_a_run_that_broke_off_before_its_first_batch_is_told(library: Library) -> None:
    library.sync(make_papers(3), copy=False)
    with pytest.raises(SourceError):
        library.sync(breaking([make_paper(9)]), copy=False)
    assert library.remarks() == (
        "The last `rag index` run of corpus 'mine' broke off before it wrote a paper; run it again to complete it.",
    )


def test_a_dry_run_and_a_repair_leave_it_unfinished(broken: Library, settings: Settings, embedder: HashEmbedder) -> None:
    broken.sync(make_papers(70), dry_run=True)
    repair(settings, "mine", embedder)
    assert broken.remarks() == (BROKE_OFF.format(64),)


def test_doctor_tells_it_with_the_command_that_completes_it(broken: Library, settings: Settings) -> None:
    found = {finding.name: finding for finding in check(settings)}["corpus mine: last run"]
    assert (found.level, found.detail) == ("warning", BROKE_OFF.format(64))
    assert found.fix == "rag index PATH --corpus mine, with the same PATH"
    broken.sync(make_papers(70), copy=False)
    assert "corpus mine: last run" not in {finding.name for finding in check(settings)}


def test_while_it_runs_the_writer_is_named(library: Library, settings: Settings) -> None:
    said: list[str] = []
    library.sync(make_papers(3), copy=False, progress=lambda done, total: said.extend(Corpora(settings).remarks("mine")))
    assert len(said) == 1
    assert said[0].startswith("Corpus 'mine' is being indexed by process ")


def test_a_refused_prune_is_no_broken_run(library: Library) -> None:
    library.sync(make_papers(2), copy=False)
    with pytest.raises(UsageError, match="nothing is pruned"):
        library.sync([], prune=True, copy=False)
    assert library.remarks() == ()


def test_a_refused_prune_does_not_complete_a_broken_run(broken: Library) -> None:
    with pytest.raises(UsageError, match="nothing is pruned"):
        broken.sync([], prune=True, copy=False)
    assert broken.remarks() == (BROKE_OFF.format(64),)


def test_a_corpus_left_empty_by_a_kill_goes_with_the_next_run_that_reads_nothing(library: Library, settings: Settings) -> None:
    from rag.store.unfinished import begin

    library.sync(make_papers(1), copy=False)
    library.sync([], copy=False)
    with library.catalog.writing() as connection:
        connection.execute("DELETE FROM papers")
        connection.execute("DELETE FROM facets")
    begin(library.catalog)
    assert Corpora(settings).remarks("mine")
    with pytest.raises(SourceError):
        library.sync(breaking([]), copy=False)
    assert Corpora(settings).names() == ["seeds"]


def test_an_unchanged_run_makes_no_reader_read_again(library: Library) -> None:
    def generation() -> str:
        with library.catalog.reading() as connection:
            return meta(connection, "generation")

    library.sync(make_papers(40), copy=False)
    before = generation()
    library.sync(make_papers(40), copy=False)
    assert generation() == before
    library.sync(make_papers(41), copy=False)
    assert generation() != before


def test_of_several_corpora_each_is_told(broken: Library, settings: Settings, embedder: HashEmbedder) -> None:
    with Corpora(settings).open_for_sync("whole", embedder) as whole:
        whole.sync([make_paper(200)], copy=False)
    with Corpora(settings).open("whole,mine", embedder) as joined:
        assert joined.remarks() == (BROKE_OFF.format(64),)
