"""How answers, hits and papers look on a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from rag.records import Answer, Citation, Hit, Paper
from rag.text.clean import terminal_text

_SUPPORT_STYLE = {"quoted": "green", "supported": "green", "weak": "yellow", "unsupported": "red"}
_SUPPORT_MARK = {"quoted": "quoted", "supported": "supported", "weak": "weak support", "unsupported": "NOT SUPPORTED"}
_PIECE = re.compile(r"(\*\*|__|`|\[\d+\??\](?!\())|(\s+)|([^\s*_`\[]+|.)")
_HEAD = re.compile(r" *(?:\[\d+\] |\d+\.  ?)?")
_CITATION_STYLE = Style(color="cyan", bold=True)
_WIDEST = 100
_LONGEST_HELD = 400


class AnswerStream:
    """Prints an answer while it arrives: words are wrapped, `**bold**` and citations are styled, nothing is redrawn.

    Text is held back only while a formula, a bracket or a word is incomplete.
    """

    def __init__(self, console: Console, *, indent: int = 0) -> None:
        self._console = console
        self._width = max(min(console.width, _WIDEST) - indent, 10)
        self._indent = " " * indent
        self._held = ""
        self._column = 0
        self._hang = 0
        self._space = ""
        self._bold = False

    def feed(self, delta: str) -> None:
        """Adds a piece of the answer."""
        self._held += delta
        cut = _safe_border(self._held)
        if cut:
            self._write(self._held[:cut])
            self._held = self._held[cut:]

    def close(self) -> None:
        """Prints what is still held and ends the line."""
        self._write(self._held)
        self._held = ""
        if self._column:
            self._newline()

    def _write(self, text: str) -> None:
        for line_number, line in enumerate(text.split("\n")):
            if line_number:
                self._newline()
            self._write_line(terminal_text(line))

    def _write_line(self, line: str) -> None:
        if self._column == 0:
            self._hang = len(re.match(r"\s*(?:[-*•]|\d+[.)])\s+|", line)[0])  # type: ignore[index]  # the empty branch always matches
            line = re.sub(r"^#+\s+", "", line)
        word: list[tuple[str, Style | None]] = []
        for mark, space, plain in _PIECE.findall(line):
            if space:
                self._put(word)
                word = []
                self._space = " " if self._column else space
            elif mark in ("**", "__"):
                self._bold = not self._bold
            elif mark != "`":
                word.append((mark or plain, _CITATION_STYLE if mark else Style(bold=True) if self._bold else None))
        self._put(word)

    def _put(self, word: Sequence[tuple[str, Style | None]]) -> None:
        if not word:
            return
        width = sum(cell_len(text) for text, _ in word)
        if self._column and self._column + len(self._space) + width > self._width:
            self._newline(hang=True)
        if self._column == 0:
            self._emit(self._indent, None)
        self._emit(self._space, None)
        for text, style in word:
            self._emit(text, style)
        self._column += len(self._space) + width
        self._space = ""

    def _newline(self, *, hang: bool = False) -> None:
        self._emit("\n", None)
        self._column = 0
        self._space = " " * self._hang if hang else ""

    def _emit(self, text: str, style: Style | None) -> None:
        if text:
            self._console.print(Text(text, style or ""), end="", soft_wrap=True)


def _safe_border(text: str) -> int:
    """Length of the prefix that can be shown: up to the last white space outside a formula or bracket."""
    border = max(text.rfind(" "), text.rfind("\n")) + 1
    while border:
        head = text[:border]
        line = head[head.rfind("\n", 0, -1) + 1 :]
        if len(text) > _LONGEST_HELD or (line.count("$") % 2 == 0 and line.count("[") <= line.count("]")):
            return border
        border = max(text.rfind(" ", 0, border - 1), text.rfind("\n", 0, border - 1)) + 1
    return 0


def render_sources(answer: Answer, console: Console) -> None:
    """Prints the cited papers: number, title, authors, venue, link and the verdict; with its quote unless a list shows it already."""
    for citation in answer.citations:
        text = _source(citation, several=bool(citation.corpus and "," in answer.corpus))
        if citation.quote and answer.mode == "answer":
            text.append(f": “{terminal_text(citation.quote)}”")
        _print(console, text)


def render_notes(answer: Answer, console: Console) -> None:
    """Prints what the reader should know about how the answer came about (meant for stderr)."""
    for note in answer.notes:
        _print(console, Text(terminal_text(note), style="yellow"))
    if answer.dropped:
        _print(console, Text(f"Removed citations of papers that were not given: {', '.join(answer.dropped)}", style="yellow"))


def render_nearest(answer: Answer, console: Console) -> None:
    """Prints the nearest papers of an answer that abstains."""
    for paper in answer.nearest:
        _print(console, Text("  · ", style="dim").append(paper_line(paper)))


def render_hits(hits: Sequence[Hit], console: Console) -> None:
    """Prints search results, best first, each with the passage that matched."""
    for hit in hits:
        head = Text(f"{hit.rank:>3}. ", style="cyan").append(terminal_text(hit.paper.title), style="bold")
        head.append(f"  {hit.score:.3f}", style="dim")
        _print(console, head)
        _print(console, Text("     ").append(paper_line(hit.paper, title=False), style="dim"))
        _print(console, Text("     ").append(terminal_text(hit.passage.text)))


def render_signals(hits: Sequence[Hit], console: Console) -> None:
    """Prints why each paper was ranked where it was (the `-v` table)."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    for column in ("#", "score", "abstract cos", "window cos", "BM25", "coverage", "paper"):
        table.add_column(column, no_wrap=column != "paper", justify="left" if column == "paper" else "right")
    for hit in hits:
        signals = hit.signals
        numbers = (signals.whole_cosine, signals.window_cosine, signals.bm25, signals.coverage)
        title = Text(f"{hit.paper.id} {terminal_text(hit.paper.title)}")
        table.add_row(str(hit.rank), f"{hit.score:.3f}", *(f"{number:.3f}" for number in numbers), title)
    console.print(table)


def render_paper(paper: Paper, console: Console) -> None:
    """Prints everything known of one paper."""
    _print(console, Text(terminal_text(paper.title), style="bold"))
    lines = {
        "authors": ", ".join(paper.authors),
        "venue": " · ".join(filter(None, (paper.venue, str(paper.year or ""), paper.decision, paper.track))),
        "area": paper.area or "",
        "keywords": ", ".join((*paper.keywords, *paper.categories)),
        "DOI": paper.doi or "",
        "arXiv": paper.arxiv_id or "",
        "link": paper.url or "",
        "id": paper.id,
        "read from": ", ".join(paper.sources),
    }
    for name, value in lines.items():
        if value:
            _print(console, Text(f"{name}: ", style="dim").append(terminal_text(value)))
    _print(console, Text(""))
    stream = AnswerStream(console)
    stream.feed(paper.abstract)
    stream.close()


def paper_line(paper: Paper, *, title: bool = True) -> str:
    """One line: title, first authors, venue or year, link."""
    authors = ", ".join(paper.authors[:3]) + (" et al." if len(paper.authors) > 3 else "")
    parts = (paper.title if title else "", authors, paper.venue or str(paper.year or ""), paper.url or "")
    return terminal_text(" · ".join(part for part in parts if part))


def _source(citation: Citation, *, several: bool) -> Text:
    text = Text(f"[{citation.number}] ", style=_CITATION_STYLE).append(terminal_text(citation.paper.title), style="bold")
    if about := paper_line(citation.paper, title=False):
        text.append(f"\n    {about}", style="dim")
    if several:
        text.append(f"  ({terminal_text(citation.corpus)})", style="magenta")
    text.append(f"\n    {_SUPPORT_MARK[citation.support]}", style=_SUPPORT_STYLE[citation.support])
    if citation.added:
        text.append(" (added by the check)", style="dim")
    return text


def _print(console: Console, text: Text) -> None:
    """Prints lines; on a terminal, what does not fit goes on below the line's own beginning, past its number."""
    if not console.is_terminal:
        console.print(text, soft_wrap=True, highlight=False)
        return
    for line in text.split("\n", allow_blank=True):
        head = _HEAD.match(line.plain)[0]  # type: ignore[index]  # matches empty text too
        margin = cell_len(head)
        for place, part in enumerate(line[len(head) :].wrap(console, max(console.width - margin, 10)) or [Text()]):
            part.rstrip()
            start = line[: len(head)] if place == 0 else Text(" " * margin)
            console.print(start.append_text(part), highlight=False, soft_wrap=True)
