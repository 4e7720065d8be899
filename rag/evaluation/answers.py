"""Measures answers on a question file: ranking, returned sets, refusals, facts and citations."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from rag.conversation import Conversation
from rag.errors import MissingExtraError, SourceError, UsageError
from rag.evaluation.metrics import Difference, Figure, Values, difference, figure, score_rankings
from rag.records import Answer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag.assistant import Assistant

_VARIABLE = ("corpus", "model", "embedder", "reranker")
KINDS = ("which", "list", "fact", "none")
_RANKING = {"hit@1": "Success@1", "hit@3": "Success@3", "MRR": "RR", "R-precision": "Rprec"}
_SETS = {"set precision": "SetP", "set recall": "SetR", "set F1": "SetF"}
_DEPTH = 100
_RESAMPLES = 2_000
_MARKER = re.compile(r"\[(\d+)[^\]\w]?\](?!\()")


@dataclass(frozen=True, slots=True)
class Question:
    """A labelled question."""

    id: str
    kind: str
    """One of `KINDS`."""
    text: str
    papers: tuple[str, ...]
    """Ids of all right papers; empty when no paper answers."""
    facts: tuple[str, ...] = ()
    """Strings any of which a right answer contains."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of one question."""

    question: Question
    answer: Answer
    ranking: tuple[str, ...]
    """Paper ids, best first: what the answer was made from, then what search ranks next."""
    returned: tuple[str, ...]
    """Ids of the papers given as the answer; none when it abstains."""

    @property
    def answerable(self) -> float:
        """The probability that the corpus answers, as the retrieval estimates it."""
        return self.answer.retrieval.answerable if self.answer.retrieval else 0.0


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """What a system scored on a question file."""

    data: str
    system: str
    questions: Mapping[str, int]
    """Kind to number of questions."""
    measures: Mapping[str, Mapping[str, Figure]]
    """Kind, or `all`, to measure to figure."""
    per_question: Mapping[str, Mapping[str, Values]]
    """The same with question ids and values in place of figures; measures of the file as a whole are not in it."""


@dataclass(frozen=True, slots=True)
class AnswerComparison:
    """Two systems on the same questions."""

    a: AnswerFigures
    b: AnswerFigures
    differences: Mapping[str, Mapping[str, Difference]]


def read_questions(file: Path) -> tuple[Question, ...]:
    """The questions of a JSON lines file, in order: `question`, `papers`, and optionally `id`, `kind` and `answer_any`.

    Without `kind`, a question with papers is of kind `list`, one without of kind `none`. Raises `SourceError` for a file that
    cannot be read or a line that is no question.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"Cannot read {file}: {error}. A question file is JSON lines in UTF-8.") from error
    questions = tuple(_question(file, number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())
    if len({question.id for question in questions}) < len(questions):
        raise SourceError(f"{file} has two questions with the same id. Give each its own, or none.")
    if not questions:
        raise SourceError(f"{file} holds no question. Each line is an object with `question` and `papers`.")
    return questions


def evaluate_answers(
    file: Path, assistant: Assistant, *, system: str = "", progress: Callable[[int, int | None], None] | None = None
) -> AnswerFigures:
    """The figures of the assistant on the questions of `file`, each asked in a conversation of its own that is not logged.

    A question without results counts zero in every measure. Raises `SourceError` for a bad file, `MissingExtraError` without the
    extra `eval`.
    """
    questions = read_questions(file)
    asked = []
    for number, question in enumerate(questions, 1):
        asked.append(_ask(question, assistant))
        if progress is not None:
            progress(number, len(questions))
    return score_answers(asked, data=file.name, system=system)


def parse_variant(text: str) -> dict[str, str]:
    """Settings from `name=value,name=value`: corpus, model, embedder or reranker. Raises `UsageError` for another name."""
    settings: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals or name not in _VARIABLE:
            raise UsageError(f"Unknown variant {part!r}. Write NAME=VALUE with one of {', '.join(_VARIABLE)}.")
        settings[name] = value
    return settings


def score_answers(asked: Sequence[Asked], *, data: str = "", system: str = "") -> AnswerFigures:
    """The figures of answers that were given."""
    per_question = {kind: _values([one for one in asked if one.question.kind == kind], kind) for kind in KINDS}
    per_question = {kind: values for kind, values in per_question.items() if values}
    measures = {kind: {name: figure(values) for name, values in table.items()} for kind, table in per_question.items()}
    whole = _refusals(asked)
    if whole:
        measures["all"] = whole
    counts = {kind: sum(one.question.kind == kind for one in asked) for kind in per_question}
    return AnswerFigures(data, system, counts, measures, per_question)


def compare_answers(a: AnswerFigures, b: AnswerFigures) -> AnswerComparison:
    """How far `b` is from `a` on each measure of single questions, tested in pairs."""
    differences = {
        kind: {name: difference(values, b.per_question[kind][name]) for name, values in table.items()}
        for kind, table in a.per_question.items()
        if kind in b.per_question
    }
    return AnswerComparison(a, b, differences)


def answers_json(figures: AnswerFigures) -> dict[str, object]:
    """The figures as one JSON object, without the values of single questions."""
    measures = {kind: {name: asdict(value) for name, value in table.items()} for kind, table in figures.measures.items()}
    return {"data": figures.data, "system": figures.system, "questions": dict(figures.questions), "measures": measures}


def answers_rows(figures: AnswerFigures) -> list[tuple[str, ...]]:
    """A table with a heading row: kind, questions, measure, mean, 95% interval."""
    rows = [
        (
            kind,
            str(figures.questions.get(kind, sum(figures.questions.values()))),
            name,
            f"{value.mean:.3f}",
            f"{value.low:.3f}-{value.high:.3f}",
        )
        for kind, table in figures.measures.items()
        for name, value in table.items()
    ]
    return [("kind", "questions", "measure", "mean", "95% interval"), *rows]


def comparison_json(comparison: AnswerComparison) -> dict[str, object]:
    """Both systems' figures and the differences as one JSON object."""
    differences = {kind: {name: asdict(gap) for name, gap in table.items()} for kind, table in comparison.differences.items()}
    return {"a": answers_json(comparison.a), "b": answers_json(comparison.b), "differences": differences}


def comparison_rows(comparison: AnswerComparison) -> list[tuple[str, ...]]:
    """A table with a heading row: kind, measure, A, B, difference with 95% interval, p."""
    a, b = comparison.a, comparison.b
    rows = [
        (kind, name, f"{a.measures[kind][name].mean:.3f}", f"{b.measures[kind][name].mean:.3f}", f"{gap.mean:+.3f}")
        + (f"{gap.low:+.3f} to {gap.high:+.3f}", f"{gap.p:.4f}")
        for kind, table in comparison.differences.items()
        for name, gap in table.items()
    ]
    return [("kind", "measure", f"A: {a.system or 'default'}", f"B: {b.system or 'default'}", "B - A", "95% interval", "p"), *rows]


def _question(file: Path, number: int, line: str) -> Question:
    try:
        record: Mapping[str, Any] = json.loads(line)
        papers = tuple(map(str, record["papers"]))
        kind = str(record.get("kind") or ("list" if papers else "none"))
        if kind not in KINDS or (kind == "none") == bool(papers):
            raise ValueError(f"kind {kind!r} with {len(papers)} papers")
        facts = tuple(map(str, record.get("answer_any") or ()))
        return Question(str(record.get("id") or f"{file.name}:{number}"), kind, str(record["question"]), papers, facts)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceError(
            f"{file}:{number} is no question ({error}). Each line is an object with `question`, `papers` and, if need be, "
            f"`kind` ({', '.join(KINDS)}; only `none` has no papers)."
        ) from error


def _ask(question: Question, assistant: Assistant) -> Asked:
    answer = Conversation(assistant.answerer, settings=assistant.settings).ask(question.text)
    found = tuple(hit.paper.id for hit in answer.retrieval.hits) if answer.retrieval else ()
    after = tuple(hit.paper.id for hit in assistant.retriever.search(question.text, _DEPTH))
    returned = () if answer.abstained else found if answer.mode == "list" else tuple(c.paper.id for c in answer.citations)
    return Asked(question, answer, tuple(dict.fromkeys((*found, *after))), returned)


def _values(asked: Sequence[Asked], kind: str) -> dict[str, dict[str, float]]:
    """Measure to question id to value."""
    if not asked:
        return {}
    if kind == "none":
        return {"refused": {one.question.id: float(one.answer.abstained) for one in asked}}
    qrels = {one.question.id: dict.fromkeys(one.question.papers, 1) for one in asked}
    values = score_rankings(qrels, {one.question.id: one.ranking for one in asked}, _RANKING)
    if kind == "list":
        values |= score_rankings(qrels, {one.question.id: one.returned for one in asked}, _SETS)
        values["set size / labels"] = {one.question.id: len(one.returned) / len(set(one.question.papers)) for one in asked}
        usual = fmean(len(set(one.question.papers)) for one in asked)
        values["set size / labels, in all"] = {one.question.id: len(one.returned) / usual for one in asked}
    else:
        values["cited first"] = {one.question.id: float(one.returned[:1] == one.question.papers[:1]) for one in asked}
    if kind == "fact":
        values["fact contained"] = {one.question.id: float(_contains_fact(one)) for one in asked}
    values["citations valid"] = {one.question.id: float(_is_validly_cited(one)) for one in asked}
    values["wrongly refused"] = {one.question.id: float(one.answer.abstained) for one in asked}
    return values


def _contains_fact(asked: Asked) -> bool:
    text = _plain(asked.answer.text)
    return not asked.answer.abstained and any(_plain(fact) in text for fact in asked.question.facts)


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("\\", "").replace("$", "").split())


def _is_validly_cited(asked: Asked) -> bool:
    """Whether the answer cites, every number in its text is a citation, and every cited paper was found by the search.

    A refusal that cites nothing is valid.
    """
    answer = asked.answer
    found = {hit.paper.id for hit in answer.retrieval.hits} if answer.retrieval else set()
    cited = {citation.number: citation.paper.id for citation in answer.citations}
    numbers = {int(number) for number in _MARKER.findall(answer.text)}
    if answer.abstained and not cited:
        return not numbers
    return bool(cited) and numbers <= cited.keys() and set(cited.values()) <= found


def _refusals(asked: Sequence[Asked]) -> dict[str, Figure]:
    """Precision and recall of refusing, and AUROC of the estimated probability; empty unless both sorts of questions are there."""
    import numpy as np

    none = np.array([one.question.kind == "none" for one in asked])
    if not none.any() or none.all():
        return {}
    refused = np.array([one.answer.abstained for one in asked])
    probability = np.array([one.answerable for one in asked])
    picks = list(_resamples(none))
    return {
        "refusal precision": _interval(lambda rows: _share(none[rows], refused[rows]), picks),
        "refusal recall": _interval(lambda rows: _share(refused[rows], none[rows]), picks),
        "wrongly refused": _interval(lambda rows: _share(refused[rows], ~none[rows]), picks),
        "answerable AUROC": _interval(lambda rows: _auroc(probability[rows], ~none[rows]), picks),
    }


def _resamples(none: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """All rows, then bootstrap samples of the rows that hold both sorts."""
    import numpy as np

    rng = np.random.default_rng(0)
    yield np.arange(len(none))
    for _ in range(_RESAMPLES):
        rows = rng.integers(0, len(none), len(none))
        if 0 < none[rows].sum() < len(rows):
            yield rows


def _interval(measure: Callable[[NDArray[np.int64]], float], picks: Sequence[NDArray[np.int64]]) -> Figure:
    import numpy as np

    whole, *samples = (measure(rows) for rows in picks)
    low, high = np.percentile(samples or [whole], [2.5, 97.5])
    return Figure(whole, float(low), float(high))


def _share(hits: NDArray[np.bool_], among: NDArray[np.bool_]) -> float:
    return float(hits[among].mean()) if among.any() else 0.0


def _auroc(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """The chance that a positive scores above a negative, ties half (Mann and Whitney, 1947)."""
    try:
        from scipy.stats import rankdata
    except ImportError as error:
        raise MissingExtraError("Measuring answers", "eval") from error
    count = int(positive.sum())
    above = float(rankdata(scores)[positive].sum()) - count * (count + 1) / 2
    return above / (count * (len(scores) - count))
