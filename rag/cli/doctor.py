"""`rag doctor`: what is missing or damaged, and how to mend it."""

from __future__ import annotations

from typing import Annotated

import typer

from rag.cli import common

_MARKS = {"ok": ("ok", "green"), "warning": ("!!", "yellow"), "error": ("XX", "red")}


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command()(doctor)


def doctor(
    corpus: common.CorpusOption = None,
    repair: Annotated[bool, typer.Option("--repair", help="Rebuild the damaged half of a corpus from the other.")] = False,
    json: common.JsonOption = False,
) -> None:
    """Check the installation and the corpora; each problem comes with its fix.

    Example: rag doctor --repair
    """
    from rag.doctor import examine, repair_corpora

    with common.open_assistant(corpus=corpus) as assistant:
        if repair:
            for line in repair_corpora(assistant.settings, assistant.embedder):
                common.note(line)
        findings = examine(assistant.settings, assistant.embedder)
    if json:
        common.print_json([{"name": f.name, "level": f.level, "detail": f.detail, "fix": f.fix} for f in findings])
    else:
        for finding in findings:
            mark, colour = _MARKS[finding.level]
            typer.secho(mark, fg=colour, nl=False)
            common.print_text(f"  {finding.name}: {finding.detail}" + (f"\n      fix: {finding.fix}" if finding.fix else ""))
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(common.FAILED)
