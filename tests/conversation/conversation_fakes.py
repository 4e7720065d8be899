"""Papers, answers and an answerer that replies as it is told."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from rag.answering import AskOptions
from rag.errors import RagError
from rag.protocols import ChatDelta, ChatEnd, ChatRequest
from rag.records import Answer, Citation, Hit, Paper, Progress, Retrieval, Span
from rag.retrieval.constraints import Facets
from rag.settings import Settings
from rag.text.words import query_terms, stem

Event = str | Progress | Answer

FLORA = Paper(
    "flora",
    "FloraNet: Counting Flowers from the Air",
    "Counting flowers by hand is slow. We propose FloraNet, a network that counts flowers in drone images. It runs 12.1x faster than YOLO.",
    ("Ada Lovelace", "Bo Li"),
    2025,
    "ICLR 2025",
    decision="Oral",
)
TIDE = Paper(
    "tide",
    "Learning Tides with Gaussian Processes",
    "Tides follow the moon. We model sea levels by Gaussian processes and predict floods in harbours a week ahead.",
    ("Cy Young",),
    2024,
    "NeurIPS 2024",
    decision="Poster",
)
BEES = Paper(
    "bees",
    "Do Bees Dance in Simulation?",
    "Honey bees dance to share directions. We introduce WaggleSim, a simulator of dancing bees, and release its code.",
    ("Di Prima", "Ada Lovelace"),
    2025,
    "ICLR 2025",
    decision="Poster",
)
PAPERS = {paper.id: paper for paper in (FLORA, TIDE, BEES)}


def answer_citing(question: str, *papers: Paper, numbers: dict[str, int] | None = None, **fields: object) -> Answer:
    """An answer with one sentence per paper; papers without a number get the next ones."""
    given = dict(numbers or {})
    for paper in papers:
        given.setdefault(paper.id, max(given.values(), default=0) + 1)
    text = " ".join(f"See this [{given[paper.id]}]." for paper in papers) or "Nothing."
    citations = tuple(Citation(given[paper.id], paper, paper.abstract[:20], "quoted", 1.0) for paper in papers)
    hits = tuple(Hit(n, 1.0 / n, paper, Span(0, 10, paper.abstract[:10])) for n, paper in enumerate(papers, 1))
    retrieval = Retrieval(question, hits, len(PAPERS), 0.9, abstain=False)
    return replace(Answer(question, text, citations=citations, retrieval=retrieval, model="fake", corpus="fake"), **fields)


@dataclass
class FakeModel:
    """Replies with `reply`, or raises it; `generative` unless told otherwise."""

    reply: str | RagError = ""
    generative: bool = False
    name: str = "fake"
    context_tokens: int = 8_000
    requests: list[ChatRequest] = field(default_factory=list)

    def stream(self, request: ChatRequest) -> Iterator[ChatDelta | ChatEnd]:
        self.requests.append(request)
        if isinstance(self.reply, RagError):
            raise self.reply
        yield ChatDelta(self.reply)
        yield ChatEnd("stop", 100, 10)


class FakeLibrary:
    """Three papers; words weigh the same."""

    name = "fake"

    def idf(self, word: str) -> float:
        return 1.0

    def lexical(self, terms: Sequence[str], limit: int) -> list[tuple[str, float]]:
        scores = {
            paper.id: sum(term in {*map(stem, query_terms(f"{paper.title} {paper.abstract}"))} for term in terms)
            for paper in PAPERS.values()
        }
        return sorted(((paper, float(score)) for paper, score in scores.items() if score), key=lambda item: -item[1])[:limit]

    def get(self, ids: Sequence[str]) -> dict[str, Paper]:
        return {paper: PAPERS[paper] for paper in ids if paper in PAPERS}


class FakeRun(Iterator[Event]):
    """The events one by one; an exception among them is raised."""

    def __init__(self, events: Sequence[Event | BaseException], partial: Answer) -> None:
        self._events = iter(events)
        self._partial = partial

    def __next__(self) -> Event:
        event = next(self._events)
        if isinstance(event, BaseException):
            raise event
        if isinstance(event, str):
            self._partial = replace(self._partial, text=self._partial.text + event)
        return event

    def partial(self) -> Answer:
        return replace(self._partial, finish="interrupted")

    def close(self) -> None:
        self._events = iter(())


class FakeAnswerer:
    """Answers each question with the papers that `reply` gives for it, and keeps what it was asked."""

    def __init__(
        self, reply: Callable[[str, AskOptions], Answer | Sequence[Event | BaseException]] | None = None, model: FakeModel | None = None
    ) -> None:
        self.library = FakeLibrary()
        self.model = model or FakeModel()
        self.settings = Settings()
        self.asked: list[tuple[str, AskOptions]] = []
        self._reply = reply or (lambda question, options: answer_citing(question, FLORA, numbers=dict(options.numbers)))

    def facets(self) -> Facets:
        return Facets.of(PAPERS.values())

    def stream(self, question: str, options: AskOptions) -> FakeRun:
        self.asked.append((question, options))
        reply = self._reply(question, options)
        if isinstance(reply, Answer):
            final = replace(reply, standalone=options.standalone or question, conversation=options.conversation)
            return FakeRun([Progress("retrieve"), reply.text, final], replace(final, text=""))
        return FakeRun(reply, Answer(question, ""))
