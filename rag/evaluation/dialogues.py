"""Measures conversations: does each turn find its paper first, and refuse where the corpus has no answer?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.conversation import Conversation
from rag.conversation.context import shown_papers
from rag.errors import ModelError, SourceError
from rag.evaluation.metrics import Figure, figure
from rag.protocols import ChatDelta, ChatEnd, ChatRequest
from rag.records import Answer

if TYPE_CHECKING:
    from rag.assistant import Assistant

FORMAT = '{"turns": [{"question": "...", "papers": ["id", ...], "abstain": false}, ...]}'


@dataclass(frozen=True, slots=True)
class DialogueTurn:
    """One question with what is expected of its answer."""

    question: str
    papers: tuple[str, ...] = ()
    """Ids of right papers, the main one first."""
    abstain: bool = False
    """True when the corpus has no answer."""
    standalone: str = ""
    """The question as a perfect rewriting would put it; only for the scripted rewriting model."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Questions of one conversation, in order."""

    turns: tuple[DialogueTurn, ...]
    split: str = ""
    """A label by which the file's dialogues can be told apart, for example `held out`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one turn."""

    dialogue: int
    turn: int
    """Both count from 1; turn 1 opens the dialogue, the others are follow-ups."""
    question: str
    standalone: str
    expected: tuple[str, ...]
    retrieved: tuple[str, ...]
    """Ids of the papers as ranked, at most ten."""
    cited: tuple[str, ...]
    """Ids of the cited papers in reading order, at most ten."""
    abstain: bool
    abstained: bool

    @property
    def is_first(self) -> bool:
        """Whether the main paper was ranked first and the question was not refused."""
        return not self.abstained and self.retrieved[:1] == self.expected[:1]

    @property
    def is_cited_first(self) -> bool:
        """Whether the main paper is the first that the answer cites."""
        return not self.abstained and self.cited[:1] == self.expected[:1]


@dataclass(frozen=True, slots=True)
class DialogueFigures:
    """Shares with their 95% bootstrap intervals, over turns."""

    dialogues: int
    follow_ups: int
    """Turns after the first that have an answer."""
    first: Figure
    """Follow-ups with the right paper ranked first, not refused."""
    cited_first: Figure
    """Follow-ups whose answer cites the right paper first."""
    opening_first: Figure
    """First turns with the right paper ranked first."""
    refused: Figure
    """Turns without an answer in the corpus that were refused."""
    wrongly_refused: Figure
    """Turns with an answer that were refused."""
    outcomes: tuple[Outcome, ...] = ()

    @property
    def misses(self) -> tuple[Outcome, ...]:
        """The turns that went wrong."""
        return tuple(o for o in self.outcomes if o.abstain != o.abstained or not (o.abstain or o.is_first))


def evaluate_dialogues(file: str | Path, assistant: Assistant, *, rewriting: bool = False, split: str | None = None) -> DialogueFigures:
    """Holds every dialogue of the file with the assistant's corpus and model, each in a conversation of its own that is not logged.

    Args:
        file: JSON Lines, one dialogue each: `{"turns": [{"question", "papers", "abstain"}]}`.
        assistant: Whose pipeline answers.
        rewriting: Let a scripted model rewrite follow-ups as the field `standalone` of the turns says.
        split: Only the dialogues whose field `split` is this.

    Raises:
        SourceError: the file cannot be read, or a line is no dialogue.
    """
    held = [d for d in read_dialogues(file) if split is None or d.split == split]
    return summarize([outcome for n, dialogue in enumerate(held, 1) for outcome in _hold(n, dialogue, assistant, rewriting=rewriting)])


def read_dialogues(file: str | Path) -> list[Dialogue]:
    """The dialogues of a file. Raises `SourceError` with file and line for one that cannot be read."""
    try:
        lines = Path(file).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"Cannot read {file}: {error}. Name a JSON Lines file of dialogues.") from error
    dialogues = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                dialogues.append(_dialogue(json.loads(line)))
            except (ValueError, TypeError, KeyError) as error:
                raise SourceError(f"{file}:{number} is no dialogue ({error}). A line looks like {FORMAT}.") from error
    if not dialogues:
        raise SourceError(f"{file} holds no dialogue. A line looks like {FORMAT}.")
    return dialogues


def summarize(outcomes: Sequence[Outcome]) -> DialogueFigures:
    """The figures of these outcomes; shares of nothing are 0."""
    answerable = [o for o in outcomes if not o.abstain]
    follow_ups = [o for o in answerable if o.turn > 1]

    def share(of: Sequence[Outcome], values: Sequence[bool]) -> Figure:
        return figure({f"{o.dialogue}.{o.turn}": float(value) for o, value in zip(of, values, strict=True)})

    openings = [o for o in answerable if o.turn == 1]
    refusals = [o for o in outcomes if o.abstain]
    return DialogueFigures(
        dialogues=len({o.dialogue for o in outcomes}),
        follow_ups=len(follow_ups),
        first=share(follow_ups, [o.is_first for o in follow_ups]),
        cited_first=share(follow_ups, [o.is_cited_first for o in follow_ups]),
        opening_first=share(openings, [o.is_first for o in openings]),
        refused=share(refusals, [o.abstained for o in refusals]),
        wrongly_refused=share(answerable, [o.abstained for o in answerable]),
        outcomes=tuple(outcomes),
    )


def dialogues_json(figures: DialogueFigures) -> dict[str, Any]:
    """The figures and all outcomes as JSON values."""
    values = asdict(figures)
    values["outcomes"] = [{**asdict(o), "first": o.is_first, "cited_first": o.is_cited_first} for o in figures.outcomes]
    return values


def dialogues_rows(figures: DialogueFigures) -> list[tuple[str, ...]]:
    """A table for the terminal: measure, share, interval, number of turns; the first row is the heading."""
    answerable = sum(not o.abstain for o in figures.outcomes)
    counted: Mapping[str, tuple[Figure, int]] = {
        "follow-ups: right paper first": (figures.first, figures.follow_ups),
        "follow-ups: right paper cited first": (figures.cited_first, figures.follow_ups),
        "openings: right paper first": (figures.opening_first, answerable - figures.follow_ups),
        "refused, of those without an answer": (figures.refused, len(figures.outcomes) - answerable),
        "refused, of those with one": (figures.wrongly_refused, answerable),
    }
    rows = [(name, f"{f.mean:.3f}", f"{f.low:.3f}-{f.high:.3f}", str(n)) for name, (f, n) in counted.items()]
    return [("measure", "share", "95% interval", "turns"), *rows]


class ScriptedRewriter:
    """A chat model that only rewrites: it replies with the wording that the file gives for a question."""

    name = "scripted"
    context_tokens = 8_192
    generative = True

    def __init__(self, turns: Sequence[DialogueTurn]) -> None:
        self._wordings = {" ".join(turn.question.split()): turn.standalone or turn.question for turn in turns}

    def stream(self, request: ChatRequest) -> Iterator[ChatDelta | ChatEnd]:
        """The wording, then the end. Raises `ModelError` for a question of another dialogue."""
        wording = self._wordings.get(" ".join(request.question.split()))
        if wording is None:
            raise ModelError(f"No wording is scripted for {request.question!r}.", kind="empty")
        yield ChatDelta(wording)
        yield ChatEnd("stop", 0, 0)


def _hold(number: int, dialogue: Dialogue, assistant: Assistant, *, rewriting: bool) -> Iterator[Outcome]:
    rewriter = ScriptedRewriter(dialogue.turns) if rewriting else None
    conversation = Conversation(assistant.answerer, settings=assistant.settings, rewriter=rewriter)
    for place, turn in enumerate(dialogue.turns, 1):
        yield _outcome(number, place, turn, conversation.ask(turn.question))


def _outcome(dialogue: int, place: int, turn: DialogueTurn, answer: Answer) -> Outcome:
    retrieved = tuple(hit.paper.id for hit in answer.retrieval.hits[:10]) if answer.retrieval else ()
    cited = tuple(paper.id for paper in shown_papers(answer)[:10])
    return Outcome(dialogue, place, turn.question, answer.standalone, turn.papers, retrieved, cited, turn.abstain, answer.abstained)


def _dialogue(record: Mapping[str, Any]) -> Dialogue:
    turns = tuple(_dialogue_turn(turn) for turn in record["turns"])
    if not turns:
        raise ValueError("it has no turns")
    return Dialogue(turns, str(record.get("split", "")))


def _dialogue_turn(record: Mapping[str, Any]) -> DialogueTurn:
    papers, abstain = tuple(str(paper) for paper in record.get("papers") or ()), bool(record.get("abstain", False))
    if not (papers or abstain):
        raise ValueError(f"the turn {record['question']!r} names no papers and does not abstain")
    return DialogueTurn(str(record["question"]), papers, abstain, str(record.get("standalone") or ""))
