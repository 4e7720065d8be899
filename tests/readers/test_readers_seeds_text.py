import hashlib
import json
from pathlib import Path

import pytest

from rag.readers import read_papers
from rag.records import Paper, Rejected
from rag.resources import bundled

ONE = "We study how birds learn songs. They listen first."
TWO = "Second abstract about rivers. It has two sentences."
SHAPES = {
    "plain": f"Heading\n\n{ONE}\n\n{TWO}\n",
    "crlf": f"Heading\r\n\r\n{ONE}\r\n\r\n{TWO}\r\n",
    "bom": f"\ufeffHeading\n\n{ONE}\n\n{TWO}\n",
    "lines of spaces": f"Heading\n   \n{ONE}\n \t \n\u00a0\n\n{TWO}\n  ",
    "no final newline": f"Heading\n\n{ONE}\n\n{TWO}",
    "wrapped": f"Heading\n\n{ONE.replace(' ', chr(10), 3)}\n\n{TWO}",
    "leading blank lines": f"\n\n\nHeading\n\n{ONE}\n\n\n\n{TWO}\n\n\n",
    "old Mac line ends": f"Heading\r\r{ONE}\r\r{TWO}\r",
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_abstracts_are_read_whatever_the_line_ends(text, read):
    assert [(paper.title, paper.abstract) for paper in read(text)] == [
        ("We study how birds learn songs", ONE),
        ("Second abstract about rivers", TWO),
    ]


def test_heading_in_any_script_is_no_abstract(read_one):
    paper = read_one("ICLR 2025 论文列表\n\n本文研究鸟类如何学习歌唱。它们先听。\n")
    assert (paper.title, paper.abstract) == ("本文研究鸟类如何学习歌唱", "本文研究鸟类如何学习歌唱。它们先听。")


def test_heading_directly_above_the_first_abstract_is_split_off(read_one):
    assert read_one(f"Birds 2025\n{ONE}\n").abstract == ONE


def test_first_paragraph_that_is_an_abstract_is_kept(read):
    long = "This first paragraph is itself an abstract, since it is far too long for a heading and ends with a full stop, as prose does."
    assert [paper.abstract for paper in read(f"{long}\n\n{TWO}")] == [long, TWO]


def test_id_without_sidecar_is_the_hash_of_the_normalised_abstract(read):
    wrapped, flat = read(f"H\n\n{ONE.replace(' ', chr(10))}"), read(f"H\n\n{ONE}")
    assert wrapped[0].id == flat[0].id == hashlib.sha256(ONE.encode()).hexdigest()[:12]


def test_long_first_sentence_is_cut_at_a_word(read_one):
    paper = read_one("H\n\n" + "several words without any end " * 20)
    assert paper.title.endswith("…")
    assert len(paper.title) <= 121


def test_source_names_file_and_line(read, tmp_path):
    assert read(SHAPES["plain"], "a.txt")[1].sources == (f"{(tmp_path / 'a.txt').as_posix()}:5",)


def sidecar_line(position: int, **fields: object) -> str:
    return json.dumps({"id": f"p{position}", "file": "a.txt", "position": position, "title": f"Title {position}", **fields})


def test_sidecar_describes_abstracts_by_file_and_position(tmp_path):
    (tmp_path / "a.txt").write_text(SHAPES["plain"])
    (tmp_path / "papers.jsonl").write_text(sidecar_line(2, authors=["A B"], year=2025, venue="V", url="https://x.org/2") + "\n")
    first, second = read_papers([tmp_path])
    assert first.title == "We study how birds learn songs"
    assert (second.id, second.title, second.authors, second.year, second.venue, second.url, second.abstract) == (
        "p2", "Title 2", ("A B",), 2025, "V", "https://x.org/2", TWO,
    )  # fmt: skip


@pytest.mark.parametrize("named", ["papers.jsonl", "a.txt", "*"])
def test_sidecar_is_never_read_as_a_source_of_its_own(tmp_path, named):
    (tmp_path / "a.txt").write_text(SHAPES["plain"])
    (tmp_path / "papers.jsonl").write_text(sidecar_line(1) + "\n" + sidecar_line(2))
    assert [paper.id for paper in read_papers([tmp_path / named])] == ["p1", "p2"]


def test_sidecar_entry_without_abstract_is_reported(tmp_path):
    (tmp_path / "a.txt").write_text(f"H\n\n{ONE}")
    (tmp_path / "papers.jsonl").write_text(sidecar_line(1) + "\nbroken\n" + sidecar_line(7))
    paper, rejected = read_papers([tmp_path])
    assert isinstance(paper, Paper)
    assert rejected == Rejected((tmp_path / "a.txt").as_posix(), 0, "papers.jsonl describes abstract 7, but the file has 1")


def test_sidecar_named_outside_its_folder_is_ignored(tmp_path):
    (tmp_path / "papers.jsonl").write_text(json.dumps({"file": "../../etc/passwd", "position": 1, "title": "T", "id": "x"}))
    (rejected,) = read_papers([tmp_path / "papers.jsonl"])
    assert rejected.reason == "no abstract: 'T'"


def test_file_of_only_a_heading_is_reported(read):
    assert [record.reason for record in read("Heading\n")] == ["no abstracts in it"]


def test_bundled_seeds_are_57_complete_papers():
    papers = list(read_papers([bundled("seeds")]))
    assert len(papers) == 57
    assert all(isinstance(p, Paper) and p.title and p.authors and p.venue and p.url and p.year for p in papers)
    assert len({paper.id for paper in papers}) == 57


def test_bundled_abstracts_stand_in_their_files_word_for_word():
    raw = " ".join(" ".join(path.read_text(encoding="utf-8") for path in Path(bundled("seeds")).glob("*.txt")).split())
    assert all(paper.abstract in raw for paper in read_papers([bundled("seeds")]))
