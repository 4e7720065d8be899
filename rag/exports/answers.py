"""Answers in each format."""

from __future__ import annotations

import json

from rag.exports.markdown import answer_as_markdown
from rag.exports.papers import export_papers
from rag.exports.shapes import answer_json
from rag.exports.tables import row_of, rows_as_csv
from rag.records import Answer

_COLUMNS = ("number", "support", "score", "quote", "id", "title", "authors", "year", "venue", "url", "doi")


def export_answer(answer: Answer, format: str) -> str:
    """The answer itself in `markdown`, `json` and `jsonl`; exactly its cited papers in `csv`, `bibtex`, `ris` and `csl`.

    Raises `UsageError` for an unknown format.
    """
    if format == "markdown":
        return answer_as_markdown(answer)
    if format in ("json", "jsonl"):
        return json.dumps(answer_json(answer), ensure_ascii=False, indent=2 if format == "json" else None) + "\n"
    if format == "csv":
        return rows_as_csv(_COLUMNS, (_row(answer, index) for index in range(len(answer.citations))))
    return export_papers([citation.paper for citation in answer.citations], format)


def _row(answer: Answer, index: int) -> dict[str, object]:
    citation = answer.citations[index]
    cited = {"number": citation.number, "support": citation.support, "score": round(citation.score, 4), "quote": citation.quote}
    return {**cited, **{name: value for name, value in row_of(citation.paper).items() if name in _COLUMNS}}
