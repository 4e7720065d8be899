"""After the last word of a reply: verification, added citations, repair, marks, and what `strict` removes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rag.answering.abstention import abstain
from rag.answering.checking import (
    Checked,
    add_citations,
    bare,
    check_text,
    marked,
    with_citations,
    without_unsupported,
)
from rag.answering.citations import renumbered
from rag.answering.repair import repaired
from rag.answering.steps import Parts, optional_step
from rag.answering.verifying import Checkers, wording_checker
from rag.answering.work import Event, Work
from rag.records import Paper, Progress

_STRICT_REASON = "No statement of the answer is supported by the papers it cites."


@dataclass
class Draft:
    """An answer in prompt numbers on its way through the checks."""

    checked: Checked
    papers: Mapping[int, Paper]
    """Prompt number -> paper."""
    checkers: Checkers
    dropped: tuple[str, ...] = ()
    """Marks that matched nothing."""
    added: set[tuple[str, str]] = field(default_factory=set)
    """Statements to which a citation was attached, with the id of the paper."""

    def check(self, text: str) -> None:
        """Replaces the text."""
        self.checked = check_text(text, self.papers, self.checkers.counting, added=self.added)


def draft_of(work: Work, text: str, checkers: Checkers) -> Draft:
    """A reply in prompt numbers as a draft: harmless, with every citation resolving, and checked."""
    prompt_numbers = {source.paper.id: source.number for source in work.sources}
    clean, stream = renumbered(text, work.sources, prompt_numbers)
    draft = Draft(Checked(clean.strip()), {source.number: source.paper for source in work.sources}, checkers, stream.dropped)
    draft.check(clean.strip())
    return draft


def improve(work: Work, draft: Draft, parts: Parts) -> Iterator[Event]:
    """Attaches missing citations and lets the model repair once what then still fails."""
    attach(draft)
    if not work.options.repair or not draft.checked.failing or work.finish in ("cut", "interrupted"):
        return
    yield Progress("repair", _count(len(draft.checked.failing), "statement"))
    with optional_step(work, "Repair", "the answer stands as it was"):
        clean = draft_of(work, repaired(work, draft.checked, parts), draft.checkers)
        attach(clean)
        if len(clean.checked.failing) < len(draft.checked.failing) and len(clean.checked.statements) > len(clean.checked.failing):
            draft.checked, draft.added, draft.dropped = clean.checked, clean.added, (*draft.dropped, *clean.dropped)


def attach(draft: Draft) -> None:
    """Gives uncited statements the citation of the paper that clearly supports them."""
    additions = add_citations(draft.checked, draft.papers, draft.checkers.local)
    if not additions:
        return
    by_end = {statement.end: statement for statement in draft.checked.statements}
    draft.added |= {(bare(by_end[end].text), draft.papers[number].id) for end, number in additions.items()}
    draft.check(with_citations(draft.checked.text, additions))


def settle(work: Work, draft: Draft) -> None:
    """Makes the draft the final text of `work`: numbers as the reader sees them, failing citations marked or removed."""
    work.dropped = (*work.dropped, *draft.dropped)
    if work.options.strict and any(statement.verdict == "unsupported" for statement in draft.checked.statements):
        draft.check(without_unsupported(draft.checked))
        if not draft.checked.statements:
            work.checked = Checked(abstain(work, _STRICT_REASON))
            return
    text, work.stream = renumbered(draft.checked.text, work.sources, work.options.numbers)
    shown = {number: source.paper for source in work.sources if (number := work.stream.cited.get(source.paper.id))}
    work.checked = marked(check_text(text.strip(), shown, draft.checkers.counting, added=draft.added))
    uncited = [bare(statement.text) for statement in work.checked.statements if statement.verdict == "uncited"]
    if uncited:
        verb = "cites" if len(uncited) == 1 else "cite"
        work.note(f"{_count(len(uncited), 'statement')} {verb} no paper: {' '.join(f'“{text}”' for text in uncited)}")


def check_shown(work: Work, parts: Parts) -> None:
    """Makes what the reader has seen the final text, checked, of a question that was interrupted."""
    if work.checked is not None or work.stream is None or work.abstained:
        return
    work.show(work.stream.close())
    shown = {number: source.paper for source in work.sources if (number := work.stream.cited.get(source.paper.id))}
    work.checked = marked(check_text(work.shown.strip(), shown, wording_checker(parts)))


def settle_unchecked(work: Work, text: str) -> None:
    """The final text when verification is switched off."""
    text, work.stream = renumbered(text, work.sources, work.options.numbers)
    work.checked = Checked(text.strip())
    work.note("Citations were not checked.")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
