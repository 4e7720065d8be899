"""Where a corpus's vectors are kept: Chroma inside this process, a Chroma server, or Chroma Cloud."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.settings import Settings

_PORTS = {"http": 8000, "https": 443}
_CLOUD_HOST = "api.trychroma.com"
_COLLECTION = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*[a-zA-Z0-9]")


@dataclass(frozen=True, slots=True)
class ChromaPlace:
    """Which Chroma, and which collection in it."""

    kind: Literal["embedded", "server", "cloud"]
    collection: str
    folder: Path | None = None
    host: str = ""
    port: int = 0
    tls: bool = False
    api_key: str = field(default="", repr=False)
    tenant: str | None = None
    database: str | None = None
    timeout_s: float = 60.0

    @property
    def address(self) -> str:
        """The place in words, for messages."""
        if self.kind == "embedded":
            return "embedded"
        path = "/".join(filter(None, (self.tenant, self.database)))
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}{'/' + path if path else ''}"

    @property
    def label(self) -> str:
        """Names place and collection, to notice that a corpus has moved."""
        return f"{self.address} {self.collection}"


def chroma_place(settings: Settings, name: str, folder: Path) -> ChromaPlace:
    """Where the corpus `name` in `folder` has its vectors, by the settings. Raises `UsageError` for a wrong `RAG_CHROMA_URL`."""
    if settings.chroma_url:
        parts = _url_parts(settings.chroma_url)
        return ChromaPlace(
            "server", collection_name(name), host=parts[0], port=parts[1], tls=parts[2], tenant=settings.chroma_tenant,
            database=settings.chroma_database, timeout_s=settings.timeout_s,
        )  # fmt: skip
    if settings.chroma_api_key:
        return ChromaPlace(
            "cloud", collection_name(name), host=_CLOUD_HOST, port=443, tls=True, api_key=settings.chroma_api_key,
            tenant=settings.chroma_tenant, database=settings.chroma_database, timeout_s=settings.timeout_s,
        )  # fmt: skip
    # The folder is the corpus's own, so the collection needs no name of its own and a rename moves the folder only.
    return ChromaPlace("embedded", "papers", folder=folder / "chroma")


def collection_name(corpus: str) -> str:
    """A name by Chroma's rules (3-512 of `a-zA-Z0-9._-`, a letter or digit at both ends), different for different corpora."""
    plain = f"ask-{corpus}"
    if _COLLECTION.fullmatch(plain) and ".." not in plain:
        return plain
    slug = re.sub(r"[^a-zA-Z0-9]+", "-", plain).strip("-")
    return f"{slug}-{hashlib.sha256(corpus.encode()).hexdigest()[:10]}"


def _url_parts(url: str) -> tuple[str, int, bool]:
    try:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        port = parts.port
    except ValueError:
        port, parts = None, urlsplit("")
    if parts.scheme not in _PORTS or not parts.hostname or parts.path.strip("/"):
        raise UsageError(f"RAG_CHROMA_URL={url!r} is not the address of a Chroma server. Write it as http://localhost:8000.")
    return parts.hostname, port or _PORTS[parts.scheme], parts.scheme == "https"
