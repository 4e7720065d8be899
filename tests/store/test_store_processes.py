"""Several processes, killed processes, servers, full disks and folders that cannot be written."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from store_papers import HashEmbedder, make_paper, make_papers

from rag.errors import CorpusError
from rag.records import SyncReport
from rag.settings import Settings
from rag.store import Corpora, Filters, Library
from rag.store.dense import DenseSearch

_HERE = Path(__file__).parent
_PRELUDE = """
import os, sys, time
sys.path.insert(0, {here!r})
from pathlib import Path
from store_papers import HashEmbedder, make_paper, make_papers
from rag.errors import RagError
from rag.settings import Settings
from rag.store import Corpora, Library
settings = Settings(home=Path({home!r}))
embedder = HashEmbedder()
"""
_HOLDING = """
def slowly():
    yield make_paper(1)
    print('holding', flush=True)
    time.sleep({seconds})
with Corpora(settings).open_for_sync('mine', embedder) as library:
    print(library.sync(slowly(), copy=False).added, flush=True)
"""


def script(settings: Settings, body: str) -> list[str]:
    return [sys.executable, "-c", _PRELUDE.format(here=str(_HERE), home=str(settings.home)) + body]


def run(settings: Settings, body: str, *prefix: str) -> str:
    done = subprocess.run([*prefix, *script(settings, body)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def holding(settings: Settings, seconds: float) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(script(settings, _HOLDING.format(seconds=seconds)), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "holding\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_second_sync_says_who_holds_the_corpus(settings: Settings, library: Library) -> None:
    with holding(settings, 60) as process:
        started = time.monotonic()
        with pytest.raises(CorpusError, match=rf"Corpus 'mine' is being written by process {process.pid}, since \d\d:\d\d:\d\d") as caught:
            library.sync(make_papers(3), copy=False)
        assert time.monotonic() - started < 2
        assert caught.value.retryable
        with pytest.raises(CorpusError, match="is being written by process"):
            Corpora(settings).remove("mine")
    assert library.sync(make_papers(3), copy=False).added == 3


def test_a_second_sync_can_wait(settings: Settings, library: Library) -> None:
    with holding(settings, 1) as process:
        assert library.sync(make_papers(3), wait_s=30, copy=False) == SyncReport(added=2, unchanged=1, embedded=2)
        assert process.wait(30) == 0


def test_readers_are_not_blocked_by_a_writer(settings: Settings, library: Library, embedder: HashEmbedder) -> None:
    library.sync(make_papers(20), copy=False)
    query = embedder.embed(["x"])[0]
    with library.catalog.writing(keep=False) as connection:
        connection.execute("DELETE FROM papers")
        connection.execute("DELETE FROM chunks")
        started = time.monotonic()
        assert int(run(settings, "print(Library.open('mine', settings, embedder).count())")) == 20
        assert len(library.dense(query, 5)) == 5
        assert library.lexical(["method3"], 1)[0][0] == "p3"
        assert time.monotonic() - started < 10


def test_a_kill_between_catalog_and_chroma_is_completed(settings: Settings, library: Library) -> None:
    body = """
library = Corpora(settings).open_for_sync('mine', embedder)
library.sync(make_papers(1))
def die(*_): os.kill(os.getpid(), 9)
library.store.upsert = die
library.sync(make_papers(5))
"""
    done = subprocess.run(script(settings, body), capture_output=True, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert library.count() == 5
    assert library.sync(make_papers(5)) == SyncReport(unchanged=5)
    assert library.store.ids() == {f"p{n}#{i}" for n in range(1, 6) for i in range(2)}


def test_a_kill_after_chroma_and_before_the_mark_is_completed(settings: Settings, library: Library) -> None:
    body = """
library = Corpora(settings).open_for_sync('mine', embedder)
library.sync(make_papers(1))
upsert = library.store.upsert
def die(records):
    upsert(records)
    os.kill(os.getpid(), 9)
library.store.upsert = die
library.sync(make_papers(5))
"""
    assert subprocess.run(script(settings, body), capture_output=True, timeout=120).returncode == -signal.SIGKILL
    assert library.sync(make_papers(5)[:4], prune=True) == SyncReport(unchanged=4, removed=1)
    assert library.store.ids() == {f"p{n}#{i}" for n in range(1, 5) for i in range(2)}


_DYING = """
from rag.store.dense import DenseSearch
from rag.store import Filters
library = Library.open('mine', settings, embedder)
library.store._collection = lambda: os.kill(os.getpid(), 11)
DenseSearch(library.catalog, library.store, exact_chunks=2).search(embedder.embed(['x'])[0], 3, Filters())
"""


@pytest.mark.slow
def test_an_index_that_kills_its_process_does_so_once(
    settings: Settings, library: Library, embedder: HashEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    library.sync(make_papers(20))
    assert subprocess.run(script(settings, _DYING), capture_output=True, timeout=120).returncode == -signal.SIGSEGV
    again = DenseSearch(library.catalog, Corpora(settings).open_one("mine", embedder).store, exact_chunks=2)
    query = embedder.embed(["x"])[0]
    assert again.search(query, 3, Filters()) == library.dense(query, 3)
    assert "did not survive it" in caplog.text
    # The next sync finds the index sound after all.
    assert library.sync(make_papers(21)) == SyncReport(added=1, unchanged=20, embedded=1)
    assert library.store.count() == 42


@pytest.mark.slow
def test_an_index_that_cannot_be_used_is_made_anew_by_the_next_sync(settings: Settings, library: Library) -> None:
    library.sync(make_papers(1_100))
    assert subprocess.run(script(settings, _DYING), capture_output=True, timeout=120).returncode == -signal.SIGSEGV
    library.close()
    for path in (library.folder / "chroma").rglob("header.bin"):
        path.write_bytes(b"x" * 100)
    with Corpora(settings).open_for_sync("mine", HashEmbedder()) as again:
        assert again.sync(make_papers(1_100)) == SyncReport(unchanged=1_100)
        assert again.store.count() == 2_200


@pytest.mark.slow
def test_random_kills_end_in_the_same_store() -> None:
    benchmark = Path(__file__).parents[2] / "benchmarks" / "kill_sync.py"
    done = subprocess.run([sys.executable, str(benchmark), "--kills", "10", "--seed", "3"], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["identical"] == 10


def test_a_kill_while_the_catalog_is_made_is_completed(settings: Settings, library: Library) -> None:
    body = """
import sqlite3
folder = settings.home_folder / 'mine'
folder.mkdir(parents=True)
connection = sqlite3.connect(folder / 'catalog.sqlite')
connection.execute('PRAGMA cache_size = 1')
connection.execute('CREATE TABLE half (made)')
connection.commit()
connection.executemany('INSERT INTO half VALUES (?)', [('x' * 1000,)] * 5000)
os.kill(os.getpid(), 9)
"""
    assert subprocess.run(script(settings, body), capture_output=True, timeout=120).returncode == -signal.SIGKILL
    assert (library.folder / "catalog.sqlite-journal").stat().st_size > 0
    assert library.sync(make_papers(3), copy=False).added == 3
    assert library.count() == 3
    assert library.store.place.kind == "embedded"


def test_an_empty_file_is_filled(library: Library) -> None:
    library.folder.mkdir(parents=True)
    (library.folder / "catalog.sqlite").touch()
    assert library.sync(make_papers(3)).added == 3


def test_a_full_disk_costs_only_the_last_batch(settings: Settings, library: Library) -> None:
    body = """
import resource
library = Corpora(settings).open_for_sync('mine', embedder)
library.sync(make_papers(10), copy=False)
size = 4096 * 60
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    library.sync(make_papers(2_000), copy=False)
except RagError as error:
    print(error)
"""
    message = run(settings, body)
    assert message.startswith("The disk is full or failing at")
    assert "free space and run it again" in message
    assert 10 <= library.count() < 2_000
    kept = library.count()
    assert library.papers() == make_papers(kept)
    report = library.sync(make_papers(kept + 50), copy=False)
    assert (report.added, report.unchanged) == (50, kept)


# Root may write anywhere; without these capabilities it is held to the modes of its own files as anybody is.
_BOUND_BY_MODES = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search") if os.getuid() == 0 else ()


@pytest.mark.skipif(bool(_BOUND_BY_MODES) and shutil.which("setpriv") is None, reason="root without setpriv may write anywhere")
def test_a_folder_that_cannot_be_written_is_read(settings: Settings, library: Library) -> None:
    library.sync(make_papers(5), copy=False)
    library.close()
    for path in (settings.home_folder, library.folder, *library.folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    body = """
library = Library.open('mine', settings, embedder)
print(library.count(), len(library.dense(embedder.embed(['x'])[0], 3)), library.lexical(['method3'], 1)[0][0])
try:
    Corpora(settings).open_for_sync('mine', embedder).sync(make_papers(6))
except RagError as error:
    print(error)
print(Library.open('seeds', settings, embedder).count())
"""
    lines = run(settings, body, *_BOUND_BY_MODES).splitlines()
    assert lines[0] == "5 3 p3"
    assert "Permission denied" in lines[1]
    assert "RAG_HOME" in lines[1]
    assert lines[2] == "57"


def test_a_file_that_is_no_catalog_is_told_with_the_remedy(settings: Settings, library: Library, embedder: HashEmbedder) -> None:
    library.sync(make_papers(2), copy=False)
    library.close()
    (library.folder / "catalog.sqlite").write_bytes(b"this is no database, whatever its name" * 200)
    with pytest.raises(CorpusError, match=r"is damaged \(file is not a database\). Rebuild it with `rag doctor --repair --corpus mine`"):
        Library.open("mine", settings, embedder)


@contextmanager
def chroma_server(folder: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.slow
def test_a_chroma_server_serves_like_the_embedded_one(settings: Settings, embedder: HashEmbedder, tmp_path: Path) -> None:
    papers = make_papers(40)
    with Corpora(settings).open_for_sync("mine", embedder) as library:
        library.sync(papers)
        query = embedder.embed(["query"])[0]
        expected = [(hit.paper_id, hit.index) for hit in library.dense(query, 15)]
    with chroma_server(tmp_path / "server") as url:
        remote = Settings(home=settings.home, chroma_url=url)
        with Corpora(remote).open_for_sync("mine", embedder) as library:
            assert [(hit.paper_id, hit.index) for hit in library.dense(query, 15)] == expected
            assert library.sync(papers) == SyncReport(unchanged=40)
            assert library.store.count() == 80
            assert [(hit.paper_id, hit.index) for hit in library.dense(query, 15)] == expected
            library.sync([make_paper(1, abstract="Other words."), *papers[2:]], prune=True)
            assert library.store.count() == 78
        Corpora(remote).rename("mine", "other")
        with Corpora(remote).open_one("other", embedder) as library:
            assert library.store.place.collection == "ask-other"
            assert library.store.count() == 78
        other = Settings(home=tmp_path / "second", chroma_url=url)
        with Corpora(other).open_for_sync("other", embedder) as library, pytest.raises(CorpusError, match="belongs to another corpus"):
            library.sync(papers)
        Corpora(remote).remove("other")
        with Corpora(other).open_for_sync("other", embedder) as library:
            library.sync(papers)
            assert library.store.count() == 80


def test_a_chroma_server_that_is_away_is_told_and_costs_no_answer(
    settings: Settings, library: Library, embedder: HashEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    library.sync(make_papers(3))
    away = Settings(home=settings.home, chroma_url="http://127.0.0.1:9")
    with Corpora(away).open_for_sync("mine", embedder) as remote:
        assert len(remote.dense(embedder.embed(["x"])[0], 3)) == 3
        with pytest.raises(CorpusError, match="No answer from Chroma at http://127.0.0.1:9"):
            remote.sync(make_papers(3))
