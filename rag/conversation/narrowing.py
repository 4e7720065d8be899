"""Restrictions in conversation: "only the 2025 ones", "any year again", "which of those", "others"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.conversation.vocabulary import asks_for_set, own_words
from rag.records import Paper
from rag.retrieval.constraints import Facets, find_constraints
from rag.store.conditions import Comparison, Condition, Group, Negation, compare
from rag.store.filters import NO_FILTERS, Filters

# An `or` over more papers than this would be too deep for SQLite.
_MOST_PAPERS = 200
_ONES = re.compile(r"\bones?\b", re.IGNORECASE)
_NOUN = re.compile(r"\b(?:papers?|articles?|publications?|submissions?|posters?|orals?|spotlights?|works?|studies)\b", re.IGNORECASE)
_AFTER_PREPOSITION = "".join(rf"(?<!\b{word} )" for word in "in of from since after before until than between".split())
_BARE_YEAR = re.compile(rf"{_AFTER_PREPOSITION}(?<!['’\w-])((?:19|20)\d\d)\b(?! papers)(?!\s*(?:-|–|to|and|onwards?))")
_CUE = re.compile(
    r"\b(?:only|just|restrict|limit|narrow|filter|keep|ones|those|these|them|same|instead|again)\b|^(?:and|what about|how about|any)\b",
    re.IGNORECASE,
)
_RESTRICTING = frozenset(
    """
    only just restrict restricted limit limited narrow filter keep down instead about what how please show give me now those these them
    from in at by of with and but or the any are is there ones one year years venue venues paper papers published presented accepted
    result results list again same question to it that which were was for on appeared appear came out as work works study studies
    """.split()
)
_LIFTED = re.compile(
    r"\b(?:(?:any|all|every|whatever|regardless of (?:the )?) ?(?:years?|venues?|dates?|authors?|decisions?|conferences?)"
    r"|(?:without|remove|drop|lift|clear|forget) (?:the |that |this |any |all )?(?:filters?|restrictions?|constraints?|limits?))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A change of restrictions; empty filters lift what was restricted."""

    filters: Filters

    def restate(self, question: str, facets: Facets) -> tuple[str, Filters]:
        """An earlier question without the restrictions that it states, and these."""
        stated, rest = find_constraints(question, facets)
        return (rest, stated) if stated else (question, NO_FILTERS)

    def over(self, earlier: Filters) -> Filters:
        """The restrictions in force now: each field that is restricted anew replaces its earlier restriction."""
        if not self.filters:
            return NO_FILTERS
        changed = set(_fields(self.filters.condition))
        kept = Filters()
        for part in _parts(earlier.condition):
            if not changed & set(_fields(part)):
                kept = kept.and_(Filters(part))
        return kept.and_(self.filters)


def find_narrowing(question: str, facets: Facets) -> Narrowing | None:
    """The change of restrictions that a question consists of; None when it asks for anything else besides."""
    if _LIFTED.search(question) and not _left_over(_LIFTED.sub(" ", question)):
        return Narrowing(NO_FILTERS)
    text = _ONES.sub("papers", question)
    if _NOUN.search(question) and asks_for_set(question) and not _CUE.search(question):
        return None
    if not _NOUN.search(text):
        text = f"{text.rstrip(' ?.!')} papers" if re.search(r"\b(?:19|20)\d\d[\s?.!]*$", text) is None else f"papers {text}"
    text = _BARE_YEAR.sub(r"in \1", text)
    filters, rest = find_constraints(text, facets)
    return Narrowing(filters) if filters and not _left_over(rest) else None


def restricted_to(papers: Sequence[Paper]) -> Filters:
    """Only these papers."""
    return _joined("or", "=", papers)


def excluding(papers: Sequence[Paper]) -> Filters:
    """All but these papers."""
    return _joined("and", "!=", papers)


def _joined(joint: str, operator: str, papers: Sequence[Paper]) -> Filters:
    conditions = tuple(compare("id", operator, paper.id) for paper in papers[:_MOST_PAPERS])
    if len(conditions) < 2:
        return Filters(conditions[0] if conditions else None)
    return Filters(Group("or" if joint == "or" else "and", conditions))


def _left_over(text: str) -> list[str]:
    return [word for word in own_words(text) if word not in _RESTRICTING]


def _parts(condition: Condition | None) -> tuple[Condition, ...]:
    if isinstance(condition, Group) and condition.joint == "and":
        return condition.conditions
    return (condition,) if condition else ()


def _fields(condition: Condition | None) -> Iterator[str]:
    if isinstance(condition, Comparison):
        yield condition.field
    elif isinstance(condition, Negation):
        yield from _fields(condition.condition)
    elif isinstance(condition, Group):
        for part in condition.conditions:
            yield from _fields(part)
