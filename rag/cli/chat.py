"""`rag chat`: questions in turn, on a terminal or from a pipe."""

from __future__ import annotations

from typing import Annotated

import typer

from rag.cli import common


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command()(chat)


def chat(
    corpus: common.CorpusOption = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Chat model, or `offline`.", show_default="RAG_MODEL")] = None,
    continued: Annotated[bool, typer.Option("--continue", help="Continue the last conversation.")] = False,
    conversation: Annotated[str | None, typer.Option(help="Continue the conversation with this id.", show_default=False)] = None,
    log: Annotated[bool, typer.Option("--log/--no-log", help="Keep the conversation in the log.")] = True,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show how follow-ups were understood and what was retrieved.")] = False,
) -> None:
    r"""Chat about the papers of a corpus; piped lines give a plain transcript.

    Example: printf 'which papers study turn-taking?\nwho wrote the first?\n' | rag chat
    """
    from rag.chat import run_chat

    settings = {"corpus": corpus, "model": model, "log": None if log else False}
    code = run_chat(lambda: common.open_assistant(**settings), conversation="last" if continued else conversation, verbose=verbose)
    raise typer.Exit(code)
