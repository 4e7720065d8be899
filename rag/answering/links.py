"""Where an answer may link to: the addresses of the papers it cites, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from rag.answering.held import Held, Step

_LONGEST_RUN = 2_000
_PRINTABLE = re.compile(r"[!-~]{1,2000}")
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
        run = _PRINTABLE.match(text, place)
        end = run.end() if run else place + 1
        if end == len(text) and end - place < _LONGEST_RUN and not final:
            return None
        # A longer run is broken up: an address across the border would escape notice.
        gap = " " if end - place == _LONGEST_RUN else ""
        return unlinked(text[place:end], self._allowed()) + gap, end


def unlinked(text: str, allowed: Collection[str] = ()) -> str:
    """`text` without the scheme of every address that is not in `allowed`; applying it twice changes nothing more."""
    if ":" not in text and "www." not in text.lower():
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


def _without_schemes(text: str) -> str:
    while (shorter := _SCHEME.sub("", text)) != text:
        text = shorter
    return text
