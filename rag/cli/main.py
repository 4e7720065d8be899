"""`rag`: everything besides asking: index, search, browse, export, corpora, chat, log, evaluation, doctor."""

from __future__ import annotations

from typing import Annotated

import typer

from rag.cli import browse, chat, common, corpora, doctor, eval, export, fetch, index, log, search

_HELP = """Manage the papers that `ask` answers from.

Examples:

  rag index papers.jsonl --corpus iclr2025

  rag search "turn-taking" -k 5

  rag papers --year 2025 --sort title

  rag export --format bibtex -o papers.bib
"""

app = typer.Typer(
    help=_HELP, no_args_is_help=True, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]}
)
for group in (index, fetch, search, browse, export, corpora, chat, log, eval, doctor):
    group.register(app)


@app.callback(invoke_without_command=True)
def rag(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    """Prints the version when asked to."""
    if version:
        from rag import __version__

        common.print_text(f"askpapers {__version__}")
        raise typer.Exit


def main() -> None:
    """Entry point of the `rag` script."""
    common.run(app)
