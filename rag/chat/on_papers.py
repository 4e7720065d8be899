"""Commands about papers: sources, why, show, open, similar, bib."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from rich.text import Text

from rag.chat.arguments import needed, target
from rag.chat.chat import Chat
from rag.cli import render
from rag.errors import UsageError
from rag.records import Answer, Citation, Hit, Paper, Signals, Span, Statement
from rag.text.clean import terminal_text

_SIMILAR = 5


def sources(chat: Chat, argument: str) -> None:
    """Prints the sources of the last answer, or one line for each paper cited so far."""
    if argument != "all":
        if chat.last.abstained or not chat.last.citations:
            chat.screen.note("The last answer cites nothing.")
        chat.screen.below(chat.last)
        return
    cited = {c.number: c.paper for turn in chat.conversation.turns for c in turn.answer.citations}
    if not cited:
        chat.screen.note("Nothing has been cited yet.")
    for number in sorted(cited):
        chat.screen.line(f"[{number}] {render.paper_line(cited[number])}")


def why(chat: Chat, argument: str) -> None:
    """Prints for one source: its rank and score, each statement that cites it with the verdict, the passages in their abstract."""
    number = _number(argument)
    citation = chat.cited(number)
    answer = next(turn.answer for turn in reversed(chat.conversation.turns) if citation in turn.answer.citations)
    chat.screen.line(f"[{number}] {citation.paper.title}")
    hit = _hit(answer, citation.paper)
    if hit is not None:
        chat.screen.line(_ranked(hit))
    chat.screen.line(f"Verdict: {citation.support}, {citation.score:.2f}{' (citation added by the check)' if citation.added else ''}")
    spans = list[Span]()
    for statement in answer.statements:
        spans += _told(chat, statement, number)
    spans = spans or _quoted(citation) or ([hit.passage] if hit else [])
    chat.screen.line()
    chat.screen.out.print(highlighted(citation.paper.abstract, spans), soft_wrap=not chat.screen.out.is_terminal)


def show(chat: Chat, argument: str) -> None:
    """Prints a paper in full."""
    chat.screen.paper(chat.paper(needed(argument, "/show N or /show ID")))


def open_paper(chat: Chat, argument: str) -> None:
    """Opens a paper's page in the browser; only web addresses are opened."""
    import webbrowser

    paper = chat.paper(needed(argument, "/open N or /open ID"))
    address = paper.url or (f"https://doi.org/{paper.doi}" if paper.doi else "")
    if urlsplit(address).scheme not in ("http", "https"):
        raise UsageError(f"{paper.title!r} has no web address.")
    if webbrowser.open(address):
        chat.screen.note(f"Opened {address}")
    else:
        chat.screen.line(address)


def similar(chat: Chat, argument: str) -> None:
    """Prints the papers closest to one."""
    paper = chat.paper(needed(argument, "/similar N or /similar ID"))
    chat.screen.hits(chat.assistant.similar(paper.id, _SIMILAR))


def bib(chat: Chat, argument: str) -> None:
    """Prints or writes the papers cited so far as BibTeX, in the order of their numbers."""
    from rag.exports import export_papers, write_file

    cited = {c.number: c.paper for turn in chat.conversation.turns for c in turn.answer.citations}
    if not cited:
        raise UsageError("Nothing has been cited yet.")
    text = export_papers([cited[number] for number in sorted(cited)], "bibtex")
    if not argument:
        chat.screen.out.print(text, end="", soft_wrap=True)
        return
    path, force = target(argument)
    write_file(path, text, force)
    chat.screen.note(f"Written: {path}, {len(cited)} entries.")


def highlighted(abstract: str, spans: Iterable[Span]) -> Text:
    """The abstract with these stretches marked."""
    marked = [span for span in spans if abstract[span.start : span.end] == span.text]
    borders = sorted({0, len(abstract), *(span.start for span in marked), *(span.end for span in marked)})
    text = Text()
    for start, end in zip(borders, borders[1:], strict=False):
        is_marked = any(span.start <= start and end <= span.end for span in marked)
        piece = terminal_text(abstract[start:end])
        text.append(f"»{piece}«" if is_marked else piece, style="bold green" if is_marked else "")
    return text


def _told(chat: Chat, statement: Statement, number: int) -> list[Span]:
    spans = list[Span]()
    for citation in statement.citations:
        if citation.number == number:
            problem = f": {citation.problem}" if citation.problem else ""
            chat.screen.line(f"- {statement.text.strip()} ({citation.support}, {citation.score:.2f}{problem})")
            spans += citation.evidence
    return spans


def _quoted(citation: Citation) -> list[Span]:
    start = citation.paper.abstract.find(citation.quote) if citation.quote else -1
    return [Span(start, start + len(citation.quote), citation.quote)] if start >= 0 else []


def _ranked(hit: Hit) -> str:
    signals = hit.signals
    if signals == Signals():
        return f"Rank {hit.rank}: the question refers to this paper."
    return (
        f"Rank {hit.rank}, score {hit.score:.3f} (abstract {signals.whole_cosine:.3f}, passage {signals.window_cosine:.3f}, "
        f"BM25 {signals.bm25:.2f}, words {signals.coverage:.0%})"
    )


def _hit(answer: Answer, paper: Paper) -> Hit | None:
    hits = answer.retrieval.hits if answer.retrieval else ()
    return next((hit for hit in hits if hit.paper.id == paper.id), None)


def _number(argument: str) -> int:
    bare = needed(argument, "/why N").strip("[]#")
    if not bare.isdecimal():
        raise UsageError(f"{argument!r} is no number of a source. Write /why 2.")
    return int(bare)
