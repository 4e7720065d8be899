"""Coefficients of the two judgements, written by `benchmarks/fit_answerable.py`; do not edit.

python benchmarks/fit_answerable.py EVALUATION_FOLDER CORPORA_FOLDER --home HOME
"""

from __future__ import annotations

MATCH = {"constant": -2.8, "height": 2.47, "gap": -0.18, "full": 0.5, "missing": -0.2}
"""Logistic regression of "the paper is one of the list" on the features of `rag.retrieval.listing`."""

ANSWERABLE = {"constant": -9.0, "aboutness": 6.0, "coverage": 6.0, "window": 2.0, "agreement": 0.3, "papers": -0.05}
"""Logistic regression of "the corpus answers" on the features of `rag.retrieval.answerable`."""

THRESHOLD = 0.4
"""Split-conformal: at least `1 - ALPHA` of answerable questions are above."""

ALPHA = 0.05
