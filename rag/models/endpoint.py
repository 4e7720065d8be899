"""Which server is asked for which model, with which credentials."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from rag.errors import UsageError
from rag.settings import Settings

OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-4.1-mini"
# Servers without keys still want the header.
_PLACEHOLDER_KEY = "none"
_KEY_LIKE = re.compile(
    r"\b(?:sk|pk|rk|gsk|hf|xai)[-_][\w\-*]{6,}|\b(?:Bearer|Basic)\s+[\w\-.~+/=*]{4,}|\beyJ[\w\-]{10,}[\w\-.]*", re.IGNORECASE
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_MAX_WORDS = 240


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model on one server."""

    url: str
    """Base URL without credentials."""
    model: str
    timeout_s: float
    setting: str = "RAG_MODEL"
    """The variable that names the model, for messages."""
    key: str | None = field(default=None, repr=False)
    login: str | None = field(default=None, repr=False)
    """`user:password` from the base URL."""

    @classmethod
    def of(cls, settings: Settings, model: str, *, setting: str = "RAG_MODEL") -> Endpoint:
        """The endpoint that the settings describe. Raises `UsageError` for a base URL that is none."""
        parts = _http_url(settings.openai_base_url or OPENAI_URL)
        login, _, host = parts.netloc.rpartition("@")
        url = urlunsplit((parts.scheme, host, parts.path.rstrip("/"), parts.query, ""))
        return cls(url, model, settings.timeout_s, setting, settings.openai_api_key, unquote(login) or None)

    @property
    def shown_url(self) -> str:
        """The base URL as messages show it: no credentials, no query."""
        return urlunsplit(urlsplit(self.url)._replace(query=""))

    @property
    def is_openai(self) -> bool:
        """True for OpenAI's own service."""
        return urlsplit(self.url).hostname == urlsplit(OPENAI_URL).hostname

    @property
    def bearer(self) -> str:
        """The key to send."""
        return self.key or _PLACEHOLDER_KEY

    @property
    def headers(self) -> dict[str, str]:
        """Headers in place of a key, when the base URL carries a login."""
        if not self.login:
            return {}
        return {"Authorization": "Basic " + base64.b64encode(self.login.encode()).decode()}

    def redacted(self, words: str) -> str:
        """`words` of a server on one line, shortened, without control characters and without anything like a key."""
        for secret in (self.key, self.login, (self.login or "").partition(":")[2]):
            if secret:
                words = words.replace(secret, "***")
        words = " ".join(_KEY_LIKE.sub("***", _CONTROL.sub(" ", words)).split())
        return words if len(words) <= _MAX_WORDS else words[: _MAX_WORDS - 1] + "…"


def _http_url(text: str) -> SplitResult:
    try:
        parts = urlsplit(text.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        shown = text.rpartition("@")[2]
        raise UsageError(f"OPENAI_BASE_URL={shown!r} is no http or https address. Write it like http://localhost:11434/v1.")
    return parts
