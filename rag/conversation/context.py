"""What has been said so far: turns, the papers they showed, and which of them are being talked about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rag.records import Answer, Paper
from rag.store.filters import NO_FILTERS, Filters

_NUMBER = re.compile(r"\[(\d+)\??\]")


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a conversation with its answer."""

    question: str
    answer: Answer
    standalone: str = ""
    """The question as it was searched."""
    focus: tuple[str, ...] = ()
    """Ids of the papers that the question referred to."""
    filters: Filters = NO_FILTERS
    """Restrictions that the conversation carries on."""
    is_new_topic: bool = True
    exchange: int | None = None
    """Its id in the log, when it was kept."""

    @property
    def asked(self) -> str:
        """The question in the form that stands alone."""
        return self.standalone or self.question


def shown_papers(answer: Answer) -> tuple[Paper, ...]:
    """The cited papers in the order in which the reader met them in the text."""
    papers = {citation.number: citation.paper for citation in answer.citations}
    numbers = dict.fromkeys(int(number) for number in _NUMBER.findall(answer.text))
    return tuple(papers[number] for number in [*numbers, *(n for n in papers if n not in numbers)] if number in papers)


class Context:
    """The papers that words of the next question can refer to.

    What a refusal names as nearest counts only while nothing has been cited.
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns

    @cached_property
    def papers(self) -> Mapping[str, Paper]:
        """All cited papers by id, the most recently cited last."""
        found: dict[str, Paper] = {}
        for turn in self.turns:
            for paper in shown_papers(turn.answer):
                found.pop(paper.id, None)
                found[paper.id] = paper
        return found

    @cached_property
    def nearest(self) -> Mapping[str, Paper]:
        """Papers that refusals named and no answer cited, the most recent last."""
        return {p.id: p for turn in self.turns for p in turn.answer.nearest if p.id not in self.papers}

    @cached_property
    def numbers(self) -> Mapping[int, Paper]:
        """The papers by their number in the conversation."""
        return {citation.number: citation.paper for turn in self.turns for citation in turn.answer.citations}

    @cached_property
    def current(self) -> Paper | None:
        """The paper that "it" means: what the last turn was about, turns without an answer or subject passed over."""
        return next((main for turn in reversed(self.turns) if (main := self._main(turn))), None) or next(iter(self.listed), None)

    @cached_property
    def previous(self) -> Paper | None:
        """The paper that was talked about before the current one."""
        mains = (self._main(turn) for turn in reversed(self.turns))
        return next((main for main in mains if main and self.current and main.id != self.current.id), None)

    @cached_property
    def listed(self) -> tuple[Paper, ...]:
        """What ordinals count in: the papers of the last answer that showed several, else those of the last that showed any."""
        shown = [papers for turn in reversed(self.turns) if (papers := shown_papers(turn.answer))]
        if not shown:
            return next((turn.answer.nearest for turn in reversed(self.turns) if turn.answer.nearest), ())
        return next((papers for papers in shown if len(papers) > 1), shown[0])

    @cached_property
    def group(self) -> tuple[Paper, ...]:
        """What "they" and "those" mean: the papers of the last turn that was about any."""
        for turn in reversed(self.turns):
            shown = shown_papers(turn.answer)
            focus = tuple(self.papers[paper] for paper in turn.focus if paper in self.papers)
            if len(focus) > 1:
                return focus
            if shown and (len(shown) > 1 or not focus):
                return shown
        return self.listed if self.papers or self.current is None else (self.current,)

    @cached_property
    def root(self) -> Turn | None:
        """The turn that opened the current topic, where "others" are looked for."""
        return next((turn for turn in reversed(self.turns) if turn.is_new_topic and turn.answer.citations), None)

    @cached_property
    def since_root(self) -> tuple[Paper, ...]:
        """All papers shown since the current topic was opened."""
        start = self.turns.index(self.root) if self.root else len(self.turns)
        return tuple({p.id: p for turn in self.turns[start:] for p in shown_papers(turn.answer)}.values())

    @property
    def last(self) -> Turn | None:
        """The last turn that was answered or was about a known paper; else the last that named any paper."""
        answered = (turn for turn in reversed(self.turns) if turn.answer.citations or turn.focus)
        return next(answered, None) or next((turn for turn in reversed(self.turns) if turn.answer.nearest), None)

    def _main(self, turn: Turn) -> Paper | None:
        """Of the papers asked about and cited, the best; of those cited, the one that was ranked first; of those asked about, the first."""
        shown = shown_papers(turn.answer)
        known = [self.papers[paper] for paper in turn.focus if paper in self.papers]
        ranks = {hit.paper.id: hit.rank for hit in (turn.answer.retrieval.hits if turn.answer.retrieval else ())}
        ranked = sorted(shown, key=lambda paper: ranks.get(paper.id, len(ranks) + 1))
        return next((paper for paper in (*(paper for paper in known if paper in shown), *ranked, *known)), None)
