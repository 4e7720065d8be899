"""Where papers came from: one source file keeps one line, whatever it is called, wherever the record moves in it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from store_papers import make_paper, make_papers

from rag.readers import read_papers
from rag.records import Rejected, SyncReport
from rag.store import Library
from rag.store.merging import rejection
from rag.store.queries import meta

RECORDS = [{"id": f"x{n}", "title": f"Title {n}", "abstract": f"Abstract {n} about thing{n}."} for n in range(3)]


def write(path: Path, records: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def index(library: Library, *paths: Path | str, prune: bool = False) -> SyncReport:
    return library.sync(read_papers([str(path) for path in paths]), prune=prune, copy=False)


def sources(library: Library) -> dict[str, tuple[str, ...]]:
    return {paper.id: tuple(Path(source).name for source in paper.sources) for paper in library.papers()}


def test_a_renamed_file_takes_the_place_of_the_old_one(library: Library, tmp_path: Path) -> None:
    old = write(tmp_path / "old.jsonl", RECORDS)
    index(library, old)
    for name in ("new.jsonl", "newer.jsonl"):
        old = old.rename(tmp_path / name)
        assert index(library, old) == SyncReport(unchanged=3)
        assert sources(library) == {f"x{n}": (f"{name}:{n + 1}",) for n in range(3)}
    assert index(library, old, prune=True) == SyncReport(unchanged=3)


def test_a_record_changed_in_a_renamed_file_is_replaced_whole(library: Library, tmp_path: Path) -> None:
    old = write(tmp_path / "old.jsonl", [{**RECORDS[0], "venue": "ICLR 2025"}])
    index(library, old)
    old.unlink()
    new = write(tmp_path / "new.jsonl", [{**RECORDS[0], "title": "Another"}])
    assert index(library, new) == SyncReport(changed=1, embedded=1)
    assert [(paper.title, paper.venue) for paper in library.papers()] == [("Another", None)]


def test_a_file_that_is_still_there_stays_a_source(library: Library, tmp_path: Path) -> None:
    index(library, write(tmp_path / "a.jsonl", RECORDS), write(tmp_path / "b.jsonl", RECORDS[:1]))
    assert sources(library)["x0"] == ("a.jsonl:1", "b.jsonl:1")


def test_one_file_by_several_names_is_one_source(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.jsonl", RECORDS)
    (tmp_path / "link.jsonl").symlink_to(path)
    index(library, path)
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl", "./a.jsonl", "link.jsonl", "../" + tmp_path.name + "/a.jsonl"):
        assert index(library, name) == SyncReport(unchanged=3)
        assert [len(told) for told in sources(library).values()] == [1, 1, 1]
    assert index(library, "a.jsonl", prune=True) == SyncReport(unchanged=3)


def test_a_record_that_stands_twice_keeps_the_places_where_it_stands_now(library: Library, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [RECORDS[0], RECORDS[0]])
    assert index(library, path) == SyncReport(added=1, merged=1, embedded=1)
    write(path, [RECORDS[1], RECORDS[0], RECORDS[0]])
    assert index(library, path) == SyncReport(added=1, unchanged=1, embedded=1)
    assert sources(library) == {"x0": ("a.jsonl:2", "a.jsonl:3"), "x1": ("a.jsonl:1",)}
    write(path, [RECORDS[0], RECORDS[1]])
    assert index(library, path) == SyncReport(unchanged=2)
    assert sources(library) == {"x0": ("a.jsonl:1",), "x1": ("a.jsonl:2",)}


def test_reading_the_same_again_writes_nothing(library: Library, tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        [*RECORDS, RECORDS[0], {"id": "m", "title": "Caf\u00c3\u00a9", "abstract": "Mojibake \u00e2\u20ac\u201c here."}],
    )
    index(library, path)

    def state() -> tuple[object, ...]:
        with library.catalog.reading() as connection:
            return meta(connection, "generation"), connection.execute("SELECT * FROM sightings ORDER BY n").fetchall()

    before = state()
    assert index(library, path) == SyncReport(unchanged=4, repaired=(f"{path}:5",))
    assert state() == before


def test_a_repaired_record_that_moves_keeps_one_source(library: Library, tmp_path: Path) -> None:
    repaired = {"id": "m", "title": "Caf\u00c3\u00a9", "abstract": "Mojibake \u00e2\u20ac\u201c here."}
    path = write(tmp_path / "a.jsonl", [repaired])
    index(library, path)
    write(path, [RECORDS[0], repaired])
    assert index(library, path) == SyncReport(added=1, unchanged=1, embedded=1, repaired=(f"{path}:2",))
    assert sources(library)["m"] == ("a.jsonl:2 (mojibake repaired)",)


def test_prune_spares_the_members_of_an_archive_that_cannot_be_read(library: Library, tmp_path: Path) -> None:
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as body:
        body.writestr("in/a.jsonl", "".join(json.dumps(record) + "\n" for record in RECORDS[:2]))
    other = write(tmp_path / "b.jsonl", RECORDS[2:])
    assert index(library, archive, other).added == 3
    archive.write_bytes(archive.read_bytes()[:60])
    report = index(library, archive, other, prune=True)
    assert (report.unchanged, report.removed, len(report.rejected)) == (1, 0, 1)
    assert library.count() == 3


def test_a_rejected_record_is_named_by_file_and_line() -> None:
    assert rejection(make_paper(1, sources=("a.jsonl:7 (mojibake repaired)",)), "why") == Rejected("a.jsonl", 7, "why")
    assert rejection(make_paper(1, sources=("service",)), "why") == Rejected("service", 0, "why")
    assert rejection(make_paper(1, sources=()), "why") == Rejected("", 0, "why")


def test_records_without_a_source_are_kept_once(library: Library) -> None:
    papers = [make_paper(n, sources=()) for n in range(1, 4)]
    assert library.sync(papers, copy=False).added == 3
    assert library.sync(papers, copy=False) == SyncReport(unchanged=3)
    assert library.sync(make_papers(3), copy=False) == SyncReport(unchanged=3, merged=3)
