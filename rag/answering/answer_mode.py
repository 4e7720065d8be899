"""Answer mode: the model writes freely from the papers in its prompt, and is held to them."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from rag.answering.abstention import abstain, is_refusal
from rag.answering.citations import CitationStream
from rag.answering.finishing import draft_of, improve, settle, settle_unchecked
from rag.answering.gate import Gate
from rag.answering.loops import LOOP_NOTE
from rag.answering.steps import Parts, take_sources
from rag.answering.verifying import checkers_of
from rag.answering.weak import mended
from rag.answering.work import Event, Work
from rag.errors import ModelError, RagError
from rag.models.offline import OfflineModel
from rag.protocols import ChatDelta, ChatEnd, ChatRequest, Source
from rag.records import Progress
from rag.retrieval.language import language_name
from rag.verification.statements import cited_numbers

# Below this probability not even a chat model is asked; between it and the cut the model reads the papers and decides.
_HOPELESS = 0.15
# Small models refuse readily when several papers stand in the prompt. The search being this sure, a refusal is worth a second look.
_SURE = 0.9
_UNCITED = "The model's answer cited no paper; these sentences of the abstracts stand in for it."


def answer_freely(work: Work, parts: Parts) -> Iterator[Event]:
    """Writes the answer into `work`, yielding its text as it comes.

    Raises `ModelError` or `BudgetError` only before the first text.
    """
    found = work.retrieval
    if found is None or not found.hits or (found.abstain and (not parts.model.generative or found.answerable < _HOPELESS)):
        reason = (found.reason if found else None) or "Nothing in it bears on the question."
        yield work.show(abstain(work, reason))
        return
    take_sources(work, found.hits, parts)
    yield Progress("answer", parts.model.name)
    reply = yield from _reply(work, parts)
    if is_refusal(reply):
        reply = yield from _second_look(work, reply, parts)
    if parts.model.generative and is_refusal(reply):
        text = abstain(work, f"{parts.model.name} found no answer in the {len(work.sources)} nearest papers.", by_model=True)
        work.shown = ""
        yield work.show(text)
        return
    yield from _concluded(work, reply, parts)


def _second_look(work: Work, refusal: str, parts: Parts) -> Generator[Event, None, str]:
    """The reply to the nearest paper alone, when the search is sure that the corpus answers; the refusal when it is another one."""
    asked, found = work.sources, work.retrieval
    if not parts.model.generative or found is None or found.answerable < _SURE or len(asked) < 2:
        return refusal
    yield Progress("answer", f"{parts.model.name}, again with the nearest paper alone")
    try:
        reply = yield from _attempt(work, asked[:1], parts, with_history=False)
    except RagError:
        reply = refusal
    if is_refusal(reply):
        work.sources = asked
        return refusal
    work.note(f"{parts.model.name} found no answer in the {len(asked)} nearest papers at first, but one in the nearest alone.")
    return reply


def _concluded(work: Work, reply: str, parts: Parts) -> Iterator[Event]:
    """Checks the reply, replaces one that is of no use, and shows what has not been shown."""
    text = _sound_text(work, reply, parts)
    if work.options.verify == "off":
        settle_unchecked(work, text)
    else:
        yield Progress("verify", f"by {parts.model.name}" if work.options.verify == "llm" else "")
        checkers = checkers_of(work, parts)
        draft = draft_of(work, text, checkers)
        if parts.model.generative:
            yield from improve(work, draft, parts)
            if not any(statement.citations for statement in draft.checked.statements):
                draft = draft_of(work, offline_text(work, _UNCITED), checkers)
        settle(work, draft)
    if not work.shown:
        yield work.show(work.checked.text if work.checked else "")


def _sound_text(work: Work, reply: str, parts: Parts) -> str:
    if not parts.model.generative:
        return reply
    found = mended(reply, work.sources, work.own_prompt)
    if found.note:
        work.note(found.note)
    if found.text:
        return found.text
    if cited := [source for source in work.sources if source.number in cited_numbers(reply)]:
        work.sources = tuple(cited)
    return offline_text(work, f"{parts.model.name} gave no usable answer; these sentences of the abstracts stand in for it.")


def offline_text(work: Work, note: str) -> str:
    """The offline model's answer from the sources in `work`, in prompt numbers, in place of a reply that is of no use."""
    work.note(note)
    work.finish = "complete"
    request = ChatRequest("answer", (), 0, work.searched, work.sources, work.mode)
    return "".join(event.text for event in OfflineModel().stream(request) if isinstance(event, ChatDelta))


def _reply(work: Work, parts: Parts) -> Generator[Event, None, str]:
    """The reply as the model wrote it, in prompt numbers; what is sure to stay is shown on the way."""
    try:
        return (yield from _attempt(work, work.sources, parts))
    except ModelError as error:
        if error.kind == "empty":
            return ""
        if error.kind != "context_length" or work.shown:
            raise
        half = work.sources[: max(len(work.sources) // 2, 1)]
        work.note(f"The prompt was too long for {parts.model.name}: asked again with {len(half)} of {len(work.sources)} papers.")
        return (yield from _attempt(work, half, parts, with_history=False))


def _attempt(work: Work, sources: Sequence[Source], parts: Parts, *, with_history: bool = True) -> Generator[Event, None, str]:
    _prepare(work, sources, parts, with_history=with_history)
    work.stream = CitationStream(work.sources, work.options.numbers)
    gate = Gate(work.own_prompt, is_open=not parts.model.generative)
    request = ChatRequest("answer", work.messages, work.max_tokens, work.searched, work.sources, work.mode)
    end = ChatEnd("cut")
    with parts.model.open(request) as events:
        for event in events:
            if isinstance(event, ChatEnd):
                end = event
                break
            if text := work.stream.feed(gate.feed(event.text)):
                yield work.show(text)
            if gate.is_looping:
                work.note(LOOP_NOTE)
                end = ChatEnd("stop")
                break
    if gate.is_open and (rest := work.stream.close()):
        yield work.show(rest)
    _note_end(work, end, parts)
    return gate.raw


def _prepare(work: Work, sources: Sequence[Source], parts: Parts, *, with_history: bool) -> None:
    """Fills the prompt and notes what did not fit."""
    language = language_name(work.plan.language) if work.plan else "English"
    history = work.options.history if with_history else ()
    prompt = parts.builder.build(work.searched, sources, language=language, history=history, room=parts.model.ledger.left)
    if prompt.left_out:
        work.note(f"{len(prompt.sources)} of {len(sources)} papers fit into the prompt.")
    work.messages, work.sources, work.max_tokens = prompt.messages, prompt.sources, prompt.max_tokens


def _note_end(work: Work, end: ChatEnd, parts: Parts) -> None:
    if end.finish == "length":
        work.finish = "length"
        work.note(f"{parts.model.name} stopped at its limit of tokens; the answer may be incomplete.")
    elif end.finish in ("cut", "content_filter"):
        work.finish = "cut"
        why = "its server broke off" if end.finish == "cut" else "its content filter stopped it"
        work.note(f"{parts.model.name}'s answer is incomplete: {why}.")
