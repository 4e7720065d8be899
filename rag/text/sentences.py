"""Sentence boundaries in scientific abstracts."""

from __future__ import annotations

import re
from itertools import pairwise

from rag.records import Span

_CJK_END = re.compile(r"[。！？｡]+[”’」』）)]*")
_OPEN_ABBREVIATION = re.compile(
    r"(?:\b(?:w\.r\.t|resp|approx|cf|eqs?|figs?|secs?|tabs?|refs?|i\.i\.d|e\.g|i\.e|et al|vs|no)\.)$", re.IGNORECASE
)


def split_sentences(text: str) -> tuple[Span, ...]:
    """Sentences of `text` in order, trimmed; together they hold every character that is not white space.

    Boundaries are nupunkt's; cuts after an abbreviation that wants a continuation are undone when the next word starts small or
    with a bracket, and the full stops of Chinese and Japanese, which nupunkt does not know, are added.
    """
    edges = sorted({0, len(text), *_boundaries(text), *(match.end() for match in _CJK_END.finditer(text))})
    spans = (_trimmed(text, start, end) for start, end in pairwise(edges))
    return tuple(span for span in spans if span.text)


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
