"""The chat's commands: found by name, with the nearest suggested for a misspelt one."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rag.chat import on_papers, on_session
from rag.chat.chat import Chat
from rag.errors import UsageError

Action = Callable[[Chat, str], None]


@dataclass(frozen=True, slots=True)
class Command:
    """A command: `/name usage`, what it does in a line, and the function that does it."""

    name: str
    usage: str
    help: str
    run: Action
    completes: str = ""
    """What its argument is, for completion: `paper`, `corpus`, `model`, `filter`, `file`, `command`."""


def _help(chat: Chat, argument: str) -> None:
    wanted = [find(argument)] if argument else list(COMMANDS.values())
    width = max(len(f"/{command.name} {command.usage}".rstrip()) for command in wanted)
    for command in wanted:
        head = f"/{command.name} {command.usage}".rstrip()
        chat.screen.line(f"{head:<{width}}  {command.help}")
    if not argument:
        chat.screen.note("Anything else is a question. Alt-Enter begins a new line, Ctrl-C stops an answer, Ctrl-D leaves.")


COMMANDS: Mapping[str, Command] = {
    command.name: command
    for command in (
        Command("help", "[COMMAND]", "this list", _help, "command"),
        Command("sources", "[all]", "sources of the last answer, or all so far", on_papers.sources),
        Command("why", "N", "why [N] was cited: passage, score, verdict", on_papers.why, "paper"),
        Command("show", "N|ID", "a paper in full", on_papers.show, "paper"),
        Command("open", "N|ID", "a paper in the browser", on_papers.open_paper, "paper"),
        Command("similar", "N|ID", "papers like it", on_papers.similar, "paper"),
        Command("bib", "[FILE]", "cited papers as BibTeX", on_papers.bib, "file"),
        Command("save", "FILE", "the conversation as Markdown or .json", on_session.save, "file"),
        Command("corpus", "[NAME]", "show or change the corpus", on_session.corpus, "corpus"),
        Command("filter", "[WHERE|off]", "only some papers: year>=2024 and venue~ICLR", on_session.set_filter, "filter"),
        Command("model", "[NAME]", "show or change the chat model", on_session.model, "model"),
        Command("retry", "", "ask the last question again", on_session.retry),
        Command("undo", "", "take the last turn back", on_session.undo),
        Command("history", "", "the turns so far", on_session.history),
        Command("resume", "[ID]", "go on with an earlier conversation", on_session.resume),
        Command("new", "", "a new conversation", on_session.new),
        Command("quit", "", "leave", on_session.leave),
    )
}
_ALIASES = {
    "exit": "quit",
    "q": "quit",
    "?": "help",
    "h": "help",
    "bibtex": "bib",
    "source": "sources",
    "filters": "filter",
    "redo": "retry",
}


def is_command(line: str) -> bool:
    """Whether a line is a command and no question."""
    return line.startswith("/") and line[1:2] not in ("", " ", "/")


def find(name: str) -> Command:
    """The command of this name. Raises `UsageError` with the nearest one for an unknown name."""
    bare = name.lstrip("/").lower()
    bare = _ALIASES.get(bare, bare)
    if bare in COMMANDS:
        return COMMANDS[bare]
    started = [known for known in COMMANDS if known.startswith(bare)]
    near = started or difflib.get_close_matches(bare, [*COMMANDS, *_ALIASES], n=1, cutoff=0.5)
    hint = f"Did you mean /{near[0]}?" if near else "/help lists the commands."
    raise UsageError(f"No command /{bare}. {hint}")


def run_command(chat: Chat, line: str) -> None:
    """Runs a command line. Raises `RagError` when it cannot be done."""
    name, _, argument = line[1:].strip().partition(" ")
    find(name).run(chat, argument.strip())
