"""Who checks the statements of an answer: the local verifier, the chat model on top of it, and who steps in when one fails."""

from __future__ import annotations

from dataclasses import dataclass

from rag.answering.checkers import Checker, FiguresOnly, Forgiving, Remembering
from rag.answering.steps import Parts
from rag.answering.work import Work
from rag.errors import RagError
from rag.verification import Verifier
from rag.verification.llm import ModelVerifier


@dataclass(frozen=True, slots=True)
class Checkers:
    """The checker whose verdicts count, and the local one for looking through all papers."""

    counting: Checker
    local: Checker


def checkers_of(work: Work, parts: Parts) -> Checkers:
    """The checkers that the question's options ask for; their failures become notes."""

    def failed(error: RagError) -> None:
        work.note(f"Checking by meaning failed ({str(error).rstrip('.')}); the answer was checked by its wording.")

    local: Checker = Remembering(Forgiving(parts.verifier, wording_checker(parts), failed))
    if _is_foreign(work) and parts.model.generative:
        local = FiguresOnly(local)
        if work.options.verify == "local":
            work.note("The local check reads English: this answer was checked for its figures only.")
    if work.options.verify == "llm":
        return Checkers(Remembering(ModelVerifier(local, parts.model, work.note, parts.settings.prompts)), local)
    return Checkers(local, local)


def wording_checker(parts: Parts) -> Checker:
    """The local check by wording alone: quick, and it cannot fail."""
    return Verifier(parts.library.idf)


def _is_foreign(work: Work) -> bool:
    return work.plan is not None and work.plan.language != "en"
