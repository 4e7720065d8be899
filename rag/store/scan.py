"""The chunks of a corpus in memory, and dense search over them by matrix products.

Up to 30,000 chunks all are compared. Beyond that the whole abstracts are compared first, then every chunk of the nearest papers: what is
missed is a fitting passage in an abstract that as a whole is farther than 250 others.
"""

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


_FLAT = 30_000
_NEAREST_PAPERS = 250
_BELOW_ALL = -2.0


@dataclass(frozen=True, slots=True)
class ChunkTable:
    """Where each chunk of some papers stands, in order of papers and windows."""

    ids: dict[int, str]
    """Paper ids by row number."""
    places: NDArray[np.int64]
    """`(chunks, 5)`: the paper's row number, chunk index, start, end, and 1 if Chroma has the chunk as it is."""
    first: dict[str, int]
    """Of each paper id, the place of its first chunk."""

    @classmethod
    def of(cls, rows: Sequence[tuple[int, ...]], ids: dict[int, str]) -> ChunkTable:
        """The table of rows `(n, i, start, end, copied)` in order."""
        import numpy as np

        places = np.array(rows, np.int64).reshape(len(rows), 5)
        numbers, starts = np.unique(places[:, 0], return_index=True)
        first = {ids[n]: place for n, place in zip(numbers.tolist(), starts.tolist(), strict=True)}
        return cls(ids, places, first)

    @classmethod
    def load(cls, connection: sqlite3.Connection) -> ChunkTable:
        """All chunks of the catalog."""
        rows = connection.execute("SELECT n, i, start, end, copied FROM chunks ORDER BY n, i").fetchall()
        return cls.of(rows, dict(connection.execute("SELECT n, id FROM facets")))

    def find(self, chunk_ids: Sequence[str]) -> NDArray[np.int64]:
        """The place of each chunk id, -1 for one that is not in the table."""
        import numpy as np

        found = np.full(len(chunk_ids), -1, np.int64)
        for number, chunk_id in enumerate(chunk_ids):
            paper_id, _, index = chunk_id.rpartition("#")
            place = self.first.get(paper_id, len(self.places)) + (int(index) if index.isdecimal() else len(self.places))
            if place < len(self.places) and self.ids[int(self.places[place, 0])] == paper_id:
                found[number] = place
        return found

    def hits(self, places: NDArray[np.int64], cosines: NDArray[np.float32]) -> list[ChunkHit]:
        """The chunks at these places as hits."""
        found = zip(self.places[places].tolist(), cosines.clip(-1, 1).tolist(), strict=True)
        return [ChunkHit(self.ids[n], i, start, end, cosine) for (n, i, start, end, _), cosine in found]


@dataclass(frozen=True, slots=True)
class ExactScan:
    """Chunks with their unit vectors."""

    table: ChunkTable
    vectors: Vectors
    """`(chunks, dimension) float32`."""
    heads: NDArray[np.int64]
    """The places of the papers' first chunks, their whole abstracts."""
    ends: NDArray[np.int64]
    """The places after their last ones."""
    wholes: Vectors
    """Their vectors, side by side in memory; empty where all chunks are compared."""

    @classmethod
    def of(cls, table: ChunkTable, vectors: Vectors) -> ExactScan:
        """A scan over the chunks of the table, whose vectors are given in its order."""
        import numpy as np

        heads = np.fromiter(table.first.values(), np.int64, len(table.first))
        ends = np.append(heads[1:], len(vectors))[: len(heads)]
        return cls(table, vectors, heads, ends, vectors[heads] if len(vectors) > _FLAT else vectors[:0])

    @classmethod
    def load(cls, connection: sqlite3.Connection, rows: Sequence[int] | None = None) -> ExactScan:
        """Everything in the catalog, or the chunks of the papers with these row numbers."""
        import numpy as np

        chosen = "" if rows is None else f" WHERE n IN ({', '.join(map(str, rows))})"
        query = f"SELECT n, i, start, end, copied, vector FROM chunks JOIN vectors USING (v){chosen} ORDER BY n, i"  # noqa: S608 - whole numbers
        found = connection.execute(query).fetchall()
        vectors = np.frombuffer(b"".join(row[5] for row in found), np.float32).reshape(len(found), -1 if found else 0)
        ids = dict(connection.execute(f"SELECT n, id FROM facets{chosen}"))  # noqa: S608 - whole numbers
        return cls.of(ChunkTable.of([row[:5] for row in found], ids), vectors)

    def of_papers(self, vector: Vectors, paper_ids: Sequence[str]) -> list[ChunkHit]:
        """Of each paper the whole abstract and, where it has any, the best window (the first of equals); papers not here are left out."""
        import numpy as np

        starts = np.array([self.table.first[key] for key in paper_ids if key in self.table.first], np.int64)
        if not len(starts):
            return []
        lengths = self.ends[np.searchsorted(self.heads, starts)] - starts
        places, offsets = _spread(starts, lengths), np.cumsum(lengths) - lengths
        cosines = self.vectors[places] @ np.asarray(vector, np.float32)
        windows = cosines.copy()
        windows[offsets] = _BELOW_ALL
        papers = np.repeat(np.arange(len(starts)), lengths)
        best = np.flatnonzero(windows == np.maximum.reduceat(windows, offsets)[papers])
        best = best[np.unique(papers[best], return_index=True)[1]]
        chosen = np.sort(np.union1d(offsets, best))
        return self.table.hits(places[chosen], cosines[chosen])

    def search(self, vector: Vectors, limit: int, rows: Sequence[int] | None = None) -> list[ChunkHit]:
        """The chunks closest to the unit vector, best first, among the papers with these row numbers; ties in catalog order."""
        import numpy as np

        if not len(self.vectors) or limit < 1:
            return []
        unit = np.asarray(vector, np.float32)
        candidates = self._candidates(unit, limit, rows)
        cosines = self.vectors[candidates] @ unit if len(candidates) < len(self.vectors) else self.vectors @ unit
        if len(candidates) > limit:
            worst = np.partition(cosines, len(cosines) - limit)[len(cosines) - limit]
            near = cosines >= worst
            candidates, cosines = candidates[near], cosines[near]
        order = np.argsort(-cosines, kind="stable")[:limit]
        return self.table.hits(candidates[order], cosines[order])

    def _candidates(self, vector: Vectors, limit: int, rows: Sequence[int] | None) -> NDArray[np.int64]:
        """The places of the chunks worth comparing, in order."""
        import numpy as np

        if not len(self.wholes):
            return np.arange(len(self.vectors)) if rows is None else np.flatnonzero(np.isin(self.table.places[:, 0], rows))
        cosines = self.wholes @ vector
        if rows is not None:
            cosines[~np.isin(self.table.places[self.heads, 0], rows)] = _BELOW_ALL
        wanted = min(max(limit, _NEAREST_PAPERS), len(cosines) if rows is None else len(rows))
        papers = np.argpartition(-cosines, wanted - 1)[:wanted] if wanted else np.arange(0)
        papers = np.sort(papers[cosines[papers] > _BELOW_ALL])
        return _spread(self.heads[papers], self.ends[papers] - self.heads[papers])


def _spread(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of several stretches, one stretch after the other."""
    import numpy as np

    return np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
