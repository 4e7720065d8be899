"""In-process parts for tests of the pipeline: a library, a retriever, a verifier and a scripted chat model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from rag.answering import Answerer
from rag.errors import ModelError
from rag.protocols import ChatDelta, ChatEnd, ChatRequest
from rag.records import Hit, Paper, Retrieval, Span, Verdict
from rag.retrieval.planner import Plan
from rag.settings import Settings
from rag.text.words import content_words
from rag.verification.normalise import normalise

PAPERS = (
    Paper(
        "p1",
        "Talking Turns: When Machines Take the Floor",
        "We study turn-taking in spoken dialogue systems. Our judge model predicts turn changes with 91.5% accuracy. "
        "Systems interrupt too often.",
        authors=("Ada Lovelace", "Alan Turing"),
        year=2025,
        venue="ICLR 2025",
        url="https://openreview.net/forum?id=p1",
    ),
    Paper(
        "p2",
        "Low-Rank Adapters for Small Models",
        "LoRA adapts language models with few parameters. We reduce memory by 12.1x on a single card. Quality stays the same.",
        authors=("Grace Hopper",),
        year=2024,
        venue="COLM 2024",
        url="https://openreview.net/forum?id=p2",
    ),
    Paper(
        "p3",
        "Pruning Attention Heads",
        "Attention heads can be pruned after training. We remove 40% of the heads without loss.",
        authors=("Edsger Dijkstra",),
        year=2023,
        venue="ICLR 2023",
        url="https://openreview.net/forum?id=p3",
    ),
)


class FakeLibrary:
    """A corpus in memory."""

    name = "tests"

    def __init__(self, papers: Sequence[Paper] = PAPERS) -> None:
        self._papers = tuple(papers)

    def papers(self, **_: object) -> list[Paper]:
        return list(self._papers)

    def get(self, ids: Iterable[str]) -> dict[str, Paper]:
        return {paper.id: paper for paper in self._papers if paper.id in set(ids)}

    def count(self, **_: object) -> int:
        return len(self._papers)

    def idf(self, word: str) -> float:
        return 1.0

    def remarks(self) -> tuple[str, ...]:
        return ()

    def corpus_of(self, paper_id: str) -> str:
        return self.name


class FakeRetriever:
    """Finds every paper, in the order of the library, whatever is asked."""

    def __init__(self, papers: Sequence[Paper] = PAPERS, *, answerable: float = 0.9, matched: int | None = None) -> None:
        self.hits = tuple(hit_of(paper, rank) for rank, paper in enumerate(papers, 1))
        self.answerable = answerable
        self.matched = len(papers) if matched is None else matched
        self.plans: list[Plan] = []

    def retrieve(self, plan: Plan, k: int) -> Retrieval:
        self.plans.append(plan)
        abstain = self.answerable < 0.5
        return Retrieval(
            plan.topic, self.hits[:k], len(self.hits), self.answerable, abstain, "Nothing is close to it." if abstain else None
        )

    def list(self, plan: Plan) -> Retrieval:
        self.plans.append(plan)
        hits = self.hits[: self.matched]
        return Retrieval(plan.topic, hits, len(self.hits), 0.9, not hits, None, judged=len(self.hits), matched=len(hits))

    def search(self, query: str, k: int = 10, filters: object = None) -> list[Hit]:
        return list(self.hits[:k])


class WordVerifier:
    """Supports what shares enough words with the abstract, and quotes what stands in it."""

    def check(self, statement: str, paper: Paper) -> Verdict:
        evidence = (Span(0, len(paper.abstract), paper.abstract),)
        said = normalise(statement).text.strip(" .")
        if said and said in normalise(paper.abstract).text:
            return Verdict("quoted", 1.0, evidence)
        words = set(content_words(statement))
        share = len(words & set(content_words(f"{paper.title} {paper.abstract}"))) / max(len(words), 1)
        if share >= 0.6:
            return Verdict("supported", share, evidence)
        return Verdict("weak", share, evidence) if share >= 0.4 else Verdict("unsupported", share, (), "too few words in common")

    def check_many(self, pairs: Sequence[tuple[str, Paper]]) -> list[Verdict]:
        return [self.check(statement, paper) for statement, paper in pairs]


Scripted = str | Exception | Iterable[str] | Callable[[ChatRequest], str]


@dataclass
class ScriptedModel:
    """Gives its replies in order, the last one again and again; an exception is raised, an iterable is streamed piece by piece."""

    replies: list[Scripted]
    name: str = "scripted"
    context_tokens: int = 8_000
    generative: bool = True
    finish: str = "stop"
    usage: tuple[int, int] | None = (100, 20)
    requests: list[ChatRequest] = field(default_factory=list)

    def stream(self, request: ChatRequest) -> Iterator[ChatDelta | ChatEnd]:
        self.requests.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        if callable(reply):
            reply = reply(request)
        if not reply:
            raise ModelError("scripted sent an empty reply.", kind="empty")
        for piece in [reply[i : i + 7] for i in range(0, len(reply), 7)] if isinstance(reply, str) else reply:
            yield ChatDelta(piece)
        yield ChatEnd(self.finish, *(self.usage or (None, None)))  # type: ignore[arg-type]  # scripted

    def steps(self) -> list[str]:
        return [request.step for request in self.requests]


def hit_of(paper: Paper, rank: int = 1) -> Hit:
    end = paper.abstract.find(".") + 1 or len(paper.abstract)
    return Hit(rank, 1.0 / rank, paper, Span(0, end, paper.abstract[:end]))


def answerer(model: object, papers: Sequence[Paper] = PAPERS, *, retriever: FakeRetriever | None = None, **settings: object) -> Answerer:
    """A pipeline of these parts."""
    resolved = replace(Settings(), **settings)  # type: ignore[arg-type]  # fields by name
    return Answerer(FakeLibrary(papers), retriever or FakeRetriever(papers), None, model, WordVerifier(), resolved)  # type: ignore[arg-type]  # fakes
