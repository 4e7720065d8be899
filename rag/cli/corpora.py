"""`rag corpora`, `use`, `rename` and `remove`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag.cli import common

if TYPE_CHECKING:
    from rag.store import Corpora

NameArgument = Annotated[str, typer.Argument(help="Name of a corpus.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    for command in (corpora, use, rename, remove):
        app.command()(command)


def corpora(json: common.JsonOption = False) -> None:
    """List the corpora; the active one is marked.

    Example: rag corpora
    """
    with common.open_assistant() as assistant:
        rows = [_row(assistant.corpora, name) for name in assistant.corpora.names()]
    if json:
        common.print_json(rows)
        return
    for row in rows:
        common.print_text(
            f"{'*' if row['active'] else ' '} {row['name']}  ({row['papers']} papers){'' if row['complete'] else ', incomplete'}"
        )
    for row in rows:
        for remark in row["remarks"]:
            common.note(remark)


def _row(held: Corpora, name: str) -> dict[str, Any]:
    remarks = held.remarks(name)
    return {
        "name": name,
        "papers": held.count(name),
        "active": name == held.active(),
        "complete": not remarks,
        "remarks": list(remarks),
    }


def use(name: NameArgument) -> None:
    """Make a corpus the one that `ask` answers from.

    Example: rag use iclr2025
    """
    with common.open_assistant() as assistant:
        assistant.corpora.use(name)
    common.note(f"Now asking {name}.")


def rename(old: NameArgument, new: Annotated[str, typer.Argument(help="Its new name.")]) -> None:
    """Rename a corpus.

    Example: rag rename papers iclr2025
    """
    with common.open_assistant() as assistant:
        assistant.corpora.rename(old, new)
    common.note(f"{old} is now {new}.")


def remove(name: NameArgument, yes: common.YesOption = False) -> None:
    """Remove a corpus and everything indexed for it.

    Example: rag remove iclr2025 --yes
    """
    with common.open_assistant() as assistant:
        count = assistant.corpora.count(name)
        if not yes:
            typer.confirm(f"Remove {name} with its {count} papers?", abort=True, err=True)
        assistant.corpora.remove(name)
    common.note(f"Removed {name} ({count} papers).")
