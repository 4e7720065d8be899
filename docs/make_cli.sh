#!/usr/bin/env bash
# Writes the CLI reference from the commands themselves. With --check: fails when the reference is out of date.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
target=docs; [ "${1:-}" = --check ] && target=$(mktemp -d)
COLUMNS=120 "$python" -m typer rag.cli.ask utils docs --name ask --title "ask" --output "$target/cli-ask.md" >/dev/null
COLUMNS=120 "$python" -m typer rag.cli.main utils docs --name rag --title "rag" --output "$target/cli-rag.md" >/dev/null
if [ "$target" != docs ]; then
  diff -u docs/cli-ask.md "$target/cli-ask.md" && diff -u docs/cli-rag.md "$target/cli-rag.md" || { echo "docs: run 'bash docs/make_cli.sh'" >&2; exit 1; }
fi
