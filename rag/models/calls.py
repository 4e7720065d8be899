"""One request to a model server, repeated as far as it makes sense."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from rag.models.abilities import Abilities, ServerMemory, refused_parameter
from rag.models.endpoint import Endpoint
from rag.models.faults import Fault
from rag.models.pump import Pump

Sent = TypeVar("Sent")

_MAX_RETRIES = 2
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 8.0
_LEAST_CONTEXT = 256


class CallFailed(Exception):  # noqa: N818 - it never leaves this package
    """Carries a fault from the wire to the caller, inside the producing thread."""

    def __init__(self, fault: Fault, *, status: int = 0, body: object = None) -> None:
        super().__init__(str(fault.error))
        self.fault = fault
        self.status = status
        self.body = body


class Wire(Protocol):
    """Sends requests; both methods raise `CallFailed` and nothing else."""

    def post(self, path: str, body: dict[str, Any]) -> object:
        """The reply's JSON."""

    def events(self, path: str, body: dict[str, Any], pump: Pump[Any]) -> Iterator[object]:
        """The JSON of each event of a streamed reply; one event when the server does not stream."""


class Caller:
    """Repeats a call without what the server refuses, and after waits that fit before `deadline`."""

    def __init__(self, endpoint: Endpoint, memory: ServerMemory, pump: Pump[Any], deadline: float) -> None:
        self._endpoint = endpoint
        self._memory = memory
        self._pump = pump
        self._deadline = deadline

    def run(
        self,
        build: Callable[[Abilities], dict[str, Any]],
        send: Callable[[dict[str, Any]], Sent],
        *,
        may_repeat: Callable[[], bool] = lambda: True,
    ) -> Sent:
        """What `send` returns for the request that `build` makes. Raises `CallFailed` when nothing helps."""
        retries = 0
        while True:
            body = build(self._memory.of(self._endpoint))
            try:
                return send(body)
            except CallFailed as failed:
                failure = failed
            if not may_repeat():
                raise failure
            if self._learned(failure, body):
                continue
            self._wait_or_give_up(failure, retries)
            retries += 1

    def _learned(self, failure: CallFailed, body: dict[str, Any]) -> bool:
        abilities = self._memory.of(self._endpoint)
        if failure.fault.error.kind == "context_length":
            limit = failure.fault.context_limit
            if limit is not None and limit >= _LEAST_CONTEXT:
                self._memory.learn(self._endpoint, replace(abilities, context_tokens=limit))
            return False
        parameter = refused_parameter(failure.status, failure.body, body)
        if parameter is None:
            return False
        self._memory.learn(self._endpoint, abilities.without(parameter))
        return True

    def _wait_or_give_up(self, failure: CallFailed, retries: int) -> None:
        if not failure.fault.retry or retries >= _MAX_RETRIES:
            raise failure
        wait_s = failure.fault.retry_after_s
        if wait_s is None:
            # Jitter, so that parallel callers do not return together.
            wait_s = min(_FIRST_WAIT_S * 2**retries, _LONGEST_WAIT_S) * random.uniform(0.75, 1.0)  # noqa: S311
        if time.monotonic() + wait_s >= self._deadline:
            raise failure
        # Should the next try get no answer in time, this fault explains more than the silence does.
        self._pump.fall_back_to(failure.fault.error)
        self._pump.sleep(wait_s)
        if self._pump.abandoned:
            raise failure
