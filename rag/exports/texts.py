"""What the formats of other tools take as plain text."""

from __future__ import annotations

from rag.records import Paper
from rag.text.latex import latex_to_text


def readable(text: str) -> str:
    r"""`text` with LaTeX such as `\url{...}` and `\emph{...}` resolved and on one line; mathematics stays as written."""
    return " ".join(latex_to_text(text).split())


def remark(paper: Paper) -> str:
    """What bibliographies have no field for, as the text of a note: `Decision: Poster; track: main`; empty when nothing is known."""
    known = {"decision": paper.decision, "track": paper.track, "area": paper.area, "categories": ", ".join(paper.categories)}
    text = "; ".join(f"{name}: {readable(value)}" for name, value in known.items() if value)
    return text[:1].upper() + text[1:]
