"""A finished answer in statements: what it claims, where, and with which citations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rag.text.sentences import split_sentences
from rag.text.words import content_words
from rag.verification.normalise import without_citations

_MAX_NUMBER = 999
_MIN_CLAUSE_WORDS = 3
_MARKER = r"(?:\[\^?\d{1,3}\??(?:\s?[,;–-]\s?\^?\d{1,3}\??)*\]|【\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*[^】]{0,20}】)"
# `x[1]` is an index, `word[1]` a citation written without a space.
_CITATIONS = re.compile(rf"(?<![\w$)\]]){_MARKER}|(?<=[^\W\d_]{{3}}){_MARKER}|(?<=[\])\d%]){_MARKER}")
_GROUP = re.compile(rf"(?:\s?{_MARKER})+")
_LEADING = re.compile(rf"\s*(?:{_MARKER}\s*)+[.,;]?")
_ATTACHED = re.compile(rf"(?<=[^\W\d]{{2}}[.!?]){_MARKER}+(?=\s+[^\W\d_a-z])")
_CODE = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)|`[^`\n]+`|\$[^$\n]+\$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s|(?:\*\*|__)[^*_]{1,80}(?:\*\*|__):?\s*$|[-=_*]{3,}\s*$)")
_ITEM = re.compile(r"^(?P<indent>[ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_TABLE_RULE = re.compile(r"^\s*\|?[\s:|-]+\|[\s:|-]*$")
_SOURCES = re.compile(r"^\W*(?:sources?|references?|bibliography|citations?|works cited|further reading|papers cited)\W*$", re.IGNORECASE)
_SOURCE_LINE = re.compile(rf"^\W*(?:{_MARKER}|\d{{1,3}}[.):])")
_LEAD_IN = re.compile(r":\s*$")
_TALK = re.compile(
    r"^\W*(?:here (?:are|is)|below (?:are|is)|the following|i hope|let me know|feel free|please note|note that (?:i|the (?:provided|given))|sure\b|certainly\b|of course\b|"
    r"in (?:summary|conclusion|short)\W*$|based on the (?:provided|given|retrieved|available)[^,]{0,60}\W*$|if you (?:want|need|would)|i (?:can(?:no|')t|could not|do not|don't|am|cannot)\b|"
    r"(?:as an ai|unfortunately)\b|(?:none of |no other |the |these |those )?(?:the |other )?(?:provided|given|retrieved|available|remaining|other|listed|supplied) "
    r"(?:papers?|abstracts?|sources?|context|excerpts?|documents?|passages?|information|text)\b[^.]{0,40}\b(?:not|no|none|nothing|n't)\b|"
    r"(?:none|no one|nothing) (?:of|in) the (?:\w+ )?(?:papers?|abstracts?|sources?|context|excerpts?)\b|"
    r"(?:there is|there are|i found) (?:no|not enough|nothing|insufficient)\b[^.]{0,60}\b(?:papers?|abstracts?|sources?|context|corpus|information)\b)",
    re.IGNORECASE,
)
_STRONG_BREAK = re.compile(r";\s|,?\s(?=(?:while|whereas|but|although)\b)|\.\s(?=[A-Z])", re.IGNORECASE)
_AFTER_CITATION = re.compile(r"\s?[,.]\s|\s(?=and\b)")
_SOFT_BREAK = re.compile(r",\s(?=and\b)|,\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RawStatement:
    """A claim of an answer: `text == answer[start:end]`, with the numbers it cites in order, each once."""

    text: str
    start: int
    end: int
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph or list item; `indent` is -1 for a paragraph."""

    start: int
    end: int
    indent: int


def split_statements(answer: str) -> tuple[RawStatement, ...]:
    """The claims of an answer in order; Markdown is allowed.

    Headings, code, source lists, questions, lead-ins ("Here are the papers:") and talk about the answer itself are left out. A sentence
    with citations in several places is cut at the clause boundaries between them. Sentences of a list item that cites
    only once share that citation, and items under a parent item inherit its own when they have none.
    """
    hidden = _without_code(answer)
    found: list[RawStatement] = []
    parents: list[tuple[int, tuple[int, ...]]] = []
    for block in _blocks(hidden):
        parents = [parent for parent in parents if parent[0] < block.indent]
        statements = _statements(answer, hidden, block)
        if block.indent >= 0:
            inherited = parents[-1][1] if parents else ()
            statements = _shared(statements, inherited)
            parents.append((block.indent, _cited(hidden[block.start : block.end]) or inherited))
        found += [statement for statement in statements if _is_claim(statement, hidden[statement.start : statement.end])]
    return tuple(found)


def cited_numbers(text: str) -> tuple[int, ...]:
    """The numbers of the citation markers in `text`, in order, each once; code and indexes such as `x[1]` are left alone."""
    return _cited(_without_code(text))


def _cited(hidden: str) -> tuple[int, ...]:
    numbers = [number for match in _CITATIONS.finditer(hidden) for number in _numbers(match[0])]
    return tuple(dict.fromkeys(numbers))


def _numbers(marker: str) -> Iterator[int]:
    for part in re.split(r"[,;]", marker.strip("[]【】").partition("†")[0]):
        ends = [int(number) for number in re.findall(r"\d+", part)]
        if len(ends) == 2 and ends[0] <= ends[1] <= ends[0] + 50:
            yield from range(ends[0], ends[1] + 1)
        else:
            yield from ends


def _without_code(answer: str) -> str:
    """The answer with code and formulas blanked, at the same offsets."""
    return _CODE.sub(
        lambda match: re.sub(r"[\[\]【】.?!:;]", "_", match[0]) if not _FENCE.match(match[0]) else re.sub(r"\S", " ", match[0]), answer
    )


def _blocks(hidden: str) -> Iterator[_Block]:
    """Paragraphs and list items, hard-wrapped lines joined; source lists and headings left out."""
    open_block: _Block | None = None
    in_sources = False
    for start, end in _lines(hidden):
        line = hidden[start:end]
        item = _ITEM.match(line)
        in_sources = bool(_SOURCES.match(line)) or (in_sources and (not line.strip() or bool(item) or bool(_SOURCE_LINE.match(line))))
        is_text = bool(line.strip()) and not in_sources and not _HEADING.match(line) and not _TABLE_RULE.match(line)
        if _TABLE_RULE.match(line) and line.strip() and open_block and hidden[open_block.start] == "|":
            open_block = None  # the names of the columns
        if open_block and (not is_text or item or line.lstrip().startswith("|")):
            yield open_block
            open_block = None
        if is_text and open_block:
            open_block = replace(open_block, end=end)
        elif is_text:
            indent = len(item["indent"].expandtabs(4)) if item else -1
            open_block = _Block(start + (item.end() if item else 0), end, indent)
    if open_block:
        yield open_block


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line.rstrip("\r\n"))
        start += len(line)


def _statements(answer: str, hidden: str, block: _Block) -> list[RawStatement]:
    spans = [
        (block.start + start, block.start + end)
        for span in split_sentences(hidden[block.start : block.end])
        for start, end in _at_attached(hidden[block.start : block.end], span.start, span.end)
    ]
    pieces = [piece for start, end in _with_own_citations(hidden, spans) for piece in _clauses(hidden, start, end)]
    return [RawStatement(answer[start:end], start, end, _cited(hidden[start:end])) for start, end in pieces]


def _at_attached(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence cut behind citations that stand right at a full stop, as in `A holds.[1] B holds.`."""
    for match in _ATTACHED.finditer(text, start, end):
        yield start, match.end()
        start = match.end()
    yield start, end


def _with_own_citations(hidden: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """A citation after the full stop belongs to the sentence before it."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        leading = _LEADING.match(hidden, start, end)
        if leading and found and (leading.end() == end or hidden[leading.end()].isupper() or leading[0].rstrip().endswith((".", ","))):
            found[-1] = (found[-1][0], start + len(leading[0].rstrip()))
            start = leading.end()
        if hidden[start:end].strip():
            found.append((start, end))
    return found


def _clauses(hidden: str, start: int, end: int) -> list[tuple[int, int]]:
    """A sentence cut between its groups of citations, where each part says something."""
    groups = [match.span() for match in _GROUP.finditer(hidden, start, end) if _cited(match[0].strip())]
    cuts = [start]
    for group, following in pairwise(groups):
        cut = _boundary(hidden, cuts[-1], group, following)
        if cut and _says_enough(hidden[cuts[-1] : cut]) and _says_enough(hidden[cut:end]):
            cuts.append(cut)
    return [_trimmed(hidden, left, right) for left, right in pairwise([*cuts, end])]


def _boundary(hidden: str, start: int, group: tuple[int, int], following: tuple[int, int]) -> int:
    """Where the clause of one citation group ends before the next; 0 when it is not to be told."""
    between = hidden[group[1] : following[0]]
    if strong := list(_STRONG_BREAK.finditer(between)):
        return group[1] + strong[-1].end()
    # "A [1], B [2] and C [3]" is an enumeration, not three clauses.
    if _says_enough(hidden[start : group[0]]) and _says_enough(between) and (after := _AFTER_CITATION.match(between)):
        return group[1] + after.end()
    soft = list(_SOFT_BREAK.finditer(between))
    return group[1] + soft[-1].end() if soft and _says_enough(between[: soft[-1].start()]) else 0


def _says_enough(text: str) -> bool:
    return len(content_words(without_citations(text))) >= _MIN_CLAUSE_WORDS


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def _shared(statements: list[RawStatement], inherited: tuple[int, ...]) -> list[RawStatement]:
    """One citation in an item counts for all its sentences; an item with none has its parent's."""
    citing = [statement.numbers for statement in statements if statement.numbers]
    numbers = citing[0] if len(citing) == 1 else () if citing else inherited
    return [statement if statement.numbers else replace(statement, numbers=numbers) for statement in statements]


def _is_claim(statement: RawStatement, hidden: str) -> bool:
    text = without_citations(hidden).strip().strip("*_ ")
    has_own = bool(_cited(hidden))
    if text.endswith("?") or len(content_words(text)) < (1 if has_own and not text.endswith(":") else 2):
        return False
    return has_own or not (_LEAD_IN.search(text) or _TALK.match(text))
