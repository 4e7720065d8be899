"""The vocabulary: frozen records that every layer passes to the next.

paper -> chunk -> hit -> citation -> answer. Nothing here does input or output.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Support = Literal["quoted", "supported", "weak", "unsupported"]
StatementVerdict = Literal["quoted", "supported", "weak", "unsupported", "uncited"]
Mode = Literal["answer", "list"]
Finish = Literal["complete", "length", "cut", "interrupted"]
Step = Literal["answer", "repair", "verify", "rerank", "translate", "rewrite", "plan", "judge"]


REPAIRED = " (mojibake repaired)"
"""Behind the place in `Paper.sources` of a record whose text had been decoded wrongly and was put right."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text: `text == source[start:end]`, offsets in characters."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper as read from its source; plain text, whitespace-normalised."""

    id: str
    title: str
    abstract: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str | None = None
    url: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    decision: str | None = None
    track: str | None = None
    area: str | None = None
    keywords: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    published: str | None = None
    """ISO date (`2025-03-01`, `2025-03` or `2025`), when the source gives one."""
    sources: tuple[str, ...] = ()
    """Where it was read: `file:line`, or a service and its identifier; several after a merge."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A record that could not be read: where it stands and why."""

    file: str
    line: int
    """1-based line, or record number for formats without lines; 0 for the file as a whole."""
    reason: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is embedded: chunk 0 is title + whole abstract, 1.. are sentence windows."""

    id: str
    """`{paper_id}#{index}`."""
    paper_id: str
    index: int
    start: int
    end: int
    """Offsets of the window in the abstract, in characters."""
    text: str
    """The exact text given to the embedder (windows carry the title in front)."""


@dataclass(frozen=True, slots=True)
class ChunkHit:
    """A chunk found by its vector; `cosine` in -1..1, higher is closer."""

    paper_id: str
    index: int
    start: int
    end: int
    cosine: float


@dataclass(frozen=True, slots=True)
class Signals:
    """Why a paper was ranked where it was; each in the unit its name says."""

    whole_cosine: float = 0.0
    window_cosine: float = 0.0
    bm25: float = 0.0
    coverage: float = 0.0
    """Share (0..1) of the question's informative words, by IDF, that the paper contains."""
    rerank: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved paper, best first; `score` is only comparable within one search."""

    rank: int
    score: float
    paper: Paper
    passage: Span
    """The part of the abstract that matched best."""
    signals: Signals = Signals()
    corpus: str = ""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What one question found in the corpus."""

    query: str
    """The cleaned query that was searched."""
    hits: tuple[Hit, ...]
    scanned: int
    """How many papers the search looked at, after filters."""
    answerable: float
    """Calibrated probability (0..1) that the corpus answers the question."""
    abstain: bool
    reason: str | None = None
    """Why it abstains, in a sentence for the reader."""
    judged: int = 0
    """List mode: how many candidates were judged one by one."""
    matched: int | None = None
    """List mode: how many of them match; None in answer mode."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence of an abstract that bears on a statement."""

    paper_id: str
    span: Span


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far one abstract carries one statement; `score` in 0..1."""

    support: Support
    score: float
    evidence: tuple[Span, ...] = ()
    """Sentences of the abstract, best first; empty when nothing bears on the statement."""
    problem: str | None = None
    """What failed, e.g. `number 12.1x is not in the abstract (21.1x is)`."""


@dataclass(frozen=True, slots=True)
class StatementCitation:
    """One citation of one statement, checked."""

    number: int
    support: Support
    score: float
    evidence: tuple[Span, ...] = ()
    added: bool = False
    """True when the pipeline, not the model, attached it."""
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the answer with its checked citations; offsets into `Answer.text`."""

    text: str
    start: int
    end: int
    verdict: StatementVerdict
    citations: tuple[StatementCitation, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered paper of an answer with its best quote and the verdict on it."""

    number: int
    paper: Paper
    quote: str
    support: Support
    score: float
    added: bool = False
    corpus: str = ""


@dataclass(frozen=True, slots=True)
class StepUsage:
    """Tokens of one model call."""

    step: Step
    prompt_tokens: int
    completion_tokens: int
    estimated: bool


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one question, all steps together."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    steps: tuple[StepUsage, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds from the start of the question."""

    retrieve_s: float = 0.0
    first_token_s: float = 0.0
    total_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """A step that takes a while, for a status line."""

    step: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished answer; `str(answer)` is its text with a numbered source list."""

    question: str
    text: str
    abstained: bool = False
    reason: str | None = None
    mode: Mode = "answer"
    model: str = ""
    corpus: str = ""
    scanned: int = 0
    judged: int = 0
    matched: int | None = None
    citations: tuple[Citation, ...] = ()
    statements: tuple[Statement, ...] = ()
    dropped: tuple[str, ...] = ()
    nearest: tuple[Paper, ...] = ()
    usage: Usage = Usage()
    timing: Timing = Timing()
    conversation: str = ""
    finish: Finish = "complete"
    notes: tuple[str, ...] = ()
    """One line each for the reader: a fallback, a filter that was applied, a cut answer."""
    standalone: str = ""
    """The question as it was searched, after follow-up references were resolved."""
    retrieval: Retrieval | None = field(default=None, repr=False)
    prompt: str = field(default="", repr=False)
    """The prompt of the answer step as it was sent, messages joined by blank lines; for the log, not for the reader."""

    def __str__(self) -> str:
        if not self.citations:
            return self.text
        sources = "\n".join(f"[{c.number}] {c.paper.title}" + (f" {c.paper.url}" if c.paper.url else "") for c in self.citations)
        return f"{self.text}\n\n{sources}"


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did, in numbers of papers."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    rejected: tuple[Rejected, ...] = ()
    merged: int = 0
    embedded: int = 0
    """Chunks embedded in this run; 0 when nothing changed."""
    duplicates: tuple[tuple[str, str, float], ...] = ()
    """Pairs of paper ids with near-identical text and their similarity, 0..1."""
    repaired: tuple[str, ...] = ()
    """Where records were read whose text had been decoded wrongly and was put right, as `file:line`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check of the installation or of a corpus found."""

    name: str
    level: Literal["ok", "warning", "error"]
    detail: str
    fix: str = ""
    """What to do about it; empty when nothing is wrong."""
