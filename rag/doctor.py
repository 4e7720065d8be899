"""Is the installation whole: the bundled model, the prompts, the model server, optional parts, and each corpus."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from rag.errors import RagError
from rag.records import Finding
from rag.store.doctor import check, damaged_or_whole, repair

if TYPE_CHECKING:
    from rag.protocols import Embedder
    from rag.settings import Settings

# One import name stands for each extra.
_EXTRAS = {"eval": ("ir_measures", "measure quality with `rag eval`"), "fetch": ("pyalex", "fetch papers with `rag fetch`")}


def examine(settings: Settings, embedder: Embedder) -> tuple[Finding, ...]:
    """Everything worth knowing, good news included; contacts only a configured model server. Nothing is changed."""
    return (*_embedder(embedder), *_prompts(settings), *_model(settings), *_extras(), *check(settings, embedder))


def repair_corpora(settings: Settings, embedder: Embedder) -> Iterator[str]:
    """Mends every corpus (or the one in the settings) and says what was done, a line each."""
    names = [settings.corpus] if settings.corpus else damaged_or_whole(settings)
    for name in names:
        lines = repair(settings, name, embedder)
        yield from (f"{name}: {line}" for line in lines or ("nothing to repair",))


def _embedder(embedder: Embedder) -> Iterator[Finding]:
    try:
        dimension = embedder.embed(["turn-taking"]).shape[1]
    except RagError as error:
        yield Finding("embedding model", "error", str(error), "reinstall askpapers, or set RAG_EMBEDDER")
        return
    yield Finding("embedding model", "ok", f"{embedder.fingerprint}, {dimension} dimensions")


def _prompts(settings: Settings) -> Iterator[Finding]:
    from rag.prompting.templates import Prompts

    try:
        Prompts(settings.prompts).check()
    except RagError as error:
        yield Finding("prompts", "error", str(error), "correct the file, or unset RAG_PROMPTS")
        return
    yield Finding("prompts", "ok", str(settings.prompts or "bundled"))


def _model(settings: Settings) -> Iterator[Finding]:
    from rag.models import open_model

    if settings.is_offline:
        yield Finding("chat model", "ok", "offline; set OPENAI_API_KEY or OPENAI_BASE_URL for a language model")
        return
    try:
        name = open_model(settings).name
        offered = _offered(settings)
    except RagError as error:
        yield Finding("chat model", "error", str(error), "check OPENAI_BASE_URL, OPENAI_API_KEY and RAG_MODEL; or RAG_MODEL=offline")
        return
    if offered and name not in offered:
        yield Finding("chat model", "warning", f"the server does not list {name!r}", f"set RAG_MODEL to one of {', '.join(offered[:8])}")
    else:
        yield Finding("chat model", "ok", name)


def _offered(settings: Settings) -> tuple[str, ...]:
    from rag.models.openai_client import offered_models

    return offered_models(settings)


def _extras() -> Iterator[Finding]:
    for extra, (module, use) in _EXTRAS.items():
        if find_spec(module) is None:
            yield Finding(f"extra {extra}", "warning", f"not installed; needed to {use}", f"pip install 'askpapers[{extra}]'")
        else:
            yield Finding(f"extra {extra}", "ok", "installed")
