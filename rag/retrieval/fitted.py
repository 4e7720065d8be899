"""Coefficients of the two judgements, chosen on the development data (docs/evaluation.md).

`python benchmarks/fit_answerable.py EVALUATION_FOLDER CORPORA_FOLDER --home HOME` fits them anew.
"""

from __future__ import annotations

MATCH = {"constant": -3.816, "height": 2.515, "gap": -0.157, "full": 0.877, "missing": -0.12}
"""Logistic regression of "the paper is one of the list" on the features of `rag.retrieval.listing`."""

ANSWERABLE = {"constant": -5.703, "aboutness": 5.147, "coverage": 4.472, "window": 1.43, "agreement": 0.386, "papers": -0.06}
"""Logistic regression of "the corpus answers" on the features of `rag.retrieval.answerable`."""

THRESHOLD = 0.42
"""Split-conformal: at least `1 - ALPHA` of the answerable development questions are above; all 77 of the bundled corpus are."""

ALPHA = 0.04
