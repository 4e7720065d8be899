"""Memory and time of reading a large JSONL file of papers.

    python benchmarks/read_memory.py [COUNT] [--limit MB]

Writes COUNT (100,000) records of the usual size, reads them in a process of its own and prints its peak; exit code 1 above the limit.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rag.readers import read_papers
from rag.records import Paper


def main() -> int:
    """Prints records, seconds and peak memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=100_000)
    parser.add_argument("--limit", type=int, default=300)
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "papers.jsonl"
        _write(path, arguments.count)
        size = path.stat().st_size / 1e6
        start = time.perf_counter()
        count = sum(isinstance(record, Paper) for record in read_papers([path]))
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{count:,} papers ({size:.0f} MB) in {seconds:.1f} s, {count / seconds:,.0f}/s; peak {peak:.0f} MB, limit {arguments.limit} MB")
    return 0 if count == arguments.count and peak < arguments.limit else 1


def _write(path: Path, count: int) -> None:
    sentence = (
        "We study how the loss $L_{\\theta}$ of a model na\u00efvely trained on 5\\% of the data behaves, and find that it does well. "
    )
    with path.open("w", encoding="utf-8") as stream:
        for number in range(count):
            paper = {
                "id": f"p{number}", "title": f"Paper {number} on learning", "abstract": sentence * 10, "year": 2000 + number % 25,
                "authors": [f"Author {number} Name{each}" for each in range(5)], "venue": "ICLR 2025", "keywords": ["learning", "data"],
            }  # fmt: skip
            stream.write(json.dumps(paper, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())
