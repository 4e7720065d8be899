"""What citations look like in a model's text, and how a run of them is read."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST_BRACKET = 600
_LONGEST_CITATION = 200
_LONGEST_RANGE = 30
_LABEL = r"(?:(?:papers?|sources?|refs?|references?|abstracts?|docs?|documents?)\s*)?[#^]?\s*"
_NUMBERS = rf"{_LABEL}\d{{1,12}}\??(?:\s*(?:[,;&]|[-–—]|and|to)\s*{_LABEL}\d{{1,12}}\??){{0,40}}"
_CITATION = re.compile(rf"\[\s*{_NUMBERS}\s*\]|【\s*{_NUMBERS}\s*(?:†[^】\n]{{0,60}})?】|［\s*{_NUMBERS}\s*］", re.IGNORECASE)
_BEGUN = re.compile(rf"[\[【［][ \t]*(?:{_LABEL}\d*[\d \t,;&?#^–—-]*)?", re.IGNORECASE)
_NUMBER_OR_RANGE = re.compile(r"(\d+)\??(?:\s*(?:[-–—]|to)\s*[#^]?(\d+))?", re.IGNORECASE)
_BETWEEN = re.compile(r"[ \t]{0,2}(?:[,;]|and\b|&)?[ \t]{0,2}(?:and\b)?[ \t]{0,2}")
_BETWEEN_BEGUN = re.compile(r"[ \t]{0,2}(?:[,;&]|a|an|and)?[ \t]{0,2}(?:a|an|and)?[ \t]{0,2}")
_ADDRESS = r"<?[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*>?"
_TARGET = re.compile(rf"\(\s{{0,3}}{_ADDRESS}(?:\s{{1,3}}(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?\s{{0,3}}\)")
_LONGEST_TARGET = 2_000
_CLOSERS = {"[": "]", "【": "】", "［": "］"}
_VARIABLE = re.compile(r"(?:[A-Za-z]\d{0,2}|\w*_\w*|arr|argv|args|argmax|xs|ys|dp|lst|df|buf|vec|idx|nums)")

WAIT = -1


@dataclass(frozen=True, slots=True)
class Mark:
    """One bracket with its numbers; `before` is what separates it from the mark before it."""

    before: str
    raw: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """Marks that follow each other with nothing but separators between; the text is read up to `end`."""

    marks: tuple[Mark, ...]
    end: int


def read_run(text: str, place: int, *, final: bool) -> Run | None:
    """The run of citation marks at `place`: without marks when there is none, None to wait for more text."""
    marks: list[Mark] = []
    before, end = "", place
    while True:
        match = _CITATION.match(text, place, place + _LONGEST_CITATION)
        if match is None:
            waiting = bool(marks) and not final and _is_open(text, place)
            return None if waiting else Run(tuple(marks), end)
        after = target_end(text, match.end(), final=final)
        if after == WAIT:
            return None
        marks.append(Mark(before, match[0], _numbers(match[0])))
        end = max(after, match.end())
        between = _BETWEEN.match(text, end)
        place = between.end() if between else end
        before = text[end:place]
        if not final and (place == len(text) or _BETWEEN_BEGUN.fullmatch(text, end)):
            return None


def target_end(text: str, place: int, *, final: bool) -> int:
    """Where the link target at `place` ends; `place` when there is none, `WAIT` when that is not certain."""
    if place == len(text):
        return place if final else WAIT
    if text[place] != "(":
        return place
    match = _TARGET.match(text, place, place + _LONGEST_TARGET)
    if match:
        return match.end()
    may_grow = not final and len(text) - place < _LONGEST_TARGET and _may_be_target(text[place + 1 :])
    return WAIT if may_grow else place


def bracket_end(text: str, place: int, *, final: bool) -> int:
    """Where the bracket that opens at `place` has closed; 0 when it does not close, `WAIT` when that is not certain."""
    opening = text[place]
    closing = _CLOSERS[opening]
    depth = 0
    for at in range(place, min(len(text), place + LONGEST_BRACKET)):
        depth += (text[at] == opening) - (text[at] == closing)
        if depth == 0:
            return at + 1
        if text[at] == "\n" and text[at + 1 : at + 2] == "\n":
            return 0
    return WAIT if not final and len(text) - place < LONGEST_BRACKET else 0


def is_begun(text: str, place: int) -> bool:
    """Whether the text breaks off within what looks like a citation."""
    return len(text) - place < LONGEST_BRACKET and "\n" not in text[place:] and bool(_BEGUN.fullmatch(text, place))


def is_index(word: str) -> bool:
    """Whether a bracket right after `word` indexes a variable (`x[1]`) rather than cites (`turn-taking[1]`)."""
    return bool(_VARIABLE.fullmatch(word))


def _is_open(text: str, place: int) -> bool:
    """Whether a bracket at `place` has begun and may yet turn into a citation."""
    return place < len(text) and text[place] in _CLOSERS and is_begun(text, place)


def _may_be_target(rest: str) -> bool:
    if ")" in rest and not re.search(r"[\"'(]", rest):
        return False
    # An address holds no white space; after it only a quoted title may follow.
    words = rest.lstrip().split(maxsplit=1)
    return "\n\n" not in rest and (len(words) < 2 or words[1][:1] in "\"'()")


def _numbers(raw: str) -> tuple[int, ...]:
    found: list[int] = []
    for match in _NUMBER_OR_RANGE.finditer(raw.partition("†")[0]):
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        found += range(first, last + 1) if first <= last < first + _LONGEST_RANGE else [first, last]
    return tuple(dict.fromkeys(found))
