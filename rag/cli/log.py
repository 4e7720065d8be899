"""`rag log`: what was asked and answered, to find, read, replay and prune."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from rag.cli import common
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.conversation import ConversationLog, Exchange

_DEFAULT = "show"
_AGE = re.compile(r"(\d+)\s*([smhdw])", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_LONGEST_QUESTION = 70


class _LogGroup(TyperGroup):
    """`rag log ...` means `rag log show ...` unless another command is named."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # typer.Context is click's
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    group = typer.Typer(cls=_LogGroup, help="Find, read and replay earlier questions and answers.", no_args_is_help=False)
    group.command(_DEFAULT)(show)
    group.command()(prune)
    app.add_typer(group, name="log")


def show(
    wanted: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Number of an exchange, or id of a conversation.", show_default=False)
    ] = None,
    search: Annotated[str | None, typer.Option("--search", "-s", help="Words of question, answer or papers.", show_default=False)] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="List at most this many.")] = 20,
    json: common.JsonOption = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown with sources.")] = False,
    replay: Annotated[bool, typer.Option("--replay", help="Ask an exchange again and show what changed.")] = False,
    output: common.OutputOption = None,
    force: common.ForceOption = False,
) -> None:
    """List what was asked, newest first, or read one exchange or conversation.

    Examples: rag log --search "turn-taking"; rag log 12; rag log 12 --replay; rag log c4f1 --markdown -o talk.md
    """
    log = _log()
    if replay:
        _replay(log, wanted, json=json)
        return
    exchanges = _found(log, wanted, search, limit)
    if json:
        from rag.conversation.export import exchange_json

        text = common.json_text([exchange_json(exchange) for exchange in exchanges])
    elif markdown:
        from rag.conversation.export import exchanges_markdown

        text = exchanges_markdown(exchanges if wanted else exchanges[::-1])
    else:
        text = _read(exchanges) if wanted else _listed(exchanges)
    if text or output:
        common.write_or_print(text, output, force=force)
    else:
        common.note("The log is empty." if search is None else f"Nothing in the log matches {search!r}.")


def prune(
    older_than: Annotated[str | None, typer.Option(help="Only exchanges older than this: 90d, 12h, 4w.", show_default=False)] = None,
    keep: Annotated[int | None, typer.Option(min=0, help="All but the last so many.", show_default=False)] = None,
    conversation: Annotated[str | None, typer.Option(help="Only of this conversation.", show_default=False)] = None,
    everything: Annotated[bool, typer.Option("--all", help="The whole log.")] = False,
    yes: common.YesOption = False,
) -> None:
    """Remove exchanges from the log for good; what every given option says.

    Example: rag log prune --older-than 90d
    """
    if older_than is None and keep is None and conversation is None and not everything:
        raise UsageError("Say what to remove: --older-than 90d, --keep 100, --conversation ID, or --all.")
    before = time.time() - _seconds(older_than) if older_than else None
    log = _log()
    whole = log.conversation(conversation)[0].conversation if conversation else None
    if not yes:
        typer.confirm("Remove these exchanges for good?", abort=True, err=True)
    common.note(f"Removed {log.prune(before=before, keep=keep, conversation=whole)} exchanges.")


def _log() -> ConversationLog:
    from rag.conversation import ConversationLog
    from rag.settings import Settings

    return ConversationLog(Settings.resolve().home_folder)


def _found(log: ConversationLog, wanted: str | None, search: str | None, limit: int) -> Sequence[Exchange]:
    if wanted is None:
        return log.latest(limit) if search is None else log.search(search, limit)
    return (log.get(int(wanted)),) if wanted.isdecimal() else log.conversation(wanted)


def _replay(log: ConversationLog, wanted: str | None, *, json: bool) -> None:
    if wanted is None or not wanted.isdecimal():
        raise UsageError("--replay needs the number of an exchange, as `rag log` lists them: rag log 12 --replay")
    from rag.conversation.replay import changes, replay

    exchange = log.get(int(wanted))
    with common.open_assistant(corpus=exchange.corpus or None, model=exchange.model or None, log=False) as assistant:
        now = replay(exchange, assistant.answerer, log.conversation(exchange.conversation))
    lines = changes(exchange, now)
    if json:
        from rag.exports import answer_json

        common.print_json({"exchange": exchange.id, "changes": list(lines), "answer": answer_json(now)})
        return
    common.print_text(str(now))
    common.print_text("\n" + ("\n".join(f"- {line}" for line in lines) or "Nothing has changed."))


def _listed(exchanges: Sequence[Exchange]) -> str:
    if not sys.stdout.isatty():
        return "\n".join("\t".join((str(e.id), e.when, e.conversation, e.outcome, e.question)) for e in exchanges)
    width = max((len(str(e.id)) for e in exchanges), default=1)
    return "\n".join(f"{e.id:>{width}}  {e.when[:16]}  {e.conversation}  {e.outcome:<11}  {_shortened(e.question)}" for e in exchanges)


def _read(exchanges: Sequence[Exchange]) -> str:
    return "\n\n".join(_page(exchange) for exchange in exchanges)


def _page(exchange: Exchange) -> str:
    lines = [
        f"{exchange.id}. {exchange.question}",
        f"{exchange.when} · conversation {exchange.conversation}, turn {exchange.turn} · corpus {exchange.corpus} · model {exchange.model}"
        f" · {exchange.outcome}",
    ]
    if exchange.standalone != exchange.question:
        lines.append(f"Understood as: {exchange.standalone}")
    return "\n".join([*lines, "", str(exchange.answer) if exchange.answer else exchange.error or "No answer was kept."])


def _shortened(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= _LONGEST_QUESTION else f"{line[: _LONGEST_QUESTION - 3]}..."


def _seconds(age: str) -> float:
    match = _AGE.fullmatch(age.strip())
    if match is None:
        raise UsageError(f"{age!r} is not an age. Write a number with s, m, h, d or w, such as 90d.")
    return int(match[1]) * _SECONDS[match[2].lower()]
