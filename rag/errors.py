"""Every error this package raises on purpose.

RagError                 base: one line that says what happened, the value, and what to do
├── UsageError           the caller asked for something that cannot be (exit code 2)
├── CorpusError          a corpus is unknown, locked, damaged or built by another embedder
├── SourceError          a source file or service could not be read at all
├── ModelError           a chat or embedding model failed (`kind` says how)
├── BudgetError          a token limit would be exceeded
├── LogError             the log of conversations cannot be read or written
└── MissingExtraError    an optional dependency is not installed
"""

from __future__ import annotations

from typing import Literal

ModelFault = Literal[
    "authentication",
    "not_found",
    "rate_limit",
    "quota",
    "context_length",
    "bad_request",
    "server",
    "timeout",
    "connection",
    "protocol",
    "empty",
    "refusal",
]


class RagError(Exception):
    """Base of all errors raised on purpose; `str(error)` is one line fit for a terminal.

    `retryable` tells whether the same call may succeed later.
    """

    exit_code = 1

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(" ".join(message.split()))
        self.retryable = retryable


class UsageError(RagError):
    """The request itself is wrong; the message names the value and the accepted ones."""

    exit_code = 2


class CorpusError(RagError):
    """A corpus, or a paper in it, is unknown; or the corpus is locked, damaged, or was built by a different embedder."""


class SourceError(RagError):
    """A source file, folder, stream or online service could not be read at all."""


class ModelError(RagError):
    """A model server failed; `kind` is the class of fault, never the server's own words alone."""

    def __init__(self, message: str, *, kind: ModelFault, retryable: bool = False) -> None:
        super().__init__(message, retryable=retryable)
        self.kind: ModelFault = kind


class BudgetError(RagError):
    """A token limit would be exceeded; the message gives both numbers."""


class LogError(RagError):
    """The log of conversations cannot be read or written; never a reason to lose an answer."""


class MissingExtraError(RagError):
    """An optional dependency is missing; the message names the extra that brings it."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional dependency. Install it with `pip install 'askpapers[{extra}]'`.")
        self.extra = extra
