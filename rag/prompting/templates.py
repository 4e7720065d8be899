"""The prompts as files: found, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from string import Template

from rag.errors import SourceError, UsageError
from rag.resources import bundled

VARIABLES: Mapping[str, frozenset[str]] = {
    "system": frozenset({"language", "refusal"}),
    "answer": frozenset({"papers", "question", "count"}),
    "repair": frozenset({"problems"}),
    "judge": frozenset({"papers", "question", "count"}),
    "translate": frozenset({"language", "question"}),
    "rewrite": frozenset({"conversation", "question"}),
    "rerank": frozenset({"question", "papers", "count"}),
}
"""Which variables each prompt must hold, all of them and no other."""

REFUSAL = "The papers given do not answer this question."
"""What the prompt tells the model to say, and the pipeline recognises, when the corpus has no answer."""


class Prompts:
    """The prompts in force: a file in the user's folder goes before the bundled one of the same name."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder.expanduser() if folder else None

    def check(self) -> None:
        """Reads every prompt now. Raises `UsageError` for a folder that is none, or a prompt with a missing or unknown variable."""
        _ = self._templates

    def render(self, name: str, **values: object) -> str:
        """The prompt `name` with its variables filled in, without white space around."""
        return self._templates[name].substitute(values).strip()

    @cached_property
    def _templates(self) -> dict[str, Template]:
        if self._folder is not None and not self._folder.is_dir():
            raise UsageError(f"RAG_PROMPTS={str(self._folder)!r} is not a folder. Name a folder with prompts, or unset it.")
        return {name: _load(self._path(name), VARIABLES[name]) for name in VARIABLES}

    def _path(self, name: str) -> Path:
        own = self._folder / f"{name}.md" if self._folder else None
        return own if own is not None and own.is_file() else bundled("prompts") / f"{name}.md"


def _load(path: Path, wanted: frozenset[str]) -> Template:
    try:
        template = Template(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"Cannot read the prompt {path}: {error}. Put it back, or unset RAG_PROMPTS.") from error
    if not template.is_valid():
        raise UsageError(f"The prompt {path} has a `$` that starts no variable. Write `$$` for a dollar sign.")
    found = frozenset(template.get_identifiers())
    if unknown := sorted(found - wanted):
        raise UsageError(f"The prompt {path} has the unknown variable ${unknown[0]}. It may hold: {_listed(wanted)}.")
    if missing := sorted(wanted - found):
        raise UsageError(f"The prompt {path} lacks the variable ${missing[0]}. It must hold: {_listed(wanted)}.")
    return template


def _listed(names: frozenset[str]) -> str:
    return ", ".join(f"${name}" for name in sorted(names))
