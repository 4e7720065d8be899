"""Exact dense search: all cached vectors of a corpus in memory, compared with one matrix product."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.records import ChunkHit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag.protocols import Vectors


@dataclass(frozen=True, slots=True)
class ExactScan:
    """The chunks of a corpus, in order of papers and windows, with their unit vectors."""

    ids: dict[int, str]
    places: NDArray[np.int64]
    """`(chunks, 4)`: the paper's row number, chunk index, start, end."""
    vectors: Vectors
    """`(chunks, dimension) float32`."""

    @classmethod
    def load(cls, connection: sqlite3.Connection, rows: Sequence[int] | None = None) -> ExactScan:
        """Everything in the catalog, or the chunks of the papers with these row numbers."""
        import numpy as np

        chosen = "" if rows is None else f" WHERE n IN ({', '.join(map(str, rows))})"
        query = f"SELECT n, i, start, end, vector FROM chunks JOIN vectors USING (v){chosen} ORDER BY n, i"  # noqa: S608 - whole numbers
        found = connection.execute(query).fetchall()
        places = np.array([row[:4] for row in found], np.int64).reshape(len(found), 4)
        vectors = np.frombuffer(b"".join(row[4] for row in found), np.float32).reshape(len(found), -1 if found else 0)
        ids = dict(connection.execute(f"SELECT n, id FROM papers{chosen}"))  # noqa: S608 - whole numbers
        return cls(ids, places, vectors)

    def search(self, vector: Vectors, limit: int, rows: Sequence[int] | None = None) -> list[ChunkHit]:
        """The chunks closest to the unit vector, best first, among the papers with these row numbers; ties in catalog order."""
        import numpy as np

        if not len(self.places) or limit < 1:
            return []
        cosines = self.vectors @ np.asarray(vector, np.float32)
        candidates = np.arange(len(cosines)) if rows is None else np.flatnonzero(np.isin(self.places[:, 0], rows))
        if len(candidates) > limit:
            values = cosines[candidates]
            worst = np.partition(values, len(values) - limit)[len(values) - limit]
            candidates = candidates[values >= worst]
        order = candidates[np.argsort(-cosines[candidates], kind="stable")][:limit]
        places = self.places[order].tolist()
        return [
            ChunkHit(self.ids[n], i, start, end, cosine)
            for (n, i, start, end), cosine in zip(places, cosines[order].clip(-1, 1).tolist(), strict=True)
        ]
