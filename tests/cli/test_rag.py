"""`rag`: index, search, browse, export, corpora, doctor."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from rag.cli.index import progress_bar


@pytest.fixture
def indexed(run_rag: Any, two_papers: Path) -> Any:
    outcome = run_rag("index", str(two_papers), "--corpus", "mine", "--json")
    assert outcome.code == 0
    return outcome.json


def test_index_reports_what_it_did_with_file_and_line_of_what_it_rejected(indexed: Any, run_rag: Any, two_papers: Path) -> None:
    counts = {name: indexed[name] for name in ("added", "changed", "unchanged", "removed")}
    assert counts == {"added": 2, "changed": 0, "unchanged": 0, "removed": 0}
    [rejected] = indexed["rejected"]
    assert (Path(rejected["file"]).name, rejected["line"]) == ("papers.jsonl", 3)
    again = run_rag("index", str(two_papers), "--corpus", "mine", "--json").json
    assert (again["unchanged"], again["added"], again["embedded"]) == (2, 0, 0)


def test_index_prints_a_line_for_people(run_rag: Any, two_papers: Path) -> None:
    outcome = run_rag("index", str(two_papers), "-c", "mine")
    assert outcome.out == "2 added, 0 changed, 0 unchanged, 0 removed, 1 rejected\n"
    assert "papers.jsonl:3" in outcome.err


def test_a_dry_run_changes_nothing(run_rag: Any, two_papers: Path) -> None:
    assert run_rag("index", str(two_papers), "-c", "mine", "--dry-run").out.startswith("Would be: 2 added")
    assert [row["name"] for row in run_rag("corpora", "--json").json] == ["seeds"]


def test_nothing_readable_is_a_failure_that_says_why(run_rag: Any, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text("{broken\n", encoding="utf-8")
    outcome = run_rag("index", str(path), "-c", "mine")
    assert outcome.code == 1
    assert "broken.jsonl:1" in outcome.err


def test_the_first_corpus_of_ones_own_becomes_the_active_one_and_says_so(run_rag: Any, two_papers: Path) -> None:
    assert "`ask` now answers from mine; `rag use seeds` goes back." in run_rag("index", str(two_papers), "-c", "mine").err
    assert "now answers" not in run_rag("index", str(two_papers), "-c", "mine").err
    assert "now answers" not in run_rag("index", str(two_papers), "-c", "another").err
    assert [row["name"] for row in run_rag("corpora", "--json").json if row["active"]] == ["mine"]


def test_a_missing_file_is_named(run_rag: Any) -> None:
    outcome = run_rag("index", "nowhere.jsonl", "-c", "mine")
    assert outcome.code == 1
    assert "nowhere.jsonl" in outcome.err


def test_search_ranks_and_shows_the_passage(indexed: Any, run_rag: Any) -> None:
    [first, _] = run_rag("search", "turn-taking", "--json", "-c", "mine").json
    assert set(first) >= {"rank", "score", "paper", "passage"}
    assert (first["rank"], first["paper"]["id"]) == (1, "a1")
    assert "turn-taking" in first["passage"]
    assert "Turns in Dialogue" in run_rag("search", "turn-taking", "-c", "mine").out


def test_the_only_own_corpus_is_the_active_one(indexed: Any, run_rag: Any) -> None:
    assert [paper["id"] for paper in run_rag("papers", "--json").json] == ["a1", "b2"]
    assert run_rag("use", "seeds").code == 0
    assert len(run_rag("papers", "--json").json) == 57


def test_papers_can_be_filtered_and_sorted(indexed: Any, run_rag: Any) -> None:
    assert [p["id"] for p in run_rag("papers", "--json", "--sort", "-year").json] == ["b2", "a1"]
    assert [p["id"] for p in run_rag("papers", "--json", "--author", "turing").json] == ["b2"]
    assert [p["id"] for p in run_rag("papers", "--json", "--where", "year<2025 and venue~iclr").json] == ["a1"]
    assert "abstract" in run_rag("papers", "--json").json[0]


def test_show_and_similar(indexed: Any, run_rag: Any) -> None:
    out = run_rag("show", "a1").out
    assert "Backchannels occur in 12.5% of turns." in out
    assert "Low-Rank Adapters" in out
    assert [hit["paper"]["id"] for hit in run_rag("similar", "a1", "--json").json] == ["b2"]
    for unknown in (
        ("show", "zz"),
        ("similar", "zz"),
        ("open", "zz"),
        ("open", "7"),
        ("export", "zz"),
        ("use", "zz"),
        ("remove", "zz", "--yes"),
    ):
        assert run_rag(*unknown).code == 1


def test_authors_and_stats_count(indexed: Any, run_rag: Any) -> None:
    assert run_rag("authors", "--json").json == [{"author": "Ada Lovelace", "papers": 2}, {"author": "Alan Turing", "papers": 1}]
    stats = run_rag("stats", "--json").json
    assert (stats["papers"], stats["year"]) == (2, {"2024": 1, "2025": 1})


@pytest.mark.parametrize("form", ["markdown", "json", "jsonl", "csv", "bibtex", "ris", "csl"])
def test_export_writes_every_format(indexed: Any, run_rag: Any, tmp_path: Path, form: str) -> None:
    target = tmp_path / "out"
    assert run_rag("export", "--format", form, "-o", str(target)).code == 0
    assert "Turns in Dialogue" in target.read_text(encoding="utf-8")
    assert run_rag("export", "--format", form, "-o", str(target)).code == 2


def test_an_export_can_be_indexed_again(indexed: Any, run_rag: Any, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    run_rag("export", "--format", "jsonl", "-o", str(target))
    again = run_rag("index", str(target), "-c", "mine", "--json").json
    assert (again["unchanged"] + again["changed"], again["added"], again["rejected"]) == (2, 0, [])


def test_corpora_are_renamed_and_removed(indexed: Any, run_rag: Any) -> None:
    assert run_rag("rename", "mine", "yours").code == 0
    assert [row["name"] for row in run_rag("corpora", "--json").json] == ["yours", "seeds"]
    assert run_rag("remove", "yours", input="n\n").code == 1
    assert run_rag("remove", "yours", "--yes").code == 0
    assert [row["name"] for row in run_rag("corpora", "--json").json] == ["seeds"]


def test_several_corpora_are_asked_at_once(indexed: Any, run_ask: Any) -> None:
    answer = run_ask("--json", "-c", "mine,seeds", "which papers study turn-taking?").json
    assert answer["scanned"] == 59
    assert {"a1", "2e4ECh0ikn"} <= {citation["paper"]["id"] for citation in answer["citations"]}


def test_open_prints_the_link(indexed: Any, run_rag: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    assert run_rag("open", "a1").out == "https://example.org/a1\n"
    assert opened == ["https://example.org/a1"]
    assert "no link" in run_rag("open", "b2").err


def test_open_takes_a_number_of_the_last_answer(run_ask: Any, run_rag: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    run_ask("which papers study turn-taking?")
    assert run_rag("open", "1").out == "https://openreview.net/forum?id=2e4ECh0ikn\n"


def test_doctor_finds_a_fresh_installation_whole(run_rag: Any) -> None:
    outcome = run_rag("doctor", "--json")
    assert outcome.code == 0
    assert [finding for finding in outcome.json if finding["level"] == "error"] == []


def test_doctor_mends_a_damaged_corpus(indexed: Any, run_rag: Any, home: Path) -> None:
    (home / "mine" / "catalog.sqlite").write_bytes(b"not a database" * 100)
    broken = run_rag("doctor", "-c", "mine")
    assert broken.code == 1
    assert "rag doctor --repair" in broken.out
    assert run_rag("doctor", "--repair", "-c", "mine").code == 0
    assert [paper["id"] for paper in run_rag("papers", "--json", "-c", "mine").json] == ["a1", "b2"]


def test_json_mapping_names_foreign_fields(run_rag: Any, tmp_path: Path) -> None:
    path = tmp_path / "foreign.jsonl"
    path.write_text(json.dumps({"headline": "A Title", "summary": "An abstract about turns."}) + "\n")
    outcome = run_rag("index", str(path), "-c", "mine", "--map", "title=headline,abstract=summary", "--json")
    assert outcome.json["added"] == 1
    assert "not of the form" in run_rag("index", str(path), "--map", "title").err


def test_repaired_records_are_counted_and_named(run_rag: Any, tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    wrong = {"id": "m", "title": "Caf\u00c3\u00a9 talk", "abstract": "Mojibake \u00e2\u20ac\u201c here."}
    path.write_text("".join(json.dumps(record) + "\n" for record in ({**wrong, "id": "s", "title": "Sound", "abstract": "Sound."}, wrong)))
    outcome = run_rag("index", str(path), "-c", "mine")
    assert f"repaired wrongly decoded text in 1 records: {path}:2" in outcome.err
    assert run_rag("index", str(path), "-c", "mine", "--json").json["repaired"] == [f"{path}:2"]


def test_a_run_that_broke_off_is_told_wherever_the_corpus_is_looked_at(indexed: Any, run_rag: Any, run_ask: Any, home: Path) -> None:
    with sqlite3.connect(home / "mine" / "catalog.sqlite") as connection:
        connection.execute("INSERT INTO meta VALUES ('unfinished', '32')")
    connection.close()
    told = "The last `rag index` run of corpus 'mine' broke off after 32 new or changed papers; run it again to complete it."
    listed = run_rag("corpora")
    assert listed.out.splitlines()[0] == "* mine  (2 papers), incomplete"
    assert told in listed.err
    assert run_rag("corpora", "--json").json[0] == {"name": "mine", "papers": 2, "active": True, "complete": False, "remarks": [told]}
    assert told in run_rag("stats").err
    assert told in run_rag("doctor").out
    assert told in run_ask("--json", "which papers study turn-taking?").json["notes"]


def test_progress_is_plain_lines_where_no_terminal_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = iter([0.0, 1.0, 4.0, 5.0, 104.0])
    monkeypatch.setattr("rag.cli.index.time.monotonic", lambda: next(clock))
    with progress_bar("indexing") as show:
        show(32, None)
        show(128, 512)
        show(160, 512)
        show(416, None)
    assert capsys.readouterr().err.splitlines() == [
        "indexing: 128 of about 512 papers, 32 papers/s, about 12 s left",
        "indexing: 416 papers, 4 papers/s",
    ]
