"""The JSON shapes that the command line, the HTTP API and files share."""

from __future__ import annotations

from typing import Any

from rag.records import Answer, Citation, Hit, Paper, Statement


def paper_json(paper: Paper) -> dict[str, Any]:
    """A paper as it is cited: `id`, `title`, `authors`, `year`, `venue`, `url`."""
    return {
        "id": paper.id,
        "title": paper.title,
        "authors": list(paper.authors),
        "year": paper.year,
        "venue": paper.venue,
        "url": paper.url,
    }


def record_json(paper: Paper) -> dict[str, Any]:
    """A paper with all it has, as JSON and JSONL exports write it and the readers read it back; empty fields left out."""
    more = {
        "doi": paper.doi,
        "arxiv_id": paper.arxiv_id,
        "decision": paper.decision,
        "track": paper.track,
        "primary_area": paper.area,
        "keywords": list(paper.keywords),
        "categories": list(paper.categories),
        "published": paper.published,
        "sources": list(paper.sources),
    }
    return {**paper_json(paper), "abstract": paper.abstract, **{name: value for name, value in more.items() if value}}


def hit_json(hit: Hit) -> dict[str, Any]:
    """A search result: `rank`, `score`, `paper` and the `passage` that matched best."""
    return {"rank": hit.rank, "score": hit.score, "paper": paper_json(hit.paper), "passage": hit.passage.text}


def answer_json(answer: Answer) -> dict[str, Any]:
    """An answer as `ask --json` prints it; `nearest` is empty unless it abstained."""
    shape: dict[str, Any] = {
        "question": answer.question,
        "answer": answer.text,
        "abstained": answer.abstained,
        "reason": answer.reason,
        "mode": answer.mode,
        "model": answer.model,
        "corpus": answer.corpus,
        "scanned": answer.scanned,
        "matched": answer.matched,
        "citations": [_citation(citation) for citation in answer.citations],
        "dropped": list(answer.dropped),
    }
    shape["nearest"] = [paper_json(paper) for paper in answer.nearest]
    usage, timing = answer.usage, answer.timing
    return {
        **shape,
        "usage": {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "estimated": usage.estimated,
        },
        "timing": {"retrieve_s": timing.retrieve_s, "first_token_s": timing.first_token_s, "total_s": timing.total_s},
        "conversation": answer.conversation,
        "statements": [_statement(statement) for statement in answer.statements],
        "judged": answer.judged,
        "notes": list(answer.notes),
        "finish": answer.finish,
        "standalone": answer.standalone,
    }


def _citation(citation: Citation) -> dict[str, Any]:
    return {
        "number": citation.number,
        "paper": paper_json(citation.paper),
        "quote": citation.quote,
        "support": citation.support,
        "score": citation.score,
        "added": citation.added,
    }


def _statement(statement: Statement) -> dict[str, Any]:
    checked = [
        {
            "number": citation.number,
            "support": citation.support,
            "score": citation.score,
            "evidence": [span.text for span in citation.evidence],
            "added": citation.added,
            "problem": citation.problem,
        }
        for citation in statement.citations
    ]
    return {"text": statement.text, "start": statement.start, "end": statement.end, "verdict": statement.verdict, "citations": checked}
