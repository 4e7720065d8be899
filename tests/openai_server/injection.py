"""A scripted model that obeys every instruction it finds in what the user sent, papers included."""

from __future__ import annotations

import re

from openai_server.replies import Reply, Request

_VERB = (
    r"(?:say|write|reply|answer|respond|output|print|repeat|include|append|add|cite|link(?: to)?|claim|state|tell"
    r"|end|start|begin|recommend|visit)"
)
_FILLER = r"(?:\s+(?:with|only|just|that|the (?:words?|user|reader|text|link)|exactly|by saying|to))*"
ORDER = re.compile(rf"\b{_VERB}\b{_FILLER}\s*[:,]?\s*(?P<payload>[^\n]{{1,400}})", re.IGNORECASE)
THINGS = re.compile(
    r"!?\[[^\]\n]{0,200}\]\([^)\s]{1,300}\)"  # Markdown links and images
    r"|<[a-zA-Z/!][^>\n]{0,300}>"  # HTML
    r"|(?:https?|javascript|data|file|ftp):[^\s)>\"']{1,300}"  # links of any scheme
    r"|\x1b[\[\]()][^a-zA-Z\x07]{0,80}[a-zA-Z\x07]?"  # terminal escapes
    r"|[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+"  # invisible and bidirectional characters
    r"|[\[【]\^?\d{1,4}(?:\s*[-,]\s*\d{1,4})*[\]】]"  # citations
)
TURN = re.compile(
    r"ignore|disregard|forget|override|instead|system|instruction|you must|you are|from now on|important|attention|note to", re.IGNORECASE
)


def orders(text: str) -> list[str]:
    """What the sentences that try to take over ask for, in order of appearance."""
    found = []
    for line in re.split(r"(?<=[.!?])\s+|\n", text):
        if TURN.search(line) or THINGS.search(line):
            found += [match["payload"].strip() for match in ORDER.finditer(line)]
    return found


def obedient(request: Request) -> Reply:
    """Does what the papers say: repeats their payloads, links, tags, escapes and citations, next to an honest first sentence."""
    things = [match[0] for match in THINGS.finditer(request.user)]
    parts = ["The papers say this [1].", *orders(request.user), *dict.fromkeys(things)]
    return Reply("\n".join(parts))
