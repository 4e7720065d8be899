"""From measurements to a probability that the paper supports the statement."""

from __future__ import annotations

import math
from dataclasses import asdict

from rag.verification.coefficients import FULL, INTERCEPT_FULL, INTERCEPT_LEXICAL, LEXICAL
from rag.verification.features import Features


def probability(features: Features, *, embedded: bool) -> float:
    """Probability (0..1) by the logistic model; `embedded` tells whether the cosines were measured."""
    intercept, weights = (INTERCEPT_FULL, FULL) if embedded else (INTERCEPT_LEXICAL, LEXICAL)
    values = asdict(features)
    logit = intercept + sum(weight * values[name] for name, weight in weights.items())
    return 1 / (1 + math.exp(-max(min(logit, 30.0), -30.0)))
