"""Replies of weak models that are not what was asked for, but hold an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag.answering.loops import LOOP_NOTE, loop_start
from rag.answering.mentions import cited_by_name
from rag.errors import ModelError
from rag.models.structured import read_json
from rag.prompting.templates import REFUSAL
from rag.protocols import Source

_FENCED = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)(?:\n\s*```\s*)?\Z", re.DOTALL)
_LABEL = re.compile(r"\A\s*(?:#+\s*|\*\*)?(?:final\s+)?(?:answer|response|output)\s*(?:\*\*)?\s*[::]\s*(?:\*\*)?\s*", re.IGNORECASE)
_FRAME_LINE = re.compile(r"^\s*<*\s*(?:end of )?paper \[?\d+\]?\s*>+\s*$|^\s*<{2,}.*$", re.IGNORECASE)
_ECHOED_LINE = re.compile(r"^\s*(?:Title|Abstract|Question)\s*:", re.IGNORECASE)
_SOURCES = re.compile(
    r"\n[ \t]*(?:#+[ \t]*|\*\*|__)?(?:sources?|references?|citations?|bibliography|papers cited|cited papers|works cited)"
    r"(?:[ \t]*(?:\*\*|__))?[ \t]*:?(?:\*\*|__)?[ \t]*(?=\n|$|\[|\d)",
    re.IGNORECASE,
)
_MARK = re.compile(r"[\[【［]\s*\^?\d[\d\s,;–-]*(?:†[^】]*)?[\]】］]")
# "[1] Title of a paper": a mark before what it belongs to; "[1] shows that ..." is a sentence of its own.
_IN_FRONT = re.compile(rf"(?P<marks>(?:{_MARK.pattern}\s*)+)[:–-]?\s*(?P<text>[^\W_a-z][^\[【［]*)")
_ENTRY_NUMBER = re.compile(r"^\s*(?:[-*•]\s*)?[\[【(]?\^?(\d{1,3})[\]】).:]", re.MULTILINE)
_ANSWER_KEYS = (
    "answer",
    "text",
    "response",
    "result",
    "summary",
    "content",
    "output",
    "message",
    "statement",
    "sentence",
    "claim",
    "title",
)
_CITED_KEYS = ("citations", "citation", "sources", "source", "references", "papers", "paper", "numbers", "number", "cites", "ids")


@dataclass(frozen=True, slots=True)
class Mended:
    """What is left of a reply, with its citations in brackets; `text` is empty when it holds no answer."""

    text: str
    note: str = ""
    """What had to be done, for the reader; empty when nothing that changes its meaning."""


def mended(reply: str, sources: Sequence[Source], prompt: str) -> Mended:
    """The answer that a reply holds: without its wrapping, echoes, loops and source list, citations by name turned into numbers."""
    text = reply.strip()
    note = ""
    if start := loop_start(text):
        text, note = text[:start], LOOP_NOTE
    text = _unwrapped(text)
    text = _LABEL.sub("", _without_echo(text, prompt))
    body, tail = _without_sources(text)
    if not _MARK.search(body):
        body = cited_by_name(body, sources)
    if not _MARK.search(body) and (listed := _listed_numbers(tail, sources)):
        body = f"{body.rstrip()} {''.join(f'[{number}]' for number in listed)}" if body else ""
    body = "\n".join(map(_marks_behind, body.splitlines()))
    return Mended(body.strip() if _has_words(body) else "", note)


def _marks_behind(line: str) -> str:
    """A line whose marks stand in front of what they belong to with the marks behind it, a line for each piece."""
    pieces = list(_IN_FRONT.finditer(line))
    if not pieces or line.lstrip(" \t-*•") != "".join(piece[0] for piece in pieces):
        return line
    bullet = "- " if len(pieces) > 1 else ""
    return "\n".join(f"{bullet}{piece['text'].strip().rstrip('.,;')} {''.join(_MARK.findall(piece['marks']))}." for piece in pieces)


def _unwrapped(text: str) -> str:
    """The text inside a code fence or JSON object that is the whole reply."""
    if fenced := _FENCED.match(text):
        text = fenced[1].strip()
    if text[:1] in ("{", "[") and not _MARK.match(text):
        try:
            return "\n".join(_sentences(read_json(text)))
        except ModelError:
            return text
    return text


def _sentences(value: Any, depth: int = 0) -> list[str]:
    """The texts of a JSON reply, each with the numbers that stand beside it."""
    if isinstance(value, str):
        return [value.strip()] if value.strip() else []
    if depth > 4:
        return []
    if isinstance(value, list):
        return [text for item in value for text in _sentences(item, depth + 1)]
    if not isinstance(value, Mapping):
        return []
    keys = {str(key).lower(): key for key in value}
    for name in (*_ANSWER_KEYS, "statements", "sentences", "answers", "claims", "results"):
        if name in keys and (texts := _sentences(value[keys[name]], depth + 1)):
            return _with_numbers(texts, value, keys)
    return [text for item in value.values() if isinstance(item, Mapping | list) for text in _sentences(item, depth + 1)]


def _with_numbers(texts: list[str], value: Mapping[Any, Any], keys: Mapping[str, Any]) -> list[str]:
    numbers = next((found for name in _CITED_KEYS if name in keys and (found := _numbers(value[keys[name]]))), [])
    if not numbers or any(_MARK.search(text) for text in texts):
        return texts
    return [*texts[:-1], f"{texts[-1]} {''.join(f'[{number}]' for number in numbers)}"]


def _numbers(value: Any) -> list[int]:
    if isinstance(value, bool):
        return []
    if isinstance(value, int):
        return [value]
    if isinstance(value, str):
        match = re.fullmatch(r"\s*\[?\^?(\d{1,3})\]?\s*", value) or re.match(r"\s*\[(\d{1,3})\]", value)
        return [int(match[1])] if match else []
    if isinstance(value, Mapping):
        return next((found for key in ("number", "id", "paper", "source", "index") if (found := _numbers(value.get(key)))), [])
    return [number for item in value for number in _numbers(item)] if isinstance(value, list) else []


def _without_echo(text: str, prompt: str) -> str:
    """The reply without what it repeats of the prompt: frames, papers, the question, the rules."""
    known = {" ".join(line.split()).lower() for line in prompt.splitlines()} - {REFUSAL.lower()}
    lines = []
    echoing = False
    for line in text.splitlines():
        plain = " ".join(line.split()).lower()
        is_repeated = plain in known and (echoing or len(plain.split()) > 3)
        is_echo = bool(_FRAME_LINE.match(line)) or is_repeated or (echoing and bool(_ECHOED_LINE.match(line)))
        echoing = is_echo or (echoing and not plain)
        if not is_echo:
            lines.append(line)
    return "\n".join(lines).strip()


def _without_sources(text: str) -> tuple[str, str]:
    """The answer and the list of sources at its end, empty when there is none."""
    found = list(_SOURCES.finditer("\n" + text))
    if not found:
        return text, ""
    last = found[-1]
    body, tail = ("\n" + text)[: last.start()], ("\n" + text)[last.end() :]
    if _has_words(body) and len(tail) <= max(3 * len(body), 2_000):
        return body.strip(), tail
    return text, ""


def _listed_numbers(tail: str, sources: Sequence[Source]) -> list[int]:
    """The papers that a source list names, by title where it gives one, else by number."""
    named = [source.number for source in sources if len(source.paper.title) > 8 and _plain(source.paper.title) in _plain(tail)]
    known = {source.number for source in sources}
    numbers = [int(match[1]) for match in _ENTRY_NUMBER.finditer(tail)] or [
        int(n) for mark in _MARK.findall(tail) for n in re.findall(r"\d+", mark)
    ]
    return named or list(dict.fromkeys(number for number in numbers if number in known))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _has_words(text: str) -> bool:
    return bool(re.search(r"[^\W\d_]{2,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\d", _MARK.sub("", text)))
