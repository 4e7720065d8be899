"""The model of last resort and first use: it answers with sentences of the abstracts themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.errors import ModelError
from rag.models.extraction import Extract, extract_answer, extract_list
from rag.models.sentences import wants_of
from rag.protocols import ChatDelta, ChatEnd, ChatRequest

_CONTEXT_TOKENS = 1_000_000
_END = re.compile(r"(?P<end>[.!?]+[\"'”’)]*)$|$")
# A bracketed number in an abstract would pass for a citation of ours.
_BRACKETED_NUMBER = re.compile(r"[\[【](\^?\d[\d,;\s–-]*)[\]】]")


class OfflineModel:
    """Picks the sentences that carry what was asked, word for word, each with its citation; the same for the same request."""

    @property
    def name(self) -> str:
        """`offline`."""
        return "offline"

    @property
    def context_tokens(self) -> int:
        """More than any set of abstracts: nothing is read but sentences."""
        return _CONTEXT_TOKENS

    @property
    def generative(self) -> bool:
        """False: it can neither rewrite nor judge."""
        return False

    def stream(self, request: ChatRequest) -> Iterator[ChatDelta | ChatEnd]:
        """The answer word by word, then its end, with no tokens used. Raises `ModelError` when there is no source."""
        if not request.sources:
            raise ModelError("The offline model answers from papers only, and none was given.", kind="empty")
        if request.mode == "list":
            text = "\n".join(f"- {_line(extract)}" for extract in extract_list(request.question, request.sources))
        else:
            text = _composed(extract_answer(request.question, request.sources), titled=wants_of(request.question).papers)
        for piece in re.findall(r"\s*\S+", text):
            yield ChatDelta(piece)
        yield ChatEnd("stop", 0, 0)


def _composed(extracts: tuple[Extract, ...], *, titled: bool) -> str:
    if titled:
        return "\n".join(_line(extract) for extract in extracts)
    return "\n\n".join(_cited(extract) if extract.sentences else _line(extract) for extract in extracts)


def _line(extract: Extract) -> str:
    title = _BRACKETED_NUMBER.sub(r"(\1)", extract.source.paper.title).rstrip(". ")
    if not extract.sentences:
        return f'"{title}" [{extract.source.number}].'
    return f'"{title}" [{extract.source.number}]: {_cited(extract)}'


def _cited(extract: Extract) -> str:
    mark = f" [{extract.source.number}]"
    return " ".join(_END.sub(lambda end: mark + (end["end"] or ""), _plain(sentence), count=1) for sentence in extract.sentences)


def _plain(sentence: str) -> str:
    return _BRACKETED_NUMBER.sub(r"(\1)", " ".join(sentence.split()))
