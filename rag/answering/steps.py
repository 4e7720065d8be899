"""What every step of the pipeline works with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.answering.budget import MeteredModel
from rag.answering.prompt import PromptBuilder, number_sources
from rag.answering.work import Work
from rag.errors import RagError
from rag.prompting.templates import Prompts
from rag.records import Hit

if TYPE_CHECKING:
    from rag.protocols import Reranker
    from rag.retrieval.constraints import Facets
    from rag.retrieval.retriever import Retriever
    from rag.settings import Settings
    from rag.store.joined import JoinedLibrary
    from rag.store.library import Library
    from rag.verification import Verifier


@dataclass(frozen=True)
class Parts:
    """The parts of one question's pipeline; the model counts what it spends."""

    library: Library | JoinedLibrary
    retriever: Retriever
    reranker: Reranker | None
    model: MeteredModel
    verifier: Verifier
    settings: Settings
    prompts: Prompts
    builder: PromptBuilder
    facets: Callable[[], Facets]


def take_sources(work: Work, hits: Sequence[Hit], parts: Parts) -> None:
    """Makes the hits the numbered sources of the answer."""
    work.sources = number_sources(hits, work.options.numbers)
    work.corpora = {hit.paper.id: hit.corpus or parts.library.corpus_of(hit.paper.id) for hit in hits}


@contextmanager
def optional_step(work: Work, name: str, instead: str) -> Iterator[None]:
    """A step that must not cost the answer: its failure becomes a note saying what was done `instead`."""
    try:
        yield
    except RagError as error:
        work.note(f"{name} failed ({str(error).rstrip('.')}); {instead}.")
