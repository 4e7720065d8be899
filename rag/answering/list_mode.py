"""List mode: every match in the corpus with its evidence, and how many papers were looked at."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import replace

from rag.answering.abstention import abstain
from rag.answering.checkers import Verbatim
from rag.answering.checking import Checked
from rag.answering.citations import CitationStream
from rag.answering.finishing import draft_of, settle, settle_unchecked
from rag.answering.judge import judge
from rag.answering.steps import Parts, take_sources
from rag.answering.verifying import Checkers, wording_checker
from rag.answering.work import Event, Work
from rag.models.offline import OfflineModel
from rag.prompting.framing import as_data
from rag.protocols import ChatDelta, ChatRequest, Source
from rag.records import Hit, Progress, Retrieval, Span
from rag.retrieval.planner import Plan

_MOST_JUDGED = 100
_END = re.compile(r"[.!?]+[\"'”’)]*$")


def answer_with_list(work: Work, plan: Plan, parts: Parts) -> Iterator[Event]:
    """Writes the list of matches into `work`, yielding its text line by line."""
    judged = parts.model.generative and bool(plan.topic)
    if judged:
        work.retrieval = yield from _judged(work, plan, parts)
    found = work.retrieval
    if found is None or found.abstain or not found.hits:
        reason = (found.reason if found else None) or f"None of {found.scanned if found else 0} papers matches."
        yield work.show(abstain(work, reason))
        return
    shown = found.hits[: _most_shown(work, plan)]
    head = headline(found, len(shown), count=plan.count)
    yield work.show(f"{head}\n\n")
    take_sources(work, shown, parts)
    work.stream = CitationStream(work.sources, work.options.numbers)
    body = yield from _listed(work, work.stream, judged=judged)
    yield from _settled(work, head, body, parts)


def headline(found: Retrieval, shown: int, *, count: bool) -> str:
    """How many match, of how many that were scanned and judged; and how many of them are shown."""
    matched = len(found.hits) if found.matched is None else found.matched
    noun, verb = ("paper", "matches") if matched == 1 else ("papers", "match")
    of = f"{matched} of {found.scanned} papers {verb}" if matched != found.scanned else f"All {matched} {noun} {verb}"
    detail = f" ({found.scanned} scanned, {found.judged} judged)" if found.judged else f" ({found.scanned} scanned)"
    rest = f" The best {shown}:" if shown < matched else ""
    return f"{of}{detail}{'.' if rest or count else ':'}{rest}"


def _most_shown(work: Work, plan: Plan) -> int | None:
    limits = [limit for limit in (work.options.max_shown, plan.limit) if limit]
    return min(limits) if limits else None


def _judged(work: Work, plan: Plan, parts: Parts) -> Generator[Event, None, Retrieval | None]:
    """The matches as the chat model sees them, among all that the search holds possible."""
    found = work.retrieval
    if found is None or found.abstain:
        return found
    known = {hit.paper.id for hit in found.hits}
    more = parts.retriever.search(plan.topic, min(max(found.judged, len(known)), _MOST_JUDGED), plan.filters)
    candidates = (*found.hits[:_MOST_JUDGED], *(hit for hit in more if hit.paper.id not in known))
    verdicts = yield from judge(work, candidates, known, parts)
    decided = [_with_passage(hit, verdicts.get(hit.paper.id)) for hit in candidates if verdicts.get(hit.paper.id)]
    rest = [hit for hit in found.hits if hit.paper.id not in verdicts]
    hits = tuple(replace(hit, rank=rank) for rank, hit in enumerate([*decided, *rest], 1))
    judged = max(found.judged, len(candidates))
    if hits:
        return replace(found, hits=hits, judged=judged, matched=len(hits))
    reason = f"{parts.model.name} judged the {len(verdicts)} nearest papers and none matches."
    return replace(found, judged=judged, matched=0, abstain=True, reason=reason)


def _with_passage(hit: Hit, passage: Span | None) -> Hit:
    return replace(hit, passage=passage) if passage else hit


def _listed(work: Work, stream: CitationStream, *, judged: bool) -> Generator[Event, None, str]:
    """One line per source, shown as it is written; the text in prompt numbers."""
    yield Progress("answer", f"{len(work.sources)} papers")
    pieces = (f"{_line(source)}\n" for source in work.sources) if judged else _offline_pieces(work)
    body = ""
    for piece in pieces:
        body += piece
        if text := stream.feed(piece):
            yield work.show(text)
    if rest := stream.close():
        yield work.show(rest)
    return body


def _offline_pieces(work: Work) -> Iterator[str]:
    request = ChatRequest("answer", (), 0, work.searched, work.sources, "list")
    text = "".join(event.text for event in OfflineModel().stream(request) if isinstance(event, ChatDelta))
    return iter(text.splitlines(keepends=True))


def _line(source: Source) -> str:
    passage = as_data(source.hit.passage.text) if source.hit else ""
    end = _END.search(passage)
    head, tail = (passage[: end.start()], end[0]) if end else (passage, ".")
    return f"- “{as_data(source.paper.title).rstrip('. ')}” [{source.number}]: {head} [{source.number}]{tail}"


def _settled(work: Work, head: str, body: str, parts: Parts) -> Iterator[Event]:
    if work.options.verify == "off":
        settle_unchecked(work, body)
    else:
        yield Progress("verify")
        checker = Verbatim(wording_checker(parts))
        settle(work, draft_of(work, body, Checkers(checker, checker)))
    if work.checked and not work.abstained:
        work.checked = _below(head, work.checked)


def _below(head: str, checked: Checked) -> Checked:
    offset = len(head) + 2
    moved = tuple(replace(one, start=one.start + offset, end=one.end + offset) for one in checked.statements)
    return Checked(f"{head}\n\n{checked.text}", moved)
