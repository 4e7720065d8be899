"""Judges what a search found: whether it answers, and which of it a list should hold."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag.records import Hit
from rag.retrieval.answerable import Judgement, judge_answerable, refused_outright
from rag.retrieval.background import Background
from rag.retrieval.language import usable_names
from rag.retrieval.listing import MatchFeatures, match_features, matching
from rag.retrieval.topic import PaperWords, Topic, alternatives
from rag.text.words import query_terms

if TYPE_CHECKING:
    from rag.protocols import Embedder
    from rag.retrieval.planner import Plan
    from rag.store.joined import JoinedLibrary
    from rag.store.library import Library

_LOOKED_AT = 20


class Judge:
    """Judges the hits of one library, or of several joined, from any thread."""

    def __init__(self, library: Library | JoinedLibrary, embedder: Embedder) -> None:
        self._library = library
        self._embedder = embedder
        self._lock = threading.Lock()
        self._background: tuple[int, Background] | None = None

    def answer(self, question: str, topic: str, hits: Sequence[Hit], papers: int) -> Judgement:
        """Whether the hits, best first, answer the question; `papers` is how many were searched.

        "A or B" is answered by what answers A, B, or both.
        """
        if (reason := refused_outright(question)) is not None:
            return Judgement(0.0, True, reason)
        best = hits[:_LOOKED_AT]
        words = self._words(best)
        judged = [judge_answerable(Topic.of(side, self._library), best, words, papers) for side in alternatives(topic)]
        likeliest = max(judged, key=lambda judgement: judgement.probability)
        return judged[0] if likeliest.abstain else likeliest

    def searchable(self, plan: Plan) -> str:
        """The plan's topic; of bare names taken from another language, only those that some paper holds, or all when none does.

        German writes every noun with a capital: what the corpus does not know is a word rather than a name.
        """
        topic = plan.topic or ("" if plan.mode == "list" else plan.question)
        if plan.language == "en" or topic != " ".join(usable_names(plan.question, plan.language)):
            return topic
        unknown = set(Topic.of(topic, self._library).unknown)
        return " ".join(word for word in topic.split() if not set(query_terms(word)) <= unknown) or topic

    def matches(self, topic: str, search: Callable[[str], Sequence[Hit]]) -> tuple[tuple[Hit, ...], int]:
        """The papers that a list on the topic should hold, best first, and how many were judged one by one.

        `search` gives the candidates of a text. A paper matches "A or B" as well as it matches A, B, or both. Each hit of the
        list has its probability as score and its best sentence as passage.
        """
        best: dict[str, tuple[MatchFeatures, Hit, Topic]] = {}
        for side in alternatives(topic):
            hits, judged = search(side), Topic.of(side, self._library)
            for hit, features in zip(hits, self._features(judged, hits), strict=True):
                if hit.paper.id not in best or features.probability > best[hit.paper.id][0].probability:
                    best[hit.paper.id] = features, hit, judged
        chosen = matching([hit for _, hit, _ in best.values()], [features for features, _, _ in best.values()])
        return tuple(replace(hit, passage=best[hit.paper.id][2].evidence(hit.paper, hit.passage)) for hit in chosen), len(best)

    def _features(self, topic: Topic, hits: Sequence[Hit]) -> list[MatchFeatures]:
        vector = self._embedder.embed([topic.text])[0]
        return match_features(topic, vector, hits, self._words(hits), self.background())

    def _words(self, hits: Sequence[Hit]) -> list[PaperWords]:
        held = PaperWords.read(self._library, [hit.paper.id for hit in hits])
        return [held.get(hit.paper.id) or PaperWords.of(hit.paper) for hit in hits]

    def background(self) -> Background:
        """The corpus's ordinary papers, read again when the number of papers has changed."""
        count = self._library.count()
        with self._lock:
            if self._background is None or self._background[0] != count:
                self._background = count, Background.of(self._library)
            return self._background[1]
