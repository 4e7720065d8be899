"""Runs one question for `ask` and prints what came of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.cli import common

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from rag.conversation import Conversation
    from rag.records import Answer


@dataclass(frozen=True, slots=True)
class Request:
    """One call of `ask`, with its options sorted by who needs them."""

    question: str
    settings: Mapping[str, Any]
    options: Mapping[str, Any]
    conversation: str | None
    """Id of the conversation to continue, `last`, or None for a new one."""
    format: str
    output: Path | None
    force: bool
    stream: bool
    verbose: bool


def open_chat(settings: Mapping[str, Any]) -> int:
    """Opens the chat; its exit code."""
    from rag.chat import run_chat

    return run_chat(lambda: common.open_assistant(**settings))


def answer(request: Request) -> int:
    """Answers the question and prints the answer; the exit code."""
    with common.open_assistant(**request.settings) as assistant:
        _say_when_offline(assistant)
        conversation = assistant.conversation(_conversation_id(assistant, request.conversation))
        result = _show_while_streaming(conversation, request) if _is_streamed(request) else _collect(conversation, request)
        if request.verbose:
            _explain(result)
    if result.finish == "interrupted":
        return common.INTERRUPTED
    return common.NOT_IN_CORPUS if result.abstained else common.ANSWERED
