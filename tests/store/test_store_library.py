"""The library: what it reads, and that both ways of dense search agree."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from store_papers import HashEmbedder, make_paper, make_papers

from rag.errors import CorpusError, UsageError
from rag.protocols import Vectors
from rag.settings import Settings
from rag.store import Corpora, Filters, Library, parse_where
from rag.store.dense import DenseSearch
from rag.text.words import query_terms


def scanned(embedder: HashEmbedder, library: Library, query: Vectors, ids: set[str]) -> list[tuple[str, int]]:
    """The ranking by brute force over everything, as (paper, chunk index)."""
    found = [
        (-float(vector @ query), place, (chunk.paper_id, chunk.index))
        for paper_id, (chunks, vectors) in library.vectors(sorted(ids)).items()
        for place, (chunk, vector) in enumerate(zip(chunks, vectors, strict=True))
    ]
    return [key for _, _, key in sorted(found)]


def test_papers_come_back_as_they_went_in(library: Library) -> None:
    papers = make_papers(5)
    library.sync(papers)
    assert library.papers() == papers
    assert library.get(["p3", "nope", "p1"]) == {"p3": papers[2], "p1": papers[0]}
    assert library.get([]) == {}
    assert library.count() == 5
    assert library.ids(among=["p2", "x"]) == {"p2"}
    assert library.corpus_of("p1") == "mine"


def test_papers_are_sorted_filtered_and_limited(library: Library) -> None:
    library.sync([make_paper(1, year=2020, title="b"), make_paper(2, year=None, title="A"), make_paper(3, year=2024, title="c")])
    assert [paper.id for paper in library.papers(sort="year")] == ["p1", "p3", "p2"]
    assert [paper.id for paper in library.papers(sort="-year")] == ["p3", "p1", "p2"]
    assert [paper.id for paper in library.papers(sort="title", limit=2)] == ["p2", "p1"]
    assert [paper.id for paper in library.papers(filters=Filters.of(year="2020-2024"))] == ["p1", "p3"]
    assert library.count(filters=Filters.of(venue="neurips")) == 1
    with pytest.raises(UsageError, match="Cannot sort by 'colour'. Sort by id, title, year, venue, published"):
        library.papers(sort="colour")


def test_lexical_search_ranks_rarer_words_higher(library: Library) -> None:
    library.sync(make_papers(30))
    ranked = library.lexical(query_terms("method7 baseline1"), 5)
    assert ranked[0][0] == "p7"
    assert [score for _, score in ranked] == sorted((score for _, score in ranked), reverse=True)
    assert all(score >= 0 for _, score in ranked)
    assert len(ranked) == 5
    assert library.lexical(["method7"], 5, Filters.of(venue="neurips")) == []
    assert [key for key, _ in library.lexical(["method8"], 5, filters=Filters.of(venue="neurips"))] == ["p8"]


@pytest.mark.parametrize("terms", [[], [""], ['"'], ["NEAR", "(", "*", "a OR b"], ["🙂"], ["AND"], ["x" * 10_000], [" "], ["title:p"]])
def test_lexical_search_takes_any_terms(library: Library, terms: list[str]) -> None:
    library.sync(make_papers(2))
    assert library.lexical(terms, 5) == []


def test_document_frequencies_and_idf(library: Library) -> None:
    library.sync(make_papers(14))
    assert library.document_frequency(["topic3", "nope"]) == {"topic3": 2, "nope": 0}
    assert library.idf("topic3") == pytest.approx(math.log(1 + 12.5 / 2.5))
    assert library.idf("nope") == pytest.approx(math.log(1 + 14.5 / 0.5))
    assert library.idf("the") == pytest.approx(math.log(1 + 0.5 / 14.5))


def test_dense_search_is_exact(library: Library, embedder: HashEmbedder) -> None:
    library.sync(make_papers(40))
    for number in (3, 17):
        query = embedder.embed([f"query {number}"])[0]
        hits = library.dense(query, 25)
        assert [(hit.paper_id, hit.index) for hit in hits] == scanned(embedder, library, query, library.ids())[:25]
        assert all(hits[i].cosine >= hits[i + 1].cosine for i in range(24))
    assert library.dense(query, 0) == []
    assert len(library.dense(query, 10_000)) == sum(len(chunks) for chunks, _ in library.vectors(library.ids()).values())


def test_dense_hits_carry_the_offsets_of_their_window(library: Library, embedder: HashEmbedder) -> None:
    library.sync(make_papers(3))
    chunks, vectors = library.vectors(["p2"])["p2"]
    hit = library.dense(vectors[-1], 1)[0]
    assert (hit.paper_id, hit.start, hit.end) == ("p2", chunks[-1].start, chunks[-1].end)
    assert hit.cosine == pytest.approx(1.0, abs=1e-6)
    assert hit.cosine <= 1.0


@pytest.mark.parametrize("where", ["year>=2022", "venue~neurips", "id=p9", "year=1900", "year>0"])
def test_dense_filters_hold_before_ranking(library: Library, embedder: HashEmbedder, where: str) -> None:
    library.sync(make_papers(40))
    filters = parse_where(where)
    query = embedder.embed(["query"])[0]
    hits = library.dense(query, 7, filters)
    assert [(hit.paper_id, hit.index) for hit in hits] == scanned(embedder, library, query, library.ids(filters=filters))[:7]


@pytest.mark.parametrize("where", ["", "year>=2022", "venue~neurips", "id=p9", "year=1900"])
def test_chroma_and_the_scan_rank_alike(settings: Settings, embedder: HashEmbedder, where: str) -> None:
    with Corpora(settings).open_for_sync("mine", embedder) as library:
        library.sync(make_papers(60))
        by_scan, by_chroma = (DenseSearch(library.catalog, library.store, exact_chunks=size) for size in (8_000, 10))
        for number in range(5):
            query = embedder.embed([f"query {number}"])[0]
            expected, found = (way.search(query, 12, parse_where(where)) for way in (by_scan, by_chroma))
            assert [(hit.paper_id, hit.index, hit.start, hit.end) for hit in found] == [
                (hit.paper_id, hit.index, hit.start, hit.end) for hit in expected
            ]
            assert np.allclose([hit.cosine for hit in found], [hit.cosine for hit in expected], atol=1e-5)


def test_what_chroma_lacks_is_searched_in_the_catalog(settings: Settings, embedder: HashEmbedder) -> None:
    with Corpora(settings).open_for_sync("mine", embedder) as library:
        library.sync(make_papers(60))
        library.sync(
            [make_paper(7, abstract="Entirely new words stand here now. Nothing is as before. It ends."), make_paper(61)], copy=False
        )
        by_scan, by_chroma = (DenseSearch(library.catalog, library.store, exact_chunks=size) for size in (8_000, 20))
        for number in range(8):
            query = embedder.embed([f"query {number}"])[0]
            expected, found = (way.search(query, 12, Filters()) for way in (by_scan, by_chroma))
            assert [(hit.paper_id, hit.index) for hit in found] == [(hit.paper_id, hit.index) for hit in expected]


def test_a_broken_chroma_costs_no_answer(settings: Settings, embedder: HashEmbedder, caplog: pytest.LogCaptureFixture) -> None:
    with Corpora(settings).open_for_sync("mine", embedder) as library:
        library.sync(make_papers(30))
    for path in (library.folder / "chroma").rglob("*"):
        if path.is_file():
            path.write_bytes(b"not what was here")
    with Corpora(settings).open_one("mine", embedder) as library:
        query = embedder.embed(["query"])[0]
        found = DenseSearch(library.catalog, library.store, exact_chunks=10).search(query, 5, Filters())
        assert found == library.dense(query, 5)
    assert "Searched the catalog's own vectors instead" in caplog.text


def test_a_small_corpus_never_loads_chromadb(settings: Settings, embedder: HashEmbedder) -> None:
    import subprocess
    import sys

    with Corpora(settings).open_for_sync("mine", embedder) as library:
        library.sync(make_papers(3))
    script = (
        "import sys; sys.path.insert(0, sys.argv[2]); from store_papers import HashEmbedder; from pathlib import Path\n"
        "from rag.store import Library; from rag.settings import Settings; e = HashEmbedder()\n"
        "library = Library.open('mine', Settings(home=Path(sys.argv[1])), e)\n"
        "print(len(library.dense(e.embed(['x'])[0], 3)), sorted({'chromadb', 'onnxruntime', 'openai', 'tiktoken'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", script, str(settings.home), str(Path(__file__).parent)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "3 []"


def test_many_threads_may_search_while_one_syncs(library: Library, embedder: HashEmbedder) -> None:
    library.sync(make_papers(50), copy=False)
    query = embedder.embed(["query"])[0]

    def search(number: int) -> int:
        found = library.dense(query, 5)
        assert library.lexical([f"method{number % 50 + 1}"], 3)[0][0] == f"p{number % 50 + 1}"
        return len(found)

    with ThreadPoolExecutor(8) as pool:
        writing = pool.submit(library.sync, make_papers(150), copy=False)
        assert set(pool.map(search, range(200))) == {5}
        assert writing.result().added == 100
    assert len(library.dense(query, 1_000)) == 300


def test_closed_means_closed(library: Library) -> None:
    library.sync(make_papers(1))
    library.close()
    library.close()
    with pytest.raises(CorpusError, match="is closed"):
        library.count()
