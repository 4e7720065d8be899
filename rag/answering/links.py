"""Where an answer may link to: the addresses of the papers it cites, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from rag.answering.held import Held, Step

_LONGEST_RUN = 2_000
_PRINTABLE = re.compile(r"[!-~]{1,2000}")
_LONG_RUN = re.compile(r"[!-~]{2000}")
_LINK_SIGN = re.compile(r":|www\.", re.IGNORECASE)
_OTHER = re.compile(r"[^!-~]+")
_WEB = re.compile(r"https?://[^\s<>\[\]{}|\\^`\"']+", re.IGNORECASE)
_SCHEME = re.compile(
    r"[a-z][a-z0-9+.-]*:/{2,}|(?:javascript|vbscript|mailto|tel|file|xmpp):(?=\S)|data:(?=[\w.+-]+/[\w.+-]+)|(?<![\w.-])www\.(?=\w)",
    re.IGNORECASE,
)
_TRAILING = ".,;:!?)'\"*_"


def web_address(url: str | None) -> str | None:
    """`url` when it is one a reader can follow safely: http or https, no control or white space; else None."""
    if url is None or not re.fullmatch(r"https?://[^\s<>\"'`\\]+", url, re.IGNORECASE) or not url.isprintable():
        return None
    return url


class Links(Held):
    """Takes the scheme off every address that is not allowed, so that nothing makes a link of it; its text stays."""

    def __init__(self, allowed: Callable[[], Collection[str]]) -> None:
        super().__init__()
        self._allowed = allowed

    def step(self, text: str, place: int, *, final: bool) -> Step | None:
        """The next run of printable ASCII, or what lies between two."""
        if between := _OTHER.match(text, place):
            return between[0], between.end()
        if harmless := self._harmless_end(text, place):
            return text[place:harmless], harmless
        run = _PRINTABLE.match(text, place)
        end = run.end() if run else place + 1
        if end == len(text) and end - place < _LONGEST_RUN and not final:
            return None
        # A longer run is broken up: an address across the border would escape notice.
        gap = " " if end - place == _LONGEST_RUN else ""
        piece = text[place:end]
        return (unlinked(piece, self._allowed()) if _may_link(piece) else piece) + gap, end

    @staticmethod
    def _harmless_end(text: str, place: int) -> int:
        """End of a stretch of whole runs in which nothing can be a link; 0 when that takes a closer look."""
        sign = _LINK_SIGN.search(text, place)
        limit = sign.start() if sign else len(text)
        end = max(text.rfind(" ", place, limit), text.rfind("\n", place, limit)) + 1
        return 0 if end <= place or (end - place >= _LONGEST_RUN and _LONG_RUN.search(text, place, end)) else end


def unlinked(text: str, allowed: Collection[str] = ()) -> str:
    """`text` without the scheme of every address that is not in `allowed`; applying it twice changes nothing more."""
    if not _may_link(text):
        return text
    out: list[str] = []
    place = 0
    for match in _WEB.finditer(text):
        url = match[0].rstrip(_TRAILING)
        if url in allowed or url.rstrip("/") in allowed:
            out += [_without_schemes(text[place : match.start()]), url]
            place = match.start() + len(url)
    out.append(_without_schemes(text[place:]))
    return "".join(out)


def _may_link(text: str) -> bool:
    return _LINK_SIGN.search(text) is not None


def _without_schemes(text: str) -> str:
    while (shorter := _SCHEME.sub("", text)) != text:
        text = shorter
    return text
