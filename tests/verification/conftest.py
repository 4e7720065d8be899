"""An abstract with a bit of everything, and an IDF in which all words weigh the same."""

from collections.abc import Callable

import pytest

from rag.records import Paper

ABSTRACT = (
    "Evaluating large target models over secure computation is prohibitively expensive. "
    "We propose SelectFormer, a pipeline for private data selection that emulates nonlinear operators with small MLPs. "
    "On six benchmarks, SelectFormer outperforms CryptoNet and reduces the delay by $12.1\\times$ with only 0.20\\% accuracy degradation. "
    "Our method does not require access to raw training data. "
    "It remains unclear whether the approach scales to video models."
)


@pytest.fixture
def paper() -> Paper:
    return Paper(
        "p1",
        "SelectFormer: Private Data Selection in Data Markets",
        ABSTRACT,
        authors=("Ada Moreno", "Li Wei"),
        year=2025,
        venue="ICLR 2025",
    )


@pytest.fixture
def other_paper() -> Paper:
    abstract = "Humans take turns in conversation with short gaps. We benchmark audio models on turn-taking and find that they interrupt users too often."
    return Paper("p2", "Talking Turns: Benchmarking Audio Foundation Models", abstract)


@pytest.fixture
def idf() -> Callable[[str], float]:
    return lambda stem: 1.0
