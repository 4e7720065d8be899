"""Abstracts embedded per second, by batch size, on the given files of papers.

python benchmarks/embedding_speed.py FILE...
"""

from __future__ import annotations

import sys
import time

import rag.embedding.onnx as onnx
from rag.readers import read_papers
from rag.records import Paper


def main(paths: list[str]) -> None:
    """Prints a Markdown table; the last row repeats the first, to show how much the machine wavers."""
    texts = [f"{paper.title}. {paper.abstract}" for paper in read_papers(paths) if isinstance(paper, Paper)]
    embedder = onnx.MiniLM()
    embedder.warm()
    print(f"{len(texts)} abstracts\n\n| batch | abstracts/s |\n|---|---|")
    for batch in (4, 1, 8, 32, 4):
        onnx._BATCH = batch
        start = time.perf_counter()
        embedder.embed(texts)
        print(f"| {batch} | {len(texts) / (time.perf_counter() - start):.1f} |")


if __name__ == "__main__":
    main(sys.argv[1:])
