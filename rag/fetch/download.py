"""Writes a service's pages to a JSONL file, and goes on where an earlier run stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rag.errors import SourceError, UsageError

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """Records as the service gives them, and the cursor of the page after; None for the last page."""

    records: Sequence[Record]
    next_cursor: str | None
    total: int | None = None
    """Records in all, when the service says so."""


Pages = Callable[[str], Page]
"""Gives the page at a cursor; the first page's cursor is empty. Raises `SourceError` when the service fails."""


@dataclass(frozen=True, slots=True)
class _State:
    """How far a download has come: `length` is the size of the part file in bytes when the cursor was reached."""

    query: str
    cursor: str = ""
    count: int = 0
    length: int = 0


def download(
    pages: Pages,
    query: str,
    output: Path,
    *,
    limit: int | None = None,
    force: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
) -> int:
    """Writes all records for `query` to `output`, one JSON object a line; how many there are.

    Pages are kept in `output.part` as they come, so that the same call made again after a failure goes on where it stopped. The
    output appears only when it is complete.

    Raises:
        UsageError: the output exists and `force` is off.
        SourceError: the service failed; the message says how many records are kept.
    """
    if output.exists() and not force:
        raise UsageError(f"{str(output)!r} exists. Choose another file, or overwrite it with --force.")
    part = output.with_name(f"{output.name}.part")
    try:
        state = _resume(part, query)
        count = _fetch_rest(pages, part, state, limit, progress)
        os.replace(part, output)
    except OSError as error:
        raise SourceError(f"Cannot write {str(output)!r}: {error.strerror or error}. Choose a folder that can be written.") from error
    _state_file(part).unlink(missing_ok=True)
    return count


def _fetch_rest(pages: Pages, part: Path, state: _State, limit: int | None, progress: Callable[[int, int | None], None] | None) -> int:
    cursor: str | None = state.cursor
    count = state.count
    with part.open("ab") as file:
        while cursor is not None and (limit is None or count < limit):
            page = _page_or_resumable_error(pages, cursor, count)
            kept = page.records if limit is None else page.records[: limit - count]
            file.writelines(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in kept)
            file.flush()
            os.fsync(file.fileno())
            count, cursor = count + len(kept), page.next_cursor
            _write_state(part, _State(state.query, cursor or "", count, file.tell()))
            if progress is not None:
                progress(count, page.total)
    return count


def _page_or_resumable_error(pages: Pages, cursor: str, count: int) -> Page:
    try:
        return pages(cursor)
    except SourceError as error:
        kept = f" {count} papers are kept; run the same command to go on." if count else ""
        raise SourceError(f"{error}{kept}", retryable=True) from error


def _resume(part: Path, query: str) -> _State:
    """The state an earlier run of the same query left; what it wrote after its last complete page is cut off."""
    try:
        state = _State(**json.loads(_state_file(part).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        state = _State(query)
    if state.query != query or not part.exists() or part.stat().st_size < state.length:
        state = _State(query)
    part.touch()
    os.truncate(part, state.length)
    return state


def _write_state(part: Path, state: _State) -> None:
    temporary = _state_file(part).with_suffix(".tmp")
    temporary.write_text(json.dumps(asdict(state)), encoding="utf-8")
    os.replace(temporary, _state_file(part))


def _state_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")
