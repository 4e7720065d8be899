"""Figures of the citation check on labelled claims."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rag.errors import SourceError
from rag.evaluation.support import auroc, evaluate_support
from rag.protocols import Vectors


class WordEmbedder:
    """Texts are alike as far as they share words."""

    fingerprint = "words"
    dimension = 64
    max_tokens = 100

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, sum(map(ord, word)) % self.dimension] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


CORPUS = [
    {"_id": 1, "title": "Sleep", "text": "Short sleep increases the risk of infection. We followed 200 adults for a year."},
    {"_id": "2", "title": "Kernels", "text": "Slicing makes large kernel sums fast. It needs few projections."},
]
PAIRS = [
    {"claim": "Short sleep increases the risk of infection.", "doc_id": "1", "label": "SUPPORT"},
    {"claim": "Slicing makes kernel sums fast.", "doc_id": 2, "label": "SUPPORT"},
    {"claim": "Short sleep decreases the risk of infection.", "doc_id": "1", "label": "CONTRADICT"},
    {"claim": "Slicing makes kernel sums fast.", "doc_id": "1", "label": "NONE"},
]


def written(folder: Path, name: str, records: Sequence[object]) -> Path:
    path = folder / name
    path.write_text("".join(f"{record if isinstance(record, str) else json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def test_the_figures_tell_supported_from_the_rest(tmp_path: Path) -> None:
    figures = evaluate_support(written(tmp_path, "pairs", PAIRS), written(tmp_path, "corpus", CORPUS), WordEmbedder())
    assert (figures.auroc_none, figures.auroc_contradict) == (1.0, 1.0)
    assert (figures.n, figures.support, figures.contradict, figures.none) == (4, 2, 1, 1)
    assert figures.flagged == {"SUPPORT": 0.0, "CONTRADICT": 1.0, "NONE": 1.0}


def test_a_label_that_does_not_occur_has_no_figure(tmp_path: Path) -> None:
    figures = evaluate_support(written(tmp_path, "pairs", PAIRS[:2]), written(tmp_path, "corpus", CORPUS), WordEmbedder())
    assert (figures.auroc_none, figures.auroc_contradict, figures.n) == (None, None, 2)


@pytest.mark.parametrize(
    ("positive", "negative", "expected"),
    [([0.9, 0.8], [0.1], 1.0), ([0.1], [0.9], 0.0), ([0.5], [0.5], 0.5), ([0.9, 0.3, 0.5], [0.5, 0.4], 3.5 / 6), ([], [0.1], None)],
)
def test_auroc_counts_pairs_in_order(positive: list[float], negative: list[float], expected: float | None) -> None:
    assert auroc(positive, negative) == (expected if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ("{not json", r"pairs:2 is not JSON"),
        ("[1]", r"pairs:2 is a JSON list"),
        ({"doc_id": "1", "label": "NONE"}, r"pairs:2 lacks `claim` or `doc_id`"),
        ({"claim": "A claim.", "doc_id": "1", "label": "MAYBE"}, r"pairs:2 has the label 'MAYBE'\. Known: SUPPORT, CONTRADICT, NONE"),
        ({"claim": "A claim.", "doc_id": "77", "label": "NONE"}, r"pairs:2 names the abstract '77'"),
    ],
)
def test_a_bad_pair_is_named_by_file_and_line(tmp_path: Path, record: object, problem: str) -> None:
    pairs = written(tmp_path, "pairs", [PAIRS[0], record])
    with pytest.raises(SourceError, match=problem):
        evaluate_support(pairs, written(tmp_path, "corpus", CORPUS), WordEmbedder())


def test_a_bad_corpus_is_named_too(tmp_path: Path) -> None:
    pairs = written(tmp_path, "pairs", PAIRS)
    with pytest.raises(SourceError, match=r"corpus:1 lacks `_id`"):
        evaluate_support(pairs, written(tmp_path, "corpus", [{"title": "x"}]), WordEmbedder())
    with pytest.raises(SourceError, match="holds no abstracts"):
        evaluate_support(pairs, written(tmp_path, "empty", [""]), WordEmbedder())
    with pytest.raises(SourceError, match="holds no pairs"):
        evaluate_support(written(tmp_path, "nothing", []), written(tmp_path, "corpus2", CORPUS), WordEmbedder())
    with pytest.raises(SourceError, match="Cannot read"):
        evaluate_support(tmp_path / "absent", written(tmp_path, "corpus3", CORPUS), WordEmbedder())
