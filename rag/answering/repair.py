"""One request to the model to correct what its papers do not carry."""

from __future__ import annotations

from rag.answering.abstention import is_refusal
from rag.answering.checking import Checked, bare
from rag.answering.steps import Parts
from rag.answering.weak import mended
from rag.answering.work import Work
from rag.errors import ModelError
from rag.protocols import ChatRequest, Message
from rag.records import Statement

_MOST_NAMED = 12


def repaired(work: Work, checked: Checked, parts: Parts) -> str:
    """The answer as the model writes it once its failing statements have been named, in prompt numbers.

    Raises `ModelError` when the reply holds no answer, `BudgetError` when the tokens do not suffice.
    """
    problems = "\n".join(f"- {_problem(statement)}" for statement in checked.failing[:_MOST_NAMED])
    request_text = parts.prompts.render("repair", problems=problems)
    messages = (*work.messages, Message("assistant", checked.text), Message("user", request_text))
    room = parts.model.context_tokens - work.max_tokens
    if not parts.builder.fits(messages, room):
        raise ModelError("the answer and its papers leave no room in the model's context", kind="context_length")
    request = ChatRequest("repair", messages, work.max_tokens, work.searched, work.sources, work.mode)
    reply = parts.model.reply(request)
    text = mended(reply, work.sources, f"{work.own_prompt}\n{request_text}").text
    if not text or is_refusal(text):
        raise ModelError("the reply held no answer", kind="empty")
    return text


def _problem(statement: Statement) -> str:
    said = f"“{bare(statement.text)}”"
    if statement.verdict == "uncited":
        return f"{said} cites no paper."
    numbers = ", ".join(f"[{citation.number}]" for citation in statement.citations)
    reasons = "; ".join(dict.fromkeys(citation.problem for citation in statement.citations if citation.problem))
    return f"{said} is not what {numbers} says" + (f": {reasons}." if reasons else ".")
