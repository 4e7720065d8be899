"""What a question means after the ones before it, by rules: one that stands alone, the papers it is about, its restrictions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rag.conversation.context import Context, Turn
from rag.conversation.names import name_of, paper_stems
from rag.conversation.narrowing import excluding, find_narrowing, restricted_to
from rag.conversation.openers import adds_condition, fragment, is_bare, opens_topic, without_opener
from rag.conversation.references import Reference, find_references, out_of_reach
from rag.conversation.vocabulary import asks_for_more, asks_for_set, has_inner_antecedent, is_generic, own_words, picks_among, telling_words
from rag.errors import UsageError
from rag.records import Mode, Paper
from rag.retrieval.constraints import Facets
from rag.store.filters import NO_FILTERS, Filters
from rag.text.words import stem

_MOST_NAMED = 5
# A longer text is pasted material, not a follow-up.
_LONGEST = 2_000
# How well a paper must cover a question's words to be meant by it: in full, in part, relative to the best paper of the corpus, and apart.
_COVERED = 0.5
_TOUCHED = 0.3
_CLOSE = 0.85
_APART = 0.4
_LEFT_OUT = "Papers shown before are left out."
_IT = re.compile(r"\bit\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\b(?:its|their|theirs)\b|['’]s?$", re.IGNORECASE)


class Surroundings(Protocol):
    """What the rules may look up in the corpus."""

    @property
    def facets(self) -> Facets:
        """What papers can be restricted by."""

    def idf(self, word: str) -> float:
        """How telling a word is in this corpus, 0 or more."""

    def nearest(self, question: str, k: int) -> Sequence[Paper]:
        """The k papers that share most of the question's words, best first."""


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question that can be understood without the turns before it."""

    text: str
    focus: tuple[str, ...] = ()
    """Ids of the papers it is about, in the order of mention."""
    filters: Filters = NO_FILTERS
    """Restrictions carried on or added; they hold until the topic changes."""
    within: Filters = NO_FILTERS
    """A restriction for this question alone: to papers shown before, or to papers not shown yet."""
    mode: Mode | None = None
    is_new_topic: bool = False
    note: str = ""
    """For the reader: what `within` does."""


def resolve(question: str, turns: Sequence[Turn], corpus: Surroundings | None = None) -> Standalone:
    """The question as it is to be searched; one that refers to nothing said before comes back as it is and starts a new topic.

    Raises `UsageError` for a number or an ordinal that points past the papers shown.
    """
    asked = " ".join(question.split())
    context = Context(turns)
    if context.last is None or len(asked) > _LONGEST:
        return Standalone(question, is_new_topic=True)
    if opens_topic(asked):
        return Standalone(without_opener(asked), is_new_topic=True)
    if reason := out_of_reach(asked, context):
        raise UsageError(reason)
    return _Resolver(asked, context, context.last, corpus).result()


class _Resolver:
    """Tries the readings of one question, the most explicit first."""

    def __init__(self, question: str, context: Context, last: Turn, corpus: Surroundings | None) -> None:
        self._question = without_opener(question)
        self._whole = question
        self._context = context
        self._last = last
        self._corpus = corpus
        self._references = find_references(self._question, context)

    def result(self) -> Standalone:
        for reading in (self._more, self._narrowed, self._picked, self._referring, self._elliptic, self._implied):
            if found := reading():
                return found
        return Standalone(self._question, is_new_topic=True)

    def _more(self) -> Standalone | None:
        """Others on the topic, or papers similar to one: what was shown is left out."""
        kind = asks_for_more(self._question)
        outside = _without(self._question, self._references)
        if kind is None or (kind == "similar" and (telling_words(outside) or not (self._references or outside == self._question))):
            return None
        root = self._context.root
        if kind == "others" and root is not None:
            return Standalone(root.asked, filters=self._last.filters, within=excluding(self._context.since_root), note=_LEFT_OUT)
        papers = _distinct(paper for reference in self._references for paper in reference.papers)
        papers = papers or ((self._context.current,) if self._context.current else ())
        text = f"Which papers are about {_listed(paper.title for paper in papers)}?"
        return Standalone(text, filters=self._last.filters, within=excluding(papers), mode="answer", note=_LEFT_OUT)

    def _narrowed(self) -> Standalone | None:
        """The question that opened the topic, with other restrictions."""
        facets = self._corpus.facets if self._corpus else Facets()
        narrowing, root = find_narrowing(self._question, facets), self._context.root
        if narrowing is None or root is None:
            return None
        asked, stated = narrowing.restate(root.asked, facets)
        return Standalone(asked, filters=narrowing.over(stated.and_(self._last.filters)))

    def _picked(self) -> Standalone | None:
        """A question for some of the papers just shown."""
        text = picks_among(self._question)
        several = [reference.papers for reference in self._references if len(reference.papers) > 1]
        papers = several[0] if several else self._context.group if len(self._context.group) > 1 else self._context.listed
        if not text or len(papers) < 2:
            return None
        note = f"Asked of the {len(papers)} papers shown before."
        return Standalone(text, filters=self._last.filters, within=restricted_to(papers), note=note)

    def _referring(self) -> Standalone | None:
        """A question with words that point at papers."""
        references = _bound(self._references)
        if not references or not (references[0].is_firm or self._is_weakly_meant(references[0].papers[0])):
            return None
        first = references[0]
        if first.kind == "pronoun" and has_inner_antecedent(self._question, first.start) and not self._is_about(first.papers[0]):
            return None
        papers = _distinct(paper for reference in references for paper in reference.papers)
        text = self._like_before(references) or _named(self._question, references)
        focus = () if self._is_foreign(papers) else tuple(paper.id for paper in papers)
        return Standalone(text, focus, self._last.filters, mode="answer")

    def _is_foreign(self, papers: Sequence[Paper]) -> bool:
        """Whether a question asks the papers for something that none of them has a word of; then the corpus decides like for any other."""
        words = {stem(word) for word in telling_words(_without(self._question, self._references))}
        return len(words) > 1 and not any(words & paper_stems(paper) for paper in papers)

    def _is_weakly_meant(self, paper: Paper) -> bool:
        """Whether words such as "the method" mean this paper: the question names no other topic, or one that the paper covers best."""
        return not telling_words(_without(self._question, self._references)) or self._is_about(paper)

    def _like_before(self, references: Sequence[Reference]) -> str:
        """The last question asked of another paper ("and the second?"); empty when the question says what it asks."""
        if own_words(_without(self._question, references)) or len(self._last.focus) != 1 or len(references[0].papers) != 1:
            return ""
        before, now = (name_of(paper) for paper in (self._context.current or references[0].papers[0], references[0].papers[0]))
        return self._last.asked.replace(before, now) if before in self._last.asked and fragment(self._whole) else ""

    def _elliptic(self) -> Standalone | None:
        """A fragment that leans on the questions before: "and for graphs?", "why?"."""
        current = self._context.current
        if current is not None and is_bare(self._question):
            return self._about(current)
        subject = fragment(self._whole)
        if not subject:
            return None
        if current is not None and not telling_words(subject):
            return self._about(current)
        for paper in (current, *self._context.group):
            if paper is not None and self._is_about(paper):
                return self._about(paper)
        root = self._context.root or self._last
        if adds_condition(subject):
            within = self._unless_shown()
            text, note = f"{root.asked.rstrip(' ?.!')} {subject}?", _LEFT_OUT if within else ""
            return Standalone(text, filters=self._last.filters, within=within, note=note)
        if current is not None and self._last.focus and name_of(current) in self._last.asked and not subject.islower():
            return Standalone(self._last.asked.replace(name_of(current), subject), is_new_topic=True)
        text = f"Which papers are about {subject}?" if asks_for_set(root.asked) else f"{subject}?"
        return Standalone(text, filters=self._last.filters, is_new_topic=True)

    def _implied(self) -> Standalone | None:
        """A question without any such word that only the paper under discussion answers."""
        current = self._context.current
        # An "it" that refers to nothing is about the time or the weather.
        if current is None or asks_for_set(self._question) or (not self._references and _IT.search(self._question)):
            return None
        return self._about(current) if is_generic(self._question) or self._is_about(current) else None

    def _unless_shown(self) -> Filters:
        """Leaves out what was shown when other papers cover the words of the question much better."""
        shown = self._context.since_root
        rivals = self._corpus.nearest(self._question, 3) if self._corpus else ()
        best = max(map(self._covers, rivals), default=0.0)
        return excluding(shown) if best - max(map(self._covers, shown), default=0.0) >= _APART else NO_FILTERS

    def _about(self, paper: Paper) -> Standalone:
        return Standalone(f"{self._question.rstrip(' ?.!')} (“{name_of(paper)}”)?", (paper.id,), self._last.filters, mode="answer")

    def _is_about(self, paper: Paper) -> bool:
        """Whether no paper of the corpus covers the question's words better: not much better than well, not at all better than in part."""
        mine = self._covers(paper)
        if mine < _TOUCHED:
            return False
        rivals = self._corpus.nearest(self._question, 3) if self._corpus else ()
        best = max(map(self._covers, rivals), default=mine)
        return mine >= (_CLOSE * best if mine >= _COVERED else best)

    def _covers(self, paper: Paper) -> float:
        """Share (0..1) of the question's own words, by IDF, that the paper holds; 0 when it has none."""
        words = dict.fromkeys(own_words(_without(self._question, self._references)))
        weights = {word: self._corpus.idf(word) if self._corpus else 1.0 for word in words}
        total = sum(weights.values())
        held = sum(weight for word, weight in weights.items() if stem(word) in paper_stems(paper))
        return held / total if total else 0.0


def _bound(references: Sequence[Reference]) -> list[Reference]:
    """The references that count: no weak ones beside firm ones, no pronoun after the paper that it stands for."""
    firm = [reference for reference in references if reference.is_firm] or list(references)
    explicit = next((reference.start for reference in firm if reference.kind != "pronoun"), None)
    return [reference for reference in firm if reference.kind != "pronoun" or explicit is None or reference.start < explicit]


def _named(question: str, references: Sequence[Reference]) -> str:
    """The question with the names of the papers in place of the words that point at them."""
    for reference in reversed([reference for reference in references if reference.kind != "name"]):
        words = question[reference.start : reference.end]
        names = _listed(f"“{name_of(paper)}”" for paper in reference.papers[:_MOST_NAMED])
        question = f"{question[: reference.start]}{names}{'’s' if _POSSESSIVE.search(words) else ''}{question[reference.end :]}"
    return question


def _without(question: str, references: Sequence[Reference]) -> str:
    for reference in reversed(references):
        question = f"{question[: reference.start]} {question[reference.end :]}"
    return question


def _distinct(papers: Iterable[Paper]) -> tuple[Paper, ...]:
    return tuple({paper.id: paper for paper in papers}.values())


def _listed(names: Iterable[str]) -> str:
    items = list(dict.fromkeys(names))
    return f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else "".join(items)
