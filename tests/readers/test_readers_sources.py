import gzip
import io
import json
import os
import subprocess
import sys
import zipfile

import pytest

from rag.errors import SourceError, UsageError
from rag.readers import read_papers
from rag.records import Paper, Rejected

LINE = '{"id": "%s", "title": "T", "abstract": "A."}\n'


def ids(records):
    return [record.id for record in records if isinstance(record, Paper)]


def test_folder_is_read_in_order_with_subfolders(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "sub/c.json", "sub/.hidden.json", "notes.md", "sub/__MACOSX/x.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(LINE % name)
    assert ids(read_papers([tmp_path])) == ["a.jsonl", "b.jsonl", "sub/c.json"]


def test_patterns_and_repeated_files_are_read_once(tmp_path):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(LINE % name)
    assert ids(read_papers([tmp_path / "b.jsonl", f"{tmp_path}/*.jsonl", tmp_path])) == ["b.jsonl", "a.jsonl"]


@pytest.mark.parametrize("name", ["missing.json", "no*.json"])
def test_missing_source_is_an_error_at_the_call(tmp_path, name):
    with pytest.raises(SourceError, match=r"No file, folder or pattern match named '.*'\. Check the spelling"):
        read_papers([tmp_path / name])


def test_folder_without_sources_is_an_error(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="No readable file in folder"):
        read_papers([tmp_path / "empty"])


def test_unknown_format_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"No format named 'docx'\. Known: text, json, bibtex, ris, csv, nbib, xml"):
        read_papers([], format="docx")


def test_format_overrides_content(tmp_path):
    (tmp_path / "x").write_text("Heading\n\n[1] is where this abstract starts.")
    assert [p.abstract for p in read_papers([tmp_path / "x"], format="text")] == ["[1] is where this abstract starts."]


def test_gzip(tmp_path):
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress((LINE % "a" + LINE % "b").encode()))
    assert ids(read_papers([tmp_path / "x.jsonl.gz"])) == ["a", "b"]


def test_truncated_gzip_keeps_what_came_before(tmp_path):
    whole = gzip.compress("".join(LINE % os.urandom(20).hex() for _ in range(5000)).encode())
    (tmp_path / "x.gz").write_bytes(whole[: len(whole) // 2])
    *papers, last = read_papers([tmp_path / "x.gz"])
    assert len(papers) > 1000
    assert isinstance(last, Rejected)
    assert last.line == 0
    assert "cannot be read on" in last.reason


@pytest.mark.parametrize("junk", [b"\x1f\x8bnot gzip at all", b"PK\x03\x04not a zip", b"\x00\x01\x02" * 500, b"", b"  \n"])
def test_damaged_file_is_reported_and_the_next_is_read(tmp_path, junk):
    (tmp_path / "a.jsonl").write_bytes(junk)
    (tmp_path / "b.jsonl").write_text(LINE % "b")
    rejected, paper = read_papers([tmp_path])
    assert isinstance(rejected, Rejected)
    assert rejected.file == (tmp_path / "a.jsonl").as_posix()
    assert paper.id == "b"


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return body.getvalue()


def test_zip_members_are_read_never_written(tmp_path):
    members = {
        "a.jsonl": LINE % "a",
        "../../evil.jsonl": LINE % "evil",
        "/abs.json": LINE % "abs",
        "d/": "",
        "image.png": "x",
        "b.jsonl.gz": "",
    }
    content = {name: gzip.compress((LINE % "gz").encode()) if name.endswith("gz") else text.encode() for name, text in members.items()}
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.zip").write_bytes(zipped(content))
    papers = list(read_papers([tmp_path / "in" / "x.zip"]))
    assert ids(papers) == ["a", "evil", "abs", "gz"]
    assert papers[0].sources == (f"{(tmp_path / 'in' / 'x.zip').as_posix()}!a.jsonl:1",)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["x.zip"]


def test_damaged_member_costs_no_other(tmp_path):
    body = zipped(
        {"a.jsonl": (LINE % "a").encode(), "b.jsonl": (LINE % "b" * 3).encode(), "c.jsonl": (LINE % "c").encode()}, zipfile.ZIP_STORED
    )
    (tmp_path / "x.zip").write_bytes(body.replace(b'"id": "b"', b'"id": "X"'))
    found = list(read_papers([tmp_path / "x.zip"]))
    assert {"a", "c"} <= set(ids(found))
    assert any(isinstance(record, Rejected) and "b.jsonl" in record.file for record in found)


def test_encrypted_member_is_reported(tmp_path):
    body = bytearray(zipped({"a.jsonl": (LINE % "a").encode()}))
    body[6] |= 1
    body[body.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "x.zip").write_bytes(bytes(body))
    (rejected,) = read_papers([tmp_path / "x.zip"])
    assert "encrypted" in rejected.reason


@pytest.mark.parametrize("pack", [lambda data: gzip.compress(data, 9), lambda data: zipped({"x.jsonl": data})], ids=["gzip", "zip"])
def test_bomb_is_stopped(tmp_path, pack):
    (tmp_path / "x.zip").write_bytes(pack((LINE % "a").encode() + b"0" * 60_000_000))
    *_, last = read_papers([tmp_path / "x.zip"])
    assert "expands to more than 150 times" in last.reason


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda data: zipped({"x.jsonl": data})], ids=["plain", "gzip", "zip"])
def test_standard_input(pack):
    code = "from rag.readers import read_papers; print([(p.id, p.sources[0]) for p in read_papers(['-'])])"
    out = subprocess.run([sys.executable, "-c", code], input=pack((LINE % "a").encode()), capture_output=True, check=True)
    assert out.stdout.decode().startswith("[('a', 'stdin")


def test_mojibake_is_repaired_and_said(tmp_path):
    text = json.dumps({"title": "Café", "abstract": "It’s naïve — “really”."}, ensure_ascii=False).encode().decode("cp1252", "replace")
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    (paper,) = read_papers([tmp_path / "x.json"])
    assert paper.title == "Café"
    assert "It’s naïve —" in paper.abstract
    assert paper.sources == (f"{(tmp_path / 'x.json').as_posix()}:1 (mojibake repaired)",)


def test_mixed_encodings_in_one_file_all_survive(tmp_path):
    line = '{"id": "%s", "title": "Café", "abstract": "Naïve."}\n'
    (tmp_path / "x.jsonl").write_bytes((line % "a").encode() + (line % "b").encode("cp1252") + (line % "c").encode("latin-1"))
    assert [(paper.id, paper.title, paper.abstract) for paper in read_papers([tmp_path / "x.jsonl"])] == [
        (name, "Café", "Naïve.") for name in "abc"
    ]  # fmt: skip


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file_is_reported(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    (tmp_path / "x.json").chmod(0)
    (rejected,) = read_papers([tmp_path / "x.json"])
    assert rejected.reason == "cannot be read: Permission denied"


def test_line_of_fifty_megabytes_is_rejected_in_bounded_memory(tmp_path):
    import tracemalloc

    with (tmp_path / "x.jsonl").open("w") as stream:
        stream.write(LINE % "a" + '{"id": "big", "title": "T", "abstract": "')
        for _ in range(50):
            stream.write("x" * 1_000_000)
        stream.write('"}\n' + LINE % "b")
    tracemalloc.start()
    first, rejected, last = read_papers([tmp_path / "x.jsonl"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (first.id, rejected.line, rejected.reason, last.id) == ("a", 2, "longer than 8,000,000 characters", "b")
    assert peak < 60_000_000


def test_reading_starts_before_the_source_ends(tmp_path):
    (tmp_path / "x.jsonl").write_text("".join(LINE % n for n in range(5000)))
    records = read_papers([tmp_path / "x.jsonl"])
    assert next(records).id == "0"


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"[Content_Types].xml": b"<x/>", "xl/sheet.xml": b"<x/>"}, "cannot be read: it is an Office file; save it as CSV"),
        ({"image.png": b"x"}, "cannot be read: no member ends in one of .txt, .json"),
    ],
)
def test_archives_of_other_things_are_named(tmp_path, members, reason):
    (tmp_path / "x.zip").write_bytes(zipped(members))
    (rejected,) = read_papers([tmp_path / "x.zip"])
    assert rejected.reason.startswith(reason)


def test_pdf_is_named(tmp_path):
    (tmp_path / "x.pdf").write_bytes(b"%PDF-1.7\nobj\n")
    (rejected,) = read_papers([tmp_path / "x.pdf"])
    assert rejected.reason.startswith("a PDF; export the abstracts")


def test_text_without_blank_lines_stays_in_bounds(tmp_path):
    (tmp_path / "x.txt").write_text("Heading\n\n" + "words of a line without end\n" * 400_000 + "\nA real abstract follows.\n")
    rejected, paper = read_papers([tmp_path / "x.txt"])
    assert (rejected.reason, paper.abstract) == ("longer than 8,000,000 characters", "A real abstract follows.")


@pytest.mark.parametrize("name", ["/", "..", "."])
def test_members_of_odd_names_are_passed_over(tmp_path, name):
    (tmp_path / "x.zip").write_bytes(zipped({name: b"x", "a.jsonl": (LINE % "a").encode()}))
    assert ids(read_papers([tmp_path / "x.zip"])) == ["a"]


def test_member_without_a_name_is_passed_over(tmp_path):
    body = zipped({"a.jsonl": (LINE % "a").encode(), "x": b""})
    place = body.rindex(b"PK\x01\x02")
    nameless = bytearray(body[: place + 46] + body[place + 47 :])
    nameless[place + 28] = 0
    end = nameless.rindex(b"PK\x05\x06")
    nameless[end + 12 : end + 16] = (int.from_bytes(nameless[end + 12 : end + 16], "little") - 1).to_bytes(4, "little")
    (tmp_path / "x.zip").write_bytes(bytes(nameless))
    assert ids(read_papers([tmp_path / "x.zip"])) == ["a"]
