"""The finished text against its papers: verdicts on statements, marks in the text, and the list of citations."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag.answering.checkers import Checker, words_of_title
from rag.answering.links import web_address
from rag.protocols import Source
from rag.records import Citation, Paper, Span, Statement, StatementCitation, Support, Verdict
from rag.verification.statements import split_statements

if TYPE_CHECKING:
    from rag.verification.statements import RawStatement

_MARK = re.compile(r"\[(\d+)(\??)\]")
_RANK: Mapping[Support, int] = {"quoted": 3, "supported": 2, "weak": 1, "unsupported": 0}
_CLEAR_SUPPORT = 0.75
_END = re.compile(r"[.!?…]*[\"'”’)]*\s*$")


@dataclass(frozen=True, slots=True)
class Checked:
    """A text with the verdicts on its statements; offsets are into `text`."""

    text: str
    statements: tuple[Statement, ...] = ()

    @property
    def failing(self) -> tuple[Statement, ...]:
        """Statements that no paper carries: unsupported, or without a citation."""
        return tuple(s for s in self.statements if s.verdict in ("unsupported", "uncited"))


def check_text(text: str, papers: Mapping[int, Paper], checker: Checker, *, added: Collection[tuple[str, str]] = ()) -> Checked:
    """Splits a text into statements and checks each citation.

    Args:
        text: With citations as `[n]`.
        papers: Number -> paper.
        checker: Gives the verdicts.
        added: The statements, without marks, to which the pipeline attached a citation, with the id of the paper.
    """
    raw = [statement for statement in split_statements(text) if not _is_title(statement, papers)]
    pairs = [(statement, number) for statement in raw for number in statement.numbers if number in papers]
    verdicts = checker.check_many([(bare(statement.text), papers[number]) for statement, number in pairs])
    found = {(statement.start, number): verdict for (statement, number), verdict in zip(pairs, verdicts, strict=True)}
    ids = {number: paper.id for number, paper in papers.items()}
    return Checked(text, tuple(_statement(one, found, ids, added) for one in raw))


def add_citations(checked: Checked, sources: Mapping[int, Paper], checker: Checker) -> dict[int, int]:
    """End offset of each uncited statement that a paper clearly supports -> number of that paper, the best one."""
    uncited = [statement for statement in checked.statements if statement.verdict == "uncited"]
    pairs = [(statement, number) for statement in uncited for number in sources]
    verdicts = checker.check_many([(bare(statement.text), sources[number]) for statement, number in pairs])
    best: dict[int, tuple[float, int]] = {}
    for (statement, number), verdict in zip(pairs, verdicts, strict=True):
        clear = verdict.support == "quoted" or (verdict.support == "supported" and verdict.score >= _CLEAR_SUPPORT)
        if clear and verdict.score > best.get(statement.end, (0.0, 0))[0]:
            best[statement.end] = (verdict.score, number)
    return {end: number for end, (_, number) in best.items()}


def with_citations(text: str, additions: Mapping[int, int]) -> str:
    """`text` with `[n]` before the final punctuation of the statements that end at the given offsets."""
    for end in sorted(additions, reverse=True):
        text = _inserted(text, end, f"[{additions[end]}]")
    return text


def marked(checked: Checked) -> Checked:
    """The text with `[n?]` where the cited paper does not support the statement; statements moved along."""
    pieces: list[str] = []
    statements: list[Statement] = []
    place = length = 0
    for statement in checked.statements:
        failing = {citation.number for citation in statement.citations if citation.support == "unsupported"}
        between = checked.text[place : statement.start]
        body = _with_marks(checked.text[statement.start : statement.end], failing)
        pieces += [between, body]
        start = length + len(between)
        length = start + len(body)
        statements.append(replace(statement, text=body, start=start, end=length))
        place = statement.end
    pieces.append(checked.text[place:])
    return Checked("".join(pieces), tuple(statements))


def without_unsupported(checked: Checked) -> str:
    """The text without the statements that no paper supports, uncited ones included; empty when none is left."""
    text = checked.text
    for statement in reversed(checked.statements):
        if statement.verdict in ("unsupported", "uncited"):
            text = text[: statement.start].rstrip(" ") + text[statement.end :]
    lines = [line.rstrip() for line in text.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line for line in lines if not re.fullmatch(r"\s*(?:[-*•]|\d+[.)])\s*", line))).strip()


def citations_of(
    checked: Checked, sources: Sequence[Source], numbers: Mapping[str, int], corpora: Mapping[str, str]
) -> tuple[Citation, ...]:
    """The papers whose numbers stand in the text, by number, each with its best quote."""
    shown = {int(match[1]) for match in _MARK.finditer(checked.text)}
    by_number = {numbers[source.paper.id]: source for source in sources if source.paper.id in numbers}
    return tuple(_citation(number, by_number[number], checked, corpora) for number in sorted(shown & by_number.keys()))


def bare(statement: str) -> str:
    """A statement without its citation marks."""
    return re.sub(r"\s+([.,;:!?])", r"\1", _MARK.sub("", statement)).strip()


def _is_title(statement: RawStatement, papers: Mapping[int, Paper]) -> bool:
    """Whether an uncited piece is the name of a paper, or its beginning, such as a title that is a question; naming claims nothing."""
    words = words_of_title(statement.text)
    return not statement.numbers and any(words_of_title(paper.title)[: len(words)] == words for paper in papers.values())


def _with_marks(statement: str, failing: set[int]) -> str:
    for number in sorted(failing):
        if f"[{number}]" in statement:
            statement = statement.replace(f"[{number}]", f"[{number}?]")
        else:
            # The citation stands in a neighbouring sentence that it does support.
            statement = _inserted(statement, len(statement), f"[{number}?]")
    return statement


def _inserted(text: str, end: int, mark: str) -> str:
    """`text` with a mark before the final punctuation of the statement that ends at `end`."""
    head = text[:end]
    place = _END.search(head).start()  # type: ignore[union-attr]  # matches empty text too
    space = "" if head[:place].rstrip().endswith("]") else " "
    return f"{head[:place].rstrip()}{space}{mark}{head[place:]}{text[end:]}"


def _citation(number: int, source: Source, checked: Checked, corpora: Mapping[str, str]) -> Citation:
    given = [(citation, statement) for statement in checked.statements for citation in statement.citations if citation.number == number]
    best = max(given, key=lambda pair: (_RANK[pair[0].support], pair[0].score), default=None)
    paper = replace(source.paper, url=web_address(source.paper.url))
    citation = best[0] if best else StatementCitation(number, "weak", 0.0)
    quote = citation.evidence[0] if citation.evidence else _passage(source)
    added = bool(given) and all(one.added for one, _ in given)
    return Citation(number, paper, quote.text, citation.support, citation.score, added, corpora.get(paper.id, ""))


def _passage(source: Source) -> Span:
    """What the search found in the paper; its whole abstract when the paper was not searched for."""
    return source.hit.passage if source.hit else Span(0, len(source.paper.abstract), source.paper.abstract)


def _statement(
    raw: RawStatement, verdicts: Mapping[tuple[int, int], Verdict], ids: Mapping[int, str], added: Collection[tuple[str, str]]
) -> Statement:
    plain = bare(raw.text)
    citations = tuple(
        StatementCitation(number, found.support, found.score, found.evidence, (plain, ids[number]) in added, found.problem)
        for number in raw.numbers
        if (found := verdicts.get((raw.start, number)))
    )
    best = max(citations, key=lambda citation: _RANK[citation.support], default=None)
    return Statement(raw.text, raw.start, raw.end, best.support if best else "uncited", citations)
