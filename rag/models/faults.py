"""What goes wrong on a model server, as one `ModelError` each: what happened, the value, what to do."""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

from rag.errors import ModelError, ModelFault
from rag.models.endpoint import Endpoint

_CONTEXT = re.compile(
    r"context[_ ](?:length|window|size)|maximum context|too many (?:input )?tokens|prompt is too long|n_ctx"
    r"|exceeds? the (?:available )?context",
    re.IGNORECASE,
)
_CONTEXT_LIMIT = re.compile(r"(?:context (?:length|window|size)|n_ctx)\D{0,30}?(\d{3,8})", re.IGNORECASE)
_QUOTA = re.compile(r"insufficient_quota|insufficient[ _](?:balance|credits?|funds)|exceeded your current quota|billing", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed call: the error to show, and what a caller may do about it."""

    error: ModelError
    retry: bool = False
    retry_after_s: float | None = None
    context_limit: int | None = None
    """The context length that the server named."""


def status_fault(endpoint: Endpoint, status: int, body: object, headers: Mapping[str, str]) -> Fault:
    """The fault behind an HTTP status of 300 or more."""
    words, marks = said(body), marks_of(body)
    if status in (400, 413, 422) and (status == 413 or _CONTEXT.search(marks)):
        return _context_fault(endpoint, words, marks)
    if status == 402 or (status in (403, 429) and _QUOTA.search(marks)):
        return Fault(_error(endpoint, "quota", f"reports that the quota is used up ({status})", words, "Check plan and billing."))
    wait_s = retry_after_s(headers)
    if status == 429:
        error = _error(endpoint, "rate_limit", "limits the number of requests (429)", words, _later(wait_s), retryable=True)
        return Fault(error, retry=True, retry_after_s=wait_s)
    if status >= 500 or status in (408, 409):
        error = _error(endpoint, "server", f"failed ({status})", words, _later(wait_s), retryable=True)
        return Fault(error, retry=status != 501, retry_after_s=wait_s)
    return Fault(_final(endpoint, status, words, headers))


def stream_fault(endpoint: Endpoint, body: object) -> Fault:
    """The fault behind an error event inside a stream."""
    words, marks = said(body), marks_of(body)
    if _CONTEXT.search(marks):
        return _context_fault(endpoint, words, marks)
    if _QUOTA.search(marks):
        return Fault(_error(endpoint, "quota", "reports that the quota is used up", words, "Check plan and billing."))
    return Fault(_error(endpoint, "server", "broke off the reply", words, "Try again.", retryable=True), retry=True)


def timeout_error(endpoint: Endpoint) -> ModelError:
    """Nothing came in time."""
    message = (
        f"The model server at {endpoint.shown_url} sent nothing for {endpoint.timeout_s:g} s. Raise RAG_TIMEOUT_S, or check the server."
    )
    return ModelError(message, kind="timeout", retryable=True)


def connection_error(endpoint: Endpoint, reason: str) -> ModelError:
    """No connection, or one that broke before a word was said."""
    why = endpoint.redacted(reason) or "connection failed"
    message = f"Cannot reach the model server at {endpoint.shown_url}: {why}. Start it, or correct OPENAI_BASE_URL."
    return ModelError(message, kind="connection", retryable=True)


def protocol_error(endpoint: Endpoint, what: str) -> ModelError:
    """A reply that does not speak the protocol."""
    fix = "Check that OPENAI_BASE_URL is an OpenAI-compatible address, usually ending in /v1."
    return ModelError(f"The server at {endpoint.shown_url} sent {what}. {fix}", kind="protocol")


def empty_error(endpoint: Endpoint, why: str) -> ModelError:
    """A reply without text."""
    return ModelError(
        f"Model {endpoint.model!r} at {endpoint.shown_url} {why}. Ask again, or choose another model.", kind="empty", retryable=True
    )


def refusal_error(endpoint: Endpoint, words: str) -> ModelError:
    """The model declined to answer."""
    return ModelError(f"Model {endpoint.model!r} declined to answer: {endpoint.redacted(words)}", kind="refusal")


def said(body: object) -> str:
    """The server's own words in an error body of any shape; empty for a page of HTML."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, Mapping):
        return str(error.get("message") or error.get("detail") or error.get("msg") or "")
    return "" if error is None or str(error).lstrip().startswith("<") else str(error)


def marks_of(body: object) -> str:
    """The server's words with the codes that go with them, for telling faults apart."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    codes = [f"{name} {error[name]}" for name in ("code", "type", "n_ctx") if error.get(name)] if isinstance(error, Mapping) else []
    return " ".join([said(body), *codes])


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait; None when it does not say."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * scale
        except ValueError:
            continue
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    date = email.utils.parsedate_tz(headers.get("retry-after", ""))
    return max(email.utils.mktime_tz(date) - time.time(), 0.0) if date else None


def _final(endpoint: Endpoint, status: int, words: str, headers: Mapping[str, str]) -> ModelError:
    if status == 401:
        fix = "Correct OPENAI_API_KEY." if endpoint.key else "Set OPENAI_API_KEY."
        # The words are left out: servers echo the key in them.
        return _error(endpoint, "authentication", "does not accept the key (401)" if endpoint.key else "wants a key (401)", "", fix)
    if status == 403:
        return _error(endpoint, "authentication", f"refuses access to model {endpoint.model!r} (403)", words, "Check the key's rights.")
    if status in (404, 405):
        fix = f"Set {endpoint.setting} to a model it offers, or correct OPENAI_BASE_URL."
        return _error(endpoint, "not_found", f"knows no model {endpoint.model!r} ({status})", words, fix)
    if status < 400:
        to = endpoint.redacted(headers.get("location", "elsewhere").partition("?")[0])
        return _error(
            endpoint,
            "protocol",
            f"redirects ({status}) to {to}",
            "",
            "Redirects are not followed: put the address itself in OPENAI_BASE_URL.",
        )
    return _error(endpoint, "bad_request", f"refused the request ({status})", words, f"Check {endpoint.setting}={endpoint.model!r}.")


def _context_fault(endpoint: Endpoint, words: str, marks: str) -> Fault:
    match = _CONTEXT_LIMIT.search(marks)
    limit = int(match[1]) if match else None
    fix = "Use fewer papers (-k), or set RAG_CONTEXT_TOKENS to the model's context length."
    error = _error(endpoint, "context_length", f"cannot fit the prompt into the context of model {endpoint.model!r}", words, fix)
    return Fault(error, context_limit=limit)


def _error(endpoint: Endpoint, kind: ModelFault, what: str, words: str, fix: str, *, retryable: bool = False) -> ModelError:
    quoted = endpoint.redacted(words).rstrip(".")
    middle = f": {quoted}" if quoted else ""
    return ModelError(f"The model server at {endpoint.shown_url} {what}{middle}. {fix}", kind=kind, retryable=retryable)


def _later(wait_s: float | None) -> str:
    return "Try again later." if not wait_s else f"It asks to wait {wait_s:.0f} s; try again then."
