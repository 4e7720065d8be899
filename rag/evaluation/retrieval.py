"""Measures search on a test collection in the BEIR layout."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from rag.errors import UsageError
from rag.evaluation.beir import Collection, Query, read_collection
from rag.evaluation.metrics import Difference, Figure, difference, figure, score_rankings
from rag.protocols import Embedder
from rag.records import Hit
from rag.retrieval.fusion import Ranking
from rag.retrieval.retriever import Retriever
from rag.settings import Settings
from rag.store.library import Library

_DEPTH = 100
_SETTING_NAMES = ("embedder", "reranker", "model")
_RANKING_NAMES = tuple(Ranking.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class RetrievalFigures:
    """What a system scored on a collection."""

    data: str
    system: str
    papers: int
    queries: int
    measures: Mapping[str, Figure]
    per_query: Mapping[str, Mapping[str, float]]
    """Measure to query id to value."""
    seconds: float
    """Searching all queries, indexing not counted."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the same queries."""

    a: RetrievalFigures
    b: RetrievalFigures
    differences: Mapping[str, Difference]


def evaluate_retrieval(
    folder: Path,
    settings: Settings,
    *,
    embedder: Embedder | None = None,
    split: str = "test",
    variant: str = "",
    similar: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
) -> RetrievalFigures:
    """The figures of search on the collection in `folder`, to rank 100.

    Its papers are indexed under the home folder's `evaluation`, so that a second run embeds only the questions. `variant` changes
    settings or ranking numbers: `lexical=0.3,reranker=llm`. With `similar`, each query's own paper is the question.
    Raises `SourceError` for a folder that is not a collection, `UsageError` for an unknown variant.
    """
    collection = read_collection(folder, split)
    settings, ranking = parse_variant(variant, settings)
    rankings: dict[str, list[str]] = {}
    with _indexed(collection, settings, embedder, progress) as (library, used):
        retriever = Retriever(library, used, settings, ranking=ranking)
        started = time.perf_counter()
        for query in collection.queries:
            hits = _similar(retriever, query) if similar else retriever.search(query.text, _DEPTH + 1)
            rankings[query.id] = [hit.paper.id for hit in hits if hit.paper.id != query.paper_id][:_DEPTH]
        seconds = time.perf_counter() - started
    per_query = score_rankings(collection.qrels, rankings)
    measures = {name: figure(values) for name, values in per_query.items()}
    return RetrievalFigures(collection.name, variant, len(collection.papers), len(collection.queries), measures, per_query, seconds)


def compare_retrieval(
    folder: Path, settings: Settings, a: str, b: str, *, embedder: Embedder | None = None, split: str = "test"
) -> Comparison:
    """Figures of the variants `a` and `b` on one collection, and for each measure how far b is from a, tested in pairs."""
    first = evaluate_retrieval(folder, settings, embedder=embedder, split=split, variant=a)
    second = evaluate_retrieval(folder, settings, embedder=embedder, split=split, variant=b)
    gaps = {name: difference(first.per_query[name], second.per_query[name]) for name in first.measures}
    return Comparison(first, second, gaps)


@contextmanager
def _indexed(
    collection: Collection, settings: Settings, embedder: Embedder | None, progress: Callable[[int, int | None], None] | None
) -> Iterator[tuple[Library, Embedder]]:
    """The collection as a corpus of its own, apart from the user's, and the embedder it was made with."""
    from rag.embedding import open_embedder
    from rag.store.corpora import Corpora

    used = embedder or open_embedder(settings)
    apart = replace(settings, home=settings.home_folder / "evaluation", chroma_url=None, chroma_api_key=None)
    tag = hashlib.sha256(used.fingerprint.encode()).hexdigest()[:8]
    with Corpora(apart).open_for_sync(f"{collection.name[:48]}-{tag}", used) as library:
        library.sync(collection.papers, prune=True, wait_s=3_600, progress=progress, copy=False)
        yield library, used


def _similar(retriever: Retriever, query: Query) -> list[Hit]:
    if not query.paper_id:
        raise UsageError(f"Query {query.id!r} names no paper. Measuring similar papers needs `metadata.paper_id` in queries.jsonl.")
    return retriever.similar(query.paper_id, _DEPTH)


def parse_variant(text: str, settings: Settings) -> tuple[Settings, Ranking]:
    """Settings and ranking with the changes of `name=value,name=value`; empty changes nothing.

    Raises `UsageError` for a name that is neither a ranking number nor `embedder` or `reranker`.
    """
    ranking = Ranking()
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if equals and name in _SETTING_NAMES:
            settings = Settings.resolve({}, **{**{f.name: getattr(settings, f.name) for f in fields(settings)}, name: value or None})
        elif equals and name in _RANKING_NAMES:
            ranking = replace(ranking, **{name: _number(name, value)})
        else:
            raise UsageError(f"Unknown variant {part!r}. Write NAME=VALUE with one of {', '.join((*_SETTING_NAMES, *_RANKING_NAMES))}.")
    return settings, ranking


def figures_json(figures: RetrievalFigures) -> dict[str, object]:
    """The figures as one JSON object, without the values of single queries."""
    return {
        "data": figures.data,
        "system": figures.system,
        "papers": figures.papers,
        "queries": figures.queries,
        "measures": {name: asdict(value) for name, value in figures.measures.items()},
        "seconds": round(figures.seconds, 3),
    }


def comparison_json(comparison: Comparison) -> dict[str, object]:
    """Both systems' figures and the differences as one JSON object."""
    differences = {name: asdict(value) for name, value in comparison.differences.items()}
    return {"a": figures_json(comparison.a), "b": figures_json(comparison.b), "differences": differences}


def figures_rows(figures: RetrievalFigures) -> list[tuple[str, ...]]:
    """A table with a heading row: measure, mean, 95% interval."""
    rows = [(name, f"{value.mean:.3f}", f"{value.low:.3f}-{value.high:.3f}") for name, value in figures.measures.items()]
    return [("measure", f"{figures.data}, {figures.queries} queries", "95% interval"), *rows]


def comparison_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """A table with a heading row: measure, A, B, difference with 95% interval, p."""
    rows = [
        (name, f"{comparison.a.measures[name].mean:.3f}", f"{comparison.b.measures[name].mean:.3f}")
        + (f"{gap.mean:+.3f}", f"{gap.low:+.3f} to {gap.high:+.3f}", f"{gap.p:.4f}")
        for name, gap in comparison.differences.items()
    ]
    return [
        ("measure", f"A: {comparison.a.system or 'default'}", f"B: {comparison.b.system or 'default'}", "B - A", "95% interval", "p"),
        *rows,
    ]


def _number(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError as error:
        raise UsageError(f"{name}={value!r} is not a number. Write for example {name}=0.5.") from error
    if not 0 <= number <= 1:
        raise UsageError(f"{name}={value} is outside 0 to 1. Write for example {name}=0.5.")
    return number
