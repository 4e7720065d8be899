"""Words of a question that point at papers of the conversation: numbers, ordinals, names, descriptions, pronouns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rag.conversation import pointers
from rag.conversation.context import Context
from rag.conversation.names import best_described, find_names
from rag.records import Paper

Kind = Literal["number", "ordinal", "description", "name", "group", "pronoun"]


_MOSTLY = 0.7
# Only "the fifth" counts papers; "the fifth paper of the series" and "ranked fifth" may count other things.
_COUNTED = re.compile(r"(?:(?:both|all|either|one) of )?the ", re.IGNORECASE)
_OF_SOMETHING = re.compile(r"\s+(?:of|in|on|about|from|by|to|that|which|who)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reference:
    """A stretch of the question and the papers it points at."""

    start: int
    end: int
    papers: tuple[Paper, ...]
    kind: Kind
    is_firm: bool = True
    """False when the words might also mean something else."""


def find_references(question: str, context: Context) -> tuple[Reference, ...]:
    """The references of a question in order of place; where two overlap, the more explicit one stands."""
    chosen: list[Reference] = []
    unknown = len(question)
    for find in _FINDERS:
        for reference in find(question, context):
            if not reference.papers and reference.kind == "description":
                unknown = min(unknown, reference.start)
            if reference.papers and not any(reference.start < other.end and other.start < reference.end for other in chosen):
                chosen.append(reference)
    # After a description of a paper that has not been seen, "it" means that one.
    known = [reference for reference in chosen if reference.kind != "pronoun" or reference.start < unknown]
    return tuple(sorted(known, key=lambda reference: reference.start))


def out_of_reach(question: str, context: Context) -> str:
    """Why a number or an ordinal of the question points at nothing ("the fifth paper" of three); empty when none does."""
    for match in pointers.BRACKETED.finditer(question):
        numbers = _expanded(match.group())
        # [0, 1] is an interval.
        missing = [number for number in numbers if _numbered(number, context) is None]
        if context.numbers and missing and 0 not in numbers:
            return f"There is no paper [{missing[0]}] in this conversation; its numbers end at [{max(context.numbers)}]."
    count = len(context.listed)
    for match in pointers.ORDERED.finditer(question):
        index = pointers.ORDINALS[match["ordinal"].lower()] if match["ordinal"] else 0
        if count and index >= count and _COUNTED.match(match.group()) and not _OF_SOMETHING.match(question, match.end()):
            papers = f"{count} paper{'' if count == 1 else 's'}"
            return f"There is no {match['ordinal'].lower()} paper: the last answer cites {papers}. Ask about one of them, or by its title."
    return ""


def _numbers(question: str, context: Context) -> Iterator[Reference]:
    for match in [*pointers.BRACKETED.finditer(question), *pointers.NUMBERED.finditer(question)]:
        papers = [paper for number in _expanded(match.group()) if (paper := _numbered(number, context))]
        yield Reference(*match.span(), tuple(papers), "number")
    for match in pointers.SPELLED.finditer(question):
        spelled = _numbered(pointers.CARDINALS[match["number"].lower()], context)
        yield Reference(*match.span(), (spelled,) if spelled else (), "number")


def _numbered(number: int, context: Context) -> Paper | None:
    if number in context.numbers:
        return context.numbers[number]
    return context.listed[number - 1] if 0 < number <= len(context.listed) else None


def _expanded(text: str) -> list[int]:
    numbers: list[int] = []
    for first, last in re.findall(r"(\d+)(?:\s*[-–]\s*(\d+))?", text):
        numbers += range(int(first), min(int(last or first), int(first) + 50) + 1)
    return numbers


def _ordinals(question: str, context: Context) -> Iterator[Reference]:
    listed = context.listed
    for match in pointers.ORDERED.finditer(question):
        if match["count"]:
            count = pointers.CARDINALS.get(match["count"].lower()) or int(match["count"])
            papers = listed[-count:] if match["end"].lower() == "last" else listed[:count]
        elif match["ordinal"].lower() in ("last", "final") and match["noun"] is None and not match.group().lower().startswith("the "):
            continue
        else:
            papers = _at(listed, pointers.ORDINALS[match["ordinal"].lower()])
        yield Reference(*match.span(), papers, "ordinal")
    for match in pointers.OTHER.finditer(question):
        others = tuple(paper for paper in listed if paper != context.current)
        yield Reference(*match.span(), others if match["many"] or match["rest"] else others[:1], "ordinal")
    for match in pointers.BEFORE.finditer(question):
        yield Reference(*match.span(), (context.previous,) if context.previous else (), "ordinal")


def _at(papers: Sequence[Paper], index: int) -> tuple[Paper, ...]:
    return (papers[index],) if -len(papers) <= index < len(papers) else ()


def _names(question: str, context: Context) -> Iterator[Reference]:
    for start, end, paper in find_names(question, (*context.nearest.values(), *context.papers.values())):
        yield Reference(start, end, (paper,), "name")


def _descriptions(question: str, context: Context) -> Iterator[Reference]:
    for match in (*pointers.DESCRIBED_BACK.finditer(question), *pointers.DESCRIBED_AFTER.finditer(question)):
        start = match.start("what")
        # What follows the description belongs to the question: "the paper on bees open source?"
        ends = [start + word.end() for word in re.finditer(r"\S+", match["what"])]
        whole = ((end, _described(question[start:end], context, at_least=1.0)) for end in reversed(ends))
        end, paper = next(((end, paper) for end, paper in whole if paper), (match.end(), _described(match["what"], context)))
        yield Reference(match.start(), end, (paper,) if paper else (), "description")
    for match in pointers.DESCRIBED_BEFORE.finditer(question):
        paper = _described(match["what"], context)
        yield Reference(*match.span(), (paper,) if paper else (), "description")


def _described(description: str, context: Context, *, at_least: float = _MOSTLY) -> Paper | None:
    cited = best_described(description, tuple(context.papers.values()), at_least=at_least)
    return cited or best_described(description, tuple(context.nearest.values()), at_least=at_least)


def _groups(question: str, context: Context) -> Iterator[Reference]:
    for match in pointers.GROUP.finditer(question):
        is_people = bool(pointers.PEOPLE.fullmatch(match.group()))
        if len(context.group) > 1:
            yield Reference(*match.span(), context.group, "group")
        elif context.current and is_people:
            yield Reference(*match.span(), (context.current,), "pronoun")
        elif len(context.listed) > 1:
            yield Reference(*match.span(), context.listed, "group")
        elif context.current:
            yield Reference(*match.span(), (context.current,), "pronoun")


def _pronouns(question: str, context: Context) -> Iterator[Reference]:
    if context.current is None:
        return
    for match in pointers.PRONOUN.finditer(question):
        yield Reference(*match.span(), (context.current,), "pronoun")
    for match in pointers.DEFINITE.finditer(question):
        yield Reference(*match.span(), (context.current,), "pronoun", is_firm=False)


_FINDERS: tuple[Callable[[str, Context], Iterator[Reference]], ...] = (_numbers, _ordinals, _names, _descriptions, _groups, _pronouns)
