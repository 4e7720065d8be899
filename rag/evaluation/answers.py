"""Measures answers: the right papers, whole lists, the fact asked for, honest refusals, valid citations."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.errors import SourceError, UsageError
from rag.evaluation.metrics import Difference, Figure, difference, figure, score_rankings
from rag.evaluation.support import auroc

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from rag.records import Answer

KINDS = ("which", "list", "fact", "none")
_RANKED = ("hit@1", "hit@3", "MRR@10", "R-precision")
_DEPTH = 100
_MARKER = re.compile(r"\[(\d+)\??\]")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what is right: papers, and for a fact any of some strings that the answer must hold."""

    id: str
    kind: str
    """`which` (one paper), `list` (a set of papers), `fact` (one paper and a string), `none` (no paper)."""
    question: str
    papers: tuple[str, ...] = ()
    answer_any: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question."""

    question: Question
    ranking: tuple[str, ...]
    """Paper ids, best first: the papers of the answer, then the rest of the search."""
    returned: tuple[str, ...]
    """The papers of a list, or those an answer cites."""
    abstained: bool
    answerable: float
    text: str
    has_valid_citations: bool


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """Kind of question to measure to figure; `all` holds the measures over kinds."""

    questions: int
    measures: Mapping[str, Mapping[str, Figure]]
    auroc: float | None
    """A question with an answer gets a higher probability than one without; None when the file lacks either."""
    outcomes: tuple[Outcome, ...] = ()
    values: Mapping[str, Mapping[str, Mapping[str, float]]] | None = None
    """Kind to measure to question id to value."""


def read_questions(file: Path) -> tuple[Question, ...]:
    """The questions of a JSON Lines file: `question`, `papers`, and if given `id`, `kind` (else `list`) and `answer_any`.

    Raises `SourceError`, naming file and line, for a record that cannot be used.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise SourceError(f"Cannot read {str(file)!r}: {error.strerror}. Name a file of questions.") from error
    return tuple(_question(line, f"{file.name}:{number}") for number, line in enumerate(lines, 1) if line.strip())


def evaluate_answers(
    file: Path, assistant: Assistant, *, progress: Callable[[int, int | None], None] | None = None, **options: Any
) -> AnswerFigures:
    """Asks every question of the file and measures the answers; `options` are those of `Assistant.ask`. Nothing is logged.

    Raises `SourceError` for a file that cannot be used, `MissingExtraError` without the extra `eval`.
    """
    questions = read_questions(file)
    outcomes = []
    for done, question in enumerate(questions, 1):
        outcomes.append(_ask(question, assistant, options))
        if progress is not None:
            progress(done, len(questions))
    return summarize(outcomes)


def compare_answers(a: AnswerFigures, b: AnswerFigures) -> dict[str, dict[str, Difference]]:
    """How far each measure of `b` is from `a`, over the same questions, tested in pairs."""
    first, second = a.values or {}, b.values or {}
    return {
        kind: {name: difference(values, second[kind][name]) for name, values in measures.items() if name in second.get(kind, {})}
        for kind, measures in first.items()
    }


def summarize(outcomes: Sequence[Outcome]) -> AnswerFigures:
    """The figures of the outcomes, per kind and over all."""
    values = {kind: _of_kind(kind, [o for o in outcomes if o.question.kind == kind]) for kind in KINDS}
    values = {kind: measures for kind, measures in values.items() if measures}
    values["all"] = _over_kinds(outcomes)
    answered = [o.answerable for o in outcomes if o.question.kind != "none"]
    unanswered = [o.answerable for o in outcomes if o.question.kind == "none"]
    return AnswerFigures(
        len(outcomes),
        {kind: {name: figure(per_question) for name, per_question in measures.items()} for kind, measures in values.items()},
        auroc(answered, unanswered) if answered and unanswered else None,
        tuple(outcomes),
        values,
    )


def figures_rows(figures: AnswerFigures) -> list[tuple[str, ...]]:
    """A table with a heading row: kind, measure, mean, 95% interval."""
    rows = [
        (kind, name, f"{value.mean:.3f}", f"{value.low:.3f}-{value.high:.3f}")
        for kind, measures in figures.measures.items()
        for name, value in measures.items()
    ]
    area = [("all", "AUROC answerable", f"{figures.auroc:.3f}", "")] if figures.auroc is not None else []
    return [("kind", "measure", f"{figures.questions} questions", "95% interval"), *rows, *area]


def figures_json(figures: AnswerFigures) -> dict[str, object]:
    """The figures as one JSON object."""
    table = {
        kind: {name: {"mean": value.mean, "low": value.low, "high": value.high} for name, value in measures.items()}
        for kind, measures in figures.measures.items()
    }
    return {"questions": figures.questions, "measures": table, "auroc": figures.auroc}


def comparison_rows(a: AnswerFigures, b: AnswerFigures) -> list[tuple[str, ...]]:
    """A table with a heading row: kind, measure, A, B, difference with 95% interval, p."""
    rows = [
        (kind, name, f"{a.measures[kind][name].mean:.3f}", f"{b.measures[kind][name].mean:.3f}", f"{gap.mean:+.3f}")
        + (f"{gap.low:+.3f} to {gap.high:+.3f}", f"{gap.p:.4f}")
        for kind, measures in compare_answers(a, b).items()
        for name, gap in measures.items()
    ]
    return [("kind", "measure", "A", "B", "B - A", "95% interval", "p"), *rows]


def comparison_json(a: AnswerFigures, b: AnswerFigures) -> dict[str, object]:
    """Both sets of figures and their differences as one JSON object."""
    gaps = {kind: {name: asdict(gap) for name, gap in measures.items()} for kind, measures in compare_answers(a, b).items()}
    return {"a": figures_json(a), "b": figures_json(b), "differences": gaps}


def _question(line: str, place: str) -> Question:
    try:
        record = json.loads(line)
        kind = record.get("kind", "list")
        if kind not in KINDS:
            raise UsageError(f"kind {kind!r} is not one of {', '.join(KINDS)}")
        papers, wanted = tuple(map(str, record.get("papers", ()))), tuple(map(str, record.get("answer_any", ())))
        return Question(str(record.get("id", place)), kind, record["question"], papers, wanted)
    except (ValueError, TypeError, KeyError, AttributeError, UsageError) as error:
        raise SourceError(
            f"{place} is no question ({error}). A line is like {{'question': ..., 'kind': 'which', 'papers': [...]}}."
        ) from error


def _ask(question: Question, assistant: Assistant, options: Mapping[str, Any]) -> Outcome:
    answer = assistant.ask(question.question, **options)
    found = [hit.paper.id for hit in answer.retrieval.hits] if answer.retrieval else []
    searched = [hit.paper.id for hit in assistant.search(question.question, _DEPTH)]
    listed = found if answer.mode == "list" else [citation.paper.id for citation in answer.citations]
    return Outcome(
        question,
        tuple(dict.fromkeys([*found, *searched])),
        () if answer.abstained else tuple(listed),
        answer.abstained,
        answer.retrieval.answerable if answer.retrieval else 0.0,
        answer.text,
        _has_valid_citations(answer, found),
    )


def _has_valid_citations(answer: Answer, found: Sequence[str]) -> bool:
    """Whether the numbers in the text are exactly those of the citations, and each cites a paper that was retrieved."""
    cited = {citation.number for citation in answer.citations}
    return {int(number) for number in _MARKER.findall(answer.text)} == cited and {c.paper.id for c in answer.citations} <= set(found)


def _of_kind(kind: str, outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    if not outcomes:
        return {}
    refused = {o.question.id: float(o.abstained) for o in outcomes}
    if kind == "none":
        return {"refused": refused}
    qrels = {o.question.id: dict.fromkeys(o.question.papers, 1) for o in outcomes}
    scores = score_rankings(qrels, {o.question.id: o.ranking for o in outcomes})
    measures = {name: scores[name] for name in _RANKED} | {"refused": refused}
    if kind == "list":
        measures |= _set_measures(outcomes)
    if kind == "fact":
        measures["fact in answer"] = {o.question.id: float(any(fact in o.text for fact in o.question.answer_any)) for o in outcomes}
    return measures


def _set_measures(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    rows = {o.question.id: tuple(_overlap(set(o.returned), set(o.question.papers))) for o in outcomes}
    names = ("set precision", "set recall", "set F1", "size / labels")
    return {name: {key: row[column] for key, row in rows.items()} for column, name in enumerate(names)}


def _overlap(returned: set[str], wanted: set[str]) -> Iterator[float]:
    both = len(returned & wanted)
    yield both / len(returned) if returned else 0.0
    yield both / len(wanted) if wanted else 0.0
    yield 2 * both / (len(returned) + len(wanted)) if returned or wanted else 0.0
    yield len(returned) / len(wanted) if wanted else 0.0


def _over_kinds(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Refusals as a detector of questions without an answer, and whether citations are valid."""
    return {
        "citations valid": {o.question.id: float(o.has_valid_citations) for o in outcomes},
        "abstention precision": {o.question.id: float(o.question.kind == "none") for o in outcomes if o.abstained},
        "abstention recall": {o.question.id: float(o.abstained) for o in outcomes if o.question.kind == "none"},
        "wrongly refused": {o.question.id: float(o.abstained) for o in outcomes if o.question.kind != "none"},
    }
