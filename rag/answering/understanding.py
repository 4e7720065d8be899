"""The first half of a question's way: what it asks for, in which language, and which papers bear on it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from rag.answering.steps import Parts, optional_step
from rag.answering.translate import translated
from rag.answering.work import Event, Work
from rag.records import Hit, Paper, Progress, Retrieval, Span
from rag.retrieval.language import detect_language, language_name
from rag.retrieval.planner import Plan, plan_question

_RERANKED = 20


def understand(work: Work, parts: Parts) -> Generator[Event, None, Plan]:
    """The plan of the question; one that is not English is translated first, when the model can."""
    language = detect_language(work.searched)
    english = ""
    if language != "en" and parts.model.generative:
        yield Progress("translate", f"from {language_name(language)}")
        with optional_step(work, "Translation", "the question was searched as it stands"):
            english = translated(work.searched, language, parts)
            work.note(f"Searched in English: {english}")
    plan = plan_question(english or work.searched, parts.facets(), force_mode=work.options.mode)
    if language != "en" and not english:
        work.note(_foreign_note(work.searched, plan, language))
    if english:
        plan = replace(plan, question=work.searched, language=language)
    if plan.filters:
        work.note(f"Restricted to {plan.filters.describe()}.")
    work.plan = replace(plan, filters=work.options.filters.and_(plan.filters))
    return work.plan


def _foreign_note(question: str, plan: Plan, language: str) -> str:
    asked = f"The search reads English, and this question is {language_name(language)}"
    if plan.topic and plan.topic != " ".join(question.split()):
        return f"{asked}: it looked for {plan.topic}."
    return f"{asked}. Ask in English, or set up a chat model that translates."


def find_papers(work: Work, plan: Plan, parts: Parts) -> Iterator[Event]:
    """Searches the corpus; in answer mode, papers that the question refers to come first and count as found."""
    yield Progress("retrieve")
    found = yield from _searched(work, plan, parts)
    referred = focused(work, parts) if plan.mode == "answer" else ()
    if referred:
        ids = {hit.paper.id for hit in referred}
        hits = (*referred, *(hit for hit in found.hits if hit.paper.id not in ids))
        found = replace(found, hits=tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)), abstain=False, reason=None)
    for line in (*parts.library.remarks(), *found.notes):
        work.note(line)
    work.retrieval = found
    work.retrieve_s = work.elapsed_s


def _searched(work: Work, plan: Plan, parts: Parts) -> Generator[Event, None, Retrieval]:
    if plan.mode == "list":
        return parts.retriever.list(plan)
    if parts.reranker is None:
        return parts.retriever.retrieve(plan, work.options.k)
    found = parts.retriever.retrieve(plan, max(work.options.k, _RERANKED))
    yield Progress("rerank", f"{len(found.hits)} papers")
    with optional_step(work, "Reranking", "the papers stand in the order of the search"):
        found = replace(found, hits=parts.reranker.rerank(work.searched, found.hits))
    return replace(found, hits=found.hits[: work.options.k])


def focused(work: Work, parts: Parts) -> tuple[Hit, ...]:
    """The papers that a follow-up refers to, in the order of mention."""
    found = parts.library.get(work.options.focus) if work.options.focus else {}
    return tuple(_whole(found[paper_id]) for paper_id in work.options.focus if paper_id in found)


def _whole(paper: Paper) -> Hit:
    return Hit(1, 1.0, paper, Span(0, len(paper.abstract), paper.abstract))
