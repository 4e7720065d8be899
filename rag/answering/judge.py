"""List mode with a chat model: candidates judged in batches, each verdict with a quote that stands in the abstract."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from typing import Any

from rag.answering.steps import Parts
from rag.answering.work import Event, Work
from rag.errors import ModelError, RagError
from rag.models.structured import read_json
from rag.prompting.framing import as_question, framed, framed_all
from rag.protocols import ChatRequest, Message, Source
from rag.records import Hit, Progress, Span
from rag.text.tokens import count_tokens
from rag.verification.normalise import normalise

_MOST_IN_BATCH = 20
_TOKENS_PER_VERDICT = 90
_FEWEST_COMPARED = 4
_NEARLY_ALL = 0.8
_SHORTEST_QUOTE = 3
_SHORTEST_UNSPACED = 20
SCHEMA = {
    "type": "object",
    "properties": {
        "verdicts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"number": {"type": "integer"}, "matches": {"type": "boolean"}, "quote": {"type": "string"}},
                "required": ["number", "matches", "quote"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["verdicts"],
    "additionalProperties": False,
}


def judge(work: Work, hits: Sequence[Hit], likely: Collection[str], parts: Parts) -> Generator[Event, None, dict[str, Span | None]]:
    """Paper id -> the quote that shows it matches, None when it does not; papers missing where the model failed or did not judge.

    The order of `hits` is the order of judging; `likely` are the ids that the search itself takes for matches. A verdict whose quote
    does not stand in the abstract counts as no match.
    """
    verdicts: dict[str, Span | None] = {}
    judged = indiscriminate = 0
    try:
        for batch in _batches(work.searched, hits, parts):
            yield Progress("judge", f"{judged} of {len(hits)}")
            accepted = _accepted(read_json(parts.model.reply(_request(work.searched, batch, parts))))
            judged += len(batch)
            if _takes_all(batch, accepted, likely):
                indiscriminate += len(batch)
            else:
                verdicts |= _verdicts(accepted, batch)
    except RagError as error:
        done = f"Judging failed after {judged} of {len(hits)} papers"
        work.note(f"{done} ({str(error).rstrip('.')}); the search's own scores decide on the rest.")
    if indiscriminate:
        work.note(f"{parts.model.name} accepted {indiscriminate} papers without distinction; the search's own scores decide on them.")
    return verdicts


def quoted(quote: str, abstract: str) -> Span | None:
    """Where a quote stands in an abstract, whatever its case, spacing and markup; None when it does not, or is too short to tell."""
    wanted = normalise(quote.strip(" .…\"'“”")).text
    if len(wanted.split()) < _SHORTEST_QUOTE and len(wanted) < _SHORTEST_UNSPACED:
        return None
    held = normalise(abstract)
    start = held.text.find(wanted)
    return held.original(start, start + len(wanted), abstract) if start >= 0 else None


def _batches(question: str, hits: Sequence[Hit], parts: Parts) -> Iterator[list[Source]]:
    """The hits as numbered sources, from 1 in each batch, in batches that fit the model's context."""
    fixed = count_tokens(_prompt(question, [], parts), parts.model.name)
    room = int(parts.model.context_tokens * 0.95) - fixed
    batch: list[Source] = []
    taken = 0
    for hit in hits:
        source = Source(len(batch) + 1, hit.paper, hit)
        tokens = count_tokens(framed(source), parts.model.name) + _TOKENS_PER_VERDICT
        if batch and (taken + tokens > room or len(batch) == _MOST_IN_BATCH):
            yield batch
            batch, taken = [], 0
            source = Source(1, hit.paper, hit)
        batch.append(source)
        taken += tokens
    if batch:
        yield batch


def _prompt(question: str, batch: Sequence[Source], parts: Parts) -> str:
    return parts.prompts.render("judge", papers=framed_all(batch), question=as_question(question), count=len(batch))


def _request(question: str, batch: Sequence[Source], parts: Parts) -> ChatRequest:
    messages = (Message("user", _prompt(question, batch, parts)),)
    return ChatRequest("judge", messages, _TOKENS_PER_VERDICT * len(batch) + 50, question, tuple(batch), "list", SCHEMA)


def _accepted(reply: Any) -> dict[str, str]:
    """Number of each paper that matches -> its quote. Raises `ModelError` for a reply without verdicts."""
    listed = reply.get("verdicts", reply.get("matches")) if isinstance(reply, Mapping) else reply
    given = [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, list) else []
    if not given and not (isinstance(reply, Mapping) and listed == []):
        raise ModelError("the model's reply holds no verdicts", kind="protocol")
    return {str(item.get("number")): str(item.get("quote") or "") for item in given if item.get("matches") is True}


def _takes_all(batch: Sequence[Source], accepted: Mapping[str, str], likely: Collection[str]) -> bool:
    """Whether nearly a whole batch was accepted of which the search takes less than half for matches: small models do that."""
    taken = sum(str(source.number) in accepted for source in batch)
    expected = sum(source.paper.id in likely for source in batch)
    return len(batch) >= _FEWEST_COMPARED and taken >= _NEARLY_ALL * len(batch) and expected < len(batch) / 2


def _verdicts(accepted: Mapping[str, str], batch: Sequence[Source]) -> dict[str, Span | None]:
    """A verdict for each paper of the batch: no match unless the reply says so with a quote."""
    return {
        source.paper.id: quoted(accepted[str(source.number)], source.paper.abstract) if str(source.number) in accepted else None
        for source in batch
    }
