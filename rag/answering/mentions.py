"""Citations by title or by author and year, turned into numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.protocols import Source
from rag.records import Paper

_SHORTEST_TITLE = 12
_SENTENCE_END = re.compile(r"(?=[.!?][\"'”’)*]*(?:\s|$))|(?=\n)|$")
_NAME = r"[^\W\d_][\w'’-]+"
_AUTHOR_YEAR = re.compile(
    rf"\(?\b({_NAME})(?:\s+et\s+al\.?,?|\s*(?:,|and|&)\s+{_NAME}(?:\s*(?:,|and|&)\s+{_NAME})*)?,?\s*\(?((?:19|20)\d\d)[a-z]?\)?\)?"
    rf"|\b({_NAME})\s+et\s+al\.?"
)


def cited_by_name(text: str, sources: Sequence[Source]) -> str:
    """`text` with `[n]` at the end of each sentence that names a paper by its title, or by author and year; else as it is."""
    places = [(at, source.number) for source in sources for at in _title_ends(text, source.paper.title)]
    places += [(match.end(), number) for match in _AUTHOR_YEAR.finditer(text) for number in _authored(match, sources)]
    marks: dict[int, list[int]] = {}
    for at, number in sorted(places):
        end = _SENTENCE_END.search(text, at).start()  # type: ignore[union-attr]  # matches the end of the text
        if number not in marks.setdefault(end, []):
            marks[end].append(number)
    for end in sorted(marks, reverse=True):
        text = f"{text[:end].rstrip()} {''.join(f'[{number}]' for number in marks[end])}{text[end:]}"
    return text


def _title_ends(text: str, title: str) -> list[int]:
    """Where the title ends in the text, whatever its case, spacing and punctuation; also its part before a colon."""
    for form in (title, title.partition(":")[0]):
        words = re.findall(r"\w+", form)
        if len(form) >= _SHORTEST_TITLE and len(words) > 1:
            pattern = re.compile(r"\W{1,3}".join(map(re.escape, words)), re.IGNORECASE)
            if ends := [match.end() for match in pattern.finditer(text)]:
                return ends
    return []


def _authored(match: re.Match[str], sources: Sequence[Source]) -> list[int]:
    """The one paper by this author (of this year, when one is given); none when several fit."""
    name, year = match[1] or match[3], int(match[2]) if match[2] else None
    found = [source.number for source in sources if _is_author(name, source.paper) and (year is None or source.paper.year in (None, year))]
    return found if len(found) == 1 else []


def _is_author(name: str, paper: Paper) -> bool:
    return any(
        author.replace(",", " ").casefold().split()[-1:] == [name.casefold()] or author.casefold().startswith(f"{name.casefold()},")
        for author in paper.authors
    )
