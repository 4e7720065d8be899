"""What speaks against a statement however alike the wording is: figures, names, negation, opposites, exchanged sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.records import Paper, Support
from rag.verification.features import Comparison
from rag.verification.figures import Mismatch, mismatches
from rag.verification.names import distinctive_names, known_names, proper_names, unknown_names
from rag.verification.polarity import negation_differs, opposites, sides_swapped
from rag.verification.readings import Idf, PaperReading, Sentence, StatementReading, coverage

# Only a sentence that shares this much with the statement is close enough for a lone "not" to decide.
_CLOSE = 0.6
_VERY_CLOSE = 0.8


@dataclass(frozen=True, slots=True)
class Objection:
    """What failed, in words for the reader, and the best verdict that is still possible."""

    problem: str
    at_most: Support


def objections(statement: StatementReading, paper: Paper, reading: PaperReading, comparison: Comparison, idf: Idf) -> tuple[Objection, ...]:
    """All objections to a statement, gravest first; empty when nothing speaks against it."""
    found = [*_figures(statement, reading), *_names(statement, paper), *_turned(statement, reading, comparison, idf)]
    return tuple(sorted(found, key=lambda objection: objection.at_most != "unsupported"))


def _figures(statement: StatementReading, reading: PaperReading) -> Iterator[Objection]:
    for mismatch in mismatches(statement.figures, reading.figures):
        yield Objection(_figure_problem(mismatch), "unsupported" if mismatch.wrong else "weak")


def _figure_problem(mismatch: Mismatch) -> str:
    hint = f" ({mismatch.nearest} is)" if mismatch.nearest else ""
    return f"number {mismatch.quantity.text} is not in the abstract{hint}"


def _names(statement: StatementReading, paper: Paper) -> Iterator[Objection]:
    known = known_names(paper)
    names = (*distinctive_names(statement.text), *proper_names(statement.text))
    for name in unknown_names(names, known, statement.text):
        yield Objection(f"name {name} is not in the abstract", "weak")


def _turned(statement: StatementReading, reading: PaperReading, comparison: Comparison, idf: Idf) -> Iterator[Objection]:
    closest = _closest(statement, reading, comparison, idf)
    if closest is None:
        return
    share, sentence = closest
    grave: Support = "unsupported" if share >= _VERY_CLOSE else "weak"
    if negation_differs(statement.words, sentence.words):
        yield Objection("one of statement and abstract denies what the other says", grave)
    for stated, given in opposites(statement.words, sentence.words):
        yield Objection(f"the statement says {stated!r}, the abstract {given!r}", grave)
    if sides_swapped(statement.words, sentence.words):
        yield Objection("the two sides of a comparison are exchanged", grave)


def _closest(statement: StatementReading, reading: PaperReading, comparison: Comparison, idf: Idf) -> tuple[float, Sentence] | None:
    def share(sentence: Sentence) -> float:
        return coverage(statement.stems, sentence.stems, comparison.alike, idf)

    sentences: Sequence[Sentence] = reading.sentences
    best = max(sentences, key=share, default=None)
    return (share(best), best) if best is not None and share(best) >= _CLOSE else None
