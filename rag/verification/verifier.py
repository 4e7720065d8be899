"""The local check: how far an abstract carries a statement, and what stands against it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rag.protocols import Embedder
from rag.records import Paper, Span, Support, Verdict
from rag.verification.features import Comparison, compare
from rag.verification.objections import Objection, objections
from rag.verification.quotes import find_quotation, rank_sentences
from rag.verification.readings import Idf, PaperReading, read_paper, read_statement
from rag.verification.scoring import lowered, probability

SUPPORTED_FROM = 0.6
WEAK_FROM = 0.3
_MAX_EVIDENCE = 3
_EVIDENCE_SHARE = 0.5
_FRAMED_QUOTE = 0.98
_IDF_CACHE = 8192


class Verifier:
    """Checks statements against abstracts, without a language model and without sending anything.

    `idf` maps a stem to its inverse document frequency in the user's corpus. With an `embedder`, statements that are no quotations are also compared by
    meaning; without one, by wording alone.
    """

    def __init__(self, idf: Idf, embedder: Embedder | None = None) -> None:
        self._idf: Idf = lru_cache(maxsize=_IDF_CACHE)(idf)
        self._embedder = embedder

    def check(self, statement: str, paper: Paper) -> Verdict:
        """How far the abstract (and title) of `paper` carries `statement`; citation markers in it are ignored."""
        return self.check_many([(statement, paper)])[0]

    def check_many(self, pairs: Sequence[tuple[str, Paper]]) -> list[Verdict]:
        """A verdict for each pair, in order; all texts that need embedding are embedded in one batch."""
        quoted = {pair: verdict for pair in dict.fromkeys(pairs) if (verdict := _quoted(*pair))}
        open_pairs = [pair for pair in dict.fromkeys(pairs) if pair not in quoted]
        cosines = self._cosines(open_pairs)
        scored = {pair: self._scored(*pair, cosines.get(pair, ())) for pair in open_pairs}
        return [quoted.get(pair) or scored[pair] for pair in pairs]

    def _scored(self, statement: str, paper: Paper, cosines: tuple[float, ...]) -> Verdict:
        reading, read = read_paper(paper), read_statement(statement)
        if not read.stems:
            return Verdict("unsupported", 0.0, (), "nothing in the statement can be checked")
        comparison = compare(read, reading, self._idf, cosines)
        found = objections(read, paper, reading, comparison, self._idf)
        score = probability(comparison.features, embedded=bool(cosines))
        support = _lowest(_class(score), found)
        problem = found[0].problem if found else None
        return Verdict(support, lowered(score, comparison.features.coverage, found), _evidence(reading, comparison), problem)

    def _cosines(self, pairs: Sequence[tuple[str, Paper]]) -> dict[tuple[str, Paper], tuple[float, ...]]:
        if self._embedder is None or not pairs:
            return {}
        statements = {pair: read_statement(pair[0]).text for pair in pairs}
        passages = {paper: _passages(paper) for _, paper in pairs}
        texts = list(dict.fromkeys([*statements.values(), *(text for own in passages.values() for text in own)]))
        vectors = self._embedder.embed(texts)
        row = {text: i for i, text in enumerate(texts)}
        return {pair: tuple(float(vectors[row[statements[pair]]] @ vectors[row[text]]) for text in passages[pair[1]]) for pair in pairs}


def _passages(paper: Paper) -> tuple[str, ...]:
    return (*(sentence.span.text for sentence in read_paper(paper).sentences), paper.title)


def _quoted(statement: str, paper: Paper) -> Verdict | None:
    quotation = find_quotation(statement, paper)
    if quotation is None:
        return None
    evidence = quotation.sentences or tuple(sentence.span for sentence in rank_sentences(statement, read_paper(paper))[:1])
    return Verdict("quoted", 1.0 if quotation.exact else _FRAMED_QUOTE, evidence)


def _class(score: float) -> Support:
    return "supported" if score >= SUPPORTED_FROM else "weak" if score >= WEAK_FROM else "unsupported"


def _lowest(support: Support, found: Sequence[Objection]) -> Support:
    order: tuple[Support, ...] = ("unsupported", "weak", "supported")
    return min([support, *(objection.at_most for objection in found)], key=order.index)


def _evidence(reading: PaperReading, comparison: Comparison) -> tuple[Span, ...]:
    ranked = sorted(zip(comparison.weights, reading.sentences, strict=True), key=lambda pair: -pair[0])
    if not ranked:
        return ()
    floor = ranked[0][0] * _EVIDENCE_SHARE
    return tuple(sentence.span for weight, sentence in ranked[:_MAX_EVIDENCE] if weight >= floor)
