"""A topic's words against a paper's: how much of what was asked stands in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log1p
from typing import TYPE_CHECKING

from rag.records import Paper, Span
from rag.text.sentences import split_sentences
from rag.text.words import content_words, index_terms, query_pairs, query_terms

if TYPE_CHECKING:
    from rag.store.joined import JoinedLibrary
    from rag.store.library import Library

# BM25 as FTS5 computes it, but for the title, which counts three times: lists are of papers about a topic, not of mentions.
_K1, _B, _TITLE_BONUS = 1.2, 0.75, 2
_LEAST_WORDS = 2
# Words that a question about any paper may have and its abstract need not: "what gain does it report?"
_ASKING = frozenset("achiev describ mention obtain paper reach report said say show versus vs".split())


@dataclass(frozen=True, slots=True)
class PaperWords:
    """The index terms of a paper."""

    counts: Mapping[str, int]
    """How often each term stands in title and abstract."""
    title: frozenset[str]
    length: int
    """All terms, repetitions counted."""

    @classmethod
    def of(cls, paper: Paper) -> PaperWords:
        """The terms of title and abstract."""
        return cls.of_terms(index_terms(paper.title), index_terms(paper.abstract))

    @classmethod
    def of_terms(cls, title: str, abstract: str) -> PaperWords:
        """The same from their index terms, joined by spaces."""
        in_title, in_abstract = title.split(), abstract.split()
        return cls(Counter([*in_title, *in_abstract]), frozenset(in_title), len(in_title) + len(in_abstract))

    @classmethod
    def read(cls, library: Library | JoinedLibrary, ids: Iterable[str]) -> dict[str, PaperWords]:
        """Of the papers with these ids, from the index, where 400 papers take 15 ms."""
        return {key: cls.of_terms(*terms) for key, terms in library.terms(ids).items()}


@dataclass(frozen=True, slots=True)
class Topic:
    """What is asked for, as words with their weights in one corpus."""

    text: str
    terms: tuple[str, ...]
    """Single words as index terms, in order; without words of asking, unless there are no others."""
    pairs: tuple[str, ...]
    """Neighbouring words joined, and parts of names."""
    idf: Mapping[str, float]
    """Of each of `terms` and `pairs`: `ln(1 + (N - n + 0.5) / (n + 0.5))` (Robertson and Zaragoza, 2009)."""
    unknown: frozenset[str]
    """Terms that stand in no paper of the corpus."""

    @classmethod
    def of(cls, text: str, library: Library | JoinedLibrary) -> Topic:
        """The topic with the corpus's frequencies; filters do not change how telling a word is."""
        asked, pairs = query_terms(text), query_pairs(text)
        terms = tuple(term for term in asked if term not in _ASKING) or asked
        frequencies, papers = library.document_frequency([*terms, *pairs]), library.count()
        idf = {term: log1p((papers - n + 0.5) / (n + 0.5)) for term in (*terms, *pairs) for n in [min(frequencies.get(term, 0), papers)]}
        return cls(text, terms, pairs, idf, frozenset(term for term in terms if not frequencies.get(term)))

    @property
    def weight(self) -> float:
        """IDF of all single words together; 0 for a topic without informative words."""
        return sum(self.idf[term] for term in self.terms)

    def lexical(self, words: PaperWords, mean_length: float) -> float:
        """BM25 of single words and pairs, titles weighted, as a share of what the single words can reach; above 1 with many pairs."""
        norm = _K1 * (1 - _B + _B * words.length / mean_length)
        score = 0.0
        for term in (*self.terms, *self.pairs):
            if count := words.counts.get(term, 0):
                count += _TITLE_BONUS * (term in words.title)
                score += self.idf[term] * count / (count + norm)
        return score / self.weight if self.weight else 0.0

    def coverage(self, words: PaperWords) -> float:
        """Share (0..1) of the single words, by IDF, that stand in the paper."""
        present = sum(self.idf[term] for term in self.terms if term in words.counts)
        return present / self.weight if self.weight else 0.0

    def asked_words(self, terms: frozenset[str]) -> tuple[str, ...]:
        """The words of the question, as asked, whose index terms are in `terms`."""
        words = re.findall(r"[^\W_]+(?:[-'’.][^\W_]+)*", self.text)
        return tuple(dict.fromkeys(word for word in words if terms & set(query_terms(word))))

    def evidence(self, paper: Paper, window: Span) -> Span:
        """The sentence of the window that holds most of the topic; the window itself when none holds any."""
        best, most = window, 0.0
        for sentence in split_sentences(paper.abstract):
            if sentence.end <= window.start or sentence.start >= window.end:
                continue
            present = set(index_terms(sentence.text).split())
            weight = sum(self.idf[term] for term in (*self.terms, *self.pairs) if term in present)
            if weight > most:
                best, most = sentence, weight
        return best


def alternatives(text: str) -> tuple[str, ...]:
    """What stands on either side of an "or", when each side is a topic of its own; else the topic itself.

    A side of a single word shares the words around it ("a new benchmark or protocol") and is left alone.
    """
    sides = re.split(r",?\s+or\s+", text)
    if len(sides) == 1 or any(len(content_words(side)) < _LEAST_WORDS for side in sides):
        return (text,)
    return tuple(sides)
