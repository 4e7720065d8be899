"""Words of a question that point at papers of the conversation: numbers, ordinals, names, descriptions, pronouns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rag.conversation.context import Context
from rag.conversation.names import best_described, find_names
from rag.records import Paper

Kind = Literal["number", "ordinal", "description", "name", "group", "pronoun"]

PAPER = r"(?:papers?|ones?|works?|stud(?:y|ies)|articles?|publications?|abstracts?|methods?|approach(?:es)?|results?|hits?|entr(?:y|ies)|sources?|references?)"
_THING = (
    r"(?:paper|work|study|article|publication|abstract|method|approach|framework|technique|algorithm|model|system|benchmark|architecture|"
    r"optimi[sz]er|estimator|dataset|proposal|technique|procedure|solution|theory|theorem|result|finding|claim|idea|bound|guarantee|"
    r"scheme|strategy|evaluation|analysis|solver|network|attack|defen[cs]e|metric|protocol|pipeline)"
)
_THINGS = r"(?:papers|works|studies|articles|publications|methods|approaches|frameworks|techniques|algorithms|models|systems|benchmarks|results|solutions|ideas|bounds)"
_ORDINALS = {
    **{word: index for index, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split())},
    **{f"{index + 1}{'st' if index == 0 else 'nd' if index == 1 else 'rd' if index == 2 else 'th'}": index for index in range(20)},
    **{"last": -1, "final": -1, "latter": -1, "former": 0, "top": 0},
}
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "2": 2, "3": 3, "4": 4, "5": 5}
_ORDINAL = "|".join(_ORDINALS)
# An ordinal alone counts only where no noun of another kind can follow it ("the first study of" is none, "the second?" is one).
_ENDS = r"(?=\s*(?:$|[?.!,;:)]|(?:and|or|but|is|are|was|does|do|did|has|have|had|can|could|would|will|use[sd]?|say[s]?|report[s]?|with|instead|again|too|also|please|then)\b))"

_BRACKETED = re.compile(r"\[\s*(\d{1,4}(?:\s*(?:[,;]|[-–])\s*\d{1,4})*)\s*\]")
_NUMBERED = re.compile(
    r"\b(?:papers?|numbers?|no\.?|nos\.?|references?|refs?\.?|sources?|citations?|entry|result)\s*#?(\d{1,3}(?:(?:\s*,\s*|\s*(?:,\s*)?(?:and|or|&)\s*)#?\d{1,3})*)\b(?!\s*(?:%|papers))|(?<![\w&])#(\d{1,3})\b",
    re.IGNORECASE,
)
_ORDERED = re.compile(
    rf"\b(?:the |that |your |its )?(?:very )?(?P<ordinal>{_ORDINAL})(?:(?: |-)(?:mentioned |cited |listed |of (?:them|those|these) )?(?P<noun>{PAPER})\b(?! (?:to|that) )|{_ENDS})"
    rf"|\b(?:the )?(?P<end>first|last|top) (?P<count>{'|'.join(_COUNTS)})\b(?: {PAPER}\b)?",
    re.IGNORECASE,
)
_OTHER = re.compile(
    rf"\bthe other(?P<many>s| {_THINGS})?(?: {_THING}| one)?\b{_ENDS}|\bthe rest(?: of (?:them|those))?\b{_ENDS}", re.IGNORECASE
)
_BEFORE = re.compile(
    rf"\b(?:the )?(?:previous|earlier|preceding|prior) (?:{_THING}|one)\b(?! (?:on|about|that))|\bthe (?:{_THING}|one) before\b(?: that)?",
    re.IGNORECASE,
)
_DESCRIBED = (
    re.compile(
        rf"\b(?:the|that|this) (?:(?:other|earlier|previous|first) )?(?:{_THING}|one) (?:about|on|with|for|that|which|from|by|using|proposing|introducing|studying|called) (?P<what>[^?.!;:,]{{2,80}})",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:the|that|this) (?P<what>(?!(?:other|same|new|whole|entire|current)\b)[\w+-]+(?: [\w+-]+){0,3}?) (?:papers?|one|work|study|article)\b(?! (?:on|about) )",
        re.IGNORECASE,
    ),
)
_GROUP = re.compile(
    rf"\b(?:(?:all|any|each|both|some|most|none|one|which|either|neither) of )?(?:those|these|them|they|their|theirs)\b(?: (?:two|three|four|five|\d) )?(?: ?{_THINGS}\b)?"
    rf"|\b(?:of|among|from) (?:the (?:above|list|{_THINGS} (?:above|you (?:listed|cited|found|mentioned|gave|showed))))\b"
    rf"|\b(?:the|all|those) (?:{_THINGS}|ones) (?:above|you (?:listed|cited|found|mentioned|gave|showed)(?: me)?)\b|\bboth\b(?: {_THINGS})?(?! \w+ and\b)|\beach other\b|\ball (?:of )?(?:two|three|four|five)\b|\bthe two\b(?: {_THINGS})?{_ENDS}",
    re.IGNORECASE,
)
_PEOPLE = re.compile(r"\b(?:they|their|theirs|the authors?|these authors|those authors)\b", re.IGNORECASE)
_DUMMY_IT = (
    r"(?! (?:is|was|would be|seems?|appears?) (?:possible|impossible|true|known|clear|common|necessary|important|hard|easy|difficult|better to|worth|feasible|that)\b)"
    r"(?! (?:possible|true|known|necessary|feasible|better to|worth|hard to|easy to|important to|common to|safe to|the case)\b)(?! (?:takes?|mean) )(?! rain| snow)"
)
_PRONOUN = re.compile(
    rf"\b(?:it{_DUMMY_IT}|its|itself|it['’]s)\b"
    rf"|\b(?:this|that|the same|such an?|said) (?:(?:very|new|proposed|latter) )?{_THING}\b"
    r"|\b(?:this|that) one\b"
    r"|(?<=\bdoes )(?:this|that)\b|(?<=\bdid )(?:this|that)\b|(?<=\bis )(?:this|that)\b|(?<=\bwas )(?:this|that)\b|(?<=\bcan )(?:this|that)\b|(?<=\bcould )(?:this|that)\b"
    r"|(?<=\bwould )(?:this|that)\b|(?<=\bwill )(?:this|that)\b|(?<=\bhas )(?:this|that)\b"
    r"|\b(?:(?<=about )|(?<=of )|(?<=for )|(?<=with )|(?<=to )|(?<=than )|(?<=from )|(?<=like )|(?<=behind )|(?<=do ))(?:this|that)\b"
    r"(?=\s*(?:$|[?.!,;]|(?:in|on|for|with|to|and|or|at|by)\b))"
    r"|\bthis\b(?=\s*(?:$|[?.!,;]|(?:is|was|does|do|did|has|can|could|would|will|works?|compares?|holds?|means?|helps?|needs?)\b))",
    re.IGNORECASE,
)
_DEFINITE = re.compile(
    rf"\b(?:the|their|your) (?:(?:proposed|new|resulting|authors['’]?|suggested|final|same) )?(?:{_THING}|authors?|researchers|team)\b(?:['’]s?)?(?! (?:of|for|on|about|that|which|who|by|with|from|called|named|to|in)\b)(?![\w-])",
    re.IGNORECASE,
)


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
    for find in _FINDERS:
        for reference in find(question, context):
            if reference.papers and not any(reference.start < other.end and other.start < reference.end for other in chosen):
                chosen.append(reference)
    return tuple(sorted(chosen, key=lambda reference: reference.start))


def _numbers(question: str, context: Context) -> Iterator[Reference]:
    for match in [*_BRACKETED.finditer(question), *_NUMBERED.finditer(question)]:
        papers = [paper for number in _expanded(match.group()) if (paper := _numbered(number, context))]
        yield Reference(*match.span(), tuple(papers), "number")


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
    for match in _ORDERED.finditer(question):
        if match["count"]:
            count = _COUNTS[match["count"].lower()]
            papers = listed[-count:] if match["end"].lower() == "last" else listed[:count]
        elif match["ordinal"].lower() in ("last", "final") and match["noun"] is None:
            continue
        else:
            papers = _at(listed, _ORDINALS[match["ordinal"].lower()])
        yield Reference(*match.span(), papers, "ordinal")
    for match in _OTHER.finditer(question):
        others = tuple(paper for paper in listed if paper != context.current)
        yield Reference(*match.span(), others if match["many"] or "rest" in match.group() else others[:1], "ordinal")
    for match in _BEFORE.finditer(question):
        yield Reference(*match.span(), (context.previous,) if context.previous else (), "ordinal")


def _at(papers: Sequence[Paper], index: int) -> tuple[Paper, ...]:
    return (papers[index],) if -len(papers) <= index < len(papers) else ()


def _names(question: str, context: Context) -> Iterator[Reference]:
    for start, end, paper in find_names(question, context.papers.values()):
        yield Reference(start, end, (paper,), "name")


def _descriptions(question: str, context: Context) -> Iterator[Reference]:
    for pattern in _DESCRIBED:
        for match in pattern.finditer(question):
            paper = best_described(match["what"], tuple(context.papers.values()))
            yield Reference(*match.span(), (paper,) if paper else (), "description")


def _groups(question: str, context: Context) -> Iterator[Reference]:
    for match in _GROUP.finditer(question):
        is_people = bool(_PEOPLE.fullmatch(match.group()))
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
    for match in _PRONOUN.finditer(question):
        yield Reference(*match.span(), (context.current,), "pronoun")
    for match in _DEFINITE.finditer(question):
        yield Reference(*match.span(), (context.current,), "pronoun", is_firm=False)


_FINDERS: tuple[Callable[[str, Context], Iterator[Reference]], ...] = (_numbers, _ordinals, _names, _descriptions, _groups, _pronouns)
