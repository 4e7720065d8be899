"""One chat completion: what is sent, and what comes of the reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Literal

from rag.errors import ModelError
from rag.models.abilities import TOKEN_PARAMETERS, Abilities, ServerMemory
from rag.models.calls import Caller, CallFailed, Wire
from rag.models.endpoint import Endpoint
from rag.models.faults import Fault, connection_error, empty_error, protocol_error, refusal_error
from rag.models.pump import Pump, Signal
from rag.models.reply import ReplyReader, thinks_silently
from rag.models.structured import is_strict
from rag.protocols import ChatDelta, ChatEnd, ChatRequest, Message

Produced = ChatDelta | ChatEnd | ModelError

PATH = "/chat/completions"
# Servers exist that ignore the token limit; a loop there would never end.
_CHARACTERS_PER_TOKEN = 16
_MAX_THOUGHT_CHARACTERS = 400_000


class ChatCall:
    """Produces the deltas and the end of one reply, or the error in their place."""

    def __init__(self, request: ChatRequest, endpoint: Endpoint, memory: ServerMemory, wire: Wire, deadline: float) -> None:
        self._request = request
        self._endpoint = endpoint
        self._memory = memory
        self._wire = wire
        self._deadline = deadline
        self._characters = 0
        self._most_characters = _CHARACTERS_PER_TOKEN * request.max_tokens

    def __call__(self, pump: Pump[Produced]) -> None:
        """Runs in the pump's thread."""
        caller = Caller(self._endpoint, self._memory, pump, self._deadline)
        try:
            end = caller.run(self._body, lambda body: self._send(body, pump), may_repeat=lambda: not self._characters)
        except CallFailed as failed:
            pump.put(ChatEnd("cut") if self._characters else failed.fault.error)
        else:
            pump.put(end)

    def _body(self, abilities: Abilities) -> dict[str, Any]:
        messages = _without_system(self._request.messages) if "system" in abilities.rejected else self._request.messages
        optional = {
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            **self._token_limit(abilities),
            **_response_format(self._request.schema, abilities),
        }
        if "stream" in abilities.rejected:
            del optional["stream_options"]
        accepted = {name: value for name, value in optional.items() if name not in abilities.rejected}
        plain = [{"role": message.role, "content": message.content} for message in messages]
        return {"model": self._endpoint.model, "messages": plain, **accepted}

    def _token_limit(self, abilities: Abilities) -> dict[str, int]:
        # Only OpenAI's own service is sure to know the newer name; its reasoning models refuse the older one.
        names = reversed(TOKEN_PARAMETERS) if self._endpoint.is_openai else iter(TOKEN_PARAMETERS)
        accepted = next((name for name in names if name not in abilities.rejected), None)
        return {accepted: self._request.max_tokens} if accepted else {}

    def _send(self, body: dict[str, Any], pump: Pump[Produced]) -> ChatEnd:
        silent = thinks_silently(self._endpoint.model) or self._memory.of(self._endpoint).thinks_silently
        reader = ReplyReader(silent=silent)
        with closing(self._wire.events(PATH, body, pump)) as events:  # type: ignore[type-var]
            for event in events:
                self._read(reader, event, pump)
                if pump.abandoned:
                    break
                if self._is_endless(reader):
                    reader.finish = "length"
                    break
        self._tell(reader.close(), pump)
        if reader.thought_unannounced:
            self._memory.learn(self._endpoint, replace(self._memory.of(self._endpoint), thinks_silently=True))
        return self._end(reader)

    def _read(self, reader: ReplyReader, event: object, pump: Pump[Produced]) -> None:
        thoughts = reader.thought_characters
        try:
            text = reader.read(event)
        except ValueError as error:
            raise CallFailed(Fault(protocol_error(self._endpoint, str(error)))) from error
        self._tell(text, pump)
        if reader.thought_characters > thoughts:
            pump.put(Signal.ALIVE)

    def _tell(self, text: str, pump: Pump[Produced]) -> None:
        if text.strip() or (text and self._characters):
            room = self._most_characters - self._characters
            self._characters += len(text)
            if room > 0:
                pump.put(ChatDelta(text[:room]))

    def _is_endless(self, reader: ReplyReader) -> bool:
        return self._characters > self._most_characters or reader.thought_characters > _MAX_THOUGHT_CHARACTERS

    def _end(self, reader: ReplyReader) -> ChatEnd:
        if not self._characters:
            raise CallFailed(self._silence(reader))
        finish = _finish(reader.finish)
        return ChatEnd(finish, *reader.usage)

    def _silence(self, reader: ReplyReader) -> Fault:
        if not reader.events:
            return Fault(protocol_error(self._endpoint, "no chat completion"))
        if reader.refusal:
            return Fault(refusal_error(self._endpoint, reader.refusal))
        if reader.finish == "content_filter":
            return Fault(refusal_error(self._endpoint, "its content filter stopped the reply"))
        if reader.finish == "length":
            limit = self._request.max_tokens
            return Fault(empty_error(self._endpoint, f"used up its {limit} completion tokens before the first word of the answer"))
        if not reader.has_choice:
            return Fault(empty_error(self._endpoint, "sent a reply without choices"))
        if reader.finish is None:
            return Fault(connection_error(self._endpoint, "it ended the reply before the first word"), retry=True)
        return Fault(empty_error(self._endpoint, "sent an empty reply"))


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """The same words where a model's template knows no system role: in front of the first message of the user."""
    rules = "\n\n".join(message.content for message in messages if message.role == "system")
    others = [message for message in messages if message.role != "system"]
    first = next((place for place, message in enumerate(others) if message.role == "user"), 0)
    return [Message("user", f"{rules}\n\n{other.content}") if place == first else other for place, other in enumerate(others)]


def _finish(reason: str | None) -> Literal["stop", "length", "content_filter", "cut"]:
    if reason is None:
        return "cut"
    return reason if reason in ("length", "content_filter") else "stop"  # type: ignore[return-value]


def _response_format(schema: Mapping[str, Any] | None, abilities: Abilities) -> dict[str, Any]:
    if schema is None or abilities.format == "none":
        return {}
    if abilities.format == "json_object":
        return {"response_format": {"type": "json_object"}}
    named = {"name": "reply", "schema": dict(schema), "strict": is_strict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": named}}
