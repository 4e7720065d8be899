"""What the reader is told when the corpus has no answer."""

from __future__ import annotations

import re

from rag.answering.links import unlinked
from rag.answering.work import Work
from rag.models.extraction import extract_list
from rag.prompting.framing import as_data
from rag.prompting.templates import REFUSAL
from rag.records import Hit

_NEAREST = 5
_NAMED = 3
_LONGEST_REST = 200
_LONGEST_CITING_REST = 10


def is_refusal(reply: str) -> bool:
    """Whether a model's reply is the sentence that the prompt asks for when the papers hold no answer, give or take a few words."""
    plain = _letters(reply)
    phrase = _letters(REFUSAL)
    rest = len(plain) - len(phrase)
    return phrase in plain and rest <= (_LONGEST_CITING_REST if re.search(r"\[\d+\]", reply) else _LONGEST_REST)


def refusal_begun(reply: str) -> bool:
    """Whether a reply that is still coming may turn out to be the refusal."""
    plain = _letters(reply)
    return _letters(REFUSAL).startswith(plain[: len(_letters(REFUSAL))])


def abstain(work: Work, reason: str, *, by_model: bool = False) -> str:
    """Makes `work` an abstention and gives its text: why, and which papers come nearest.

    What a model refuses, the papers may still hold: then the text does not say that they are about something else, and quotes
    the sentence that comes nearest.
    """
    hits = work.retrieval.hits if work.retrieval else ()
    work.abstained = True
    work.reason = reason
    work.nearest = tuple(hit.paper for hit in hits[:_NEAREST])
    where = f" in corpus {work.corpus!r}" if work.corpus else ""
    if by_model:
        return f"No answer was found{where}. {reason}{_named('Nearest', hits)}{_nearest_sentence(work)}"
    return f"No paper{where} answers this question. {reason}{_named('Nearest, but not about this', hits)}"


def _named(what: str, hits: tuple[Hit, ...]) -> str:
    titles = [f"“{_title(hit)}”" for hit in hits[:_NAMED]]
    if not titles:
        return ""
    listed = titles[0] if len(titles) == 1 else f"{', '.join(titles[:-1])} and {titles[-1]}"
    return f" {what}: {listed}."


def _nearest_sentence(work: Work) -> str:
    found = extract_list(work.searched, work.sources[:1]) if work.sources else ()
    sentence = _harmless(found[0].sentences[0]) if found and found[0].sentences else ""
    return f" The first of them says: “{sentence}”" if sentence else ""


def _title(hit: Hit) -> str:
    return _harmless(hit.paper.title).rstrip(". ")


def _harmless(text: str) -> str:
    """`text` in which nothing passes for a citation or a link."""
    return unlinked(as_data(text))


def _letters(text: str) -> str:
    return " ".join(re.findall(r"[a-z]+", text.lower()))
