"""Coefficients of the two judgements, written by `benchmarks/fit_answerable.py`; do not edit.

python benchmarks/fit_answerable.py EVALUATION_FOLDER CORPORA_FOLDER --home HOME
"""

from __future__ import annotations

MATCH = {"constant": -3.816, "height": 2.515, "gap": -0.157, "full": 0.877, "missing": -0.12}
"""Logistic regression of "the paper is one of the list" on the features of `rag.retrieval.listing`."""

ANSWERABLE = {"constant": -9.0, "aboutness": 6.0, "coverage": 6.0, "window": 2.0, "agreement": 0.3, "papers": -0.05}
"""Logistic regression of "the corpus answers" on the features of `rag.retrieval.answerable`."""

THRESHOLD = 0.4
"""Split-conformal: at least `1 - ALPHA` of answerable questions are above."""

ALPHA = 0.05
