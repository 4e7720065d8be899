"""Questions about a paper's record: who wrote it, when and where it appeared, its link. Answered from the record, by no model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from rag.answering.links import web_address
from rag.prompting.framing import as_data
from rag.protocols import Source
from rag.records import Paper, Verdict
from rag.text.words import index_terms, query_terms

Detail = Literal["authors", "year", "venue", "decision", "link"]

_MOST_AUTHORS = 30
_PATTERNS: dict[Detail, str] = {
    "authors": r"""\bwho\ (?:all\ )?(?:wrote|(?:co-?)?authored|published|proposed|introduced|developed)\b(?!\ (?:about|on|that)\b)
        |\bwho\ (?:is|are|was|were)\ (?:the|its|their)\ (?:co-?)?authors?\b|\bby\ whom\b
        |^(?:and\ |what\ about\ )?(?:(?:the|its|their)\ )?authors?\W*$|\b(?:list|name|show|give)(?:\ me)?(?:\ all)?
        \ (?:the|its|their)\ authors\b""",
    "year": r"""\b(?:what|which)\ year\b|\bhow\ (?:old|recent)\ (?:is|are)\b|\bwhen\ did\ .{0,80}?\b(?:come\ out|appear)\b
        |\bwhen\ (?:was|were)\ .{0,80}?\b(?:published|written|released|presented|accepted|submitted|posted)\b""",
    "venue": r"""\b(?:what|which)\ (?:conference|venue|journal|workshop)\b|\bwhere\ did\ .{0,80}?\bappear\b
        |\bwhere\ (?:was|were)\ .{0,80}?\b(?:published|released|presented|accepted|submitted|posted)\b""",
    "decision": r"""\b(?:was|is|were|are)\ .{1,80}?\b(?:accepted|rejected|withdrawn)\W*$
        |\b(?:was|is)\ .{1,80}?\ban?\ (?:oral|poster|spotlight)\b""",
    "link": r"""\b(?:link|url|doi|pdf)\b(?:\W*$|\ (?:of|to|for)\b)
        |\bwhere\ can\ (?:i|we)\ (?:find|read|get|download|see)\ (?:it|them|this|that|the\ (?:paper|pdf|full\ text))\b""",
}
_ASKED = {detail: re.compile(pattern, re.IGNORECASE | re.VERBOSE) for detail, pattern in _PATTERNS.items()}
_FOR_PAPERS = re.compile(
    r"\b(?:which|what|any|other|how many|find|list|show)\b(?: \w+){0,2} (?:papers|works|studies|articles|publications)\b", re.IGNORECASE
)
_A_PAPER = re.compile(r"\b(?:paper|article|publication|study|work)\b", re.IGNORECASE)
_WORDS_OF_ASKING = frozenset(
    "paper articl public studi work author accept oral poster spotlight confer venu journal workshop year link url doi pdf".split()
)


class Recorded:
    """The checker of such answers: they state the paper's own record, word for word."""

    def check_many(self, pairs: Sequence[tuple[str, Paper]]) -> list[Verdict]:
        """`quoted` for each."""
        return [Verdict("quoted", 1.0) for _ in pairs]


def asked_detail(question: str) -> Detail | None:
    """What of a paper's record a question asks for; None when it asks for what abstracts say."""
    text = " ".join(question.replace("’", "'").split())
    if _FOR_PAPERS.search(text):
        return None
    return next((detail for detail, pattern in _ASKED.items() if pattern.search(text)), None)


def without_detail(question: str) -> str:
    """The question without the words that ask for a detail: what is left describes the paper."""
    text = " ".join(question.replace("’", "'").split())
    for pattern in _ASKED.values():
        text = pattern.sub(" ", text)
    return " ".join(text.split())


def is_meant(question: str, paper: Paper) -> bool:
    """Whether a question that stands alone names this paper (by words of its title), or describes it as "the paper about ..."."""
    named = frozenset(term for term in query_terms(without_detail(question)) if term not in _WORDS_OF_ASKING)
    held = f"{paper.title} {paper.abstract}" if _A_PAPER.search(question) else paper.title
    return bool(named) and named <= set(index_terms(held).split())


def stated(detail: Detail, sources: Sequence[Source]) -> str:
    """One line per paper with what its record says, cited."""
    return "\n".join(
        _line(detail, source.paper, f"“{as_data(source.paper.title or source.paper.id)}” [{source.number}]") for source in sources
    )


def _line(detail: Detail, paper: Paper, name: str) -> str:
    found = {"authors": _authors, "year": _year, "venue": _venue, "decision": _decision, "link": _link}[detail](paper)
    return f"{name} {found}." if found else f"The record of {name} in this corpus does not say."


def _authors(paper: Paper) -> str:
    names = [as_data(author) for author in paper.authors[:_MOST_AUTHORS]]
    if not names:
        return ""
    more = len(paper.authors) - len(names)
    names += [f"{more} more"] if more else []
    head = ", ".join(names[:-1])
    return f"was written by {head} and {names[-1]}" if head else f"was written by {names[0]}"


def _year(paper: Paper) -> str:
    when = paper.published or (str(paper.year) if paper.year else "")
    return f"is dated {as_data(when)}{f' ({as_data(paper.venue)})' if paper.venue else ''}" if when else ""


def _venue(paper: Paper) -> str:
    extra = ", ".join(as_data(part) for part in (paper.track, paper.decision) if part)
    return f"appeared at {as_data(paper.venue)}{f' ({extra})' if extra else ''}" if paper.venue else ""


def _decision(paper: Paper) -> str:
    return f"has the decision “{as_data(paper.decision)}”" if paper.decision else ""


def _link(paper: Paper) -> str:
    address = web_address(paper.url) or (f"https://doi.org/{paper.doi}" if paper.doi else "")
    return f"is at {address}" if address else ""
