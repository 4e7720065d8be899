"""The chat on a terminal: line editing, history and completion by prompt_toolkit."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, ThreadedCompleter
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth, Output, create_output

from rag.chat.chat import Chat
from rag.chat.completion import candidates
from rag.chat.plain import PROMPT, handle
from rag.text.clean import terminal_text

if TYPE_CHECKING:
    from prompt_toolkit.application import Application

_CONTINUED = ". "
_HISTORY_FILE = "chat_history"


def run_terminal(chat: Chat) -> int:
    """Asks for questions until the reader leaves; 0."""
    chat.screen.note("Ask about the papers. /help lists the commands, Ctrl-D leaves.")
    read = _plain_reader(chat) if os.environ.get("TERM", "dumb").lower() in ("dumb", "unknown", "") else _reader(chat)
    while not chat.is_over:
        try:
            text = read().strip()
            if text:
                handle(chat, text)
                chat.screen.line()
        except KeyboardInterrupt:
            # At the prompt it clears the line; while an answer is awaited it gives the question up.
            continue
        except EOFError:
            break
    return 0


def _reader(chat: Chat) -> Callable[[], str]:
    session: PromptSession[str] = PromptSession(
        PROMPT,
        history=_history(),
        completer=ThreadedCompleter(_Completer(chat)),
        complete_while_typing=False,
        reserve_space_for_menu=5,
        multiline=True,
        prompt_continuation=lambda width, line_number, is_soft_wrap: _CONTINUED,
        key_bindings=_keys(),
        enable_open_in_editor=False,
        color_depth=ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None,
        output=_output(),
    )

    def load_once(app: Application[str]) -> None:
        # Only now that the prompt is on the screen: loading would hold it up.
        chat.load()

    session.app.after_render += load_once
    return session.prompt


def _plain_reader(chat: Chat) -> Callable[[], str]:
    chat.load()
    return lambda: input(PROMPT)


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    @keys.add("c-j")  # what Enter is when it was typed ahead, while an answer was awaited
    def submit(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


def _output() -> Output:
    """The terminal, never asked where its cursor is: some do not answer, and over a slow line the answer comes among the typed keys."""
    if sys.platform == "win32":
        return create_output()
    from prompt_toolkit.output.vt100 import Vt100_Output

    return Vt100_Output(sys.stdout, _size, term=os.environ.get("TERM"), enable_cpr=False)


def _size() -> Size:
    try:
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        columns, rows = shutil.get_terminal_size()
    return Size(rows=rows, columns=columns)


def _history() -> History:
    """Questions of earlier sessions, in the home folder; of this session only, where that cannot be written."""
    from rag.settings import Settings

    path = Settings.resolve().home_folder / _HISTORY_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))


class _Completer(Completer):
    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        for candidate in candidates(document.text_before_cursor, self._chat):
            yield Completion(candidate.text, -candidate.replaces, display_meta=terminal_text(candidate.meaning))
