"""Kills a sync at random moments and checks that one more run ends in the store of an undisturbed one.

    python benchmarks/kill_sync.py [--kills 200] [--papers 80] [--seed 1]

Each trial starts from nothing or, every second time, from an older state of the sources: a child process syncs (with `prune`), is
killed (SIGKILL) after a random part of the time that a whole sync takes, another child runs the sync again and takes a digest of
everything in both halves. Two trials of eight are killed between the catalog and Chroma instead, at a random batch: one before Chroma
is written, one before the catalog hears of it. After each kill the corpus must say that its last run broke off, unless the run had
ended or not begun; after the second run it must say nothing. Prints one JSON line. POSIX only.
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
from dataclasses import dataclass
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
        outcomes = run_trials(Path(scratch), options.kills, options.papers, np.random.default_rng(options.seed))
    identical = sum(outcome.is_identical for outcome in outcomes)
    result = {
        "kills": options.kills,
        "killed_in_mid_sync": sum(outcome.was_killed for outcome in outcomes),
        "killed_between_catalog_and_chroma": sum(outcome.was_between for outcome in outcomes),
        "said_unfinished": sum(outcome.said_unfinished for outcome in outcomes),
        "identical": identical,
        "papers": options.papers,
        "seed": options.seed,
        "seconds": round(time.monotonic() - started, 1),
    }
    print(json.dumps(result))
    return 0 if identical == options.kills else 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one trial showed."""

    is_identical: bool
    was_killed: bool
    """The kill came before the sync's end."""
    was_between: bool
    said_unfinished: bool


def run_trials(scratch: Path, kills: int, count: int, chance: np.random.Generator) -> list[Outcome]:
    """What each trial showed."""
    old, new = make_papers(count, edition=0), make_papers(count, edition=1)
    bases = scratch / "empty", scratch / "older"
    bases[0].mkdir()
    os.waitpid(in_child(lambda: sync(bases[1], old)), 0)
    expected = [undisturbed(base, new) for base in bases]
    outcomes: list[Outcome] = []
    for number in range(kills):
        base, (digest_wanted, whole_s) = bases[number % 2], expected[number % 2]
        with copied(base) as home:
            was_between = number % 8 in (6, 7)
            if was_between:
                was_killed = killed_between(home, new, int(chance.integers(1, 3)), is_before=bool(number // 8 % 2))
            else:
                was_killed = killed_after(home, new, float(chance.uniform(0, whole_s)))
            said = told(home)
            outcomes.append(Outcome(final_digest(home, new) == digest_wanted, was_killed, was_between, bool(said)))
        print(f"{number + 1} kills, {sum(outcome.is_identical for outcome in outcomes)} identical; {said}", file=sys.stderr)
    return outcomes


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


def killed_after(home: Path, papers: Sequence[Paper], delay_s: float) -> bool:
    """Kills a sync after so long; whether it was still running."""
    child = in_child(lambda: sync(home, papers))
    time.sleep(delay_s)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def killed_between(home: Path, papers: Sequence[Paper], copy: int, *, is_before: bool) -> bool:
    """A sync that kills itself at its n-th copy to Chroma, before it is made or before the catalog hears of it; whether it did."""

    def work() -> None:
        with Corpora(Settings(home=home)).open_for_sync("mine", HashEmbedder()) as library:
            if not (library.folder / "catalog.sqlite").is_file():
                library.sync(papers[:1])
            upsert, calls = library.store.upsert, 0

            def dying(records: Sequence[chroma.ChromaRecord]) -> None:
                nonlocal calls
                calls += 1
                if calls < copy or not is_before:
                    upsert(records)
                if calls == copy:
                    os.kill(os.getpid(), signal.SIGKILL)

            library.store.upsert = dying  # type: ignore[method-assign]
            library.sync(papers, prune=True)

    return os.WIFSIGNALED(os.waitpid(in_child(work), 0)[1])


def told(home: Path) -> str:
    """What the corpus says of its state; empty when it is not there or complete."""
    if not (home / "mine" / "catalog.sqlite").is_file():
        return ""
    return read_from_child(lambda: " ".join(Corpora(Settings(home=home)).remarks("mine")))


@contextmanager
def copied(base: Path) -> Iterator[Path]:
    """A copy of a home for one trial."""
    with tempfile.TemporaryDirectory(prefix="kill-") as scratch:
        yield Path(shutil.copytree(base, Path(scratch) / "home"))


def final_digest(home: Path, papers: Sequence[Paper]) -> str:
    """Syncs in a child process once more; a digest of all that is in the catalog and in Chroma then."""

    def finish() -> str:
        sync(home, papers)
        return digest(home)

    return read_from_child(finish)


def read_from_child(work: Callable[[], str]) -> str:
    """What `work` gives in a process of its own."""
    reader, writer = os.pipe()
    child = in_child(lambda: [os.write(writer, work().encode())])
    os.close(writer)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    if status != 0:
        raise SystemExit(f"A process after the kill failed with status {status}.")
    return text


def in_child(work: Callable[[], object]) -> int:
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
        text = json.dumps([library.remarks(), catalog_rows(library), chroma_rows(library)], sort_keys=True, default=bytes.hex)
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
