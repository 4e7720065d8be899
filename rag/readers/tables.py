"""CSV and TSV with a header line, from Scopus, Web of Science, Zotero, Excel and anyone else."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator

from rag.readers.decoding import RECORD_LIMIT, Line, numbered_lines
from rag.readers.fields import ABSTRACT_NAMES, TITLE_NAMES, bare_name
from rag.readers.raw import Document, Fault, Raw

_DELIMITERS = ",\t;|"
_QUOTED_LIMIT = 200_000
_QUOTED_LINES = 500
_ESCAPED_FORMULA = re.compile(r"'(?=[=+@-])")

Row = tuple[int, list[str]]


def looks_like_table(head: str) -> bool:
    """True when the first line names a column for titles and one for abstracts."""
    delimiter, has_mark = _delimiter_of(head)
    line = _first_line(head.split("\n", 1)[-1] if has_mark else head)
    names = {bare_name(cell) for cell in _cells(line, delimiter)}
    return bool(names & TITLE_NAMES and names & ABSTRACT_NAMES) and len(names) > 1


def read_table(document: Document) -> Iterator[Raw | Fault]:
    """One record for each row; a quoted field may hold line ends, and a quote that is never closed costs its own row only."""
    delimiter, has_mark = _delimiter_of(document.head)
    lines = numbered_lines(document.blocks)
    if has_mark:
        next(lines)
    header: list[str] = []
    for row in _rows(lines, delimiter):
        if isinstance(row, Fault):
            yield row
        elif not header:
            header = [cell.strip().lstrip("\ufeff") for cell in row[1]]
        else:
            yield Raw(row[0], _fields(header, row[1]))


def _fields(header: list[str], cells: list[str]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, cell in zip(header, cells, strict=False):
        if cell.strip() and not fields.get(name):
            fields[name] = _ESCAPED_FORMULA.sub("", cell, count=1) if cell.startswith("'") else cell
    return fields


def _rows(lines: Iterator[Line], delimiter: str) -> Iterator[Row | Fault]:
    again: deque[Line] = deque()  # lines to look at once more, since the quote before them was not one
    pending: list[Line] = []
    width = 0
    while True:
        line = again.popleft() if again else next(lines, None)
        if line is None and not pending:
            return
        row = _row(pending, line, delimiter, width)
        if row is None and line is not None:
            pending.append(line)
            continue
        if isinstance(row, tuple):
            width = width or len(row[1])
            if any(cell.strip() for cell in row[1]):
                yield row
        else:
            first, *others = [*pending, *([line] if line else [])]
            yield row or Fault(first.number, "a quoted field is never closed")
            again.extendleft(reversed(others))
        pending = []


def _row(pending: list[Line], line: Line | None, delimiter: str, width: int) -> Row | Fault | None:
    """The row that `line` completes, None when its last field goes on, or why there is none."""
    if line is None:
        return None
    first = pending[0] if pending else line
    if line.text is None:
        return (
            Fault(first.number, f"longer than {RECORD_LIMIT:,} characters")
            if not pending
            else Fault(first.number, "a quoted field is never closed")
        )
    if not pending and delimiter == "\t" and line.text.count("\t") == width - 1:
        return line.number, [_unquoted(cell) for cell in line.text.split("\t")]
    if '"' not in line.text and not pending:
        return line.number, line.text.split(delimiter)
    if _goes_on(line.text, delimiter, is_inside=bool(pending)):
        too_long = len(pending) >= _QUOTED_LINES or sum(len(each.text or "") for each in pending) > _QUOTED_LIMIT
        return Fault(first.number, "a quoted field is never closed") if too_long else None
    text = "\n".join(each.text or "" for each in (*pending, line))
    try:
        cells = next(csv.reader([text], delimiter=delimiter, strict=bool(pending)))
    except (csv.Error, StopIteration) as error:
        return Fault(first.number, f"not valid CSV: {error}")
    if pending and width and len(cells) != width:
        return Fault(first.number, f"not valid CSV: {len(cells)} fields, the header has {width}")
    return first.number, cells


def _goes_on(text: str, delimiter: str, *, is_inside: bool) -> bool:
    """True when a quoted field is open at the end of the line; quotes in the middle of a plain field are characters."""
    place, length = 0, len(text)
    while True:
        if not is_inside:
            if not text.startswith('"', place):
                place = text.find(delimiter, place) + 1
                if place == 0:
                    return False
                continue
            place += 1
        is_inside = False
        close = text.find('"', place)
        while close >= 0 and text.startswith('"', close + 1):
            close = text.find('"', close + 2)
        if close < 0:
            return True
        place = text.find(delimiter, close + 1) + 1
        if place == 0 or place > length:
            return False


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell.startswith('"') and cell.endswith('"') else cell


def _delimiter_of(head: str) -> tuple[str, bool]:
    """What separates the columns, and whether Excel's `sep=` line says so."""
    line = _first_line(head)
    if re.fullmatch(r"\"?sep=.\"?", line.strip(), re.IGNORECASE):
        return line.strip(' "')[4], True
    return max(_DELIMITERS, key=lambda delimiter: len(_cells(line, delimiter))), False


def _first_line(head: str) -> str:
    return head.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n", 1)[0][:50_000]


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)
