"""What checking adds to an offline answer: `python benchmarks/checking_speed.py QUESTIONS.jsonl [--rounds 5] [--json]`.

Every question is answered from the bundled corpus with checking off and on in turn, in one process after a warm-up; what the check has
read of papers and statements is forgotten before each answer. The difference of a question is that of its median times.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

from rag.answering import Answerer, AskOptions
from rag.assistant import Assistant
from rag.verification import readings

WARM_UP = 5


def seconds(answerer: Answerer, question: str, verify: str) -> float:
    """How long one answer takes."""
    readings.read_paper.cache_clear()
    readings.read_statement.cache_clear()
    start = time.perf_counter()
    answerer.ask(question, AskOptions(verify=verify))  # type: ignore[arg-type]  # one of the known ways
    return time.perf_counter() - start


def added(answerer: Answerer, question: str, rounds: int) -> tuple[float, float]:
    """Median seconds without checking, and what checking adds to them."""
    times: dict[str, list[float]] = {"off": [], "local": []}
    for _ in range(rounds):
        for verify, own in times.items():
            own.append(seconds(answerer, question, verify))
    without = statistics.median(times["off"])
    return without, statistics.median(times["local"]) - without


def main() -> None:
    """Prints the medians over all questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    questions = [json.loads(line)["question"] for line in options.file.read_text(encoding="utf-8").splitlines() if line.strip()]
    with tempfile.TemporaryDirectory() as home:
        answerer = Assistant(corpus="seeds", model="offline", home=Path(home)).answerer
        for question in questions[:WARM_UP]:
            seconds(answerer, question, "local")
        found = [added(answerer, question, options.rounds) for question in questions]
    without, extra = (sorted(values) for values in zip(*found, strict=True))
    figures = {
        "questions": len(questions),
        "answer_ms": round(1000 * statistics.median(without), 1),
        "checking_ms": round(1000 * statistics.median(extra), 1),
        "checking_p95_ms": round(1000 * extra[int(0.95 * (len(extra) - 1))], 1),
    }
    print(json.dumps(figures) if options.json else "\n".join(f"{name}: {value}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
