"""Arguments of commands."""

from __future__ import annotations

import shlex
from pathlib import Path

from rag.errors import UsageError

_FORCE = "--force"


def needed(argument: str, usage: str) -> str:
    """The argument. Raises `UsageError` when it is empty."""
    if not argument:
        raise UsageError(f"Something is missing. Write {usage}.")
    return argument


def target(argument: str) -> tuple[Path, bool]:
    """The file to write to, and whether it may be overwritten (`--force`). Raises `UsageError` unless it is one file."""
    try:
        words = shlex.split(argument)
    except ValueError:
        words = [argument]
    names = [word for word in words if word != _FORCE]
    if len(names) != 1:
        raise UsageError(f"Name one file, with spaces in quotes. This names {len(names)}: {argument!r}.")
    return Path(names[0]).expanduser(), _FORCE in words
