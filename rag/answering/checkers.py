"""What gives verdicts on statements, and what can be put around it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from rag.errors import RagError
from rag.records import Paper, Span, Verdict

_TITLED = re.compile(r"[“\"](?P<title>.+?)[”\"]: ")


class Checker(Protocol):
    """What checks statements: `rag.verification.Verifier`, or the chat model in its place."""

    def check_many(self, pairs: Sequence[tuple[str, Paper]]) -> list[Verdict]:
        """A verdict for each pair of statement and paper, in order."""


class Remembering:
    """A checker that gives every pair one verdict, however often it is asked."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._known: dict[tuple[str, str], Verdict] = {}

    def check_many(self, pairs: Sequence[tuple[str, Paper]]) -> list[Verdict]:
        """A verdict for each pair of statement and paper, in order."""
        new = {(statement, paper.id): (statement, paper) for statement, paper in pairs if (statement, paper.id) not in self._known}
        if new:
            self._known.update(zip(new, self._checker.check_many(list(new.values())), strict=True))
        return [self._known[statement, paper.id] for statement, paper in pairs]


class Verbatim:
    """A checker for lines of the form “Title”: passage. A passage that stands in the abstract as it is needs no closer look."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker

    def check_many(self, pairs: Sequence[tuple[str, Paper]]) -> list[Verdict]:
        """A verdict for each pair of statement and paper, in order."""
        found = [_verbatim(statement, paper) for statement, paper in pairs]
        rest = iter(self._checker.check_many([pair for pair, verdict in zip(pairs, found, strict=True) if verdict is None]))
        return [verdict or next(rest) for verdict in found]


class Forgiving:
    """A checker that hands over to a plainer one when it fails.

    Args:
        checker: Asked first.
        substitute: Asked from the first failure on.
        on_failure: Told of that failure.
    """

    def __init__(self, checker: Checker, substitute: Checker, on_failure: Callable[[RagError], None]) -> None:
        self._checker = checker
        self._substitute = substitute
        self._on_failure = on_failure

    def check_many(self, pairs: Sequence[tuple[str, Paper]]) -> list[Verdict]:
        """A verdict for each pair of statement and paper, in order."""
        if self._checker is self._substitute:
            return self._substitute.check_many(pairs)
        try:
            return self._checker.check_many(pairs)
        except RagError as error:
            self._on_failure(error)
            self._checker = self._substitute
            return self._substitute.check_many(pairs)


class FiguresOnly:
    """A checker for answers that are not in English, the language of the abstracts: only wrong figures count against a statement."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker

    def check_many(self, pairs: Sequence[tuple[str, Paper]]) -> list[Verdict]:
        """A verdict for each pair of statement and paper, in order; `weak` where only the language differs."""
        return [_without_wording(verdict) for verdict in self._checker.check_many(pairs)]


def _without_wording(verdict: Verdict) -> Verdict:
    if verdict.support != "unsupported" or re.search(r"\d", verdict.problem or ""):
        return verdict
    return replace(verdict, support="weak", problem="the local check reads English only")


def _verbatim(statement: str, paper: Paper) -> Verdict | None:
    """The verdict on a line that quotes the paper word for word; None when it does not."""
    titled = _TITLED.match(statement)
    if titled and words_of_title(titled["title"]) != words_of_title(paper.title):
        return None
    passage = statement[titled.end() :] if titled else statement
    for text in (passage, passage.rstrip(".")):
        start = paper.abstract.find(text) if text else -1
        if start >= 0:
            return Verdict("quoted", 1.0, (Span(start, start + len(text), text),))
    return None


def words_of_title(text: str) -> list[str]:
    """The words of a title in lower case, for comparing it as it is quoted with how it stands in the corpus."""
    return re.findall(r"\w+", text.lower())
