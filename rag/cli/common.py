"""What all commands share: consoles, error lines, exit codes and the filter options."""

from __future__ import annotations

import functools
import inspect
import os
import shutil
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from rag.errors import RagError

if TYPE_CHECKING:
    from rich.console import Console

    from rag.assistant import Assistant

ANSWERED, FAILED, WRONG_USAGE, NOT_IN_CORPUS, INTERRUPTED = 0, 1, 2, 3, 130

CorpusOption = Annotated[str | None, typer.Option("--corpus", "-c", help="Corpus to ask; several with commas.", show_default="active one")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
OutputOption = Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file instead of stdout.", show_default=False)]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite the output file.")]

_PANEL = "Filters (applied before ranking)"
_FILTER_OPTIONS = {
    "year": Annotated[str | None, typer.Option(help="2025, or a range 2023-2025.", rich_help_panel=_PANEL, show_default=False)],
    "venue": Annotated[str | None, typer.Option(help="Venue contains this.", rich_help_panel=_PANEL, show_default=False)],
    "author": Annotated[str | None, typer.Option(help="An author's name contains this.", rich_help_panel=_PANEL, show_default=False)],
    "decision": Annotated[
        str | None, typer.Option(help="Decision contains this: poster, oral.", rich_help_panel=_PANEL, show_default=False)
    ],
    "track": Annotated[str | None, typer.Option(help="Track contains this.", rich_help_panel=_PANEL, show_default=False)],
    "keyword": Annotated[str | None, typer.Option(help="A keyword contains this.", rich_help_panel=_PANEL, show_default=False)],
    "category": Annotated[str | None, typer.Option(help="A category, such as cs.CL.", rich_help_panel=_PANEL, show_default=False)],
    "since": Annotated[
        str | None, typer.Option(help="Published on or after: 2025 or 2025-03-01.", rich_help_panel=_PANEL, show_default=False)
    ],
    "where": Annotated[
        str | None, typer.Option(help="Expression: 'year>=2024 and venue~ICLR'.", rich_help_panel=_PANEL, show_default=False)
    ],
}


def with_filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the filter options; it receives them as one argument named `filters`."""
    own = [p for name, p in inspect.signature(command, locals={"Filters": object}, eval_str=True).parameters.items() if name != "filters"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind) for name, kind in _FILTER_OPTIONS.items()
    ]

    @functools.wraps(command)
    def wrapper(**arguments: Any) -> Any:
        from rag.store.filters import Filters

        chosen = {name: arguments.pop(name) for name in _FILTER_OPTIONS}
        return command(**arguments, filters=Filters.of(**chosen))

    parameters = [*(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own), *added]
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads both
    wrapper.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapper


def run(app: typer.Typer) -> None:
    """Runs a command line and ends the process with the documented exit code."""
    _make_output_safe()
    try:
        app()
    except RagError as error:
        fail(str(error), code=error.exit_code)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)


def fail(message: str, *, code: int = FAILED) -> None:
    """Prints one line on stderr and exits with `code`."""
    from rag.text.clean import terminal_text

    typer.secho(f"error: {terminal_text(message)}", fg="red", err=True)
    sys.exit(code)


def note(message: str) -> None:
    """Prints one line on stderr; on a terminal it is dimmed and wrapped between words."""
    from rag.text.clean import terminal_text

    text = terminal_text(message)
    if sys.stderr.isatty():
        text = textwrap.fill(text, shutil.get_terminal_size().columns, break_long_words=False, break_on_hyphens=False)
    typer.secho(text, dim=True, err=True)


def print_text(text: str) -> None:
    """Prints plain text on stdout, with anything that could drive a terminal removed when it is one."""
    from rag.text.clean import harmless_text

    sys.stdout.write((harmless_text(text) if sys.stdout.isatty() else text).rstrip("\n") + "\n")


def print_json(value: Any) -> None:
    """Prints one JSON value on stdout."""
    sys.stdout.write(json_text(value) + "\n")


def json_text(value: Any) -> str:
    """The value as JSON: indented on a terminal, in ASCII where stdout cannot encode more."""
    import json

    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(value, ensure_ascii=not is_unicode, indent=2 if sys.stdout.isatty() else None)


def write_or_print(text: str, output: Path | None, *, force: bool) -> None:
    """Puts `text` into the file, or on stdout when there is none."""
    if output is None:
        print_text(text)
        return
    from rag.exports import write_file

    write_file(output, text, force=force)
    note(f"Written: {output}")


def console(*, stderr: bool = False) -> Console:
    """A rich console that never interprets markup, emoji codes or numbers in what it prints."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def open_assistant(**arguments: Any) -> Assistant:
    """The assistant for one command, with settings from the arguments and the environment."""
    from rag.assistant import Assistant

    return Assistant(**arguments)


def _make_output_safe() -> None:
    for stream in (sys.stdout, sys.stderr):
        _replace_unencodable(stream)


def _replace_unencodable(stream: TextIO) -> None:
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
