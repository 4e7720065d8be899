"""Settings, resolved once: argument > environment > `.env` > default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from rag.errors import UsageError

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set; `Settings.resolve()` reads it from where the user put it."""

    openai_api_key: str | None = field(default=None, repr=False, metadata={"env": "OPENAI_API_KEY"})
    openai_base_url: str | None = field(default=None, metadata={"env": "OPENAI_BASE_URL"})
    model: str | None = field(default=None, metadata={"env": "RAG_MODEL"})
    embedder: str = field(default="minilm", metadata={"env": "RAG_EMBEDDER"})
    corpus: str | None = field(default=None, metadata={"env": "RAG_CORPUS"})
    home: Path | None = field(default=None, metadata={"env": "RAG_HOME"})
    prompts: Path | None = field(default=None, metadata={"env": "RAG_PROMPTS"})
    chroma_url: str | None = field(default=None, metadata={"env": "RAG_CHROMA_URL"})
    chroma_api_key: str | None = field(default=None, repr=False, metadata={"env": "CHROMA_API_KEY"})
    chroma_tenant: str | None = field(default=None, metadata={"env": "CHROMA_TENANT"})
    chroma_database: str | None = field(default=None, metadata={"env": "CHROMA_DATABASE"})
    timeout_s: float = field(default=60.0, metadata={"env": "RAG_TIMEOUT_S"})
    context_tokens: int | None = field(default=None, metadata={"env": "RAG_CONTEXT_TOKENS"})
    max_tokens_per_question: int | None = field(default=None, metadata={"env": "RAG_MAX_TOKENS_PER_QUESTION"})
    reranker: str | None = field(default=None, metadata={"env": "RAG_RERANKER"})
    log: bool = field(default=True, metadata={"env": "RAG_LOG"})

    @classmethod
    def resolve(cls, env: Mapping[str, str] | None = None, **arguments: Any) -> Settings:
        """The settings in force; arguments that are None fall through to the environment.

        Raises `UsageError` for a value of the wrong kind or an unknown argument name.
        """
        known = {f.name for f in fields(cls)}
        if unknown := set(arguments) - known:
            raise UsageError(f"No setting named {sorted(unknown)[0]!r}. Known: {', '.join(sorted(known))}.")
        env = _environment() if env is None else env
        given = {name: value for name, value in arguments.items() if value is not None}
        for f in fields(cls):
            text = env.get(f.metadata["env"], "").strip()
            if text and f.name not in given:
                given[f.name] = _convert(f.metadata["env"], text, str(f.type))
        if isinstance(given.get("home"), str):
            given["home"] = Path(given["home"])
        return cls(**given)

    @property
    def home_folder(self) -> Path:
        """Where corpora and the log live; the platform's user data folder unless `RAG_HOME` is set."""
        if self.home is not None:
            return self.home.expanduser()
        from platformdirs import user_data_path

        return user_data_path("askpapers", appauthor=False)

    @property
    def is_offline(self) -> bool:
        """True when no hosted chat model is configured, or `offline` was asked for."""
        return self.model == "offline" or not (self.openai_api_key or self.openai_base_url)


def environment_variables() -> tuple[str, ...]:
    """Names of all environment variables read, in the order of `.env.example`."""
    return tuple(f.metadata["env"] for f in fields(Settings))


def _environment() -> dict[str, str]:
    from dotenv import dotenv_values

    dotenv = {name: value for name, value in dotenv_values(Path.cwd() / ".env").items() if value is not None}
    return {**dotenv, **os.environ}


def _convert(variable: str, text: str, kind: str) -> Any:
    try:
        if kind.startswith("bool"):
            return {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}[text.lower()]
        if kind.startswith("int"):
            return _positive(int(text))
        if kind.startswith("float"):
            return _positive(float(text))
    except (ValueError, KeyError) as error:
        wanted = {"b": "true or false", "i": "a whole number above 0", "f": "a number above 0"}[kind[0]]
        raise UsageError(f"{variable}={text!r} is not {wanted}. Correct it in the environment or in .env.") from error
    return Path(text) if kind.startswith("Path") else text


def _positive(value: Number) -> Number:
    if not value > 0 or value == float("inf"):
        raise ValueError(value)
    return value
