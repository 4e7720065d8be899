"""Questions about the record of a paper are answered before anything else, from the record alone."""

from __future__ import annotations

from dataclasses import replace

from rag.answering.details import Recorded, asked_detail, is_meant, stated, without_detail
from rag.answering.finishing import draft_of, settle
from rag.answering.steps import Parts, take_sources
from rag.answering.understanding import focused
from rag.answering.verifying import Checkers
from rag.answering.work import Work
from rag.records import Hit, Retrieval, Span
from rag.retrieval.planner import Plan, plan_question


def told_by_records(work: Work, plan: Plan, parts: Parts) -> str | None:
    """The text of such an answer, settled in `work`; None for other questions, and when it is not certain which paper is meant."""
    detail = asked_detail(work.question)
    if detail is None or work.options.mode == "list":
        return None
    hits = tuple(map(_unquoted, focused(work, parts) or _described(work, plan, parts)))
    if not hits:
        return None
    work.plan = replace(plan, mode="answer")
    scanned = parts.library.count(filters=plan.filters)
    work.retrieval = Retrieval(work.searched, hits, scanned, answerable=1.0, abstain=False)
    work.retrieve_s = work.elapsed_s
    take_sources(work, hits, parts)
    checker = Recorded()
    settle(work, draft_of(work, stated(detail, work.sources), Checkers(checker, checker)))
    work.note("Answered from the records of the papers.")
    return work.checked.text if work.checked else ""


def _described(work: Work, plan: Plan, parts: Parts) -> tuple[Hit, ...]:
    """The one paper that a question standing alone is about."""
    wanted = plan_question(without_detail(work.searched), parts.facets(), force_mode="answer")
    found = parts.retriever.retrieve(wanted, 1).hits if wanted.topic else ()
    return tuple(hit for hit in found if is_meant(work.searched, hit.paper))


def _unquoted(hit: Hit) -> Hit:
    """The hit without a passage: what is told stands in the record, and no sentence of the abstract bears on it."""
    return replace(hit, passage=Span(0, 0, ""))
