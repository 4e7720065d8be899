"""The listening half: sockets, chunks and events; what to say comes from the script."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from openai_server.replies import Reply, Request, Scripted

Predicate = Callable[[Request], bool]


class FakeServer:
    """Serves `/v1/chat/completions`, `/v1/embeddings` and `/v1/models` on loopback.

    What a chat request gets, in this order: the first `on` rule that applies, the next reply of `script`, `default`.
    """

    def __init__(
        self, *, default: Scripted = "The papers say this [1].", dimension: int = 16, models: Sequence[str] = ("test-model",)
    ) -> None:
        self.default = default
        self.dimension = dimension
        self.models = tuple(models)
        self.requests: list[Request] = []
        self.embedding_replies: list[Reply] = []
        """Replies to the next embedding requests; vectors when empty."""
        self.stopping = threading.Event()
        self._script: list[Scripted] = []
        self._rules: list[tuple[Predicate, Scripted, list[int]]] = []
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.fake = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """What `OPENAI_BASE_URL` is set to."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def chats(self) -> list[Request]:
        """The chat requests so far."""
        return [request for request in self.requests if request.path.partition("?")[0].endswith("/chat/completions")]

    def script(self, replies: Iterable[Scripted]) -> None:
        """Appends replies, one per chat request, in order."""
        with self._lock:
            self._script += list(replies)

    def on(self, when: Predicate | str, reply: Scripted, *, times: int = 1_000_000) -> None:
        """Answers requests that `when` fits (a string: contained in the messages) with `reply`, at most `times` times."""
        predicate = (lambda request: when in request.text) if isinstance(when, str) else when
        with self._lock:
            self._rules.append((predicate, reply, [times]))

    def reset(self) -> None:
        """Forgets script, rules and requests."""
        with self._lock:
            self._script.clear()
            self._rules.clear()
            self.requests.clear()
            self.embedding_replies.clear()

    def close(self) -> None:
        """Stops listening and wakes every stalled reply."""
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=5)

    def __enter__(self) -> FakeServer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def reply_to(self, request: Request) -> Reply:
        """Chooses the reply to a chat request."""
        with self._lock:
            self.requests.append(request)
            scripted = self._choose(request)
        answer = scripted(request) if callable(scripted) else scripted
        return Reply(answer) if isinstance(answer, str) else answer

    def _choose(self, request: Request) -> Scripted:
        for predicate, reply, left in self._rules:
            if left[0] > 0 and predicate(request):
                left[0] -= 1
                return reply
        return self._script.pop(0) if self._script else self.default


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    fake: FakeServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def log_message(self, format: str, *args: object) -> None:
        """Stays silent."""

    def do_GET(self) -> None:
        request = self._request({})
        with self.server.fake._lock:
            self.server.fake.requests.append(request)
        if self._route() == "/v1/models":
            data = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in self.server.fake.models]
            return self._json(200, {"object": "list", "data": data})
        return self._json(404, {"error": {"message": f"No route {self.path}"}})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = self._request(json.loads(raw or b"{}"))
        if self._route() == "/v1/chat/completions":
            return self._chat(request, self.server.fake.reply_to(request))
        if self._route() == "/v1/embeddings":
            return self._embeddings(request)
        return self._json(404, {"error": {"message": f"No route {self.path}"}})

    def _route(self) -> str:
        return self.path.partition("?")[0].rstrip("/")

    def _request(self, body: dict[str, Any]) -> Request:
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Request(self.command, self.path, headers, body, time.monotonic())

    def _embeddings(self, request: Request) -> None:
        fake = self.server.fake
        with fake._lock:
            fake.requests.append(request)
            reply = fake.embedding_replies.pop(0) if fake.embedding_replies else None
        if reply is not None:
            return self._chat(request, reply)
        texts = request.body["input"]
        texts = [texts] if isinstance(texts, str) else texts
        packed = request.body.get("encoding_format") == "base64"
        size = int(request.body.get("dimensions") or fake.dimension)
        data = [
            {"object": "embedding", "index": i, "embedding": _packed(vector(t, size)) if packed else vector(t, size)}
            for i, t in enumerate(texts)
        ]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        return self._json(200, {"object": "list", "model": request.body.get("model"), "data": data, "usage": usage})

    def _chat(self, request: Request, reply: Reply) -> None:
        self._wait(reply.first_byte_s)
        if self.server.fake.stopping.is_set():
            self.close_connection = True
            return
        if reply.raw is not None:
            self._raw(reply)
        elif reply.error is not None or reply.status >= 400:
            self._json(reply.status, {"error": reply.error or {"message": "failed"}}, reply)
        elif request.body.get("stream"):
            self._stream(request, reply)
        else:
            self._json(reply.status, _completion(request, reply), reply)

    def _raw(self, reply: Reply) -> None:
        if isinstance(reply.raw, bytes):
            self._head(reply.status, reply.content_type, reply, length=len(reply.raw))
            self.wfile.write(reply.raw)
            return
        self._head(reply.status, reply.content_type, reply)
        for piece in reply.raw or ():
            if self.server.fake.stopping.is_set():
                break
            self._chunk(piece)
        self._chunk(b"")

    def _stream(self, request: Request, reply: Reply) -> None:
        self._head(200, "text/event-stream", reply)
        for event in self._events(request, reply):
            if not reply.choices:
                event["choices"] = []
            self._chunk(b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n")
        if self.close_connection:
            return
        if not reply.unfinished:
            self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _events(self, request: Request, reply: Reply) -> Iterator[dict[str, Any]]:
        yield _event(request, [_choice({"role": "assistant", "content": ""})])
        for name, text in (("reasoning_content", reply.reasoning), ("refusal", reply.refusal)):
            if text:
                yield _event(request, [_choice({name: text})])
        for count, piece in enumerate(reply.pieces):
            if self._misbehaves(reply, count):
                return
            if count == reply.error_after:
                yield {"error": {"message": "The server had an error in mid-stream", "type": "server_error"}}
                return
            yield _event(request, [_choice({"content": piece})])
        if self._misbehaves(reply, len(reply.pieces)) or reply.unfinished:
            return
        yield _event(request, [_choice({}, reply.finish)])
        if reply.usage and (request.body.get("stream_options") or {}).get("include_usage"):
            yield {**_event(request, []), "usage": _usage(reply.usage)}

    def _misbehaves(self, reply: Reply, count: int) -> bool:
        self._wait(reply.pause_s)
        if count == reply.stall_after:
            self._wait(reply.stall_s)
        if count == reply.cut_after or self.server.fake.stopping.is_set():
            self.close_connection = True
            return True
        return False

    def _wait(self, seconds: float) -> None:
        if seconds:
            self.server.fake.stopping.wait(seconds)

    def _json(self, status: int, body: object, reply: Reply | None = None) -> None:
        raw = json.dumps(body, ensure_ascii=False).encode()
        self._head(status, "application/json", reply or Reply(), length=len(raw))
        self.wfile.write(raw)

    def _head(self, status: int, content_type: str, reply: Reply, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header(*(("Transfer-Encoding", "chunked") if length is None else ("Content-Length", str(length))))
        self.end_headers()

    def _chunk(self, piece: bytes) -> None:
        self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")


def vector(text: str, size: int) -> list[float]:
    """A unit vector that depends on the text alone: signed hashes of its words, so that texts sharing words lie close."""
    values = [0.0] * size
    for word in text.lower().split() or [""]:
        digest = hashlib.sha256(word.encode()).digest()
        values[digest[0] % size] += 1.0 if digest[1] % 2 else -1.0
    norm = sum(value * value for value in values) ** 0.5 or 1.0
    return [value / norm for value in values]


def _packed(values: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish}


def _event(request: Request, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 0, "model": request.body.get("model"), "choices": choices}


def _completion(request: Request, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.full_text, "refusal": reply.refusal or None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    choices = [{"index": 0, "message": message, "finish_reason": reply.finish}] if reply.choices else []
    body: dict[str, Any] = {
        "id": "chatcmpl-test",
        "object": "chat.completion",
        "created": 0,
        "model": request.body.get("model"),
        "choices": choices,
    }
    return body | ({"usage": _usage(reply.usage)} if reply.usage else {})
