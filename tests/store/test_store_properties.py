"""Properties of sync over any stream of records: repeated, interrupted, in parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from store_papers import HashEmbedder

from rag.records import Paper
from rag.settings import Settings
from rag.store import Corpora, Library

_WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]


@st.composite
def records(draw: st.DrawFn) -> Paper:
    number = draw(st.integers(1, 5))
    return Paper(
        id=f"p{number}",
        title=draw(st.sampled_from(["", "One title", "Another title"])),
        abstract=" ".join(draw(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=9))) + ".",
        year=draw(st.none() | st.integers(2020, 2022)),
        doi=draw(st.none() | st.sampled_from(["10.1/a", "10.1/b"])),
        sources=(f"{draw(st.sampled_from('ab'))}.jsonl:{draw(st.integers(1, 9))}",),
    )


STREAMS = st.lists(records(), max_size=12)


@contextmanager
def fresh() -> Iterator[Library]:
    with TemporaryDirectory() as folder, Corpora(Settings(home=Path(folder))).open_for_sync("mine", HashEmbedder()) as library:
        yield library


def state(library: Library) -> tuple[list[Paper], list[list[bytes]]]:
    papers = library.papers()
    held = library.vectors([paper.id for paper in papers])
    return papers, [[vector.tobytes() for vector in held[paper.id][1]] for paper in papers]


def sync(library: Library, papers: list[Paper], *, prune: bool = False) -> tuple[int, int, int, int, int]:
    report = library.sync(papers, prune=prune, copy=False)
    return report.added, report.changed, report.removed, report.merged, report.embedded


@settings(max_examples=25, deadline=None)
@given(STREAMS)
def test_running_it_again_changes_nothing(stream: list[Paper]) -> None:
    with fresh() as library:
        sync(library, stream)
        if stream:
            before = state(library)
            assert sync(library, stream) == (0, 0, 0, 0, 0)
            assert sync(library, stream, prune=True) == (0, 0, 0, 0, 0)
            assert state(library) == before


@settings(max_examples=25, deadline=None)
@given(STREAMS.filter(bool))
def test_no_record_is_lost_and_none_doubled(stream: list[Paper]) -> None:
    with fresh() as library:
        sync(library, stream)
        papers = library.papers()
        ids = [paper.id for paper in papers]
        assert len(ids) == len(set(ids))
        sources = [source for paper in papers for source in paper.sources]
        assert {source for record in stream for source in record.sources} <= set(sources)
        assert library.count() == len(papers) == len(library.vectors(ids))


def file_of(source: str) -> str:
    return source.rpartition(":")[0]


@settings(max_examples=25, deadline=None)
@given(STREAMS, STREAMS.filter(bool))
def test_after_prune_only_what_was_read_is_left(before: list[Paper], after: list[Paper]) -> None:
    with fresh() as library:
        sync(library, before)
        sync(library, after, prune=True)
        read = {record.id for record in after}
        merged = {record.id for record in before}
        assert library.ids() <= read | merged
        told = {source for paper in library.papers() for source in paper.sources}
        wanted = {source for record in after for source in record.sources}
        assert wanted <= told
        assert {file_of(source) for source in told} == {file_of(source) for source in wanted}
