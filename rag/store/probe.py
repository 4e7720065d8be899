"""Tries Chroma's index in a process of its own, which a damaged index may take down with it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag.errors import CorpusError
from rag.store.place import ChromaPlace

if TYPE_CHECKING:
    from rag.store.chroma import ChromaStore

_TIMEOUT_S = 30.0
_NEIGHBOURS = 10
# The index is approximate: a vector may miss itself once in a while, a damaged index misses most of them.
_LEAST_FOUND = 0.8
_WRONG, _FAILED = 3, 4


def index_fault(store: ChromaStore, samples: Sequence[tuple[str, bytes]]) -> str:
    """What is wrong with the index; empty when it finds the samples (chunk ids with their float32 vectors) that are in it."""
    if store.place.folder is None or not samples or not sys.executable:
        return ""
    place = {**asdict(store.place), "folder": str(store.place.folder)}
    task = json.dumps({"place": place, "samples": [(key, vector.hex()) for key, vector in samples]})
    command = [sys.executable, "-m", "rag.store.probe"]
    try:
        done = subprocess.run(command, input=task, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)  # noqa: S603 - our own module
    except subprocess.TimeoutExpired:
        return "the index gave no answer"
    if done.returncode < 0:
        return f"the index takes the process down that uses it (signal {-done.returncode})"
    if done.returncode == _WRONG:
        return "the index does not find the vectors it holds"
    return done.stdout.strip() if done.returncode == _FAILED else ""


def _main() -> int:
    import numpy as np

    from rag.store.chroma import ChromaStore

    task = json.loads(sys.stdin.read())
    place = ChromaPlace(**task["place"])
    store = ChromaStore(replace(place, folder=Path(task["place"]["folder"])), "", "", guard=False)
    try:
        found = [
            key in {near for near, _ in store.nearest(np.frombuffer(bytes.fromhex(vector), np.float32), _NEIGHBOURS)}
            for key, vector in task["samples"]
        ]
    except CorpusError as error:
        sys.stdout.write(str(error))
        return _FAILED
    return 0 if sum(found) >= _LEAST_FOUND * len(found) else _WRONG


if __name__ == "__main__":
    sys.exit(_main())
