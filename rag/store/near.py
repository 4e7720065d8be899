"""Papers with near-identical abstracts: found by MinHash bands, confirmed by the edit similarity of their words."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING
from zlib import crc32

from rag.store.conditions import fold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEAR_IDENTICAL = 0.9

# 16 bands of 4 hashes (Broder, 1997; Leskovec et al., 2020, 3.4): a pair that shares 0.6 of its shingles is a candidate in
# 89 of 100 cases, one that shares 0.8 in all but 2 of 10,000, one that shares 0.2 in 3 of 100.
_BANDS, _ROWS = 16, 4
_SHINGLE_WORDS = 3
_SEED = 20_251_201
_WORD = re.compile(r"\w+")


def signature(abstract: str) -> bytes:
    """The MinHash of the abstract's three-word shingles, 256 bytes; empty when it has fewer than three words."""
    import numpy as np

    words = _WORD.findall(fold(abstract))
    shingles = {crc32(" ".join(words[i : i + _SHINGLE_WORDS]).encode()) for i in range(len(words) - _SHINGLE_WORDS + 1)}
    if not shingles:
        return b""
    factors, summands = _permutations()
    hashes = np.fromiter(shingles, np.uint64, len(shingles))
    # Multiply-shift hashing (Dietzfelbinger et al., 1997): the product wraps around at 64 bits, its upper half is the hash.
    mixed = (hashes[:, None] * factors + summands) >> np.uint64(32)
    return bytes(mixed.min(axis=0).astype("<u4"))


def near_pairs(connection: sqlite3.Connection) -> list[tuple[int, int, float]]:
    """Rows of papers with near-identical abstracts, the earlier first, with their similarity (0.9..1)."""
    import numpy as np
    from rapidfuzz.distance import Indel

    held = connection.execute("SELECT n, signature FROM signatures ORDER BY n").fetchall()
    if len(held) < 2:
        return []
    rows = np.array([n for n, _ in held], np.int64)
    signatures = np.frombuffer(b"".join(blob for _, blob in held), "<u4").reshape(len(held), _BANDS, _ROWS)
    candidates = sorted({pair for band in range(_BANDS) for pair in _same_band(np.ascontiguousarray(signatures[:, band]), rows)})
    found = []
    for first, second in candidates:
        words = [_WORD.findall(fold(_abstract(connection, n))) for n in (first, second)]
        # Over words, not characters: "method 12" and "method 13" are then as different as any two words.
        if score := Indel.normalized_similarity(*words, score_cutoff=NEAR_IDENTICAL):
            found.append((first, second, score))
    return found


def _same_band(band: NDArray[np.uint32], rows: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Pairs in the groups of equal bands: each with the first and with the one before, so that many copies stay few pairs."""
    import numpy as np

    keys = band.view([("a", "<u8"), ("b", "<u8")]).ravel()
    order = np.lexsort((rows, keys["b"], keys["a"]))
    starts = np.flatnonzero(np.r_[True, keys[order][1:] != keys[order][:-1]])
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        if end - start > 1:
            group = rows[order[start:end]].tolist()
            yield from ((group[0], other) for other in group[1:])
            yield from zip(group[1:], group[2:], strict=False)


def _abstract(connection: sqlite3.Connection, n: int) -> str:
    return str(connection.execute("SELECT abstract FROM papers WHERE n = ?", (n,)).fetchone()[0])


def _permutations() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    import numpy as np

    generator = np.random.Generator(np.random.PCG64(_SEED))
    numbers = generator.integers(0, 2**63, (2, _BANDS * _ROWS), np.uint64) * np.uint64(2) + np.uint64(1)
    return numbers[0], numbers[1]
