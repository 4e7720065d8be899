"""From measurements and objections to a score that the paper supports the statement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict

from rag.verification.coefficients import FULL, INTERCEPT_FULL, INTERCEPT_LEXICAL, LEXICAL
from rag.verification.features import Features
from rag.verification.objections import Objection

# Where the wording is close, one wrong word decides; where it is loose, it may be another way to say it, and costs little.
_CLOSE_WORDING = 0.85
_CLOSE_FACTOR = 0.3
_LOOSE_FACTOR = 0.8
# Just below what counts as supported.
_CEILING = 0.59


def probability(features: Features, *, embedded: bool) -> float:
    """Probability (0..1) by the logistic model; `embedded` tells whether the cosines were measured."""
    intercept, weights = (INTERCEPT_FULL, FULL) if embedded else (INTERCEPT_LEXICAL, LEXICAL)
    values = asdict(features)
    logit = intercept + sum(weight * values[name] for name, weight in weights.items())
    return 1 / (1 + math.exp(-max(min(logit, 30.0), -30.0)))


def lowered(score: float, wording: float, found: Sequence[Objection]) -> float:
    """The score in the light of the objections; `wording` is the share of the statement that the paper has.

    What is `unsupported` never scores as high as what is `supported`. A name that the paper lacks lowers the score only where the rest
    is worded as in the paper: elsewhere it is likelier another name for the same thing.
    """
    is_close = wording >= _CLOSE_WORDING
    if any(objection.at_most == "unsupported" for objection in found):
        return min(score * (_CLOSE_FACTOR if is_close else _LOOSE_FACTOR), _CEILING)
    return min(score, _CEILING) if found and is_close else score
