"""Ways for a model server to go wrong; each function gives one `Reply` (or a responder)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from openai_server.replies import Reply, Request, Responder

LEAK = "sk-leaked-by-the-server-1234567890"
"""A key that error replies echo, as real servers do; it must never reach a user."""


def _error(
    status: int, message: str, *, code: str | None = None, param: str | None = None, kind: str = "invalid_request_error", **headers: str
) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, headers=named, error={"message": message, "type": kind, "param": param, "code": code})


def unauthorized() -> Reply:
    """401 whose message echoes a key."""
    return _error(401, f"Incorrect API key provided: {LEAK}.", code="invalid_api_key")


def model_not_found(model: str = "no-such-model") -> Reply:
    """404 for an unknown model."""
    return _error(404, f"The model `{model}` does not exist or you do not have access to it.", code="model_not_found")


def rate_limited(retry_after: str = "0") -> Reply:
    """429 with Retry-After."""
    return _error(429, "Rate limit reached for requests", code="rate_limit_exceeded", kind="requests", Retry_After=retry_after)


def quota_exhausted() -> Reply:
    """429 that no retry can cure."""
    return _error(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        code="insufficient_quota",
        kind="insufficient_quota",
    )


def server_error() -> Reply:
    """500."""
    return _error(500, "The server had an error while processing your request", kind="server_error")


def unavailable(retry_after: str = "0") -> Reply:
    """503 with Retry-After."""
    return _error(503, "The engine is currently overloaded", kind="server_error", Retry_After=retry_after)


def forbidden() -> Reply:
    """403."""
    return _error(403, "Country, region, or territory not supported", code="unsupported_country_region_territory")


def context_overflow(limit: int = 4096, asked: int = 9000) -> Reply:
    """400 about context length, in OpenAI's words."""
    message = f"This model's maximum context length is {limit} tokens. However, your messages resulted in {asked} tokens."
    return _error(400, message, code="context_length_exceeded", param="messages")


def context_overflow_plain(limit: int = 2048, asked: int = 3000) -> Reply:
    """400 about context length in llama.cpp's words, without a code."""
    return _error(400, f"Requested tokens ({asked}) exceed context window of {limit}")


def bad_request(message: str = "Something else is wrong with this request") -> Reply:
    """400 about none of the known matters."""
    return _error(400, message)


def slow_first_byte(seconds: float = 60.0, text: str = "Late [1].") -> Reply:
    """Nothing at all for a while."""
    return Reply(text, first_byte_s=seconds)


def stall(text: str = "Turn-taking is studied by one paper [1]. More follows.", *, after: int = 3, seconds: float = 60.0) -> Reply:
    """Silence in mid-stream."""
    return Reply(text, stall_after=after, stall_s=seconds)


def cut(text: str = "Turn-taking is studied by one paper [1]. More follows.", *, after: int = 3) -> Reply:
    """The connection drops in mid-stream."""
    return Reply(text, cut_after=after)


def unfinished(text: str = "Turn-taking is studied") -> Reply:
    """The stream ends politely, but without a finish_reason."""
    return Reply(text, unfinished=True)


def error_in_stream(text: str = "Turn-taking is studied by one paper [1].", *, after: int = 3) -> Reply:
    """An error event in mid-stream."""
    return Reply(text, error_after=after)


def invalid_json() -> Reply:
    """200 whose body is no JSON (nor an event stream)."""
    return Reply(raw=b"<html><body>It works!</body></html>", content_type="text/html")


def broken_json() -> Reply:
    """200 that says JSON and breaks off."""
    return Reply(raw=b'{"id": "x", "choices": [{"message": {"con')


def invalid_sse() -> Reply:
    """An event whose data is no JSON."""
    return Reply(raw=b'data: {"choices": [{"delta": {"content": \n\ndata: not json\n\n', content_type="text/event-stream")


def foreign_json() -> Reply:
    """Valid JSON of some other service."""
    return Reply(raw=b'{"status": "ok", "version": 3}')


def empty_choices() -> Reply:
    """Well-formed, with no choice in it."""
    return Reply(choices=False, usage=None)


def empty_text() -> Reply:
    """Well-formed, with no text in it."""
    return Reply("", deltas=())


def truncated(text: str = "Turn-taking is studied by one paper [1]. Another") -> Reply:
    """finish_reason=length."""
    return Reply(text, finish="length")


def filtered(text: str = "") -> Reply:
    """finish_reason=content_filter."""
    return Reply(text, finish="content_filter")


def refusal(words: str = "I'm sorry, I can't help with that.") -> Reply:
    """The refusal field instead of content."""
    return Reply(refusal=words)


def invented_citations() -> Reply:
    """Cites numbers that no prompt held."""
    return Reply("Turn-taking is studied [1], as shown by others [97][98], and again [99].")


def split_brackets(text: str = "Turn-taking is studied [1], also [1, 2] and [2-3].") -> Reply:
    """One character per delta, so that every bracket is split."""
    return Reply(deltas=tuple(text))


def without_usage(text: str = "Turn-taking is studied [1].") -> Reply:
    """No usage anywhere."""
    return Reply(text, usage=None)


def thinking(text: str = "Turn-taking is studied [1].", thought: str = "Let me see [9].") -> Reply:
    """Thoughts in the text itself, tags split over deltas."""
    return Reply(deltas=("<th", "ink>", thought, "</thi", "nk>\n\n", text))


def huge(megabytes: int = 10) -> Reply:
    """A reply of so many megabytes."""
    return Reply(deltas=tuple(["word " * 13_107] * (16 * megabytes)))


def endless(piece: str = "again and ") -> Reply:
    """A stream that never ends."""

    def events() -> Iterator[bytes]:
        for _ in itertools.count():
            yield (
                b'data: {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "'
                + piece.encode()
                + b'"}}]}\n\n'
            )

    return Reply(raw=events(), content_type="text/event-stream")


def drip(seconds: float = 0.05) -> Responder:
    """A fresh endless stream that says one word now and then, so that it never times out between bytes."""
    return lambda request: replace(Reply(deltas=("word ",) * 100_000), pause_s=seconds)


def redirect(url: str) -> Reply:
    """307 to another address."""
    return Reply(status=307, headers={"Location": url}, raw=b"")


def rejecting(*parameters: str, then: Reply | str = "Turn-taking is studied [1].") -> Responder:
    """400 naming the first of these parameters that the request carries; `then` once none is left."""

    def respond(request: Request) -> Reply | str:
        for name in parameters:
            if name in request.body:
                return _error(
                    400, f"Unsupported parameter: '{name}' is not supported with this model.", code="unsupported_parameter", param=name
                )
        return then

    return respond


def requiring_max_completion_tokens(then: Reply | str = "Turn-taking is studied [1].") -> Responder:
    """A reasoning model's 400: use max_completion_tokens, not max_tokens."""

    def respond(request: Request) -> Reply | str:
        if "max_tokens" in request.body:
            message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
            return _error(400, message, code="unsupported_parameter", param="max_tokens")
        return then

    return respond


def requiring_max_tokens(then: Reply | str = "Turn-taking is studied [1].") -> Responder:
    """An older server that validates strictly and knows max_tokens only."""

    def respond(request: Request) -> Reply | str:
        if "max_completion_tokens" in request.body:
            return Reply(
                status=422, raw=b'{"detail": [{"loc": ["body", "max_completion_tokens"], "msg": "Extra inputs are not permitted"}]}'
            )
        return then

    return respond


def rejecting_system_role(then: Reply | str = "Turn-taking is studied [1].") -> Responder:
    """A model whose template has no system role, as llama.cpp reports it."""

    def respond(request: Request) -> Reply | str:
        return _error(500, "Jinja Exception: System role not supported", kind="server_error") if request.system else then

    return respond


def rejecting_schema(then: Reply | str = '{"ok": true}') -> Responder:
    """Knows `json_object` but not `json_schema`."""

    def respond(request: Request) -> Reply | str:
        if request.body.get("response_format", {}).get("type") == "json_schema":
            return _error(
                400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", param="response_format"
            )
        return then

    return respond
