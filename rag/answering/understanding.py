"""The first half of a question's way: what it asks for, in which language, and which papers bear on it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from rag.answering.steps import Parts, optional_step
from rag.answering.translate import translated
from rag.answering.work import Event, Work
from rag.errors import ModelError
from rag.records import Hit, Paper, Progress, Retrieval, Span
from rag.retrieval.language import detect_language, language_name
from rag.retrieval.planner import Plan, plan_question
from rag.retrieval.retriever import Retriever


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
    if english:
        plan = replace(plan, question=work.searched, language=language)
    if plan.filters:
        work.note(f"Restricted to {plan.filters.describe()}.")
    work.plan = replace(plan, filters=work.options.filters.and_(plan.filters))
    return work.plan


def find_papers(work: Work, plan: Plan, parts: Parts) -> Iterator[Event]:
    """Searches the corpus; in answer mode, papers that the question refers to come first and count as found."""
    yield Progress("retrieve")
    found = _retrieved(work, plan, parts)
    focused = _focused(work, parts) if plan.mode == "answer" else ()
    if focused:
        ids = {hit.paper.id for hit in focused}
        hits = (*focused, *(hit for hit in found.hits if hit.paper.id not in ids))
        found = replace(found, hits=tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)), abstain=False, reason=None)
    for line in found.notes:
        work.note(line)
    work.retrieval = found
    work.retrieve_s = work.elapsed_s


def _retrieved(work: Work, plan: Plan, parts: Parts) -> Retrieval:
    try:
        return _search(work, plan, parts.retriever)
    except ModelError as error:
        if not parts.settings.reranker:
            raise
        plain = Retriever(parts.library, parts.embedder, replace(parts.settings, reranker=None))
        found = _search(work, plan, plain)
        work.note(f"Reranking failed ({str(error).rstrip('.')}); the papers stand in the order of the search.")
        return found


def _search(work: Work, plan: Plan, retriever: Retriever) -> Retrieval:
    return retriever.list(plan) if plan.mode == "list" else retriever.retrieve(plan, work.options.k)


def _focused(work: Work, parts: Parts) -> tuple[Hit, ...]:
    found = parts.library.get(work.options.focus) if work.options.focus else {}
    return tuple(_whole(found[paper_id]) for paper_id in work.options.focus if paper_id in found)


def _whole(paper: Paper) -> Hit:
    return Hit(1, 1.0, paper, Span(0, len(paper.abstract), paper.abstract))
