"""Papers as data: their text set so that it can neither leave its frame nor pass for anything else in the prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.protocols import Source
from rag.text.clean import clean_text, harmless_text

# Angle brackets in threes mark the frame. They are shortened wherever a text holds them, so no text can hold a frame line.
_FRAME_MARK = re.compile(r"<{3,}|>{3,}")
# Control tokens of chat templates; some servers parse them even inside a message.
_ANGLE_TOKEN = re.compile(r"<\s*\|")
_ANGLE_END = re.compile(r"\|\s*>")
_TURN_TOKEN = re.compile(r"<\s*(/?\s*(?:s|bos|eos|unk|pad|start_of_turn|end_of_turn|SYS|/SYS|think|thinking))\s*>", re.IGNORECASE)
_INSTRUCTION_TOKEN = re.compile(r"\[\s*(/?\s*(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS))\s*\]", re.IGNORECASE)
# Closed intervals such as [0, 1] become round ones, too: in an answer they could not be told from citations.
_FALSE_CITATION = re.compile(r"\\?[\[【［]\s*(\^?\s*[+-]?\d[^\[\]【】［］]{0,60}?)\\?[\]】］]")
_FALSE_OPENING = re.compile(r"[\[【［](?=\s*\^?\s*\d)")
_LABELLED_CITATION = re.compile(r"[\[【［]\s*((?:paper|source|ref|reference|abstract)s?\s*#?\d+)\s*[\]】］]", re.IGNORECASE)


def framed(source: Source) -> str:
    """One paper as it stands in a prompt, under its number."""
    return (
        f"<<<paper [{source.number}]>>>\n"
        f"Title: {as_data(source.paper.title)}\n"
        f"Abstract: {as_data(source.paper.abstract)}\n"
        f"<<<end of paper [{source.number}]>>>"
    )


def framed_all(sources: Sequence[Source]) -> str:
    """The papers one after the other, a blank line between them."""
    return "\n\n".join(framed(source) for source in sources)


def as_data(text: str) -> str:
    """`text` on one line, without frame marks, control tokens, invisible characters and what looks like a citation of ours."""
    quiet = as_question(text)
    return _FALSE_OPENING.sub("(", _LABELLED_CITATION.sub(r"(\1)", _FALSE_CITATION.sub(r"(\1)", quiet)))


def as_question(text: str) -> str:
    """`text` on one line, without frame marks, control tokens and invisible characters; citations stay, for follow-up questions."""
    quiet = clean_text(harmless_text(text))
    quiet = _TURN_TOKEN.sub(r"(\1)", _ANGLE_END.sub("| )", _ANGLE_TOKEN.sub("( |", quiet)))
    return _FRAME_MARK.sub(lambda mark: mark[0][:2], _INSTRUCTION_TOKEN.sub(r"(\1)", quiet))
