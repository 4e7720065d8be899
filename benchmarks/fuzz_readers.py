"""Damages one sample per layout and reads it, looking for crashes and hangs.

    python benchmarks/fuzz_readers.py [COUNT] [--seconds S] [--seed N]

Prints how many inputs were really read, per layout. Reading may give papers and rejected records and nothing else; anything else is
printed with the seed and number that bring it back, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from fuzz_samples import SAMPLES, TOKENS

from rag.readers import FORMATS, read_papers
from rag.records import Paper, Rejected

HANG_S = 10


def main() -> int:
    """Runs until the count or the time is reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=20_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    signal.signal(signal.SIGPROF, _hung)
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108 - spares the disk a million writes
    with TemporaryDirectory(dir=memory) as folder:
        run, failures = _fuzz(Path(folder) / "x", arguments.count, arguments.seconds, arguments.seed)
    for name, count in sorted(run.items()):
        print(f"{name:18} {count:9,}")
    print(f"{'all':18} {sum(run.values()):9,}   failures: {failures}")
    return 1 if failures else 0


def _fuzz(path: Path, count: int, seconds: float, seed: int) -> tuple[Counter[str], int]:
    run: Counter[str] = Counter()
    failures = 0
    end = time.monotonic() + seconds
    names = list(SAMPLES)
    for number in range(count):
        if time.monotonic() > end or failures > 20:
            break
        chance = random.Random(f"{seed}:{number}")  # noqa: S311
        name = names[number % len(names)]
        path.write_bytes(_damaged(SAMPLES[name], chance))
        forced = chance.choice(list(FORMATS)) if chance.random() < 0.1 else None
        if not _reads_well(path, forced, f"{name}, --seed {seed}, number {number}"):
            failures += 1
        run[name] += 1
        if (number + 1) % 20_000 == 0:
            print(f"{number + 1:,} read, {failures} failures", file=sys.stderr)
    return run, failures


def _reads_well(path: Path, forced: str | None, label: str) -> bool:
    signal.setitimer(signal.ITIMER_PROF, HANG_S)
    try:
        for record in read_papers([path], format=forced):
            if not isinstance(record, (Paper, Rejected)):
                raise TypeError(record)
            repr(record).encode()
    except BaseException as error:  # noqa: BLE001 - finding out what may come is the purpose
        if isinstance(error, KeyboardInterrupt):
            raise
        print(f"FAILED on {label} as {forced}:", file=sys.stderr)
        traceback.print_exc(limit=-4)
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return True


def _damaged(content: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.choice((1, 1, 2, 3, 5, 8))):
        content = chance.choice((_flipped, _cut, _repeated, _inserted, _inserted, _moved, _ended))(content, chance)
    return content


def _flipped(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(content) + 1)
    return content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :]


def _cut(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(content) + 1)
    return content[:place] + content[place + chance.randrange(1, 30) :]


def _repeated(content: bytes, chance: random.Random) -> bytes:
    place, length = chance.randrange(len(content) + 1), chance.randrange(1, 60)
    return content[:place] + content[place : place + length] * chance.choice((2, 3, 50)) + content[place + length :]


def _inserted(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(content) + 1)
    return content[:place] + chance.choice(TOKENS) + content[place:]


def _moved(content: bytes, chance: random.Random) -> bytes:
    place, target, length = chance.randrange(len(content) + 1), chance.randrange(len(content) + 1), chance.randrange(1, 80)
    return content[:target] + content[place : place + length] + content[target:]


def _ended(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content) + 1)]


def _hung(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"no end after {HANG_S} s of processor time")


if __name__ == "__main__":
    sys.exit(main())
