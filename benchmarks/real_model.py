r"""Asks a real chat model questions through the whole pipeline and keeps everything, to be judged by hand.

    OPENAI_BASE_URL=http://127.0.0.1:8080/v1 RAG_MODEL=NAME RAG_CONTEXT_TOKENS=4096 RAG_TIMEOUT_S=600 \
        python benchmarks/real_model.py QUESTIONS.jsonl [-k 3] [--log RUN.jsonl]

QUESTIONS has one object per line: `question`, and where known `id`, `papers` (ids of the papers that answer it) and `answer_any`
(strings of which a right answer holds one). The log gets one line per question, at once: the model's replies step by step with their
prompts, the final answer with statements and verdicts, what was dropped, notes, tokens and seconds. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rag import Assistant, RagError
from rag.models import open_model
from rag.protocols import ChatDelta, ChatEnd, ChatModel, ChatRequest
from rag.records import Answer
from rag.settings import Settings


class Recording:
    """A chat model whose replies are kept."""

    generative = True

    def __init__(self, model: ChatModel) -> None:
        self.name = model.name
        self.calls: list[dict[str, Any]] = []
        self._model = model

    @property
    def context_tokens(self) -> int:
        """As the model says."""
        return self._model.context_tokens

    def stream(self, request: ChatRequest) -> Iterator[ChatDelta | ChatEnd]:
        """The model's events; the call is kept however it ends."""
        call: dict[str, Any] = {"step": request.step, "prompt": [asdict(m) for m in request.messages], "reply": "", "finish": "none"}
        call["sources"] = {source.number: source.paper.id for source in request.sources}
        self.calls.append(call)
        start = time.perf_counter()
        try:
            for event in self._model.stream(request):
                if isinstance(event, ChatDelta):
                    call["reply"] += event.text
                else:
                    call["finish"] = event.finish
                yield event
        finally:
            call["seconds"] = round(time.perf_counter() - start, 1)


def asked(assistant: Assistant, model: Recording, item: dict[str, Any], k: int) -> dict[str, Any]:
    """One question's record: the calls, then the answer or the error."""
    model.calls.clear()
    start = time.perf_counter()
    try:
        answer = assistant.ask(item["question"], k=k)
        outcome = {**_kept(answer), **_scored(answer, item)}
    except RagError as error:
        outcome = {"error": str(error)}
    return {**item, "calls": list(model.calls), **outcome, "seconds": round(time.perf_counter() - start, 1)}


def _kept(answer: Answer) -> dict[str, Any]:
    fields = ("text", "abstained", "reason", "mode", "dropped", "notes", "finish", "scanned", "judged", "matched")
    cited = {c.number: c.paper.id for c in answer.citations}
    statements = [asdict(statement) for statement in answer.statements]
    return {**{name: getattr(answer, name) for name in fields}, "cited": cited, "statements": statements, "usage": asdict(answer.usage)}


def _scored(answer: Answer, item: dict[str, Any]) -> dict[str, bool]:
    """What can be told without reading: the right papers cited (or abstained, when there are none), the right string given."""
    wanted = set(item.get("papers", ()))
    found = answer.abstained if not wanted else bool(wanted & {c.paper.id for c in answer.citations})
    accepted = item.get("answer_any", ())
    return {"found": found, "told": not accepted or any(text in answer.text for text in accepted)}


def _row(record: dict[str, Any]) -> str:
    verdicts = [statement["verdict"] for statement in record.get("statements", ())]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))
    steps = ", ".join(call["step"] for call in record["calls"])
    outcome = record.get("error") or ("abstained" if record["abstained"] else counts)
    notes = "; ".join(record.get("notes", ()))
    flags = " | ".join("yes" if record.get(name) else "no" for name in ("found", "told"))
    return f"| {record['question']} | {steps} | {outcome} | {flags} | {notes} | {record['seconds']} |"


def main() -> None:
    """Asks the questions in order."""
    parser = argparse.ArgumentParser(description="Asks a real chat model questions and keeps everything.")
    parser.add_argument("questions", type=Path)
    parser.add_argument("-k", type=int, default=4, help="papers in a prompt")
    parser.add_argument("--log", type=Path, help="file that gets one JSON line per question")
    given = parser.parse_args()
    model = Recording(open_model(Settings.resolve()))
    print(f"Model {model.name}, context {model.context_tokens} tokens, k={given.k}.\n")
    print("| question | steps | outcome | right paper | right string | notes | seconds |\n|---|---|---|---|---|---|---|")
    with Assistant(chat_model=model) as assistant:
        for line in given.questions.read_text(encoding="utf-8").splitlines():
            record = asked(assistant, model, json.loads(line), given.k)
            print(_row(record), flush=True)
            if given.log:
                with given.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(record, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
