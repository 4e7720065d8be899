import numpy as np
import pytest

from rag.embedding import MiniLM
from rag.store.dense import DenseSearch
from rag.store.library import Library


@pytest.mark.parametrize("exact_chunks", [30_000, 1])
def test_chunks_of_chosen_papers_have_the_cosines_of_their_stored_vectors(seeds: Library, model: MiniLM, exact_chunks: int) -> None:
    ids = sorted(seeds.ids())[5:1:-1]
    vector = model.embed(["turn-taking"])[0]
    hits = DenseSearch(seeds.catalog, seeds.store, exact_chunks=exact_chunks).of_papers(vector, [*ids, "nowhere"])
    stored = seeds.vectors(ids)
    wanted = [(key, chunk.index, chunk.start, chunk.end) for key in ids for chunk in stored[key][0]]
    assert [(hit.paper_id, hit.index, hit.start, hit.end) for hit in hits] == wanted
    assert [hit.cosine for hit in hits] == pytest.approx(np.concatenate([stored[key][1] @ vector for key in ids]), abs=1e-6)


def test_of_no_paper_there_is_none(seeds: Library, model: MiniLM) -> None:
    vector = model.embed(["turn-taking"])[0]
    assert seeds.compare(vector, []) == []
    assert seeds.compare(vector, ["nowhere"]) == []
