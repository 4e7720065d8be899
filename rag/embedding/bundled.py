"""The vectors that ship with the bundled corpus, so that the first question needs no indexing.

`python -m rag.embedding.bundled` recomputes the file after a change of the seeds, the chunking or the model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rag.resources import bundled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FILE = "vectors.npz"


def text_hash(text: str) -> str:
    """SHA-256 of the exact text given to the embedder, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def bundled_vectors(fingerprint: str) -> Mapping[str, NDArray[np.float32]]:
    """Vectors of the bundled corpus by `text_hash`; empty when they were made by another embedder."""
    import numpy as np

    path = bundled("seeds") / _FILE
    if not path.is_file():
        return {}
    with np.load(path) as archive:
        if str(archive["fingerprint"]) != fingerprint:
            return {}
        return dict(zip(archive["hashes"].tolist(), archive["vectors"], strict=True))


def write_bundled_vectors(path: Path | None = None) -> int:
    """Embeds every chunk of the bundled corpus and writes the file; how many vectors it holds."""
    import numpy as np

    from rag.chunks import make_chunks
    from rag.embedding.onnx import MiniLM
    from rag.readers import read_papers
    from rag.records import Paper

    embedder = MiniLM()
    papers = [record for record in read_papers([bundled("seeds")]) if isinstance(record, Paper)]
    texts = [chunk.text for paper in papers for chunk in make_chunks(paper, embedder)]
    np.savez(
        path or bundled("seeds") / _FILE,
        fingerprint=np.array(embedder.fingerprint),
        hashes=np.array([text_hash(text) for text in texts]),
        vectors=embedder.embed(texts),
    )
    return len(texts)


if __name__ == "__main__":
    write_bundled_vectors()
