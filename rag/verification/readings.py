"""A statement and an abstract as the comparisons see them: sentences, words, figures and names, worked out once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag.records import Paper, Span
from rag.text.sentences import split_sentences
from rag.verification.figures import Quantity, quantities
from rag.verification.normalise import Normalised, normalise, without_citations
from rag.verification.wording import Word, likeness, stems_of, words_of

Idf = Callable[[str], float]
"""Stem (in the form of the full-text index) to its inverse document frequency; an unknown stem has the highest."""

Likenesses = Mapping[str, Mapping[str, float]]
"""Stem of a statement to the stems of the paper that are like it, with how much (0..1)."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its words; word offsets are in the original text."""

    span: Span
    words: tuple[Word, ...]
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class PaperReading:
    """What a paper says: its sentences in order, its title as one more, and its figures, those of venue and year among them."""

    sentences: tuple[Sentence, ...]
    title: Sentence
    figures: tuple[Quantity, ...]

    @property
    def stems(self) -> frozenset[str]:
        """The stems of abstract and title together."""
        return self.title.stems.union(*(sentence.stems for sentence in self.sentences))


@dataclass(frozen=True, slots=True)
class StatementReading:
    """What a statement says, its citation markers taken out."""

    text: str
    words: tuple[Word, ...]
    stems: tuple[str, ...]
    figures: tuple[Quantity, ...]


@lru_cache(maxsize=256)
def read_paper(paper: Paper) -> PaperReading:
    """The paper in sentences and words."""
    words = _mapped_words(paper.abstract)
    sentences = tuple(_sentence(span, words) for span in split_sentences(paper.abstract))
    title_words = _mapped_words(paper.title)
    title = Sentence(Span(0, len(paper.title), paper.title), title_words, frozenset(stems_of(title_words)))
    figures = [
        quantity for text in (paper.abstract, paper.title, f"{paper.venue or ''} {paper.year or ''}") for quantity in quantities(text)
    ]
    return PaperReading(sentences, title, tuple(figures))


@lru_cache(maxsize=256)
def read_statement(statement: str) -> StatementReading:
    """The statement in words."""
    plain = normalise(without_citations(statement), fold=False).text
    words = words_of(normalise(plain).text)
    return StatementReading(plain, words, stems_of(words), quantities(plain))


def likenesses(stems: Iterable[str], paper: PaperReading) -> Likenesses:
    """Which stems of the paper each given stem is like."""
    pool = paper.stems
    return {stem: {stem: 1.0} if stem in pool else _alike(stem, pool) for stem in stems}


def coverage(stems: Sequence[str], pool: frozenset[str], alike: Likenesses, idf: Idf) -> float:
    """Share (0..1) of the stems, weighted by IDF, that `pool` contains; 0 for no stems."""
    total = sum(map(idf, stems))
    return sum(idf(stem) * credit(stem, pool, alike) for stem in stems) / total if total else 0.0


def credit(stem: str, pool: frozenset[str], alike: Likenesses) -> float:
    """How well (0..1) the most alike stem in `pool` stands for `stem`."""
    if stem in pool:
        return 1.0
    return max((value for other, value in alike[stem].items() if other in pool), default=0.0)


def _alike(stem: str, pool: frozenset[str]) -> dict[str, float]:
    scored = ((other, likeness(stem, other)) for other in pool)
    return {other: value for other, value in scored if value}


def _sentence(span: Span, words: Sequence[Word]) -> Sentence:
    own = tuple(word for word in words if span.start <= word.start < span.end)
    return Sentence(span, own, frozenset(stems_of(own)))


def _mapped_words(text: str) -> tuple[Word, ...]:
    normalised = normalise(text)
    return tuple(_at_original(word, normalised) for word in words_of(normalised.text))


def _at_original(word: Word, normalised: Normalised) -> Word:
    return Word(word.text, word.stem, normalised.starts[word.start], normalised.ends[word.end - 1])
