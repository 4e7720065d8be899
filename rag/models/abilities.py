"""What a model on a server was found to take; remembered, so that it is found out once."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from rag.models.endpoint import Endpoint
from rag.models.faults import said

TOKEN_PARAMETERS = ("max_tokens", "max_completion_tokens")
_FORMATS = {"json_schema": "json_object", "json_object": "none"}
_HINTS = {
    "response_format": re.compile(r"response_format|json_schema|json_object|structured output|grammar|guided", re.IGNORECASE),
    "stream_options": re.compile(r"stream_options|include_usage", re.IGNORECASE),
    "temperature": re.compile(r"temperature", re.IGNORECASE),
    "max_completion_tokens": re.compile(r"max_completion_tokens", re.IGNORECASE),
    "max_tokens": re.compile(r"max_tokens", re.IGNORECASE),
    "system": re.compile(r"system (?:role|message|prompt)|role.{0,12}system|only user and assistant", re.IGNORECASE),
    "stream": re.compile(r"['\"`]stream['\"`]|streaming", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class Abilities:
    """What requests to one model may carry."""

    rejected: tuple[str, ...] = ()
    """Parameters that the server refused, sorted; `system` for messages of that role."""
    format: str = "json_schema"
    """The strongest `response_format` it takes: `json_schema`, `json_object` or `none`."""
    context_tokens: int | None = None
    """The context length that it named when it refused a prompt."""
    thinks_silently: bool = False
    """Its replies begin with thoughts that no opening tag announces."""

    def without(self, parameter: str) -> Abilities:
        """These abilities after the server refused `parameter`."""
        if parameter == "response_format":
            return replace(self, format=_FORMATS.get(self.format, "none"))
        return replace(self, rejected=tuple(sorted({*self.rejected, parameter})))


def refused_parameter(status: int, body: object, sent: Mapping[str, Any]) -> str | None:
    """The optional parameter among `sent` that an error reply is about; None when it is about something else."""
    if status not in (400, 415, 422, 500, 501):
        return None
    carried = {*sent, *(str(message["role"]) for message in sent.get("messages", ()))}
    error = body.get("error", body) if isinstance(body, Mapping) else {}
    named = str(error.get("param") or "").partition(".")[0] if isinstance(error, Mapping) else ""
    if named in _HINTS and named in carried:
        return named
    words = f"{said(body)} {json.dumps(body, default=str)}"
    return next((name for name, hint in _HINTS.items() if name in carried and hint.search(words)), None)


class ServerMemory:
    """Abilities by server and model, for the process and in a small file for the next one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = _load(path)

    def of(self, endpoint: Endpoint) -> Abilities:
        """What is known; full abilities when nothing is."""
        return self._known.get(_key(endpoint), Abilities())

    def learn(self, endpoint: Endpoint, abilities: Abilities) -> None:
        """Remembers; a file that cannot be written only costs the next process a request."""
        self._known = {**self._known, _key(endpoint): abilities}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            _replace_file(self._path, json.dumps({key: asdict(value) for key, value in self._known.items()}, indent=1))
        except OSError:
            return


@cache
def server_memory(home: Path) -> ServerMemory:
    """The memory kept under a home folder, one per process."""
    return ServerMemory(home / "model-servers.json")


def _key(endpoint: Endpoint) -> str:
    return f"{endpoint.shown_url} {endpoint.model}"


def _load(path: Path) -> dict[str, Abilities]:
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return {str(key): _abilities(value) for key, value in stored.items()}
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return {}


def _abilities(stored: Mapping[str, Any]) -> Abilities:
    known = {f.name: stored[f.name] for f in fields(Abilities)}
    context = known["context_tokens"]
    return Abilities(
        tuple(str(name) for name in known["rejected"]),
        str(known["format"]),
        int(context) if context else None,
        bool(known["thinks_silently"]),
    )


def _replace_file(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).replace(path)
