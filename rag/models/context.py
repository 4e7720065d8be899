"""How much fits into a model's context, when neither the settings nor the server say."""

from __future__ import annotations

# Served models are listed by what their provider documents. Models that people serve themselves are not: their servers'
# configuration decides (Ollama cuts at 4,096 unless told otherwise), so the cautious default applies to them.
_FAMILIES = {
    "gpt-3.5": 16_385,
    "gpt-4-32k": 32_768,
    "gpt-4-turbo": 128_000,
    "gpt-4.1": 1_000_000,
    "gpt-4o": 128_000,
    "gpt-4": 8_192,
    "gpt-5": 272_000,
    "gpt-6": 272_000,
    "o1": 128_000,
    "o3": 200_000,
    "o4": 200_000,
    "claude-": 200_000,
    "gemini-": 1_000_000,
    "deepseek-chat": 64_000,
    "deepseek-reasoner": 64_000,
    "grok-": 131_072,
    "mistral-large": 128_000,
    "command-r": 128_000,
}
DEFAULT_CONTEXT_TOKENS = 8_192


def known_context_tokens(model: str) -> int:
    """Context length in tokens by the longest prefix that is known, else 8,192; a provider's prefix (`openai/`) is skipped."""
    name = model.rpartition("/")[2].lower()
    prefixes = [prefix for prefix in _FAMILIES if name.startswith(prefix) and not name.startswith("gpt-oss")]
    return _FAMILIES[max(prefixes, key=len)] if prefixes else DEFAULT_CONTEXT_TOKENS
