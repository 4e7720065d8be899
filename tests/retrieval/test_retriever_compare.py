import numpy as np
import pytest

from rag.embedding import MiniLM
from rag.store.dense import DenseSearch
from rag.store.library import Library
from rag.store.scan import ChunkTable, ExactScan


@pytest.mark.parametrize("exact_chunks", [30_000, 1])
def test_chosen_papers_come_as_their_whole_abstract_and_best_window(seeds: Library, model: MiniLM, exact_chunks: int) -> None:
    ids = sorted(seeds.ids())[5:1:-1]
    vector = model.embed(["turn-taking"])[0]
    hits = DenseSearch(seeds.catalog, seeds.store, exact_chunks=exact_chunks).of_papers(vector, [*ids, "nowhere"])
    stored = seeds.vectors(ids)
    wanted, cosines = [], []
    for key in ids:
        chunks, vectors = stored[key]
        own = vectors @ vector
        for place in (0, 1 + int(np.argmax(own[1:]))):
            wanted.append((key, place, chunks[place].start, chunks[place].end))
            cosines.append(own[place])
    assert [(hit.paper_id, hit.index, hit.start, hit.end) for hit in hits] == wanted
    assert [hit.cosine for hit in hits] == pytest.approx(cosines, abs=1e-6)


def test_a_paper_of_one_chunk_comes_once() -> None:
    table = ChunkTable.of([(1, 0, 0, 5, 1), (2, 0, 0, 9, 1), (2, 1, 0, 4, 1), (2, 2, 4, 9, 1)], {1: "short", 2: "long"})
    scan = ExactScan.of(table, np.array([[1, 0], [0, 1], [0.6, 0.8], [0.8, 0.6]], np.float32))
    found = scan.of_papers(np.array([1, 0], np.float32), ["long", "short"])
    assert [(hit.paper_id, hit.index, round(hit.cosine, 2)) for hit in found] == [("long", 0, 0.0), ("long", 2, 0.8), ("short", 0, 1.0)]


def test_of_no_paper_there_is_none(seeds: Library, model: MiniLM) -> None:
    vector = model.embed(["turn-taking"])[0]
    assert seeds.compare(vector, []) == []
    assert seeds.compare(vector, ["nowhere"]) == []
