"""Runs one question for `ask` and prints what came of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.cli import common
from rag.cli.status import status_line
from rag.records import Answer, Progress

if TYPE_CHECKING:
    from rich.console import Console

    from rag.assistant import Assistant
    from rag.conversation import Conversation

_MOST_EXPLAINED = 20


@dataclass(frozen=True, slots=True)
class Request:
    """One call of `ask`, with its options sorted by who needs them."""

    question: str
    settings: Mapping[str, Any]
    options: Mapping[str, Any]
    conversation: str | None
    """Id of the conversation to continue, `last`, or None for a new one."""
    format: str
    """text, json, markdown or bibtex."""
    output: Path | None
    force: bool
    stream: bool
    verbose: bool

    @property
    def is_streamed(self) -> bool:
        """True when the text is printed while it arrives: only plain text on a terminal."""
        return self.stream and self.format == "text" and self.output is None and sys.stdout.isatty()


def open_chat(settings: Mapping[str, Any]) -> int:
    """Opens the chat; its exit code."""
    from rag.chat import run_chat

    return run_chat(lambda: common.open_assistant(**settings))


def answer(request: Request) -> int:
    """Answers the question and prints the answer; the exit code."""
    with common.open_assistant(**request.settings) as assistant:
        conversation = assistant.conversation(request.conversation)
        if request.conversation and conversation.last is not None:
            common.note(f"Continuing conversation {conversation.id}, last asked: {conversation.last.question}")
        _say_when_offline(assistant)
        result, draft = _run(conversation, request)
        if request.verbose:
            _explain(result)
    if request.format == "text" and request.output is None:
        _print_rest(result, draft, is_logged=assistant.settings.log)
    else:
        common.write_or_print(_formatted(result, request.format), request.output, force=request.force)
    if result.finish == "interrupted":
        common.note("Interrupted; this is what came until then.")
        return common.INTERRUPTED
    return common.NOT_IN_CORPUS if result.abstained else common.ANSWERED


def _run(conversation: Conversation, request: Request) -> tuple[Answer, str]:
    """The answer, and the text that was printed while it arrived."""
    from rag.cli.render import AnswerStream

    stdout = common.console()
    shown = AnswerStream(stdout) if request.is_streamed else None
    draft = ""
    before = conversation.last
    run = conversation.stream(request.question, **request.options)
    try:
        with status_line(common.console(stderr=True)) as show_progress:
            for event in run:
                if isinstance(event, Progress):
                    if shown is not None:
                        shown.close()
                    show_progress(event)
                elif isinstance(event, str) and shown is not None:
                    show_progress(None)
                    shown.feed(event)
                    draft += event
    except KeyboardInterrupt:
        run.close()
    finally:
        if shown is not None:
            shown.close()
    answer = conversation.last
    if answer is None or answer is before:
        raise KeyboardInterrupt
    return answer, draft


def _print_rest(result: Answer, draft: str, *, is_logged: bool) -> None:
    """Prints what the stream has not shown: the text, where a check changed it, then sources and notes."""
    from rag.cli import render

    stdout = common.console()
    if draft and result.text.split() != draft.split():
        common.note("After checking the citations:")
    if result.text.split() != draft.split():
        _print_answer_text(result, stdout)
    if result.abstained:
        render.render_nearest(result, stdout)
    elif result.citations:
        common.print_text("")
        render.render_sources(result, stdout)
    render.render_notes(result, common.console(stderr=True))
    _print_summary(result, is_logged=is_logged)


def _print_answer_text(result: Answer, stdout: Console) -> None:
    if not stdout.is_terminal:
        common.print_text(result.text)
        return
    from rag.cli.render import AnswerStream

    stream = AnswerStream(stdout)
    stream.feed(result.text)
    stream.close()


def _print_summary(result: Answer, *, is_logged: bool) -> None:
    scanned = f"{result.scanned} papers of {result.corpus} scanned"
    cost = f", {result.usage.prompt_tokens + result.usage.completion_tokens} tokens" if result.usage.prompt_tokens else ""
    about = " (estimated)" if cost and result.usage.estimated else ""
    # Without the log there is nothing that --conversation could continue.
    conversation = f" Conversation {result.conversation}." if is_logged else ""
    common.note(f"{scanned}{cost}{about}, {result.timing.total_s:.1f} s.{conversation}")


def _formatted(result: Answer, form: str) -> str:
    from rag.exports import answer_json, export_answer

    return common.json_text(answer_json(result)) if form == "json" else export_answer(result, form)


def _explain(result: Answer) -> None:
    from rag.cli.render import render_signals

    stderr = common.console(stderr=True)
    if result.standalone and result.standalone != " ".join(result.question.split()):
        common.note(f"Understood as: {result.standalone}")
    if result.retrieval is not None:
        retrieval = result.retrieval
        common.note(
            f"Searched for {retrieval.query!r} in {retrieval.scanned} papers; answerable with probability {retrieval.answerable:.2f}."
        )
        render_signals(retrieval.hits[:_MOST_EXPLAINED], stderr)


def _say_when_offline(assistant: Assistant) -> None:
    from rag.models import offline_notice

    if assistant.settings.is_offline and assistant.settings.model != "offline":
        common.note(offline_notice(assistant.settings.model))
