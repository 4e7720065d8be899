"""Earlier turns as chat messages, trimmed to a number of tokens: the oldest go first, the papers they cited stay known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rag.conversation.context import Turn
from rag.protocols import Message
from rag.text.tokens import count_tokens

SHARE = 0.25
"""Part of the model's context that history may fill."""
MOST_TOKENS = 3_000
_LONGEST_ANSWER = 2_000
_PER_MESSAGE = 8
_CITED_SHARE = 0.25


def history_messages(turns: Sequence[Turn], context_tokens: int, model: str = "") -> tuple[Message, ...]:
    """Questions and answers in turn, oldest first, within a quarter of `context_tokens` and at most 3,000 tokens.

    Turns that do not fit are left out from the oldest on; what they cited is then named, by number and title, in the first message.
    """
    room = int(min(context_tokens * SHARE, MOST_TOKENS))
    kept: list[tuple[Message, Message]] = []
    left = int(room * (1 - _CITED_SHARE))
    for turn in reversed(turns):
        pair = (Message("user", turn.question), Message("assistant", _shortened(turn.answer.text)))
        left -= sum(_counted(message.content, model) + _PER_MESSAGE for message in pair)
        if left < 0:
            break
        kept.append(pair)
    dropped = turns[: len(turns) - len(kept)]
    messages = [message for pair in reversed(kept) for message in pair]
    cited = _cited(dropped, int(room * _CITED_SHARE), model)
    if cited and messages:
        messages[0] = Message("user", f"{cited}\n\n{messages[0].content}")
    return tuple(messages)


def _cited(turns: Sequence[Turn], room: int, model: str) -> str:
    titles = {citation.number: citation.paper.title for turn in turns for citation in turn.answer.citations}
    lines = list[str]()
    for number in sorted(titles, reverse=True):
        line = f"[{number}] {titles[number]}"
        room -= _counted(line, model) + 1
        if room < 0:
            break
        lines.append(line)
    return "\n".join(["Cited earlier in this conversation:", *reversed(lines)]) if lines else ""


@lru_cache(maxsize=1_024)
def _counted(text: str, model: str) -> int:
    """Turns are counted again with every question."""
    return count_tokens(text, model)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_ANSWER else f"{text[:_LONGEST_ANSWER].rsplit(' ', 1)[0]} ..."
