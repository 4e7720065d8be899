# ruff: noqa: E501 - samples and expected texts stand in one piece
import pytest

from rag.records import Answer, Citation, Hit, Paper, Span, Statement, StatementCitation, Timing, Usage


@pytest.fixture
def paper() -> Paper:
    return Paper(
        id="p1", title="Talking Turns: GPT-4 & 5% of {sets}", abstract=r"We show $x_t \leq 5$ costs 5 % & more_x; ~3 -- ok, \method{} {a}.",
        authors=("Jane A. Doe", "Ludwig van Beethoven", "José García Jr.", "Bird Team", "张伟"), year=2025, venue="ICLR 2025",
        url="https://x.org/a_b?c=1&d=%20", doi="10.1000/a_b", arxiv_id="2503.01174", decision="Poster", track="main", area="speech",
        keywords=("turn-taking", "a, b"), categories=("cs.CL",), published="2025-03-01", sources=("x.json:1",),
    )  # fmt: skip


@pytest.fixture
def bare() -> Paper:
    return Paper(id="p2", title="=SUM(A1)", abstract="+1 better.")


@pytest.fixture
def answer(paper: Paper, bare: Paper) -> Answer:
    checked = StatementCitation(1, "quoted", 0.9, (Span(0, 7, "We show"),), problem=None)
    return Answer(
        question="Which *papers* study turns?", text="One paper does [1].", mode="list", model="offline", corpus="seeds", scanned=57, judged=9, matched=1,
        citations=(Citation(1, paper, "We show $x_t \\leq 5$", "quoted", 0.91, added=True),),
        statements=(Statement("One paper does [1].", 0, 19, "quoted", (checked,)),), dropped=("[9]",), usage=Usage(10, 5, estimated=True),
        timing=Timing(0.1, 0.2, 0.3), conversation="c1", notes=("a note",), standalone="Which papers study turns?",
    )  # fmt: skip


@pytest.fixture
def hit(paper: Paper) -> Hit:
    return Hit(rank=1, score=0.5, paper=paper, passage=Span(0, 7, "We show"))
