"""The check by a chat model: all statements in one request, the local check kept where it knows better."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import Any, Protocol

from rag.errors import ModelError, RagError, SourceError, UsageError
from rag.models.structured import read_json
from rag.protocols import ChatDelta, ChatEnd, ChatModel, ChatRequest, Message
from rag.records import Paper, Support, Verdict
from rag.resources import bundled
from rag.text.tokens import count_tokens

VERIFY_VARIABLES = frozenset({"papers", "statements", "count"})
"""What the prompt `verify.md` must hold."""

_TOKENS_PER_VERDICT = 24
_REPLY_OVERHEAD = 60
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "verdicts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "number": {"type": "integer"},
                    "verdict": {"type": "string", "enum": ["supported", "partial", "contradicted", "unsupported"]},
                },
                "required": ["number", "verdict"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["verdicts"],
    "additionalProperties": False,
}
_MEANINGS: Mapping[str, tuple[Support, float, str | None]] = {
    "supported": ("supported", 0.9, None),
    "partial": ("weak", 0.5, "the model finds only a part of it in the abstract"),
    "contradicted": ("unsupported", 0.02, "the model finds the opposite in the abstract"),
    "unsupported": ("unsupported", 0.1, "the model does not find it in the abstract"),
}
_SYNONYMS = {
    "partially supported": "partial",
    "partly": "partial",
    "weak": "partial",
    "yes": "supported",
    "no": "unsupported",
    "entailed": "supported",
}

Pairs = Sequence[tuple[str, Paper]]


class Checker(Protocol):
    """What gives verdicts: the local `Verifier`, or the model."""

    def check_many(self, pairs: Pairs) -> list[Verdict]:
        """A verdict for each pair of statement and paper, in order."""


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """The verdicts of one round, and a line for the reader when the model could not give all of them."""

    verdicts: tuple[Verdict, ...]
    note: str | None = None


class ModelVerifier:
    """Gives the verdicts of a chat model wherever `local` did not find a quotation; `note` hears of it when the model fails.

    A figure that the local check did not find stays `unsupported` whatever the model says.
    """

    def __init__(self, local: Checker, model: ChatModel, note: Callable[[str], None], prompts: Path | None = None) -> None:
        self._local = local
        self._model = model
        self._note = note
        self._prompts = prompts

    def check_many(self, pairs: Pairs) -> list[Verdict]:
        """A verdict for each pair, in order; at most one request."""
        check = verify_with_model(self._model, pairs, self._local.check_many(pairs), prompts=self._prompts)
        if check.note:
            self._note(check.note)
        return list(check.verdicts)


def verify_with_model(model: ChatModel, pairs: Pairs, local: Sequence[Verdict], *, prompts: Path | None = None) -> ModelCheck:
    """Asks `model` about all pairs that are no quotations, in one request with step `verify`.

    `local` gives the local verdict on each pair, which stands where the model is not asked, fails, or leaves a statement out. A model that
    generates nothing is not asked. `prompts` is a folder whose `verify.md` goes before the bundled one; raises `UsageError` or
    `SourceError` when that prompt cannot be used.
    """
    open_rows = [row for row, verdict in enumerate(local) if verdict.support != "quoted"]
    if not open_rows:
        return ModelCheck(tuple(local))
    if not model.generative:
        return ModelCheck(tuple(local), f"The model {model.name} cannot check statements; they were checked by wording and meaning.")
    template = _template(prompts)
    rows, request = _fitting(model, template, pairs, open_rows)
    if not rows:
        return ModelCheck(tuple(local), f"The papers do not fit {model.name}'s context; statements were checked by wording and meaning.")
    try:
        said = _meanings(_reply(model, request), len(rows))
    except RagError as error:
        return ModelCheck(
            tuple(local), f"Checking by the model failed ({str(error).rstrip('.')}); statements were checked by wording and meaning."
        )
    verdicts = list(local)
    for number, row in enumerate(rows, 1):
        if number in said:
            verdicts[row] = _combined(local[row], said[number])
    left_out = len(open_rows) - len(said)
    note = (
        f"The model gave no verdict on {left_out} of {len(open_rows)} citations; these were checked by wording and meaning."
        if left_out
        else None
    )
    return ModelCheck(tuple(verdicts), note)


def _combined(local: Verdict, meaning: str) -> Verdict:
    support, score, problem = _MEANINGS[meaning]
    if local.support == "unsupported" and (local.problem or "").startswith("number "):
        return local
    return replace(local, support=support, score=score, problem=problem)


def _fitting(model: ChatModel, template: Template, pairs: Pairs, rows: Sequence[int]) -> tuple[list[int], ChatRequest]:
    """As many of the rows, from the front, as fit the model's context, and their request."""
    taken = list(rows)
    request = _request(template, [pairs[row] for row in taken])
    while taken and count_tokens(request.messages[0].content, model.name) + request.max_tokens > model.context_tokens:
        taken = taken[: len(taken) * 3 // 4]
        request = _request(template, [pairs[row] for row in taken])
    return taken, request


def _request(template: Template, pairs: Pairs) -> ChatRequest:
    papers = list({paper.id: paper for _, paper in pairs}.values())
    numbers = {paper.id: number for number, paper in enumerate(papers, 1)}
    prompt = template.substitute(
        papers="\n".join(_line(paper=numbers[paper.id], title=paper.title, abstract=paper.abstract) for paper in papers),
        statements="\n".join(_line(number=n, paper=numbers[paper.id], statement=text) for n, (text, paper) in enumerate(pairs, 1)),
        count=len(pairs),
    )
    return ChatRequest("verify", (Message("user", prompt.strip()),), _TOKENS_PER_VERDICT * len(pairs) + _REPLY_OVERHEAD, schema=_SCHEMA)


def _line(**values: object) -> str:
    """JSON keeps the text of a paper from posing as anything else: no line break, no closing quote."""
    return json.dumps(values, ensure_ascii=False)


def _reply(model: ChatModel, request: ChatRequest) -> str:
    pieces: list[str] = []
    for event in model.stream(request):
        if isinstance(event, ChatDelta):
            pieces.append(event.text)
        elif isinstance(event, ChatEnd) and event.finish == "content_filter":
            raise ModelError("The model refused to check the statements.", kind="refusal")
    return "".join(pieces)


def _meanings(reply: str, count: int) -> dict[int, str]:
    """Statement number to verdict, for those that the reply gives legibly; a bare list is taken in order."""
    found = read_json(reply)
    listed = found.get("verdicts", found.get("results", [])) if isinstance(found, Mapping) else found
    if isinstance(found, Mapping) and not isinstance(listed, list | Mapping) or listed == [] and isinstance(found, Mapping):
        listed = found
    items = listed.items() if isinstance(listed, Mapping) else [_item(position, item) for position, item in enumerate(listed, 1)]
    said = {_number(number): _meaning(word) for number, word in items}
    return {number: word for number, word in said.items() if 1 <= number <= count and word}


def _item(position: int, item: object) -> tuple[object, object]:
    if isinstance(item, Mapping):
        return item.get("number", position), item.get("verdict", item.get("label", ""))
    return position, item


def _number(value: object) -> int:
    text = str(value).strip().strip("[]#.")
    return int(text) if text.isdecimal() else 0


def _meaning(value: object) -> str:
    word = str(value).strip().lower().strip(".")
    word = _SYNONYMS.get(word, word)
    return word if word in _MEANINGS else ""


def _template(folder: Path | None) -> Template:
    own = folder.expanduser() / "verify.md" if folder else None
    path = own if own is not None and own.is_file() else bundled("prompts") / "verify.md"
    try:
        template = Template(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"Cannot read the prompt {path}: {error}. Put it back, or unset RAG_PROMPTS.") from error
    if not template.is_valid() or set(template.get_identifiers()) != VERIFY_VARIABLES:
        wanted = ", ".join(f"${name}" for name in sorted(VERIFY_VARIABLES))
        raise UsageError(f"The prompt {path} must hold the variables {wanted} and no other. Correct it, or unset RAG_PROMPTS.")
    return template
