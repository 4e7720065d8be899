"""Which sentences of which papers answer a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag.models.sentences import Sentence, Weights, fitness, sentences_of, wants_of
from rag.protocols import Source
from rag.text.words import index_terms

_MOST_PAPERS = 3
_MOST_SENTENCES = 3
_MOST_BESIDE_TITLE = 2
_LONG_LIST = 12
_TITLE_PART = 0.5
_PASSAGE_BONUS = 0.12
_FORM_BONUS = 0.3
_DANGLING_MALUS = 0.05
_RANK_PRIOR = 0.12
_SEARCH_WEIGHT = 0.6
_COSINE_MARGIN = 0.08


@dataclass(frozen=True, slots=True)
class Extract:
    """A source with the sentences taken from it, in the order of the abstract."""

    source: Source
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    source: Source
    sentences: tuple[Sentence, ...]
    title: frozenset[str]
    everything: frozenset[str]


class _Question:
    """One question against its sources: scores of papers and of their sentences."""

    def __init__(self, question: str, sources: Sequence[Source], *, passages: bool = False) -> None:
        self.wants = wants_of(question)
        self.candidates = [_candidate(source, passage_only=passages) for source in sources]
        self._best_search = max(map(_search_score, sources), default=0.0)
        self._papers = Weights([candidate.everything for candidate in self.candidates])
        self._sentences = Weights([sentence.terms for candidate in self.candidates for sentence in candidate.sentences])

    def paper_score(self, place: int) -> float:
        """How well a paper as a whole fits: its words, its place in the search and how far its score is behind the best."""
        candidate = self.candidates[place]
        named = self._papers.coverage(self.wants.names, candidate.everything) if self.wants.names else 0.0
        behind = self._best_search - _search_score(candidate.source)
        return self.coverage(candidate) + 0.5 * named + _RANK_PRIOR / (1 + place) - _SEARCH_WEIGHT * behind

    def coverage(self, candidate: _Candidate) -> float:
        """Share of the question's terms that the paper holds."""
        return self._sentences.coverage(self.wants.terms, candidate.everything)

    def sentence_score(self, candidate: _Candidate, sentence: Sentence) -> float:
        """How well a sentence answers."""
        covered = self._sentences.coverage(self.wants.terms, sentence.terms, candidate.title, _TITLE_PART)
        form = _FORM_BONUS * fitness(sentence, self.wants)
        return covered + form + _PASSAGE_BONUS * _in_passage(candidate.source, sentence) - _DANGLING_MALUS * sentence.dangling

    def ranked(self, candidate: _Candidate) -> list[Sentence]:
        """The sentences of a paper, best first."""
        return sorted(candidate.sentences, key=lambda sentence: (-self.sentence_score(candidate, sentence), sentence.position))


def extract_answer(question: str, sources: Sequence[Source]) -> tuple[Extract, ...]:
    """One to three papers that answer the question, best first, with one to three sentences each."""
    asked = _Question(question, sources)
    order = sorted(range(len(sources)), key=lambda place: (-asked.paper_score(place), place))
    best = asked.paper_score(order[0])
    chosen = [place for place in order[:_MOST_PAPERS] if place == order[0] or _matches_too(asked, place, order[0], best)]
    named = _also_named(asked, order, chosen)
    most = _MOST_BESIDE_TITLE if named or (asked.wants.papers and not asked.wants.quantity) else _MOST_SENTENCES
    several = {order[0], *named}
    return tuple(_extract(asked, asked.candidates[place], most if place in several else 1) for place in [*chosen, *named][:_MOST_PAPERS])


def extract_list(question: str, sources: Sequence[Source]) -> tuple[Extract, ...]:
    """Every source with its best sentence, in the order given; in a long list the best of its passage."""
    asked = _Question(question, sources, passages=len(sources) > _LONG_LIST)
    return tuple(_extract(asked, candidate, 1) for candidate in asked.candidates)


def _also_named(asked: _Question, order: Sequence[int], chosen: Sequence[int]) -> list[int]:
    """For names that no chosen paper holds ("compare A and B"), the best paper whose title has them."""
    missing = asked.wants.names.difference(*(asked.candidates[place].everything for place in chosen))
    found: list[int] = []
    for place in order:
        if missing & asked.candidates[place].title:
            missing -= asked.candidates[place].everything
            found.append(place)
    return found


def _matches_too(asked: _Question, place: int, first: int, best: float) -> bool:
    """A further paper counts when it fits nearly as well as the best one and nothing that was named is missing from it."""
    candidate, leader = asked.candidates[place], asked.candidates[first]
    if (asked.wants.names & leader.everything) - candidate.everything:
        return False
    if _closeness(candidate.source) < _closeness(leader.source) - _COSINE_MARGIN:
        return False
    return asked.coverage(candidate) >= 0.75 and asked.paper_score(place) >= 0.8 * best


def _extract(asked: _Question, candidate: _Candidate, most: int) -> Extract:
    ranked = asked.ranked(candidate)
    if not ranked:
        return Extract(candidate.source, ())
    taken = [ranked[0]]
    for sentence in ranked[1:]:
        if len(taken) < most and _adds(asked, candidate, taken, sentence):
            taken.append(sentence)
    if most > 1 and taken[0].dangling and len(taken) < most:
        taken += [before for before in candidate.sentences if before.position == taken[0].position - 1 and before not in taken]
    return Extract(candidate.source, tuple(sentence.text for sentence in sorted(taken, key=lambda sentence: sentence.position)))


def _adds(asked: _Question, candidate: _Candidate, taken: Sequence[Sentence], sentence: Sentence) -> bool:
    """A further sentence is worth its place when it brings something asked for that is still missing, or answers as well."""
    seen = frozenset[str]().union(*(other.terms for other in taken))
    new = (asked.wants.terms & sentence.terms) - seen
    score = asked.sentence_score(candidate, sentence)
    best = asked.sentence_score(candidate, taken[0])
    return score >= (0.6 if new else 0.85) * best


def _candidate(source: Source, *, passage_only: bool) -> _Candidate:
    passage = source.hit.passage if source.hit and passage_only else None
    sentences = sentences_of(source.paper.abstract, passage)
    title = frozenset(index_terms(source.paper.title).split())
    return _Candidate(source, sentences, title, title.union(*(sentence.terms for sentence in sentences)))


def _closeness(source: Source) -> float:
    return source.hit.signals.window_cosine if source.hit else 0.0


def _search_score(source: Source) -> float:
    """0 where a reranker has had the last word: the search's score is then behind the times."""
    return source.hit.score if source.hit and source.hit.signals.rerank is None else 0.0


def _in_passage(source: Source, sentence: Sentence) -> bool:
    passage = source.hit.passage if source.hit else None
    return passage is not None and sentence.start < passage.end and passage.start < sentence.end
