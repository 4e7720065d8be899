"""A question in another language, in English for the search."""

from __future__ import annotations

from rag.answering.steps import Parts
from rag.errors import ModelError
from rag.prompting.framing import as_question
from rag.protocols import ChatRequest, Message
from rag.retrieval.language import detect_language, language_name

_REPLY_TOKENS = 300
_LONGEST = 1_000
_QUOTES = "\"'“”„«»`* "


def translated(question: str, language: str, parts: Parts) -> str:
    """The question in English, by the chat model. Raises `ModelError` when it fails or its reply is no translation."""
    asked = as_question(question)
    prompt = parts.prompts.render("translate", language=language_name(language), question=asked)
    reply = parts.model.reply(ChatRequest("translate", (Message("user", prompt),), _REPLY_TOKENS, asked))
    lines = [line.strip(_QUOTES) for line in reply.splitlines() if line.strip(_QUOTES)]
    english = as_question(lines[-1] if len(lines) > 1 and lines[0].endswith(":") else lines[0] if lines else "")
    english = english.removeprefix("Question:").strip(_QUOTES)
    if not english or len(english) > max(_LONGEST, 4 * len(asked)) or detect_language(english) != "en":
        raise ModelError("the model's reply was no English question", kind="protocol")
    return english
