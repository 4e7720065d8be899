"""Measures the check of statements on labelled claims: does the score tell supported from unrelated and from contradicted?"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rag.embedding import open_embedder
from rag.errors import SourceError
from rag.protocols import Embedder
from rag.records import Paper
from rag.settings import Settings
from rag.text.words import index_terms
from rag.verification import Verifier

Label = Literal["SUPPORT", "CONTRADICT", "NONE"]

_LABELS: Mapping[str, Label] = {
    "support": "SUPPORT", "supports": "SUPPORT", "supported": "SUPPORT", "entailment": "SUPPORT",
    "contradict": "CONTRADICT", "contradicts": "CONTRADICT", "refute": "CONTRADICT", "refutes": "CONTRADICT", "refuted": "CONTRADICT",
    "contradiction": "CONTRADICT", "none": "NONE", "neutral": "NONE", "nei": "NONE", "not_enough_info": "NONE", "not enough info": "NONE",
}  # fmt: skip
_BATCH = 64


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A claim, the paper it is checked against, and what people judged."""

    claim: str
    paper: Paper
    label: Label


@dataclass(frozen=True, slots=True)
class SupportFigures:
    """How well the support score separates; 0.5 is chance, 1 perfect, None when the file has no pair of that label."""

    auroc_none: float | None
    """A supported pair scores above an unrelated one."""
    auroc_contradict: float | None
    """A supported pair scores above a contradicted one."""
    n: int
    support: int
    contradict: int
    none: int
    flagged: Mapping[str, float]
    """Label to the share of its pairs whose verdict is neither `quoted` nor `supported`."""


def evaluate_support(
    file: Path, corpus: Path, embedder: Embedder | None = None, *, progress: Callable[[int, int], None] | None = None
) -> SupportFigures:
    """The figures for the pairs in `file` against the abstracts in `corpus`.

    Both are JSON lines: `claim`, `doc_id`, `label`, and `_id`, `title`, `text`.
    IDF comes from `corpus`. Without an `embedder` the configured one is used. Raises `SourceError`, naming file and line, for a
    record that cannot be used.
    """
    papers = read_corpus(corpus)
    pairs = read_pairs(file, papers)
    verifier = Verifier(corpus_idf(tuple(papers.values())), embedder or open_embedder(Settings.resolve()))
    scores: list[float] = []
    flagged: Counter[str] = Counter()
    for start in range(0, len(pairs), _BATCH):
        batch = pairs[start : start + _BATCH]
        verdicts = verifier.check_many([(pair.claim, pair.paper) for pair in batch])
        scores += [verdict.score for verdict in verdicts]
        flagged.update(pair.label for pair, verdict in zip(batch, verdicts, strict=True) if verdict.support in ("weak", "unsupported"))
        if progress:
            progress(len(scores), len(pairs))
    return _figures(pairs, scores, flagged)


def read_corpus(path: Path) -> dict[str, Paper]:
    """The abstracts of a corpus file by id. Raises `SourceError` for a line without `_id` or `text`, or an empty file."""
    papers: dict[str, Paper] = {}
    for line, record in _records(path):
        if "_id" not in record or not isinstance(record.get("text"), str):
            raise SourceError(f"{path}:{line} lacks `_id` or a `text` string. Each line is an object with `_id`, `title` and `text`.")
        id_ = str(record["_id"])
        papers[id_] = Paper(id_, " ".join(str(record.get("title") or "").split()), " ".join(record["text"].split()))
    if not papers:
        raise SourceError(f"{path} holds no abstracts. Each line is an object with `_id`, `title` and `text`.")
    return papers


def read_pairs(path: Path, papers: Mapping[str, Paper]) -> tuple[LabelledPair, ...]:
    """The labelled pairs of a file in order. Raises `SourceError` for a missing field, an unknown label or id, or an empty file."""
    pairs = tuple(_pair(path, line, record, papers) for line, record in _records(path))
    if not pairs:
        raise SourceError(f"{path} holds no pairs. Each line is an object with `claim`, `doc_id` and `label`.")
    return pairs


def corpus_idf(papers: Sequence[Paper]) -> Callable[[str], float]:
    """IDF of stems over the given papers (Robertson's, never negative)."""
    frequencies: Counter[str] = Counter()
    for paper in papers:
        frequencies.update(set(index_terms(f"{paper.title} {paper.abstract}").split()))
    count = len(papers)
    return lambda stem: math.log(1 + (count - frequencies[stem] + 0.5) / (frequencies[stem] + 0.5))


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """Chance (0..1) that a positive scores above a negative, ties counted half (Mann-Whitney U); None when either is empty."""
    if not positive or not negative:
        return None
    below = sorted([(score, 0) for score in negative] + [(score, 1) for score in positive])
    ranks = 0.0
    start = 0
    while start < len(below):
        end = start
        while end < len(below) and below[end][0] == below[start][0]:
            end += 1
        ranks += (start + 1 + end) / 2 * sum(is_positive for _, is_positive in below[start:end])
        start = end
    return (ranks - len(positive) * (len(positive) + 1) / 2) / (len(positive) * len(negative))


def _figures(pairs: Sequence[LabelledPair], scores: Sequence[float], flagged: Counter[str]) -> SupportFigures:
    by_label: dict[str, list[float]] = {"SUPPORT": [], "CONTRADICT": [], "NONE": []}
    for pair, score in zip(pairs, scores, strict=True):
        by_label[pair.label].append(score)
    counts = {label: len(own) for label, own in by_label.items()}
    return SupportFigures(
        auroc_none=auroc(by_label["SUPPORT"], by_label["NONE"]),
        auroc_contradict=auroc(by_label["SUPPORT"], by_label["CONTRADICT"]),
        n=len(pairs),
        support=counts["SUPPORT"],
        contradict=counts["CONTRADICT"],
        none=counts["NONE"],
        flagged={label: flagged[label] / count for label, count in counts.items() if count},
    )


def _pair(path: Path, line: int, record: Mapping[str, Any], papers: Mapping[str, Paper]) -> LabelledPair:
    claim, id_, label = record.get("claim"), str(record.get("doc_id", "")), str(record.get("label", "")).strip().lower()
    if not isinstance(claim, str) or not claim.strip() or not id_:
        raise SourceError(f"{path}:{line} lacks `claim` or `doc_id`. Each line is an object with `claim`, `doc_id` and `label`.")
    if label not in _LABELS:
        raise SourceError(f"{path}:{line} has the label {record.get('label')!r}. Known: SUPPORT, CONTRADICT, NONE.")
    if id_ not in papers:
        raise SourceError(
            f"{path}:{line} names the abstract {id_!r}, which the corpus does not have. Give the corpus the claims were made for."
        )
    return LabelledPair(claim, papers[id_], _LABELS[label])


def _records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"Cannot read {path}: {error}. Give a UTF-8 file of JSON lines.") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise SourceError(f"{path}:{number} is not JSON: {error.msg} at column {error.colno}. Each line is one JSON object.") from error
        if not isinstance(record, dict):
            raise SourceError(f"{path}:{number} is a JSON {type(record).__name__}, not an object. Each line is one JSON object.")
        yield number, record
