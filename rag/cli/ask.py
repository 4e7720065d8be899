"""`ask QUESTION`: one question from the shell; without a question, the chat."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rag.cli import common

if TYPE_CHECKING:
    from rag.store.filters import Filters

_HELP = """Ask a question about the papers of a corpus; every citation of the answer is checked.

Examples:

  ask "which papers study turn-taking?"

  ask -c iclr2025 --author Bengio "how many papers use LoRA?"

  echo "what is PersonalLLM?" | ask --json

  ask --continue "and the second one?"

Without a question, `ask` on a terminal opens the chat.

Exit codes: 0 answered, 1 error, 2 wrong usage, 3 not in the corpus, 130 interrupted.
"""

app = typer.Typer(add_completion=True, no_args_is_help=False, pretty_exceptions_enable=False)
_FORMATS = ("json", "markdown", "bibtex")


@app.command(help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@common.with_filters
def ask(
    question: Annotated[list[str] | None, typer.Argument(help="The question; `-` reads it from stdin.", show_default=False)] = None,
    corpus: common.CorpusOption = None,
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="How many papers to put before the model.")] = 8,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Chat model, or `offline`.", show_default="RAG_MODEL")] = None,
    json: common.JsonOption = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown with linked sources.")] = False,
    bibtex: Annotated[bool, typer.Option("--bibtex", help="Print the cited papers as BibTeX.")] = False,
    output: common.OutputOption = None,
    force: common.ForceOption = False,
    mode: Annotated[Literal["answer", "list"] | None, typer.Option(help="Force one answer, or a list over the whole corpus.")] = None,
    max_shown: Annotated[int | None, typer.Option("--max", min=1, help="Show at most this many matches; all are counted.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Remove statements that their citations do not support.")] = False,
    verify: Annotated[Literal["local", "llm", "off"], typer.Option(help="How citations are checked.")] = "local",
    repair: Annotated[bool, typer.Option("--repair/--no-repair", help="Ask the model once to correct unsupported statements.")] = True,
    continued: Annotated[bool, typer.Option("--continue", help="Continue the last conversation.")] = False,
    conversation: Annotated[str | None, typer.Option(help="Continue the conversation with this id.", show_default=False)] = None,
    log: Annotated[bool, typer.Option("--log/--no-log", help="Keep the exchange in the log.")] = True,
    stream: Annotated[bool, typer.Option("--stream/--no-stream", help="Print the answer while it arrives.")] = True,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show what was retrieved and why, on stderr.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    *,
    filters: Filters,
) -> None:
    """Answers one question, or opens the chat when there is none."""
    from rag.cli import answer_command

    if version:
        _print_version()
    chosen = [name for name, is_on in zip(_FORMATS, (json, markdown, bibtex), strict=True) if is_on]
    if len(chosen) > 1:
        common.fail(f"--{chosen[0]} and --{chosen[1]} exclude each other. Give one of them.", code=common.WRONG_USAGE)
    settings = {"corpus": corpus, "model": model, "log": None if log else False}
    text = _question(question or [])
    if text is None:
        raise typer.Exit(answer_command.open_chat(settings))
    options = {"k": k, "mode": mode, "filters": filters, "max_shown": max_shown, "strict": strict, "verify": verify, "repair": repair}
    request = answer_command.Request(
        text, settings, options, "last" if continued else conversation, (chosen or ["text"])[0], output, force, stream, verbose
    )
    raise typer.Exit(answer_command.answer(request))


def _question(words: list[str]) -> str | None:
    """The question from the arguments or stdin; None when the chat is wanted."""
    text = " ".join(words).strip()
    if text == "-" or (not words and not sys.stdin.isatty()):
        text = sys.stdin.read().strip()
    elif not words:
        return None
    if not text:
        common.fail('The question is empty. Ask one: ask "which papers study turn-taking?"', code=common.WRONG_USAGE)
    return text


def _print_version() -> None:
    from rag import __version__

    common.print_text(f"askpapers {__version__}")
    raise typer.Exit


def main() -> None:
    """Entry point of the `ask` script."""
    common.run(app)
