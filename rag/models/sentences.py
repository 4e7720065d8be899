"""What a question asks for, and how well a sentence answers it; words only, no model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag.records import Span
from rag.text.sentences import split_sentences
from rag.text.words import index_terms, query_terms

_ASKS_QUANTITY = re.compile(
    r"\bhow (?:many|much|fast|large|big|long|often|small|far|well|accurate|high|low)\b|\b(?:by|at|to|with) (?:what|which|how)\b"
    r"|\b(?:what|which)\b[^?]{0,40}\b(?:accurac\w+|percent\w*|rates?|factors?|speed-?ups?|scores?|numbers?|sizes?|gains?|improvements?|bounds?"
    r"|complexit\w+|fraction|share|ratio|cost|amount|margin|reductions?|increases?)\b",
    re.IGNORECASE,
)
_ASKS_PAPERS = re.compile(
    r"\b(?:papers?|articles?|publications?|studies|abstracts?|authors?|research|(?:which|what|any|all|prior|related) works?)\b"
    r"|^\s*(?:who|any|find|show|list)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"[?？؟]|^\W*(?:what|which|who|whom|whose|how|why|when|where|is|are|was|were|do|does|did|can|could|should|would|will|has|have|had|explain"
    r"|describe|define|tell|summari[sz]e|compare|contrast|give|list|find|show|name|count|discuss|outline|please|i|we|any)\b",
    re.IGNORECASE,
)
_ASKS_MEANING = re.compile(r"^\s*(?:what(?:'s| is| are| does)|define|explain|describe|tell me about)\b", re.IGNORECASE)
_ASKS_BEST = re.compile(r"\b(?:best|better|highest|largest|fastest|strongest|wins?|outperforms?|beats?)\b", re.IGNORECASE)
_BEST = re.compile(
    r"\b(?:best|better|highest|largest|fastest|strongest|outperform\w*|surpass\w*|exceed\w*|superior\w*|top|state-of-the-art)\b",
    re.IGNORECASE,
)
_QUANTITY = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|billion|half|twice|double[sd]?"
    r"|triple[sd]?|third|quarter|order of magnitude|orders of magnitude|fold)\b",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(r"\b(?:introduc|propos|present|develop|call|nam|term|dub|refer|defin|design|is an? |are )", re.IGNORECASE)
_REPORTS = re.compile(
    r"\b(?:we|our|ours)\b|\b(?:this|the present) (?:paper|work|article|study|manuscript)\b|\b(?:results?|experiments?|evaluations?) "
    r"(?:show|demonstrate|reveal|suggest|confirm|indicate)",
    re.IGNORECASE,
)
_LAMENTS = re.compile(
    r"^however\b|\b(?:unclear|unknown|unexplored|underexplored|overlooked|neglect\w*|poorly understood|limited (?:efforts|understanding)"
    r"|(?:gained|received|attracted) \w+ ?(?:attention|interest|popularity)|remains? (?:a |an )?(?:challeng\w+|open|difficult))\b|\?\W*$",
    re.IGNORECASE,
)
_DANGLING = re.compile(
    r"^(?:it|its|this|that|these|those|they|their|such|he|she|here|there|however|moreover|furthermore|additionally|thus|hence|therefore|"
    r"consequently|instead|in contrast|the (?:former|latter)|as a result|to (?:this|that) end)\b",
    re.IGNORECASE,
)
_FURNITURE = frozenset(
    "paper studi work articl author investig address list show find discuss abstract relat describ propos approach method result tell "
    "explain mani percentag percent fraction factor share amount number extent".split()
)


@dataclass(frozen=True, slots=True)
class Wants:
    """What a question asks for."""

    terms: frozenset[str]
    """Its informative terms, in the form of the full-text index."""
    names: frozenset[str]
    """Those of them that were written like a name: `CLIP`, `Adam-mini`, `ParaSolver`."""
    quantity: bool
    best: bool
    meaning: bool
    papers: bool
    """Papers themselves are asked for (`which papers ...`, `who ...`), or only a topic is named."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an abstract with its terms."""

    text: str
    start: int
    end: int
    position: int
    terms: frozenset[str]
    dangling: bool
    """It opens with a word that points back: `It`, `These`, `However`."""


def wants_of(question: str) -> Wants:
    """Reads a question."""
    terms = frozenset(query_terms(question))
    informative = terms - _FURNITURE or terms
    return Wants(
        terms=informative,
        names=_names(question) & terms,
        quantity=bool(_ASKS_QUANTITY.search(question)),
        best=bool(_ASKS_BEST.search(question)),
        meaning=bool(_ASKS_MEANING.search(question)),
        papers=bool(_ASKS_PAPERS.search(question)) or not asks(question),
    )


def asks(text: str) -> bool:
    """Whether a text is worded as a question or a request; a bare topic is not."""
    return bool(_ASKS.search(text))


def sentences_of(abstract: str, passage: Span | None = None) -> tuple[Sentence, ...]:
    """The sentences of an abstract in order; only those that touch `passage` when it is given."""
    return tuple(
        Sentence(span.text, span.start, span.end, position, frozenset(index_terms(span.text).split()), bool(_DANGLING.match(span.text)))
        for position, span in enumerate(split_sentences(abstract))
        if passage is None or (span.start < passage.end and passage.start < span.end)
    )


class Weights:
    """Inverse document frequencies over the given texts, one set of terms each."""

    def __init__(self, texts: Sequence[Iterable[str]]) -> None:
        self._count = len(texts)
        self._frequency = Counter(term for terms in texts for term in set(terms))

    def of(self, term: str) -> float:
        """IDF in the form of BM25 (Robertson and Spärck Jones, 1976), never negative; 0 for a term that no text holds."""
        frequency = self._frequency[term]
        return math.log(1 + (self._count - frequency + 0.5) / (frequency + 0.5)) if frequency else 0.0

    def coverage(self, wanted: Iterable[str], held: frozenset[str], partly: frozenset[str] = frozenset(), part: float = 0.0) -> float:
        """Share (0..1) of the wanted terms, by weight, that are held; those held only `partly` count as `part`."""
        weights: Mapping[str, float] = {term: self.of(term) for term in wanted}
        total = sum(weights.values())
        if not total:
            return 0.0
        return sum(weight * (1.0 if term in held else part if term in partly else 0.0) for term, weight in weights.items()) / total


def fitness(sentence: Sentence, wants: Wants) -> float:
    """How well the form of a sentence, not its words, suits the question: -0.5..1; findings before the state of the field."""
    value = (0.5 if wants.papers else 0.25) * bool(_REPORTS.search(sentence.text)) - 0.5 * bool(_LAMENTS.search(sentence.text))
    if wants.quantity and _QUANTITY.search(sentence.text):
        value += 0.5 + 0.3 * any(character.isdigit() for character in sentence.text)
    if wants.best and _BEST.search(sentence.text):
        value += 0.5
    if wants.meaning and not wants.quantity and wants.names & sentence.terms and _INTRODUCES.search(sentence.text):
        value += 0.5
    return min(value, 1.0)


def _names(question: str) -> frozenset[str]:
    words = re.findall(r"[\w][\w\-]*", question)
    named = [word for position, word in enumerate(words) if _is_name(word, first=position == 0)]
    return frozenset(term for word in named for term in query_terms(word))


def _is_name(word: str, *, first: bool) -> bool:
    inner_capital = any(character.isupper() for character in word[1:])
    return inner_capital or (not first and word[:1].isupper()) or (word[:1].isalpha() and any(character.isdigit() for character in word))
