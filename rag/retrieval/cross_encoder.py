"""Scores question and abstract together with a cross-encoder of the user's own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rag.embedding.onnx import OnnxModel
from rag.errors import ModelError, UsageError
from rag.records import Hit
from rag.retrieval.rerank import renewed

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_MAX_TOKENS = 512
_BATCH = 8


class CrossEncoder:
    """A sequence classifier with one output, as `model.onnx` and `tokenizer.json` in one folder; loaded at the first use."""

    def __init__(self, folder: Path) -> None:
        missing = [name for name in ("model.onnx", "tokenizer.json") if not (folder / name).is_file()]
        if missing:
            raise UsageError(f"No {missing[0]} in {folder}. RAG_RERANKER=cross-encoder:FOLDER needs model.onnx and tokenizer.json there.")
        self._folder = folder

    def rerank(self, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """The hits by the model's score, best first; equal scores keep their order. Raises `ModelError` for a model that fails."""
        pairs = [(question, f"{hit.paper.title}. {hit.paper.abstract}") for hit in hits]
        scores = [score for start in range(0, len(pairs), _BATCH) for score in self._scores(pairs[start : start + _BATCH])]
        order = sorted(range(len(hits)), key=lambda row: -scores[row])
        return renewed([hits[row] for row in order], [scores[row] for row in order])

    def _scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        import numpy as np

        encodings = self._tokenizer.encode_batch(list(pairs))
        outputs = self._model.run(
            input_ids=np.array([encoding.ids for encoding in encodings], np.int64),
            attention_mask=np.array([encoding.attention_mask for encoding in encodings], np.int64),
            token_type_ids=np.array([encoding.type_ids for encoding in encodings], np.int64),
        )
        scores: list[float] = outputs.reshape(len(pairs), -1)[:, 0].tolist()
        return scores

    @cached_property
    def _model(self) -> OnnxModel:
        return OnnxModel(self._folder / "model.onnx")

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        path = self._folder / "tokenizer.json"
        try:
            # `tokenizers` raises bare exceptions, so what it would stumble over is looked for first.
            text = path.read_text(encoding="utf-8")
            if "type" not in json.loads(text)["model"]:
                raise KeyError("type")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{path} is not a tokenizer ({error!r}). Export it again with `save_pretrained`.", kind="protocol") from error
        tokenizer = Tokenizer.from_str(text)
        tokenizer.enable_truncation(_MAX_TOKENS, strategy="only_second")
        tokenizer.enable_padding()
        return tokenizer
