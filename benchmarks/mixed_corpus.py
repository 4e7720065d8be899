"""Writes a test collection: the bundled papers, without their titles, among others, and questions that only the bundled ones answer.

    python benchmarks/mixed_corpus.py QUESTIONS.jsonl FILE... --kind which --out FOLDER && rag eval retrieval FOLDER

QUESTIONS has `kind`, `question` and `papers` a line; FILEs are whatever `rag index` reads. The folder has the BEIR layout.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rag.readers import read_papers
from rag.records import Paper
from rag.resources import bundled


def records(files: Sequence[str]) -> Iterator[dict[str, str]]:
    """The papers of both kinds; rejected records are left out."""
    own = [paper for paper in read_papers([bundled("seeds")]) if isinstance(paper, Paper)]
    others = [paper for paper in read_papers(files) if isinstance(paper, Paper)]
    yield from ({"_id": paper.id, "title": "", "text": paper.abstract} for paper in own)
    yield from ({"_id": paper.id, "title": paper.title, "text": paper.abstract} for paper in others)


def questions(file: Path, kind: str) -> dict[str, Mapping[str, object]]:
    """The questions of a kind under the ids `q1`, `q2` ..."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {f"q{number}": line for number, line in enumerate(lines, 1) if line["kind"] == kind}


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """Writes a text file, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main() -> None:
    """Writes the three files of the collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--kind", default="which")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    asked = questions(options.questions, options.kind)
    write_lines(options.out / "corpus.jsonl", [json.dumps(record, ensure_ascii=False) for record in records(options.files)])
    write_lines(options.out / "queries.jsonl", [json.dumps({"_id": key, "text": line["question"]}) for key, line in asked.items()])
    judged = [f"{key}\t{paper}\t1" for key, line in asked.items() for paper in line["papers"]]  # type: ignore[attr-defined]  # a list
    write_lines(options.out / "qrels" / "test.tsv", ["query-id\tcorpus-id\tscore", *judged])


if __name__ == "__main__":
    main()
