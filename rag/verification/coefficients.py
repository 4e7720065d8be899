"""The scoring model's numbers, written by `python benchmarks/support_fit.py SUPPORT.jsonl --corpus CORPUS.jsonl`; not to be edited by hand.

Fitted on support_dev.jsonl, 1287 pairs. Cross-validated by claim, AUROC against unrelated / contradicted pairs:
`FULL` 0.920 / 0.605.
`LEXICAL` 0.898 / 0.607.
`FULL` is for sentences that were embedded, `LEXICAL` for those that were not; feature to weight per unit.
"""

from __future__ import annotations

from collections.abc import Mapping

INTERCEPT_FULL = -3.3656
FULL: Mapping[str, float] = {
    "coverage": 2.4235,
    "missing": -0.5985,
    "opposed": -0.7253,
    "stance": 1.3463,
    "stance_share": 0.3925,
    "directional": -0.4618,
    "denial": -0.5401,
    "wrong_figures": -0.7606,
    "cosine": 1.0077,
    "focus": 5.5463,
}

INTERCEPT_LEXICAL = -1.0581
LEXICAL: Mapping[str, float] = {
    "coverage": 4.9682,
    "missing": -0.4411,
    "opposed": -0.5938,
    "stance": 1.0340,
    "stance_share": 0.2028,
    "directional": -0.3666,
    "denial": -0.6011,
    "wrong_figures": -0.7338,
}
