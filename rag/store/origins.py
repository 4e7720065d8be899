"""Which file a record came from: one name for one file, whatever it was called by, and whether it is still there."""

from __future__ import annotations

import os
import re

from rag.records import Paper

_PLACE = re.compile(r":(\d+)(?: \([^()]*\))?$")
_IN_ARCHIVE = "!"


def file_and_line(source: str) -> tuple[str, int]:
    """`papers.jsonl:12` in its parts, without a remark in brackets behind it; line 0 for a source without one."""
    found = _PLACE.search(source)
    return (source[: found.start()], int(found[1])) if found else (source, 0)


class Origins:
    """The files of one sync, by the names they were given; each is looked for once."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._gone: dict[str, bool] = {}

    def of(self, paper: Paper) -> str:
        """The origin of a record; empty when it does not say where it was read."""
        return self.named(file_and_line(paper.sources[0])[0]) if paper.sources else ""

    def named(self, name: str) -> str:
        """The full path of a file (of an archive's member: `path!member`); a name that is no file, such as a service's, as it is."""
        if name not in self._names:
            file, mark, member = name.partition(_IN_ARCHIVE)
            whole = file if os.path.isfile(file) else name if os.path.isfile(name) else ""
            self._names[name] = f"{os.path.realpath(whole)}{mark + member if whole == file else ''}" if whole else name
        return self._names[name]

    def is_gone(self, origin: str) -> bool:
        """Whether the origin was a file that is no longer there."""
        if origin not in self._gone:
            files = (origin, origin.partition(_IN_ARCHIVE)[0])
            self._gone[origin] = os.path.isabs(origin) and not any(os.path.exists(file) for file in files)
        return self._gone[origin]


def holds(file: str, origin: str) -> bool:
    """Whether the origin is this file or in it, as an archive's member is."""
    return origin == file or origin.startswith(f"{file}{_IN_ARCHIVE}")
