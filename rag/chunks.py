"""Cuts a paper into what is embedded: its whole abstract, and overlapping windows of sentences."""

from __future__ import annotations

from collections.abc import Iterator

from rag.protocols import Embedder
from rag.records import Chunk, Paper, Span
from rag.text.sentences import split_sentences

_WINDOW_SENTENCES = 3
_STEP_SENTENCES = 2


def make_chunks(paper: Paper, embedder: Embedder) -> tuple[Chunk, ...]:
    """Chunk 0 (title + whole abstract), then sentence windows with the title in front.

    No window is longer than `embedder.max_tokens`: the title goes first, then the window is cut at sentence, word and at last
    character borders. The windows together hold all of the abstract.
    """
    whole = _chunk(paper, 0, Span(0, len(paper.abstract), paper.abstract), _titled(paper.title, paper.abstract))
    windows = [piece for window in _windows(paper.abstract) for piece in _fit(window, embedder)]
    numbered = (_chunk(paper, index, window, _windowed_text(window, paper.title, embedder)) for index, window in enumerate(windows, 1))
    return (whole, *numbered)


def _chunk(paper: Paper, index: int, span: Span, text: str) -> Chunk:
    return Chunk(f"{paper.id}#{index}", paper.id, index, span.start, span.end, text)


def _titled(title: str, text: str) -> str:
    return f"{title}. {text}" if title else text


def _windowed_text(window: Span, title: str, embedder: Embedder) -> str:
    titled = _titled(title, window.text)
    return titled if embedder.count_tokens(titled) <= embedder.max_tokens else window.text


def _windows(abstract: str) -> Iterator[Span]:
    sentences = split_sentences(abstract)
    last_start = max(len(sentences) - _WINDOW_SENTENCES + _STEP_SENTENCES - 1, 0)
    for first in range(0, last_start + 1, _STEP_SENTENCES):
        group = sentences[first : first + _WINDOW_SENTENCES]
        if group:
            yield _between(abstract, group[0].start, group[-1].end)


def _fit(window: Span, embedder: Embedder) -> Iterator[Span]:
    """The window itself when it fits without the title, else its halves, cut at the border nearest the middle."""
    if len(window.text) < 2 or embedder.count_tokens(window.text) <= embedder.max_tokens:
        yield window
        return
    cut = _middle_border(window.text)
    for part in (_inside(window, 0, cut), _inside(window, cut, len(window.text))):
        yield from _fit(part, embedder)


def _middle_border(text: str) -> int:
    middle = len(text) // 2
    ends = [sentence.end for sentence in split_sentences(text)[:-1]] or [i for i, character in enumerate(text) if character.isspace()]
    inner = [end for end in ends if 0 < end < len(text)]
    return min(inner, key=lambda end: abs(end - middle), default=middle)


def _inside(window: Span, start: int, end: int) -> Span:
    raw = window.text[start:end]
    left = window.start + start + len(raw) - len(raw.lstrip())
    return Span(left, left + len(raw.strip()), raw.strip())


def _between(text: str, start: int, end: int) -> Span:
    return Span(start, end, text[start:end])
