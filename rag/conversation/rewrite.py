"""A follow-up question rewritten by the chat model, held against what the rules found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag.answering.budget import MeteredModel
from rag.conversation.context import Context, Turn, shown_papers
from rag.conversation.followup import Standalone
from rag.conversation.names import find_names
from rag.errors import ModelError
from rag.prompting.framing import as_data, as_question
from rag.prompting.templates import Prompts
from rag.protocols import ChatRequest, Message
from rag.records import Hit
from rag.text.tokens import count_tokens

_REPLY_TOKENS = 200
_MOST_TURNS = 8
_HISTORY_SHARE = 0.25
_HISTORY_TOKENS = 2_000
_LONGEST_ANSWER = 300
_MOST_PAPERS = 10
_LONGEST = 600
_QUOTES = "\"'“”„«»`* "


def rewritten(question: str, turns: Sequence[Turn], model: MeteredModel, prompts: Prompts) -> str:
    """The question as the model makes it stand alone. Raises `ModelError` or `BudgetError` when the call or its reply is of no use."""
    asked = as_question(question)
    room = int(min(model.context_tokens * _HISTORY_SHARE, _HISTORY_TOKENS))
    prompt = prompts.render("rewrite", conversation=_transcript(turns, room, model.name), question=asked)
    reply = model.reply(ChatRequest("rewrite", (Message("user", prompt),), _REPLY_TOKENS, asked))
    lines = [line for part in reply.splitlines() if (line := part.strip().strip(_QUOTES))]
    text = as_question(lines[-1] if len(lines) > 1 and lines[0].endswith(":") else lines[0] if lines else "")
    for label in ("Standalone question:", "Rewritten question:", "Question:"):
        text = text.removeprefix(label).strip().strip(_QUOTES)
    if not text or len(text) > max(_LONGEST, 3 * len(asked)):
        raise ModelError("the model's reply was no question", kind="protocol")
    return text


def merged(rules: Standalone, text: str, question: str, turns: Sequence[Turn]) -> Standalone:
    """The model's wording with the papers and restrictions that the rules found.

    The rules' reading stays where the reply changes nothing, and where they know which papers a question chooses among.
    """
    if rules.within or _plain(text) == _plain(question):
        return rules
    retrieved = {hit.paper.id: hit.paper for turn in turns[-_MOST_TURNS:] for hit in _hits(turn)}
    named = tuple(dict.fromkeys(paper.id for _, _, paper in find_names(text, (retrieved | dict(Context(turns).papers)).values())))
    if not (named or rules.focus):
        return replace(rules, text=text, is_new_topic=rules.is_new_topic and not named)
    return Standalone(text, named or rules.focus, rules.filters, mode="answer")


def _hits(turn: Turn) -> tuple[Hit, ...]:
    return turn.answer.retrieval.hits[:_MOST_PAPERS] if turn.answer.retrieval else ()


def _transcript(turns: Sequence[Turn], room: int, model: str) -> str:
    """The last turns, oldest first, each with its question, the beginning of its answer and the titles of the cited papers."""
    blocks = list[str]()
    for turn in reversed(turns[-_MOST_TURNS:]):
        numbers = {citation.paper.id: citation.number for citation in turn.answer.citations}
        papers = [f"[{numbers[paper.id]}] {as_data(paper.title)}" for paper in shown_papers(turn.answer)[:_MOST_PAPERS]]
        block = "\n".join([f"Q: {as_question(turn.asked)}", f"A: {as_question(turn.answer.text)[:_LONGEST_ANSWER]}", *papers])
        room -= count_tokens(block, model)
        if room < 0 and blocks:
            break
        blocks.append(block)
    return "\n\n".join(reversed(blocks))


def _plain(text: str) -> str:
    return " ".join(text.casefold().strip(" ?.!").split())
