"""Prints what each part of the ranking is worth: `python benchmarks/ablation.py FOLDER... [--split test] [--windows 2:1 1:1]`.

The folders are test collections in the BEIR layout. Each is indexed once under `--home`; every variant then scores every paper of the
corpus, so that no difference comes from the choice of candidates. `--windows SENTENCES:STEP` also embeds other windows, which takes long.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.embedding import MiniLM
from rag.evaluation.beir import Collection, read_collection
from rag.evaluation.metrics import score_rankings
from rag.protocols import Vectors
from rag.retrieval.fusion import Ranking, fuse, lexical_ceiling, lexical_level, term_weights
from rag.retrieval.query import clean_query
from rag.settings import Settings
from rag.store.corpora import Corpora
from rag.store.library import Library
from rag.text.sentences import split_sentences
from rag.text.words import query_pairs, query_terms

Scores = NDArray[np.float64]
SHOWN = ("nDCG@10", "R@100", "MRR@10", "hit@1")


@dataclass(frozen=True, slots=True)
class Signals:
    """Every signal of every paper for every query, `(queries, papers)`; one row of BM25 levels per query."""

    whole: Scores
    window: Scores
    second: Scores
    words: Scores
    pairs: Scores
    levels: Scores
    queries: Vectors
    papers: Vectors


Variant = Callable[[Signals], Scores]


def signals(library: Library, collection: Collection, model: MiniLM, clean: Callable[[str], str] = clean_query) -> Signals:
    """All signals of a collection that is indexed in `library`."""
    ids = [paper.id for paper in collection.papers]
    texts = [clean(query.text) for query in collection.queries]
    asked = model.embed(texts)
    stored = library.vectors(ids)
    wholes = np.array([stored[key][1][0] for key in ids])
    best, second = window_cosines(asked, [stored[key][1][1:] for key in ids])
    place = {key: number for number, key in enumerate(ids)}
    words, pairs = (np.zeros((len(texts), len(ids))) for _ in range(2))
    for row, text in enumerate(texts):
        for target, terms in ((words, query_terms(text)), (pairs, query_pairs(text))):
            for key, score in library.lexical(terms, len(ids)):
                target[row, place[key]] = score
    levels = np.array([[level(library, text, row, len(ids))] for text, row in zip(texts, words + Ranking().pairs * pairs, strict=True)])
    return Signals(asked @ wholes.T, best, second, words, pairs, levels, asked, wholes)


def level(library: Library, text: str, bm25: Scores, papers: int) -> float:
    """The BM25 that counts as one for a question."""
    terms = query_terms(text)
    return lexical_level(bm25.tolist(), papers, lexical_ceiling(term_weights(terms, library.document_frequency(terms), papers).values()))


def window_cosines(asked: Vectors, windows: Sequence[Vectors]) -> tuple[Scores, Scores]:
    """The best and the second best window of each paper."""
    best, second = (np.zeros((len(asked), len(windows))) for _ in range(2))
    for column, vectors in enumerate(windows):
        ordered = np.sort(asked @ vectors.T, axis=1) if len(vectors) else np.zeros((len(asked), 1))
        best[:, column], second[:, column] = ordered[:, -1], ordered[:, -2 if ordered.shape[1] > 1 else -1]
    return best, second


def other_windows(collection: Collection, model: MiniLM, sentences: int, step: int, *, titled: bool) -> list[Vectors]:
    """Vectors of windows of another size."""
    vectors = []
    for paper in collection.papers:
        spans = split_sentences(paper.abstract)
        starts = range(0, max(len(spans) - sentences + step - 1, 0) + 1, step)
        groups = [spans[start : start + sentences] for start in starts if spans[start : start + sentences]]
        texts = [paper.abstract[group[0].start : group[-1].end] for group in groups]
        vectors.append(model.embed([f"{paper.title}. {text}" if titled and paper.title else text for text in texts]))
    return vectors


def fused(s: Signals, ranking: Ranking, window: Scores | None = None, whole: Scores | None = None) -> Scores:
    """The product's formula with some parts exchanged."""
    window, whole = s.window if window is None else window, s.whole if whole is None else whole
    return fuse(whole, window, s.words + ranking.pairs * s.pairs, s.levels, ranking)


def standard(scores: Scores) -> Scores:
    """Each query's scores with mean 0 and variance 1."""
    return (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, keepdims=True).clip(1e-9)


def reciprocal_ranks(*signals: Scores) -> Scores:
    """Reciprocal rank fusion with k = 60 (Cormack et al., 2009)."""
    return sum((1.0 / (60 + 1 + np.argsort(np.argsort(-scores, axis=1), axis=1)) for scores in signals), np.zeros_like(signals[0]))


def with_feedback(s: Signals, papers: int, share: float) -> Scores:
    """The question's vector moved towards the whole abstracts of the best papers (Rocchio)."""
    best = np.argsort(-fused(s, Ranking()), axis=1)[:, :papers]
    moved = s.queries + share * s.papers[best].mean(axis=1)
    return fused(s, Ranking(), whole=(moved / np.linalg.norm(moved, axis=1, keepdims=True)) @ s.papers.T)


def variants() -> dict[str, Variant]:
    """Name to scores, in the order of the table."""
    chosen = Ranking()
    bm25 = lambda s: s.words + chosen.pairs * s.pairs  # noqa: E731
    table: dict[str, Variant] = {
        "dense, whole abstract": lambda s: s.whole,
        "dense, best window": lambda s: s.window,
        "dense, mean of the two best windows": lambda s: (s.window + s.second) / 2,
        "dense, whole and best window": lambda s: chosen.window * s.window + (1 - chosen.window) * s.whole,
        "BM25, words": lambda s: s.words,
        "BM25, words and pairs": bm25,
        "RRF of dense and BM25": lambda s: reciprocal_ranks(s.window + s.whole, bm25(s)),
        "z-scores, 0.65 / 0.35": lambda s: 0.65 * standard(s.window + s.whole) + 0.35 * standard(bm25(s)),
        "**chosen**": lambda s: fused(s, chosen),
        "feedback from 3 papers, 0.4": lambda s: with_feedback(s, 3, 0.4),
    }
    for name, values in {"lexical": (0.05, 0.1, 0.2, 0.3), "window": (0.0, 0.5, 1.0), "pairs": (0.0, 0.2, 0.5, 1.0)}.items():
        for value in values:
            table[f"{name} = {value}"] = partial(fused, ranking=replace(chosen, **{name: value}))
    return table


def figures(collection: Collection, scores: Scores) -> dict[str, float]:
    """Means over the queries of the measures shown."""
    ids = [paper.id for paper in collection.papers]
    rankings = {}
    for query, row in zip(collection.queries, scores, strict=True):
        best = [ids[place] for place in np.argsort(-row, kind="stable")[:102]]
        rankings[query.id] = [key for key in best if key != query.paper_id][:100]
    values: Mapping[str, Mapping[str, float]] = score_rankings(collection.qrels, rankings)
    return {name: sum(values[name].values()) / len(values[name]) for name in SHOWN}


def rows(folder: Path, split: str, home: Path, windows: Sequence[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """Each variant's name and figures on one collection."""
    collection, model = read_collection(folder, split), MiniLM()
    with Corpora(Settings(home=home)).open_for_sync(f"ablation-{collection.name}", model) as library:
        library.sync(collection.papers, prune=True, copy=False)
        found = signals(library, collection, model)
        for name, variant in variants().items():
            yield name, figures(collection, variant(found))
        yield "question not cleaned", figures(collection, fused(signals(library, collection, model, str), Ranking()))
    for size in windows:
        sentences, step = map(int, size.split(":"))
        for titled in (True, False):
            best, _ = window_cosines(found.queries, other_windows(collection, model, sentences, step, titled=titled))
            title = "with" if titled else "without"
            yield f"windows of {sentences}, step {step}, {title} title", figures(collection, fused(found, Ranking(), window=best))


def main() -> None:
    """Prints one Markdown table per folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--split", default="test")
    parser.add_argument("--home", type=Path, default=Path("ablation"))
    parser.add_argument("--windows", nargs="*", default=[], metavar="SENTENCES:STEP")
    arguments = parser.parse_args()
    for folder in arguments.folders:
        print(f"\n| {folder.name}, {arguments.split} | " + " | ".join(SHOWN) + " |\n|---|" + "---|" * len(SHOWN))
        for name, values in rows(folder, arguments.split, arguments.home, arguments.windows):
            print(f"| {name} | " + " | ".join(f"{values[measure]:.3f}" for measure in SHOWN) + " |", flush=True)


if __name__ == "__main__":
    main()
