"""The chat without a terminal's abilities: piped lines, and terminals that can only print."""

from __future__ import annotations

from collections.abc import Iterable

from rag.chat.chat import Chat
from rag.chat.commands import is_command, run_command
from rag.errors import RagError

PROMPT = "> "


def run_piped(chat: Chat, lines: Iterable[str]) -> int:
    """Answers each line and prints a transcript; 1 when a line failed, else 0. Empty lines are passed over."""
    failed = False
    for line in lines:
        text = line.strip("\ufeff \t\r\n")
        if text:
            chat.screen.line(f"{PROMPT}{text}")
            failed = not handle(chat, text) or failed
            chat.screen.line()
        if chat.is_over:
            break
    return int(failed)


def handle(chat: Chat, text: str) -> bool:
    """Runs a command or answers a question; False when it failed, which is told on the screen."""
    try:
        if is_command(text):
            run_command(chat, text)
        else:
            chat.ask(text)
    except RagError as error:
        chat.screen.error(str(error))
        return False
    return True
