"""The scoring model's numbers, written by `python benchmarks/support_fit.py SUPPORT.jsonl --corpus CORPUS.jsonl`; not to be edited by hand.

Fitted on support_dev.jsonl, 1287 pairs. Cross-validated by claim, AUROC against unrelated / contradicted pairs:
`FULL` 0.922 / 0.622.
`LEXICAL` 0.895 / 0.639.
`FULL` is for sentences that were embedded, `LEXICAL` for those that were not; feature to weight per unit.
"""

from __future__ import annotations

from collections.abc import Mapping

INTERCEPT_FULL = -2.6589
FULL: Mapping[str, float] = {
    "coverage": 1.8138,
    "missing": -0.3711,
    "opposed": -0.4262,
    "stance": 0.5554,
    "stance_share": 0.4233,
    "directional": -0.2695,
    "denial": -0.2818,
    "wrong_figures": -0.5303,
    "cosine": 2.1952,
    "focus": 2.6248,
}

INTERCEPT_LEXICAL = -0.1097
LEXICAL: Mapping[str, float] = {
    "coverage": 2.7193,
    "missing": -0.4177,
    "opposed": -0.3750,
    "stance": 0.4682,
    "stance_share": 0.3572,
    "directional": -0.2098,
    "denial": -0.2848,
    "wrong_figures": -0.5292,
}
