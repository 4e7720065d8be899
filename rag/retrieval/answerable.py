"""Whether a corpus answers a question at all, as a calibrated probability."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from rag.records import Hit
from rag.retrieval.fitted import ANSWERABLE, THRESHOLD
from rag.retrieval.listing import hit_aboutness
from rag.retrieval.topic import PaperWords, Topic

_LOOKED_AT = 5
_MOST_NAMED = 3

_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening|night|day)|thanks?(?: you)?(?: (?:very much|so much|a lot))?|bye|goodbye"
    r"|ok(?:ay)?|yes|no"
    r"|great|cool|nice|please|sorry|test(?:ing)?|help|how are you(?: (?:doing|today))?|what'?s up|how(?:'s| is) it going"
    r"|who (?:are|made|created) you|what are you|what(?:'s| is) your name|what can you do|are you (?:there|human|a (?:ro)?bot|an ai)"
    r"|tell me a joke|sing(?: me)? a song|i love you|there|everyone|all|again|friend|assistant)\b[\s,.!?]*)+",
    re.IGNORECASE,
)
_ARITHMETIC = re.compile(
    r"(?:(?:what(?:'s| is)|calculate|compute|solve|how much is)\s+)?[-+(]*\d[\d\s.,()]*"
    r"(?:(?:[-+*/^x×÷%=]|plus|minus|times|divided by)[\s\d.,()]*)+\??",
    re.IGNORECASE,
)
_RULES = r"(?:instructions?|rules|prompts?|guidelines|restrictions|directives)"
_ATTACK = re.compile(
    r"(?:^|[.!?:;,]\s*)(?:please |now |and |then |just )*(?:ignore|disregard|forget|override|bypass)\b.{0,60}?\b"
    rf"(?:{_RULES}|everything (?:above|before)|what you were told)\b"
    r"|\b(?:print|reveal|show|repeat|output|display|give|tell|leak|what (?:is|are|were))\b.{0,30}?\b(?:your|the) "
    rf"(?:(?:system|initial|hidden|secret|original|your)\s+)+(?:message|{_RULES})\b"
    rf"|\b(?:print|reveal|show|repeat|output|display|tell me|leak|what (?:is|are|were))\b.{{0,12}}?\byour {_RULES}\b"
    r"|(?:^|[.!?]\s*)(?:from now on,? )?(?:you are now|pretend (?:to be|that you)|act as (?:an?|if)|roleplay as)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """How probably the corpus answers, and what follows from it."""

    probability: float
    abstain: bool
    reason: str | None = None
    """Why it abstains, a sentence for the reader."""
    missing: tuple[str, ...] = ()
    """Words of a question that is answered which no paper of the corpus holds."""

    @property
    def notes(self) -> tuple[str, ...]:
        """For the reader: what of the question the answer cannot be about."""
        return (f"No abstract mentions {_quoted(self.missing, 'or')}.",) if self.missing else ()


@dataclass(frozen=True, slots=True)
class AnswerFeatures:
    """What the probability of an answer is computed from; each the highest among the best papers."""

    aboutness: float
    coverage: float
    """Share of the question's informative words, by IDF, in one paper."""
    window: float
    """Cosine of the best window."""
    agreement: float
    """1 when the words' best paper is the vectors' best too, 1/2 when it is their second, and so on."""
    papers: float
    """Natural logarithm of the number of papers searched."""

    @property
    def probability(self) -> float:
        """Calibrated on questions of one corpus asked of it and of others."""
        names = ("aboutness", "coverage", "window", "agreement", "papers")
        return 1 / (1 + exp(-ANSWERABLE["constant"] - sum(ANSWERABLE[name] * float(getattr(self, name)) for name in names)))


def refused_outright(question: str) -> str | None:
    """Why a question is no question about papers: empty, a greeting, a sum, an attack; None when it may be one."""
    text = " ".join(question.split())
    if not any(map(str.isalnum, text)):
        return "The question is empty." if not text else "The question has no words in it."
    if _ATTACK.search(text):
        return "This tells the assistant what to do instead of asking about the papers."
    if _GREETING.fullmatch(text):
        return "This is no question about the papers."
    if _ARITHMETIC.fullmatch(text):
        return "This asks for a calculation, and only the papers are searched."
    return None


def answer_features(topic: Topic, hits: Sequence[Hit], words: Sequence[PaperWords], papers: int) -> AnswerFeatures:
    """The features of a search's best hits (at least one); `words` are the hits' own, `papers` how many were searched."""
    mean_length = sum(held.length for held in words) / len(words) or 1.0
    rated = hit_aboutness(topic, hits, words, mean_length)
    best = sorted(range(len(hits)), key=lambda i: -rated[i])[:_LOOKED_AT]
    cosine = [hit.signals.whole_cosine + hit.signals.window_cosine for hit in hits]
    lexical = [topic.lexical(held, mean_length) for held in words]
    worded = max(range(len(hits)), key=lexical.__getitem__)
    return AnswerFeatures(
        aboutness=rated[best[0]],
        coverage=max(topic.coverage(words[i]) for i in best),
        window=max(hits[i].signals.window_cosine for i in best),
        agreement=1 / (1 + sum(value > cosine[worded] for value in cosine)) if lexical[worded] else 0.0,
        papers=log(max(papers, 1)),
    )


def judge_answerable(topic: Topic, hits: Sequence[Hit], words: Sequence[PaperWords], papers: int) -> Judgement:
    """The judgement on the best hits of a search."""
    if not papers:
        return Judgement(0.0, True, "No paper passes the filters.")
    if not hits or not topic.terms:
        return Judgement(0.0, True, "The question names nothing that abstracts could be searched for.")
    probability = answer_features(topic, hits, words, papers).probability
    if probability >= THRESHOLD:
        return Judgement(probability, False, missing=topic.asked_words(topic.unknown))
    return Judgement(probability, True, _reason(topic, hits, words))


def _reason(topic: Topic, hits: Sequence[Hit], words: Sequence[PaperWords]) -> str:
    near = words[:_LOOKED_AT]
    unknown = topic.asked_words(topic.unknown)
    absent = topic.asked_words(frozenset(term for term in topic.terms if not any(term in held.counts for held in near)))
    if unknown:
        said = f"No abstract mentions {_quoted(unknown, 'or')}"
    elif absent:
        said = f"No abstract near the question mentions {_quoted(absent, 'or')}"
    else:
        said = f"No abstract brings “{topic.text}” together"
    return f"{said}; the nearest is “{hits[0].paper.title or hits[0].paper.id}”."


def _quoted(words: Sequence[str], joint: str) -> str:
    shown = [f"“{word}”" for word in words[:_MOST_NAMED]]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {joint} {shown[-1]}"
