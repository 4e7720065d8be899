"""Three ways to clean a text: for storing, from marked-up sources, and for a terminal."""

from __future__ import annotations

import re
import unicodedata

from rag.text.latex import latex_to_text, math_to_unicode
from rag.text.markup import markup_to_text

_UNSAFE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # control characters that are not white space
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # soft hyphen, zero width, bidirectional
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff]"  # surrogates, non-characters, invisible tags
)
# A joiner is spelling in Persian, Indic scripts and emoji, but only an invisible trap between ASCII letters.
_JOINER = re.compile("(?<![^\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?![^\x00-\x7f])")
# Putting combining marks in order takes quadratic time in the length of their run; Unicode's stream-safe text has at most 30.
_LONG_TEXT = 5_000
_MARKS_IN_A_ROW = 30
_ESCAPE_SEQUENCE = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    "|\x9b[0-?]*[ -/]*[@-~]"
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)"  # OSC, DCS and other strings
    "|\x1b[ -/]*[0-~]"
)
_NOT_NEWLINE = re.compile(r"[^\S\n]")


def clean_text(raw: str) -> str:
    """`raw` as it is stored: NFC, one line, single spaces, without control, bidirectional and zero-width characters."""
    is_safe = raw.isascii() and raw.isprintable()
    return " ".join((raw if is_safe else _without_unsafe(raw)).split())


def plain_text(raw: str) -> str:
    """`raw` without its markup, then cleaned: HTML and JATS tags, entities, LaTeX accents and text commands.

    Mathematics between dollar signs stays as it is written; tags that are not HTML or JATS, such as `<SEP>`, are text and stay.
    """
    text = markup_to_text(raw) if "<" in raw or "&" in raw else raw
    return clean_text(latex_to_text(text) if "\\" in text or "``" in text else text)


def terminal_text(text: str) -> str:
    """`text` fit for a terminal: LaTeX as Unicode, and nothing in it that could move the cursor or reorder the line.

    Line ends are kept, other white space becomes single-width spaces. For display only; never raises.
    """
    quiet = _ESCAPE_SEQUENCE.sub("", text)
    return harmless_text(math_to_unicode(quiet) if "$" in quiet or "\\" in quiet else quiet)


def harmless_text(text: str) -> str:
    """`text` without anything that could move the cursor or reorder the line; LaTeX stays as written. Line ends are kept."""
    lines = _ESCAPE_SEQUENCE.sub("", text).replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    return _NOT_NEWLINE.sub(" ", _without_unsafe(lines))


def _without_unsafe(text: str) -> str:
    if text.isascii():
        return _UNSAFE.sub("", text)
    kept = _JOINER.sub("", _UNSAFE.sub("", text))
    return unicodedata.normalize("NFC", kept if len(kept) <= _LONG_TEXT else _with_short_runs(kept))


def _with_short_runs(text: str) -> str:
    kept: list[str] = []
    run = 0
    for char in text:
        run = run + 1 if unicodedata.combining(char) else 0
        if run <= _MARKS_IN_A_ROW:
            kept.append(char)
    return "".join(kept)
