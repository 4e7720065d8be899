"""How long a search takes over about 14,000 papers: `python benchmarks/search_speed.py FOLDER... [--papers 14000]`.

The folders are test collections in the BEIR layout; their papers make one corpus, with numbered copies when there are too few. Papers get
random vectors around a common direction, so that nothing has to be embedded; questions are embedded by the real model.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np

from rag.embedding import open_embedder
from rag.evaluation.beir import Collection, read_collection
from rag.protocols import Embedder, Vectors
from rag.records import Paper
from rag.retrieval import Retriever
from rag.retrieval.planner import Plan
from rag.settings import Settings
from rag.store.corpora import Corpora


class RandomDocuments:
    """Embeds questions with the real model and papers at random: for speed, not for quality."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.is_indexing = True

    @property
    def fingerprint(self) -> str:
        """Never that of a real corpus."""
        return f"random:{self._embedder.fingerprint}"

    @property
    def dimension(self) -> int:
        """The real model's."""
        return self._embedder.dimension

    @property
    def max_tokens(self) -> int:
        """The real model's."""
        return self._embedder.max_tokens

    def count_tokens(self, text: str) -> int:
        """Estimated, to index fast."""
        return len(text) // 5

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors: the text's own for a question, a clustered random one for a paper."""
        if not self.is_indexing:
            return self._embedder.embed(texts)
        rows = [np.random.default_rng(crc32(text.encode())).standard_normal(self.dimension) for text in texts]
        vectors = np.array(rows, np.float32).reshape(len(texts), self.dimension)
        vectors[:, :8] += 4
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def papers(collections: Sequence[Collection], wanted: int) -> Iterator[Paper]:
    """At least as many papers as wanted, as long as there is one: originals first, then copies under other ids and titles."""
    originals = [paper for collection in collections for paper in collection.papers]
    for number in range(wanted):
        paper = originals[number % len(originals)]
        copy = number // len(originals)
        yield (
            paper
            if not copy
            else replace(paper, id=f"{paper.id}-{copy}", title=f"{paper.title} ({copy})", abstract=f"{paper.abstract} Copy {copy}.")
        )


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile and mean in milliseconds."""
    ordered = sorted(seconds)
    middle, tail = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
    return {"p50_ms": round(middle * 1000, 2), "p95_ms": round(tail * 1000, 2), "mean_ms": round(statistics.fmean(ordered) * 1000, 2)}


def timed(calls: Sequence[object], run: object) -> list[float]:
    """Seconds of each call."""
    seconds = []
    for call in calls:
        started = time.perf_counter()
        run(call)  # type: ignore[operator]
        seconds.append(time.perf_counter() - started)
    return seconds


def main() -> None:
    """Builds the corpus when it is not there, searches, prints one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--papers", type=int, default=14_000)
    parser.add_argument("--home", type=Path, default=Path("search-speed"))
    arguments = parser.parse_args()
    collections = [read_collection(folder) for folder in arguments.folders]
    settings = Settings(home=arguments.home)
    real = open_embedder(settings)
    embedder = RandomDocuments(real)
    queries = [query.text for collection in collections for query in collection.queries][:200]
    with Corpora(settings).open_for_sync("speed", embedder) as library:
        library.sync(papers(collections, arguments.papers))
        embedder.is_indexing = False
        retriever = Retriever(library, embedder, settings)
        timed(queries[:5], lambda query: retriever.search(query, 8))
        plans = [Plan(query, query, "list") for query in queries[:30]]
        report = {
            "papers": library.count(),
            "queries": len(queries),
            "embed": percentiles(timed(queries, lambda query: real.embed([query]))),
            "search": percentiles(timed(queries, lambda query: retriever.search(query, 8))),
            "list": percentiles(timed(plans, retriever.list)),
        }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
