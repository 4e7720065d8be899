"""Chat models: hosted ones and the offline one, behind one protocol."""

from __future__ import annotations

from rag.models.endpoint import DEFAULT_MODEL
from rag.protocols import ChatModel
from rag.settings import Settings

__all__ = ["offline_notice", "open_model"]


def open_model(settings: Settings, name: str | None = None) -> ChatModel:
    """The chat model `name`, else the one in the settings; without key and base URL always the offline model.

    Opening loads nothing and contacts nobody. Raises `UsageError` for a base URL that is none.
    """
    wanted = name or settings.model
    if wanted == "offline" or not (settings.openai_api_key or settings.openai_base_url):
        from rag.models.offline import OfflineModel

        return OfflineModel()
    from rag.models.openai_client import OpenAIChat

    return OpenAIChat(settings, wanted or DEFAULT_MODEL)


def offline_notice(wanted: str | None = None) -> str:
    """One line for stderr: that the offline model answers, in place of the one `wanted`, and how to change it."""
    if wanted:
        return f"No server is set for model {wanted!r}: answering offline. Set OPENAI_API_KEY or OPENAI_BASE_URL to let it answer."
    return "Answering offline with sentences from the abstracts. Set OPENAI_API_KEY or OPENAI_BASE_URL to let a language model answer."
