"""Sentence boundaries in scientific abstracts."""

from __future__ import annotations

import re
from itertools import pairwise

from rag.records import Span

_CJK_END = re.compile(r"[。！？｡]+[”’」』）)]*")
_OPEN_ABBREVIATION = re.compile(
    r"(?:\b(?:w\.r\.t|resp|approx|cf|eqs?|figs?|secs?|tabs?|refs?|i\.i\.d|e\.g|i\.e|et al|vs|no)\.)$", re.IGNORECASE
)
# nupunkt takes some plain words, "tasks." above all, for abbreviations.
_MISSED_END = re.compile(
    r"(?<![A-Za-z.])(?!(?:[Aa]pprox|[Rr]esp|[Ii]ncl|[Pp]rof|[Aa]ssoc|[Dd]ept|[Uu]niv|[Cc]onf|[Pp]roc)\.)[A-Za-z]?[a-z]{3,}[.!?](?=\s+[A-Z])"
)


def split_sentences(text: str) -> tuple[Span, ...]:
    """Sentences of `text` in order, trimmed; together they hold every character that is not white space.

    Boundaries are nupunkt's; cuts after an abbreviation that wants a continuation are undone when the next word starts small or
    with a bracket; ends that nupunkt misses are added: after plain words, and the full stops of Chinese and Japanese.
    """
    edges = sorted({0, len(text), *_boundaries(text), *_ends(_CJK_END, text), *_ends(_MISSED_END, text)})
    spans = (_trimmed(text, start, end) for start, end in pairwise(edges))
    return tuple(span for span in spans if span.text)


def _ends(pattern: re.Pattern[str], text: str) -> list[int]:
    return [match.end() for match in pattern.finditer(text)]


def _boundaries(text: str) -> list[int]:
    from nupunkt import sent_spans

    ends = [end for _, end in sent_spans(text)]
    return [end for end in ends if not _is_inside_sentence(text, end)]


def _is_inside_sentence(text: str, cut: int) -> bool:
    before, after = text[:cut].rstrip(), text[cut:].lstrip()
    if not after or not _OPEN_ABBREVIATION.search(before[-12:]):
        return False
    return after[0].islower() or after[0].isdigit() or after[0] in "([$\\"


def _trimmed(text: str, start: int, end: int) -> Span:
    raw = text[start:end]
    left = start + len(raw) - len(raw.lstrip())
    stripped = raw.strip()
    return Span(left, left + len(stripped), stripped)
