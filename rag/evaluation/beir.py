"""Reads a test collection in the BEIR layout: `corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.errors import SourceError
from rag.records import Paper


@dataclass(frozen=True, slots=True)
class Query:
    """A query of a collection."""

    id: str
    text: str
    paper_id: str = ""
    """The paper the query was made from, which must not be counted as a result; empty for none."""


@dataclass(frozen=True, slots=True)
class Collection:
    """Papers, the judged queries, and which papers answer each."""

    name: str
    papers: tuple[Paper, ...]
    queries: tuple[Query, ...]
    """Only those with at least one relevant paper, in file order."""
    qrels: Mapping[str, Mapping[str, int]]
    """Query id to paper id to grade; 0 is judged and not relevant."""


def read_collection(folder: Path, split: str = "test") -> Collection:
    """The collection in `folder`. Raises `SourceError` when a file is missing or malformed, or nothing is judged."""
    qrels = _qrels(folder / "qrels" / f"{split}.tsv")
    judged = {query for query, grades in qrels.items() if any(grade > 0 for grade in grades.values())}
    queries = tuple(query for query in map(_query, _records(folder / "queries.jsonl")) if query.id in judged)
    if not queries:
        raise SourceError(f"No query of {folder} has a relevant paper in qrels/{split}.tsv. Check that ids agree between the files.")
    papers = {paper.id: paper for paper in map(_paper, _records(folder / "corpus.jsonl"))}
    return Collection(folder.resolve().name, tuple(papers.values()), queries, {query.id: qrels[query.id] for query in queries})


def _paper(record: Mapping[str, Any]) -> Paper:
    return Paper(str(record["_id"]), " ".join(str(record.get("title", "")).split()), " ".join(str(record["text"]).split()))


def _query(record: Mapping[str, Any]) -> Query:
    metadata = record.get("metadata") or {}
    return Query(str(record["_id"]), str(record["text"]), str(metadata.get("paper_id", "")))


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(_text(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if "_id" not in record or "text" not in record:
                raise SourceError(f"{path}:{number} lacks `_id` or `text`. Each line is an object with both.")
        except (json.JSONDecodeError, TypeError) as error:
            raise SourceError(f"{path}:{number} is not a JSON object: {error}. Each line is an object with `_id` and `text`.") from error
        yield record


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    for number, line in enumerate(_text(path).splitlines()[1:], 2):
        if not line.strip():
            continue
        try:
            query, paper, grade = line.split("\t")
            grades.setdefault(query, {})[paper] = int(grade)
        except ValueError as error:
            raise SourceError(f"{path}:{number} is {line!r}, not query id, paper id and whole-number grade with tabs between.") from error
    return grades


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(
            f"Cannot read {path}: {error}. A collection holds corpus.jsonl, queries.jsonl and qrels/<split>.tsv in UTF-8."
        ) from error
