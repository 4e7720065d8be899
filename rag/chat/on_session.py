"""Commands about the chat itself: save, corpus, filter, model, retry, undo, history, resume, new, quit."""

from __future__ import annotations

import json

from rag.chat.arguments import needed, target
from rag.chat.chat import Chat
from rag.errors import UsageError

_OFF = ("off", "none", "clear")
_RESUMABLE = 10


def save(chat: Chat, argument: str) -> None:
    """Writes the conversation, as JSON when the file's name ends so, else as Markdown."""
    from rag.exports import answer_json, export_answer, write_file

    path, force = target(needed(argument, "/save FILE"))
    answers = [turn.answer for turn in chat.conversation.turns]
    if not answers:
        raise UsageError("There is nothing to save yet.")
    if path.suffix.lower() == ".json":
        text = json.dumps([answer_json(answer) for answer in answers], ensure_ascii=False, indent=2) + "\n"
    else:
        text = "\n".join(export_answer(answer, "markdown") for answer in answers)
    write_file(path, text, force)
    chat.screen.note(f"Written: {path}, {len(answers)} turns.")


def corpus(chat: Chat, argument: str) -> None:
    """Shows the corpora, or goes over to another, with a new conversation."""
    if not argument:
        now = chat.assistant.library.name
        for name in chat.assistant.corpora.names():
            chat.screen.line(f"{'*' if name == now else ' '} {name}")
        return
    chat.reopen(corpus=argument)
    chat.screen.note(f"Now asking {chat.assistant.library.name}, in a new conversation.")


def set_filter(chat: Chat, argument: str) -> None:
    """Shows the filter, sets it, or lifts it."""
    from rag.store.filters import parse_where

    if argument:
        chat.filters = None if argument.lower() in _OFF else parse_where(argument)
    chat.screen.note(f"Only papers where {chat.filters.describe()}." if chat.filters else "No filter: all papers are asked.")


def model(chat: Chat, argument: str) -> None:
    """Shows the chat model, or goes on with another."""
    if argument:
        chat.reopen(model=argument)
    name = chat.assistant.model.name
    chat.screen.note(f"{name} answers.")
    if argument and argument != name:
        chat.screen.note("A language model needs OPENAI_API_KEY or OPENAI_BASE_URL.")


def retry(chat: Chat, argument: str) -> None:
    """Asks the last question again."""
    chat.screen.note(f"> {chat.last.question}")
    chat.retry()


def undo(chat: Chat, argument: str) -> None:
    """Takes the last turn back."""
    chat.screen.note(f"Taken back: {chat.conversation.undo().question}")


def history(chat: Chat, argument: str) -> None:
    """Prints the questions so far, each with what came of it."""
    for number, turn in enumerate(chat.conversation.turns, 1):
        cited = ", ".join(f"[{citation.number}]" for citation in turn.answer.citations[:8])
        more = " ..." if len(turn.answer.citations) > 8 else ""
        outcome = "refused" if turn.answer.abstained else f"{cited}{more}" if cited else turn.answer.finish
        chat.screen.line(f"{number}. {' '.join(turn.question.split())}  {outcome}")
    if not chat.conversation.turns:
        chat.screen.note("Nothing has been asked yet.")


def resume(chat: Chat, argument: str) -> None:
    """Goes on with a logged conversation, or lists those that were asked in last."""
    if argument:
        chat.new(argument)
        chat.screen.note(f"Conversation {chat.conversation.id}, {len(chat.conversation.turns)} turns.")
        history(chat, "")
        return
    log = chat.assistant.log
    last = {exchange.conversation: exchange for exchange in reversed(log.latest(200) if log else ())}
    for exchange in sorted(last.values(), key=lambda e: -e.id)[:_RESUMABLE]:
        chat.screen.line(f"{exchange.conversation}  {exchange.when[:16]}  {' '.join(exchange.question.split())}")
    if not last:
        chat.screen.note("The log has no conversation.")


def new(chat: Chat, argument: str) -> None:
    """Begins a new conversation."""
    chat.new()
    chat.screen.note("A new conversation. Numbers start again at [1].")


def leave(chat: Chat, argument: str) -> None:
    """Ends the chat."""
    chat.is_over = True
