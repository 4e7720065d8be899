"""What speaks against a statement however alike the wording is: figures, names, negation, opposites, exchanged sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rag.records import Paper, Support
from rag.verification.edits import denial_changed, edits, exchanged_opposites
from rag.verification.features import Comparison
from rag.verification.figures import Mismatch, mismatches, misplaced
from rag.verification.names import distinctive_names, known_names, proper_names, unknown_names
from rag.verification.polarity import negation_differs, sides_swapped
from rag.verification.readings import Idf, PaperReading, Sentence, StatementReading, coverage

# Only a sentence that shares this much with the statement is close enough for a lone "not" to decide.
_CLOSE = 0.5
_VERY_CLOSE = 0.65
_DENIED = "one of statement and abstract denies what the other says"


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
    for stated, given in misplaced(statement.figures, reading.figures):
        yield Objection(f"number {stated.text} stands where the abstract has {given.text}", "unsupported")


def _figure_problem(mismatch: Mismatch) -> str:
    hint = f" ({mismatch.nearest} is)" if mismatch.nearest else ""
    return f"number {mismatch.quantity.text} is not in the abstract{hint}"


def _names(statement: StatementReading, paper: Paper) -> Iterator[Objection]:
    known = known_names(paper)
    names = (*distinctive_names(statement.text), *proper_names(statement.text))
    for name in unknown_names(names, known, statement.text):
        yield Objection(f"name {name} is not in the abstract", "weak")


def _turned(statement: StatementReading, reading: PaperReading, comparison: Comparison, idf: Idf) -> Iterator[Objection]:
    share, sentence = _closest(statement, reading, comparison, idf)
    if sentence is None or share < _CLOSE:
        return
    if share >= _VERY_CLOSE:
        yield from _edited(statement, sentence)
    elif negation_differs(statement.words, sentence.words):
        yield Objection(_DENIED, "weak")
    if sides_swapped(statement.words, sentence.words):
        yield Objection("the two sides of a comparison are exchanged", "unsupported" if share >= _VERY_CLOSE else "weak")


def _edited(statement: StatementReading, sentence: Sentence) -> Iterator[Objection]:
    found = edits(statement.words, sentence.words)
    if denial_changed(found):
        yield Objection(_DENIED, "unsupported")
    for stated, given in exchanged_opposites(found):
        yield Objection(f"the statement says {stated!r} where the abstract says {given!r}", "unsupported")


def _closest(statement: StatementReading, reading: PaperReading, comparison: Comparison, idf: Idf) -> tuple[float, Sentence | None]:
    """The sentence that holds the largest share of the statement, with that share; 0 and None for a paper without abstract."""
    shares = [coverage(statement.stems, sentence.stems, comparison.alike, idf) for sentence in reading.sentences]
    best = max(range(len(shares)), key=shares.__getitem__, default=None)
    return (0.0, None) if best is None else (shares[best], reading.sentences[best])
