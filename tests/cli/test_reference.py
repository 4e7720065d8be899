"""Every command has help, an example, and a place in the generated reference."""

from pathlib import Path

import pytest
import typer

from rag.cli import ask, main

DOCS = Path(__file__).parent.parent.parent / "docs"


def commands(app: typer.Typer, prefix: str = "") -> list[tuple[str, str]]:
    found = [
        (f"{prefix}{info.name or info.callback.__name__}", info.help or info.callback.__doc__ or "") for info in app.registered_commands
    ]
    for group in app.registered_groups:
        found += commands(group.typer_instance, f"{group.name} ")
    return found


@pytest.mark.parametrize(("name", "text"), commands(main.app))
def test_every_rag_command_has_help_with_an_example_and_stands_in_the_docs(name: str, text: str) -> None:
    assert text.strip()
    assert f"rag {name.removesuffix(' show')}" in text, "an example is missing"
    assert f"`rag {name}`" in (DOCS / "cli-rag.md").read_text(encoding="utf-8")


def test_ask_stands_in_the_docs() -> None:
    [(_, text)] = commands(ask.app)
    assert "ask -c" in text
    assert "--bibtex" in (DOCS / "cli-ask.md").read_text(encoding="utf-8")
