"""Fits the support score and writes `rag/verification/coefficients.py`.

    python benchmarks/support_fit.py SUPPORT.jsonl --corpus CORPUS.jsonl [--cache FEATURES.pkl] [--dry-run]

Logistic regression, L2; contradicted pairs weigh less than unrelated ones because wording tells little about them.
Figures are cross-validated in ten folds, all pairs of a claim in one fold, five shuffles. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import pickle
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from rag.embedding import open_embedder
from rag.evaluation.support import LabelledPair, corpus_idf, read_corpus, read_pairs
from rag.settings import Settings
from rag.verification.features import Features, compare
from rag.verification.objections import Objection, objections
from rag.verification.readings import read_paper, read_statement
from rag.verification.scoring import lowered

CONTRADICT_WEIGHT = 0.1
STRENGTH = 0.01
FOLDS, SHUFFLES = 10, 5
NAMES = [field.name for field in fields(Features)]
COVERAGE = NAMES.index("coverage")
TARGET = Path(__file__).resolve().parent.parent / "rag" / "verification" / "coefficients.py"


Objecting = list[tuple[Objection, ...]]


def measure(pairs: list[LabelledPair], idf: Any, embedder: Any, cache: Path | None) -> tuple[dict[str, np.ndarray], Objecting]:
    """Features of all pairs, with and without cosines, and the objections to them; vectors are kept in `cache`."""
    vectors: dict[str, np.ndarray] = pickle.loads(cache.read_bytes()) if cache and cache.exists() else {}  # noqa: S301 - own file
    wanted = [text for pair in pairs for text in (read_statement(pair.claim).text, *passages(pair))]
    new = [text for text in dict.fromkeys(wanted) if text not in vectors]
    vectors.update(zip(new, embedder.embed(new), strict=True))
    if cache:
        cache.write_bytes(pickle.dumps(vectors))
    full, lexical, found = [], [], []
    for pair in pairs:
        statement, paper = read_statement(pair.claim), read_paper(pair.paper)
        cosines = [float(vectors[statement.text] @ vectors[text]) for text in passages(pair)]
        full.append(astuple(compare(statement, paper, idf, cosines).features))
        comparison = compare(statement, paper, idf, ())
        lexical.append(astuple(comparison.features))
        found.append(objections(statement, pair.paper, paper, comparison, idf))
    return {"FULL": np.array(full), "LEXICAL": np.array(lexical)}, found


def passages(pair: LabelledPair) -> list[str]:
    """The texts the claim is compared with: sentences, then title."""
    return [*(sentence.span.text for sentence in read_paper(pair.paper).sentences), pair.paper.title]


def fit(x: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """Intercept and weights per unit of each feature."""
    mean, spread = x.mean(0), np.maximum(x.std(0), 1e-9)
    weights = np.where(labels == "CONTRADICT", CONTRADICT_WEIGHT, 1.0)
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit((x - mean) / spread, labels == "SUPPORT", sample_weight=weights)
    scaled = model.coef_[0] * (spread > 1e-9) / spread
    return float(model.intercept_[0] - scaled @ mean), scaled


def cross_validated(x: np.ndarray, labels: np.ndarray, claims: np.ndarray, found: Objecting) -> dict[str, tuple[float, float]]:
    """Mean and spread over shuffles of both AUROCs of the final score, on held-out claims."""
    areas: dict[str, list[float]] = {"NONE": [], "CONTRADICT": []}
    names = np.unique(claims)
    for seed in range(SHUFFLES):
        folds = dict(zip(names, np.random.default_rng(seed).permutation(len(names)) % FOLDS, strict=True))
        fold = np.array([folds[claim] for claim in claims])
        scores = np.zeros(len(labels))
        for k in range(FOLDS):
            intercept, weights = fit(x[fold != k], labels[fold != k])
            scores[fold == k] = 1 / (1 + np.exp(-(x[fold == k] @ weights + intercept)))
        scores = np.array([lowered(score, row[COVERAGE], own) for score, row, own in zip(scores, x, found, strict=True)])
        for other, values in areas.items():
            mask = (labels == "SUPPORT") | (labels == other)
            values.append(roc_auc_score(labels[mask] == "SUPPORT", scores[mask]))
    return {other: (float(np.mean(values)), float(np.std(values))) for other, values in areas.items()}


def rendered(models: dict[str, tuple[float, np.ndarray]], figures: dict[str, dict[str, tuple[float, float]]], name: str) -> str:
    """The coefficients as a module."""
    lines = [
        '"""The scoring model\'s numbers, written by `python benchmarks/support_fit.py SUPPORT.jsonl --corpus CORPUS.jsonl`; not to be edited by hand.',
        "",
        f"Fitted on {name}. Cross-validated by claim, AUROC against unrelated / contradicted pairs:",
        *(f"`{kind}` {own['NONE'][0]:.3f} / {own['CONTRADICT'][0]:.3f}." for kind, own in figures.items()),
        "`FULL` is for sentences that were embedded, `LEXICAL` for those that were not; feature to weight per unit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Mapping",
    ]
    for kind, (intercept, weights) in models.items():
        rows = [f'    "{feature}": {weight:.4f},' for feature, weight in zip(NAMES, weights, strict=True) if abs(weight) > 5e-5]
        lines += ["", f"INTERCEPT_{kind} = {intercept:.4f}", f"{kind}: Mapping[str, float] = {{", *rows, "}"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measures, cross-validates, fits, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="keeps the vectors between runs")
    parser.add_argument("--dry-run", action="store_true", help="print the figures, write nothing")
    options = parser.parse_args()
    papers = read_corpus(options.corpus)
    pairs = list(read_pairs(options.file, papers))
    labels, claims = np.array([pair.label for pair in pairs]), np.array([pair.claim for pair in pairs])
    measured, found = measure(pairs, corpus_idf(tuple(papers.values())), open_embedder(Settings.resolve()), options.cache)
    figures = {kind: cross_validated(x, labels, claims, found) for kind, x in measured.items()}
    models = {kind: fit(x, labels) for kind, x in measured.items()}
    for kind, own in figures.items():
        print(kind, {other: f"{mean:.4f} +- {spread:.4f}" for other, (mean, spread) in own.items()})
    if not options.dry_run:
        TARGET.write_text(rendered(models, figures, f"{options.file.name}, {len(pairs)} pairs"), encoding="utf-8")


if __name__ == "__main__":
    main()
