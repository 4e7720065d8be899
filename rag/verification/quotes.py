"""Verbatim passages: whether a statement stands in a paper word for word, and which passage comes nearest."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from rag.records import Paper, Span
from rag.verification.directions import is_negator
from rag.verification.figures import mismatches
from rag.verification.normalise import without_citations
from rag.verification.readings import PaperReading, Sentence, coverage, likenesses, read_paper, read_statement
from rag.verification.wording import Word, words_of

_MIN_WORDS = 5
_MIN_PART = 3
_ELLIPSIS = re.compile(r"\s*(?:\[?\(?(?:\.\.\.|…)\)?\]?)\s*")
_SCOPE = 8
# What may stand around a quotation without changing it: who says it, and that it is said.
_FRAME = frozenset(
    "the a an this that these those their its our we they it in of by to and as for from also is are was were be which who where here there with on "
    "paper papers work works study studies article abstract author authors researchers researcher team et al approach method "
    "show shows showed shown find finds found report reports reported state states stated note notes noted argue argues argued conclude concludes concluded "
    "demonstrate demonstrates demonstrated say says said write writes wrote observe observes observed claim claims claimed explain explains explained describe describes "
    "described present presents presented propose proposes proposed introduce introduces introduced according specifically namely notably moreover furthermore "
    "additionally finally thus therefore overall results result findings finding e.g i.e".split()
)
_OPENS_DOUBT = frozenset("whether if unless hypothesize hypothesise assume suppose question ask asks".split())


@dataclass(frozen=True, slots=True)
class Quotation:
    """A statement found verbatim: the sentences of the abstract that hold it (none for a title), and whether nothing was added."""

    sentences: tuple[Span, ...]
    exact: bool


def find_quotation(statement: str, paper: Paper) -> Quotation | None:
    """The statement as a quotation from abstract or title, after normalisation; None when it is no quotation.

    Words of reporting ("The authors show that"), the paper's title and its authors' names may stand around the quoted words. Parts between ellipses
    are looked up one by one. A passage whose own sentence denies or doubts it is no quotation, nor one with another sign or unit at a figure.
    """
    reading = read_paper(paper)
    parts = [read_statement(part).words for part in _ELLIPSIS.split(without_citations(statement)) if words_of(part)]
    if not any(word.stem for part in parts for word in part):
        return None
    frame = _FRAME | {word.text for word in words_of(" ".join((*paper.authors, paper.venue or "", str(paper.year or ""))))}
    least = _MIN_WORDS if len(parts) == 1 else _MIN_PART
    found = [_find(part, reading, frame, least) for part in parts]
    kept = [one for one in found if one is not None]
    if len(kept) < len(found) or mismatches(read_statement(statement).figures, reading.figures):
        return None
    sentences = tuple(dict.fromkeys(span for one in kept for span in one.sentences))
    return Quotation(sentences, all(one.exact for one in kept))


def best_quote(statement: str, paper: Paper) -> Span:
    """The passage of the abstract that carries a statement best: the quoted sentences, else the sentence that shares most with it.

    Empty (`0:0`) for a paper without abstract.
    """
    reading = read_paper(paper)
    if not reading.sentences:
        return Span(0, 0, "")
    quotation = find_quotation(statement, paper)
    if quotation and quotation.sentences:
        start, end = quotation.sentences[0].start, quotation.sentences[-1].end
        return Span(start, end, paper.abstract[start:end])
    return rank_sentences(statement, reading)[0].span


def rank_sentences(statement: str, reading: PaperReading, idf: Callable[[str], float] = len) -> tuple[Sentence, ...]:
    """The sentences by how much of the statement's wording they hold, best first; longer words weigh more unless an IDF is given."""
    stems = read_statement(statement).stems
    alike = likenesses(stems, reading)
    return tuple(sorted(reading.sentences, key=lambda sentence: -coverage(stems, sentence.stems, alike, idf)))


def _find(words: Sequence[Word], reading: PaperReading, frame: frozenset[str], least: int) -> Quotation | None:
    body = [word for sentence in reading.sentences for word in sentence.words]
    title = [word.text for word in reading.title.words]
    block = _longest(words, body)
    texts = [word.text for word in words]
    if block is None or not _is_enough(words, block, least):
        return Quotation((), exact=texts == title) if _is_title(texts, title, frame) else None
    start, place, size = block
    around = _without(texts[:start] + texts[start + size :], title)
    if not all(text in frame for text in around) or _is_doubted(reading, body[place], body[place + size - 1]):
        return None
    first, last = body[place].start, body[place + size - 1].end
    spans = tuple(sentence.span for sentence in reading.sentences if sentence.span.start < last and first < sentence.span.end)
    return Quotation(spans, exact=not around)


def _longest(words: Sequence[Word], body: Sequence[Word]) -> tuple[int, int, int] | None:
    """Longest run of words common to both: place in the statement, place in the body, length."""
    matcher = SequenceMatcher(None, [word.text for word in body], [word.text for word in words], autojunk=False)
    match = matcher.find_longest_match()
    return (match.b, match.a, match.size) if match.size else None


def _is_enough(words: Sequence[Word], block: tuple[int, int, int], least: int) -> bool:
    """Enough of the statement to be a quotation: `least` words or all of it, more than half of these informative."""
    start, _, size = block
    informative = sum(bool(word.stem) for word in words[start : start + size])
    return informative > least / 2 and (size >= least or size == len(words))


def _is_title(texts: Sequence[str], title: Sequence[str], frame: frozenset[str]) -> bool:
    rest = _without(list(texts), title)
    return len(rest) < len(texts) and all(text in frame for text in rest)


def _without(texts: list[str], title: Sequence[str]) -> list[str]:
    """`texts` with the title cut out, also where the quoted passage stood in its middle."""
    size = len(title)
    for start in range(len(texts) - size + 1):
        if size and texts[start : start + size] == list(title):
            return texts[:start] + texts[start + size :]
    return texts


def _is_doubted(reading: PaperReading, first: Word, last: Word) -> bool:
    """Whether the passage begins inside a sentence that denied or doubted it just before."""
    sentence = next(sentence for sentence in reading.sentences if first in sentence.words)
    before = [word.text for word in sentence.words if word.start < first.start][-_SCOPE:]
    return any(is_negator(text) or text in _OPENS_DOUBT for text in before)
