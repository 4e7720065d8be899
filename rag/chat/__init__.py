"""The chat in the terminal: questions in turn, commands, plain transcripts for pipes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag.assistant import Assistant

__all__ = ["run_chat"]


def run_chat(open_assistant: Callable[[], Assistant], *, conversation: str | None = None, verbose: bool = False) -> int:
    """Chats until the reader leaves; the exit code: 0, or 1 when a piped question failed.

    Args:
        open_assistant: Called once, in the background while the first question is typed.
        conversation: Id of a logged conversation to go on with, or `last`.
        verbose: Show how each follow-up was understood and what was retrieved.
    """
    from rag.chat.chat import Chat
    from rag.chat.screen import Screen

    chat = Chat(open_assistant, Screen(), conversation=conversation, verbose=verbose)
    with chat:
        if not sys.stdin.isatty():
            from rag.chat.plain import run_piped

            return run_piped(chat, sys.stdin)
        from rag.chat.terminal import run_terminal

        return run_terminal(chat)
