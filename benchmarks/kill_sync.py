"""Kills a sync at random moments and checks that one more run ends in the store of an undisturbed one.

    python benchmarks/kill_sync.py [--kills 200] [--papers 80] [--seed 1]

Each trial starts from nothing or, every second time, from an older state of the sources: a child process syncs (with `prune`), is
killed (SIGKILL) after a random part of the time that a whole sync takes, another child runs the sync again and takes a digest of
everything in both halves. Prints one JSON line. POSIX only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import chromadb  # noqa: F401 - loaded once here, so that the children need not
import httpx  # noqa: F401
import numpy as np
import rapidfuzz.distance  # noqa: F401

from rag.protocols import Vectors
from rag.records import Paper
from rag.settings import Settings
from rag.store import Corpora, Library, chroma  # noqa: F401


class HashEmbedder:
    """Unit vectors drawn by the text's hash: the same text always gets the same."""

    fingerprint = "hash-32"
    dimension = 32
    max_tokens = 60

    def count_tokens(self, text: str) -> int:
        """Words."""
        return len(text.split())

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector a text."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
            vectors[row] = np.random.default_rng(seed).standard_normal(self.dimension)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def main() -> int:
    """Runs the trials; 0 when every store came out identical."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--papers", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kill-") as scratch:
        identical, killed = run_trials(Path(scratch), options.kills, options.papers, np.random.default_rng(options.seed))
    result = {
        "kills": options.kills,
        "killed_in_mid_sync": killed,
        "identical": identical,
        "papers": options.papers,
        "seed": options.seed,
        "seconds": round(time.monotonic() - started, 1),
    }
    print(json.dumps(result))
    return 0 if identical == options.kills else 1


def run_trials(scratch: Path, kills: int, count: int, chance: np.random.Generator) -> tuple[int, int]:
    """How many stores came out identical to the undisturbed one, and how many syncs were still running when killed."""
    old, new = make_papers(count, edition=0), make_papers(count, edition=1)
    bases = scratch / "empty", scratch / "older"
    bases[0].mkdir()
    os.waitpid(in_child(lambda: sync(bases[1], old)), 0)
    expected = [undisturbed(base, new) for base in bases]
    identical = killed = 0
    for number in range(kills):
        base, (digest_wanted, whole_s) = bases[number % 2], expected[number % 2]
        found, was_killed = trial(base, new, float(chance.uniform(0, whole_s)))
        identical += found == digest_wanted
        killed += was_killed
        print(f"{number + 1} kills, {killed} in mid-sync, {identical} identical", file=sys.stderr)
    return identical, killed


def make_papers(count: int, *, edition: int) -> list[Paper]:
    """Papers of three to eight sentences. In edition 1 some have another text, another year or are new, and some are gone."""
    chance = np.random.default_rng(7)
    papers = []
    for number in range(count):
        sentences = [" ".join(f"word{word}" for word in chance.integers(0, 400, 12)).capitalize() + "." for _ in range(3 + number % 6)]
        text = " ".join(sentences[edition:] if number % 5 == 0 else sentences)
        year = 2020 + (edition if number % 7 == 0 else 0)
        if number % 11 != 10 * edition:
            papers.append(Paper(f"p{number}", f"Title {number}", text, ("A B",), year, sources=(f"file.jsonl:{number}",)))
    return papers


def undisturbed(base: Path, papers: Sequence[Paper]) -> tuple[str, float]:
    """The digest after a whole sync, and how long the sync takes."""
    with copied(base) as home:
        started = time.monotonic()
        os.waitpid(in_child(lambda: sync(home, papers)), 0)
        whole_s = time.monotonic() - started
        return final_digest(home, papers), whole_s


def trial(base: Path, papers: Sequence[Paper], delay_s: float) -> tuple[str, bool]:
    """The digest after a kill and one more run, and whether the kill came before the sync's end."""
    with copied(base) as home:
        child = in_child(lambda: sync(home, papers))
        time.sleep(delay_s)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        return final_digest(home, papers), os.WIFSIGNALED(status)


@contextmanager
def copied(base: Path) -> Iterator[Path]:
    """A copy of a home for one trial."""
    with tempfile.TemporaryDirectory(prefix="kill-") as scratch:
        yield Path(shutil.copytree(base, Path(scratch) / "home"))


def final_digest(home: Path, papers: Sequence[Paper]) -> str:
    """Syncs in a child process once more; a digest of all that is in the catalog and in Chroma then."""
    reader, writer = os.pipe()

    def finish() -> None:
        sync(home, papers)
        os.write(writer, digest(home).encode())

    child = in_child(finish)
    os.close(writer)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    if status != 0:
        raise SystemExit(f"The run after the kill failed with status {status}.")
    return text


def in_child(work: Callable[[], None]) -> int:
    """Runs `work` in a forked process; its process id. This process never opens a store, so a fork inherits no thread of one."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


def sync(home: Path, papers: Sequence[Paper]) -> None:
    """One whole sync."""
    with Corpora(Settings(home=home)).open_for_sync("mine", HashEmbedder()) as library:
        library.sync(papers, prune=True)


def digest(home: Path) -> str:
    """SHA-256 of both halves: every table's rows and every record with its vector."""
    with Corpora(Settings(home=home)).open_one("mine", HashEmbedder()) as library:
        text = json.dumps([catalog_rows(library), chroma_rows(library)], sort_keys=True, default=bytes.hex)
    return hashlib.sha256(text.encode()).hexdigest()


def catalog_rows(library: Library) -> dict[str, list[tuple[object, ...]]]:
    """All rows but the row numbers of vectors, which depend on nothing that shows."""
    tables = {
        "papers": "SELECT * FROM papers ORDER BY n",
        "facets": "SELECT * FROM facets ORDER BY n",
        "sightings": "SELECT * FROM sightings ORDER BY record, origin",
        "signatures": "SELECT * FROM signatures ORDER BY n",
        "chunks": "SELECT n, i, start, end, text, vector, copied FROM chunks JOIN vectors USING (v) ORDER BY n, i",
        "vectors": "SELECT key FROM vectors ORDER BY key",
        "removals": "SELECT * FROM removals",
        "terms": "SELECT rowid, title, abstract FROM terms ORDER BY rowid",
        "vocabulary": "SELECT term, doc, cnt FROM vocabulary ORDER BY term",
    }
    with library.catalog.reading() as connection:
        return {name: connection.execute(query).fetchall() for name, query in tables.items()}


def chroma_rows(library: Library) -> list[tuple[object, ...]]:
    """All records by id."""
    return sorted(
        (record.id, record.text, sorted(record.metadata.items()), record.vector.tobytes().hex()) for record in library.store.records()
    )


if __name__ == "__main__":
    sys.exit(main())
