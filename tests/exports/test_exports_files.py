import os
import stat

import pytest

from rag.errors import RagError, UsageError
from rag.exports import write_file


def test_file_is_written_whole_as_utf8(tmp_path):
    write_file(tmp_path / "x.md", "Gödel\n")
    assert (tmp_path / "x.md").read_bytes() == "Gödel\n".encode()
    assert [path.name for path in tmp_path.iterdir()] == ["x.md"]


def test_permissions_follow_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        write_file(tmp_path / "x.md", "a")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "x.md").stat().st_mode) == 0o640


def test_existing_file_is_never_overwritten_without_force(tmp_path):
    (tmp_path / "x.md").write_text("old")
    with pytest.raises(UsageError, match=r"x\.md' is there already\. Name another, or replace it with --force\."):
        write_file(tmp_path / "x.md", "new")
    assert (tmp_path / "x.md").read_text() == "old"
    write_file(str(tmp_path / "x.md"), "new", force=True)
    assert (tmp_path / "x.md").read_text() == "new"


def test_link_keeps_pointing_where_it_did(tmp_path):
    (tmp_path / "real.md").write_text("old")
    (tmp_path / "link.md").symlink_to("real.md")
    write_file(tmp_path / "link.md", "new", force=True)
    assert (tmp_path / "real.md").read_text() == "new"
    assert (tmp_path / "link.md").is_symlink()


@pytest.mark.parametrize(("name", "message"), [("", "is a folder"), ("no/x.md", "No folder")])
def test_impossible_targets_are_refused(tmp_path, name, message):
    with pytest.raises(UsageError, match=message):
        write_file(tmp_path / name, "x", force=True)


def test_fault_leaves_the_old_file_and_no_remains(tmp_path, monkeypatch):
    (tmp_path / "x.md").write_text("old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RagError, match=r"Cannot write '.*x\.md': No space left on device"):
        write_file(tmp_path / "x.md", "new", force=True)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x.md", "old")]


def test_file_that_appears_meanwhile_is_kept(tmp_path, monkeypatch):
    link = os.link

    def beaten(source: str, target: str) -> None:
        (tmp_path / "x.md").write_text("theirs")
        link(source, target)

    monkeypatch.setattr(os, "link", beaten)
    with pytest.raises(UsageError, match="is there already"):
        write_file(tmp_path / "x.md", "ours")
    assert (tmp_path / "x.md").read_text() == "theirs"
