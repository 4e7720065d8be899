from pathlib import Path

import pytest

from rag.errors import SourceError
from rag.evaluation.beir import Query, read_collection


def write(folder: Path, *, corpus: str = "", queries: str = "", qrels: str = "") -> Path:
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(corpus or '{"_id": "d1", "title": "T", "text": "An  abstract."}\n\n{"_id": "d2", "text": "B."}\n')
    (folder / "queries.jsonl").write_text(
        queries or '{"_id": "q1", "text": "one", "metadata": {"paper_id": "d2"}}\n{"_id": "q2", "text": "two"}\n'
    )
    (folder / "qrels" / "test.tsv").write_text(qrels or "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td1\t0\n")
    return folder


def test_papers_queries_and_grades(tmp_path: Path) -> None:
    collection = read_collection(write(tmp_path / "small"))
    assert collection.name == "small"
    assert [(paper.id, paper.title, paper.abstract) for paper in collection.papers] == [("d1", "T", "An abstract."), ("d2", "", "B.")]
    assert collection.qrels == {"q1": {"d1": 1}}


def test_queries_without_a_relevant_paper_are_left_out(tmp_path: Path) -> None:
    assert read_collection(write(tmp_path / "small")).queries == (Query("q1", "one", "d2"),)


@pytest.mark.parametrize(
    ("part", "text", "message"),
    [
        ("corpus", "{", r"corpus\.jsonl:1 is not a JSON object"),
        ("corpus", '{"text": "x"}', r"corpus\.jsonl:1 lacks `_id` or `text`"),
        ("corpus", "3", r"corpus\.jsonl:1 is not a JSON object"),
        ("queries", '{"_id": "q9", "text": "x"}', r"No query of .* has a relevant paper"),
        ("qrels", "h\nq1 d1 1", r"test\.tsv:2 is 'q1 d1 1'"),
        ("qrels", "h\nq1\td1\tyes", r"test\.tsv:2 is"),
    ],
)
def test_what_is_malformed_is_named(tmp_path: Path, part: str, text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_collection(write(tmp_path / "bad", **{part: text}))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"Cannot read .*test\.tsv"):
        read_collection(tmp_path)
    with pytest.raises(SourceError, match=r"Cannot read .*train\.tsv"):
        read_collection(write(tmp_path / "small"), "train")
