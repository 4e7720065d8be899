"""A model's text on its way to the reader: made harmless, with citations that resolve, whatever pieces it comes in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag.answering.brackets import Brackets, Numbering
from rag.answering.links import Links, web_address
from rag.answering.quiet import Quiet, Tags
from rag.protocols import Source


class CitationStream:
    """Feeds on deltas and gives text in which every citation resolves.

    `[1]`, `[1, 2]`, `[1][2]`, `[1-3]`, `[^1]`, `【1】` become `[1]`, `[1][2]`...: renumbered by first use, or by the numbers that the
    conversation has fixed. Unknown ones vanish and stand in `dropped`. `x[1]`, code and formulas are left alone. Terminal escapes,
    invisible characters, HTML and links are reduced to their text, but for the addresses of papers already cited.

    Args:
        sources: The papers of the prompt.
        numbers: Paper id -> number it already has in the conversation.
    """

    def __init__(self, sources: Sequence[Source], numbers: Mapping[str, int] | None = None) -> None:
        self._papers = {source.paper.id: source.paper for source in sources}
        self._numbering = Numbering({source.number: source.paper.id for source in sources}, numbers or {})
        # Links and tags twice: before, so that a bracket is read as it will stand; after, for what dropped brackets have joined.
        given = {url for source in sources if (url := web_address(source.paper.url))}
        brackets = Brackets(self._numbering)
        self._stages = (Quiet(), Tags(), Links(lambda: given), brackets, Tags(drop=False), Links(self._addresses))

    def feed(self, delta: str) -> str:
        """What the reader can see now."""
        for stage in self._stages:
            delta = stage.feed(delta)
        return delta

    def close(self) -> str:
        """What was still held back."""
        rest = ""
        for stage in self._stages:
            rest = (stage.feed(rest) if rest else "") + stage.close()
        return rest

    @property
    def cited(self) -> dict[str, int]:
        """Paper id -> shown number, in order of first use."""
        return dict(self._numbering.cited)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Citation marks that were removed because they matched nothing, each once."""
        return tuple(self._numbering.dropped)

    def _addresses(self) -> set[str]:
        urls = (web_address(self._papers[paper_id].url) for paper_id in self._numbering.cited)
        return {url for url in urls if url is not None}


def renumbered(text: str, sources: Sequence[Source], numbers: Mapping[str, int] | None = None) -> tuple[str, CitationStream]:
    """A finished text through a stream of its own, and that stream for what it cited and dropped."""
    stream = CitationStream(sources, numbers)
    return stream.feed(text) + stream.close(), stream
