"""Takes out of a model's text, while it arrives, what could drive a terminal or a browser."""

from __future__ import annotations

import re

from rag.answering.held import Held, Step
from rag.text.clean import harmless_text

_LONGEST_ESCAPE = 512
_LONGEST_TAG = 1_000
_CONTROL_STRING = re.compile(r"[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)")
_CONTROL_SEQUENCE = re.compile(r"[0-?]*[ -/]*")
_CJK = "\u3000-\u3098\u309b-\u9fff\uac00-\ud7a3\uff00-\uff60"
_CHUNK = re.compile(rf"[^\S\x1b]{{1,1000}}|(?:[^\s\x1b\x90\x98\x9b\x9d-\x9f])[^\s\x1b\x90\x98\x9b\x9d-\x9f{_CJK}]{{0,999}}")
# Nothing to take out of these. The last one waits: a combining character may follow it.
_PLAIN = re.compile(r"[ -~]+(?=[ -~])")
_ESCAPES = "\x1b\x90\x98\x9b\x9d\x9e\x9f"

_NAME = re.compile(r"</?([A-Za-z][\w:-]*)")
_AUTOLINK = re.compile(r"<([A-Za-z][\w+.-]*:[^\s<>]*|[\w.+-]+@[\w.-]+)>")
_ELEMENTS = frozenset(
    (
        "a abbr acronym address applet area article aside audio b base bdi bdo big blink blockquote body br button canvas caption "
        "center cite code col data datalist dd del details dfn dialog dir div dl dt em embed fieldset figure font footer form frame "
        "frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe img image input ins kbd keygen label legend li link main map mark "
        "marquee math meta meter nav noembed noscript object ol optgroup option output p param picture plaintext pre progress q rp rt "
        "ruby s samp script search section select slot small source span strike strong style sub summary sup svg table tbody td "
        "template textarea tfoot th thead time title tr track tt u ul var video wbr xmp "
    ).split()
)


class Quiet(Held):
    """Drops terminal escapes, control, zero-width and bidirectional characters."""

    def step(self, text: str, place: int, *, final: bool) -> Step | None:
        """The next escape sequence or stretch of text."""
        if text[place] in _ESCAPES:
            end = _escape_end(text, place, final=final)
            return None if end is None else ("", end)
        plain = _PLAIN.match(text, place)
        if plain:
            return plain[0], plain.end()
        match = _CHUNK.match(text, place)
        end = match.end() if match else place + 1
        if end == len(text) and end - place < 1_000 and not final:
            return None
        return harmless_text(text[place:end]), end


class Tags(Held):
    """Drops HTML tags and comments, their text stays; autolinks become their address; `<SEP>` and `a < b` are text.

    With `drop=False` tags are only broken up: what stood around a dropped one could turn into something else.
    """

    def __init__(self, *, drop: bool = True) -> None:
        super().__init__()
        self._drop = drop

    def step(self, text: str, place: int, *, final: bool) -> Step | None:
        """The next tag or the text before it."""
        if text[place] != "<":
            end = text.find("<", place)
            end = len(text) if end < 0 else end
            return text[place:end], end
        following = text[place + 1 : place + 2]
        if not following:
            return ("<", place + 1) if final else None
        if following in "!?":
            return self._or_broken(_marked_off(text, place, final=final), place)
        if not following.isascii() or not (following.isalpha() or following == "/"):
            return "<", place + 1
        return self._or_broken(_tag(text, place, final=final), place)

    def _or_broken(self, step: Step | None, place: int) -> Step | None:
        return step if self._drop or step is None or step[0].startswith("<") else ("< ", place + 1)


def _escape_end(text: str, place: int, *, final: bool) -> int | None:
    """Where the escape sequence at `place` ends; None to wait."""
    kind = text[place]
    start = place + 1
    if kind == "\x1b":
        if start == len(text):
            return start if final else None
        kind = text[start]
        start += 1
    if kind in "[\x9b":
        return _sequence_end(text, start, final=final)
    if kind in "]PX^_\x90\x98\x9d\x9e\x9f":
        match = _CONTROL_STRING.match(text, start, start + _LONGEST_ESCAPE)
        if match:
            return match.end()
        return start if final or len(text) - start >= _LONGEST_ESCAPE else None
    return start if "0" <= kind <= "~" else start - 1


def _sequence_end(text: str, start: int, *, final: bool) -> int | None:
    end = _CONTROL_SEQUENCE.match(text, start, start + _LONGEST_ESCAPE).end()  # type: ignore[union-attr]  # matches empty text too
    if end == len(text) and end - start < _LONGEST_ESCAPE:
        return end if final else None
    return end + 1 if end < len(text) and "@" <= text[end] <= "~" else end


def _marked_off(text: str, place: int, *, final: bool) -> Step | None:
    """A comment, declaration or processing instruction."""
    head = text[place : place + 4]
    if head in ("<!", "<!-") and not final:
        return None
    closing = "-->" if head == "<!--" else ">"
    end = text.find(closing, place + len(head) - 2, place + _LONGEST_TAG)
    if end >= 0:
        return "", end + len(closing)
    if len(text) - place < _LONGEST_TAG and not final:
        return None
    return "< ", place + 1


def _tag(text: str, place: int, *, final: bool) -> Step | None:
    end = text.find(">", place, place + _LONGEST_TAG)
    opening = text.find("<", place + 1, place + _LONGEST_TAG)
    if end < 0 or 0 <= opening < end:
        waiting = opening < 0 and not final and len(text) - place < _LONGEST_TAG and _may_be_tag(text[place:])
        return None if waiting else ("< ", place + 1)
    if link := _AUTOLINK.fullmatch(text, place, end + 1):
        return link[1], end + 1
    if _is_tag(text[place : end + 1]):
        return "", end + 1
    if _NAME.fullmatch(text, place, end):
        return text[place : end + 1], end + 1
    return "< ", place + 1


def _is_tag(tag: str) -> bool:
    name = _NAME.match(tag)
    if name is None:
        return False
    rest = tag[name.end() : -1]
    if name[1].lower() in _ELEMENTS and (len(name[1]) > 1 or not rest.strip(" /")):
        return True
    return "=" in rest


def _may_be_tag(start: str) -> bool:
    """Whether what stands so far could still become a tag or an autolink."""
    if re.match(r"<[\w+.-]*(?::[^\s<>]*)?$|<[\w.+@-]*$|</[\w:-]*$", start):
        return True
    name = _NAME.match(start)
    if name is None or "\n\n" in start:
        return False
    following = start[name.end() : name.end() + 1]
    return following in "" or following in "/ \t\n"
