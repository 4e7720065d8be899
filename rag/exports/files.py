"""Writing a file so that nothing is ever half there or gone."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from rag.errors import RagError, UsageError


def write_file(path: str | Path, text: str, force: bool = False) -> None:  # noqa: FBT001, FBT002 - the name is contracted
    """Puts `text` into the file at `path` as UTF-8, whole or not at all.

    Raises `UsageError` when the file is there already (unless `force`) or its folder is not, `RagError` when it cannot be written.
    """
    target = Path(os.path.realpath(Path(path).expanduser()))
    if target.is_dir():
        raise UsageError(f"{str(path)!r} is a folder. Name a file.")
    if not target.parent.is_dir():
        raise UsageError(f"No folder {str(target.parent)!r} to write {target.name!r} into. Create it, or name another file.")
    if target.exists() and not force:
        raise _already_there(path)
    try:
        _write_through_temporary(target, text, force=force)
    except FileExistsError as error:
        raise _already_there(path) from error
    except OSError as error:
        raise RagError(f"Cannot write {str(path)!r}: {error.strerror or error}. Free some space or name another file with -o.") from error


def _write_through_temporary(target: Path, text: str, *, force: bool) -> None:
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("x", encoding="utf-8", errors="replace", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        if force:
            temporary.replace(target)
        else:
            _move_if_free(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _move_if_free(temporary: Path, target: Path) -> None:
    """A hard link refuses to overwrite, which a rename does not; file systems without links get a check and a rename."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:
        if target.exists():
            raise FileExistsError(target) from None
        temporary.rename(target)


def _already_there(path: str | Path) -> UsageError:
    return UsageError(f"File {str(path)!r} is there already. Name another, or replace it with --force.")
