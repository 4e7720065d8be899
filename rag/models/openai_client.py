"""Hosted models, through the `openai` package; the only file that imports it.

Requests go through the client's generic `post`, plain dictionaries in and out: servers that only resemble OpenAI's leave
fields out or fill them with other types, and the typed objects would hide that until an attribute is missing.
"""

from __future__ import annotations

import json
import math
import socket
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rag.errors import ModelError
from rag.models.abilities import ServerMemory, server_memory
from rag.models.calls import Caller, CallFailed
from rag.models.chat_call import ChatCall, Produced
from rag.models.context import known_context_tokens
from rag.models.endpoint import DEFAULT_MODEL, Endpoint
from rag.models.faults import Fault, connection_error, protocol_error, status_fault, stream_fault, timeout_error
from rag.models.pump import Pump, Signal
from rag.protocols import ChatDelta, ChatEnd, ChatRequest
from rag.settings import Settings

if TYPE_CHECKING:
    import openai

Result = TypeVar("Result")

_CONNECT_S = 10.0
_LISTING_S = 2.0
_MAX_OFFERED = 6
_MAX_BODY_BYTES = 32_000_000
_BATCH = 64


class OpenAIChat:
    """A chat model behind the OpenAI protocol: OpenAI's own service, or any server at `OPENAI_BASE_URL`."""

    def __init__(self, settings: Settings, model: str) -> None:
        self._settings = settings
        self._endpoint = Endpoint.of(settings, model)
        self._memory = server_memory(settings.home_folder)

    @property
    def name(self) -> str:
        """The model's name as the server knows it."""
        return self._endpoint.model

    @property
    def generative(self) -> bool:
        """True: it can rewrite, judge and repair."""
        return True

    @property
    def context_tokens(self) -> int:
        """From the settings, else what the server once named, else what is known of the model, else 8,192."""
        learned = self._memory.of(self._endpoint).context_tokens
        return self._settings.context_tokens or learned or known_context_tokens(self._endpoint.model)

    def stream(self, request: ChatRequest) -> Iterator[ChatDelta | ChatEnd]:
        """Deltas, then one `ChatEnd`.

        The first delta, with all retries before it, and every later one come within `timeout_s`. Raises `ModelError` before
        the first delta; later faults end with `ChatEnd("cut")`.
        """
        wire = self._wire
        deadline = time.monotonic() + self._endpoint.timeout_s
        pump: Pump[Produced] = Pump(ChatCall(request, self._endpoint, self._memory, wire, deadline))
        spoke = False
        try:
            while True:
                item = pump.get(deadline - time.monotonic())
                if item is Signal.STALLED and spoke:
                    item = ChatEnd("cut")
                if isinstance(item, ChatDelta | ChatEnd):
                    spoke = True
                    yield item
                    if isinstance(item, ChatEnd):
                        return
                elif item is not Signal.ALIVE:
                    raise _error(item, self._endpoint)
                deadline = time.monotonic() + self._endpoint.timeout_s
        finally:
            pump.abandon()

    @cached_property
    def _wire(self) -> OpenAIWire:
        return OpenAIWire(self._endpoint)


def embed_texts(settings: Settings, model: str, texts: Sequence[str]) -> list[list[float]]:
    """One vector per text, in their order, as the server gives them.

    Each batch comes within `timeout_s`. Raises `ModelError`.
    """
    endpoint = Endpoint.of(settings, model, setting="RAG_EMBEDDER")
    memory = server_memory(settings.home_folder)
    wire = OpenAIWire(endpoint)
    vectors: list[list[float]] = []
    for start in range(0, len(texts), _BATCH):
        # Empty input is refused by OpenAI.
        vectors += _embed_batch([text or " " for text in texts[start : start + _BATCH]], endpoint, memory, wire)
    return vectors


def offered_models(settings: Settings) -> tuple[str, ...]:
    """Names of the models that the configured server offers, within `timeout_s`. Raises `ModelError`."""
    endpoint = Endpoint.of(settings, settings.model or DEFAULT_MODEL)
    wire = OpenAIWire(endpoint)

    def produce(pump: Pump[tuple[str, ...] | ModelError]) -> None:
        try:
            pump.put(wire.offered(endpoint.timeout_s))
        except CallFailed as failed:
            pump.put(failed.fault.error)

    return _only_item(Pump(produce), endpoint)


def _embed_batch(texts: list[str], endpoint: Endpoint, memory: ServerMemory, wire: OpenAIWire) -> list[list[float]]:
    deadline = time.monotonic() + endpoint.timeout_s

    def produce(pump: Pump[list[list[float]] | ModelError]) -> None:
        body = {"model": endpoint.model, "input": texts}
        try:
            reply = Caller(endpoint, memory, pump, deadline).run(lambda _: body, lambda sent: wire.post("/embeddings", sent))
            pump.put(_vectors(reply, len(texts), endpoint))
        except CallFailed as failed:
            pump.put(failed.fault.error)

    return _only_item(Pump(produce), endpoint)


def _only_item(pump: Pump[Result | ModelError], endpoint: Endpoint) -> Result:
    try:
        item = pump.get(endpoint.timeout_s)
    finally:
        pump.abandon()
    if isinstance(item, ModelError | Signal):
        raise _error(item, endpoint)
    return item


def _vectors(reply: object, count: int, endpoint: Endpoint) -> list[list[float]]:
    try:
        rows = sorted(cast(Any, reply)["data"], key=lambda row: row.get("index", 0))
        vectors = [[float(value) for value in row["embedding"]] for row in rows]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CallFailed(Fault(protocol_error(endpoint, "JSON that holds no embeddings"))) from error
    lengths = {len(vector) for vector in vectors}
    if len(vectors) != count or len(lengths) != 1 or 0 in lengths:
        raise CallFailed(Fault(protocol_error(endpoint, f"{len(vectors)} vectors of {sorted(lengths)} numbers for {count} texts")))
    if not all(math.isfinite(value) for vector in vectors for value in vector):
        raise CallFailed(Fault(protocol_error(endpoint, "vectors with numbers that are not finite")))
    return vectors


def _error(item: ModelError | Signal, endpoint: Endpoint) -> ModelError:
    if isinstance(item, ModelError):
        return item
    return timeout_error(endpoint) if item is Signal.STALLED else protocol_error(endpoint, "a reply that could not be read")


class OpenAIWire:
    """The vendor's client; its errors become `CallFailed`, whose text holds neither keys nor headers."""

    def __init__(self, endpoint: Endpoint) -> None:
        import httpx2
        import openai

        self._endpoint = endpoint
        self._openai = openai
        timeout = openai.Timeout(endpoint.timeout_s, connect=min(endpoint.timeout_s, _CONNECT_S))
        # Followed redirects would send papers and questions to a server that nobody configured.
        transport = _configured(lambda: openai.DefaultHttpxClient(timeout=timeout, follow_redirects=False), endpoint)
        self._client = openai.OpenAI(
            api_key=endpoint.bearer,
            base_url=endpoint.url,
            timeout=timeout,
            max_retries=0,
            default_headers=endpoint.headers,
            http_client=transport,
        )
        weakref.finalize(self, self._client.close)
        # The client lets the errors of its transport through while it reads an error's body.
        self._errors = (openai.OpenAIError, httpx2.HTTPError, OSError, ValueError)

    def post(self, path: str, body: dict[str, Any]) -> object:
        """The reply's JSON. Raises `CallFailed`."""
        try:
            return self._client.post(path, cast_to=object, body=body)
        except self._errors as error:
            raise self._failure(error) from None

    def events(self, path: str, body: dict[str, Any], pump: Pump[Any]) -> Iterator[object]:
        """The JSON of each event; the whole reply as one event when the server did not stream. Raises `CallFailed`."""
        if not body.get("stream"):
            yield self.post(path, body)
            return
        try:
            stream = self._client.post(path, cast_to=object, body=body, stream=True, stream_cls=self._openai.Stream[object])
            pump.hang_up_with(lambda: _shut(stream.response.extensions.get("network_stream")))
            try:
                yield from self._read(stream, pump)
            finally:
                pump.hang_up_with(None)
                stream.close()
        except self._errors as error:
            raise self._failure(error) from None

    def _read(self, stream: openai.Stream[object], pump: Pump[Any]) -> Iterator[object]:
        if "json" not in stream.response.headers.get("content-type", ""):
            yield from stream
            return
        body = bytearray()
        for piece in stream.response.iter_bytes():
            body += piece
            if len(body) > _MAX_BODY_BYTES or pump.abandoned:
                break
        yield json.loads(body)

    def _failure(self, error: Exception) -> CallFailed:
        if isinstance(error, self._openai.APIStatusError):
            fault = status_fault(self._endpoint, error.status_code, error.body, error.response.headers)
            if error.status_code == 404 and error.request.method == "POST":
                fault = self._with_offers(fault)
            return CallFailed(fault, status=error.status_code, body=error.body)
        if isinstance(error, self._openai.APIConnectionError):
            return CallFailed(self._unreached(error))
        if isinstance(error, self._openai.APIError):
            return CallFailed(stream_fault(self._endpoint, error.body or error.message))
        if isinstance(error, ValueError):
            return CallFailed(Fault(protocol_error(self._endpoint, "something that is no JSON")))
        return CallFailed(Fault(connection_error(self._endpoint, str(error)), retry=True))

    def _unreached(self, error: Exception) -> Fault:
        if isinstance(error, self._openai.APITimeoutError):
            return Fault(timeout_error(self._endpoint))
        cause = error.__cause__
        # A server that is not there will not be in a second either; a connection that broke may be better the next time.
        return Fault(connection_error(self._endpoint, str(cause or error)), retry=type(cause).__name__ != "ConnectError")

    def offered(self, timeout_s: float) -> tuple[str, ...]:
        """Names of the models on the server. Raises `CallFailed`."""
        try:
            reply = self._client.get("/models", cast_to=object, options={"timeout": timeout_s})
        except self._errors as error:
            raise self._failure(error) from None
        rows = reply.get("data") if isinstance(reply, Mapping) else None
        if not isinstance(rows, list):
            raise CallFailed(Fault(protocol_error(self._endpoint, "no list of models")))
        return tuple(str(row["id"]) for row in rows if isinstance(row, Mapping) and row.get("id"))

    def _with_offers(self, fault: Fault) -> Fault:
        try:
            names = self.offered(min(_LISTING_S, self._endpoint.timeout_s / 2))
        except CallFailed:
            return fault
        if not names:
            return fault
        shown = self._endpoint.redacted(", ".join(names[:_MAX_OFFERED]) + (", …" if len(names) > _MAX_OFFERED else ""))
        return Fault(ModelError(f"{fault.error} It offers: {shown}.", kind=fault.error.kind))


def _configured(make: Callable[[], Any], endpoint: Endpoint) -> Any:
    """The transport, unless a proxy variable of the environment cannot be used."""
    try:
        return make()
    except (ValueError, ImportError) as error:
        reason = endpoint.redacted(str(error))
    raise ModelError(f"The proxy set in the environment cannot be used: {reason}. Correct HTTP_PROXY or HTTPS_PROXY.", kind="connection")


def _shut(network_stream: Any) -> None:
    """Ends a read that another thread is waiting in; closing the socket would not wake it."""
    connection = network_stream.get_extra_info("socket") if network_stream else None
    if isinstance(connection, socket.socket):
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return
