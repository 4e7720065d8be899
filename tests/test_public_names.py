"""What the package says it offers is what it offers."""

import inspect
import re
from pathlib import Path

import rag
from rag.settings import Settings, environment_variables

ROOT = Path(__file__).parent.parent


def test_every_public_name_is_importable_and_documented() -> None:
    assert rag.__all__ == sorted(rag.__all__)
    assert [name for name in rag.__all__ if not inspect.getdoc(getattr(rag, name))] == []


def test_unknown_names_are_refused_as_python_does() -> None:
    assert not hasattr(rag, "Assistent")


def test_env_example_lists_exactly_the_settings() -> None:
    listed = re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text(encoding="utf-8"), re.MULTILINE)
    assert tuple(listed) == environment_variables()


def test_settings_resolve_argument_before_environment_before_default() -> None:
    env = {"RAG_TIMEOUT_S": "5", "RAG_CORPUS": "iclr"}
    settings = Settings.resolve(env, corpus="colm")
    assert (settings.corpus, settings.timeout_s, settings.embedder) == ("colm", 5.0, "minilm")


def test_keys_never_show_in_a_repr() -> None:
    settings = Settings.resolve({"OPENAI_API_KEY": "sk-secret", "CHROMA_API_KEY": "ck-secret"})
    assert "secret" not in repr(settings)
