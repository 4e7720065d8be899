import pytest

from rag.embedding import MiniLM
from rag.errors import CorpusError, ModelError
from rag.protocols import Reranker
from rag.records import Hit
from rag.retrieval import Retriever
from rag.retrieval.fusion import Ranking
from rag.retrieval.planner import Plan
from rag.settings import Settings
from rag.store.filters import Filters
from rag.store.library import Library

TURNS = "Talking Turns: Benchmarking Audio Foundation Models on Turn-Taking Dynamics"


def titles(hits: list[Hit]) -> list[str]:
    return [hit.paper.title for hit in hits]


@pytest.mark.parametrize("query", ["which papers study turn-taking?", "turn taking", "TURNTAKING", "Is there work on turn-taking events?"])
def test_the_paper_asked_for_comes_first_however_it_is_written(retriever: Retriever, query: str) -> None:
    assert titles(retriever.search(query, 3))[0] == TURNS


def test_hits_are_ranked_from_one_with_falling_scores(retriever: Retriever) -> None:
    hits = retriever.search("reward models", 10)
    assert [hit.rank for hit in hits] == list(range(1, 11))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_the_passage_is_a_stretch_of_the_abstract(retriever: Retriever) -> None:
    for hit in retriever.search("convergence of policy gradient", 5):
        assert hit.passage.text == hit.paper.abstract[hit.passage.start : hit.passage.end]
        assert hit.passage.text


def test_the_score_is_cosine_plus_bm25_in_units_of_its_level(retriever: Retriever) -> None:
    scan = retriever.scan("turn-taking", limit=1)
    signals = scan.hits[0].signals
    dense = 0.75 * signals.window_cosine + 0.25 * signals.whole_cosine
    assert scan.hits[0].score == pytest.approx(dense + 0.14 * signals.bm25 / scan.level)
    assert signals.coverage == 1.0


def test_ranking_numbers_can_be_changed(seeds: Library, model: MiniLM) -> None:
    dense = Retriever(seeds, model, Settings(), ranking=Ranking(lexical=0.0, window=1.0)).search("AdamW SAFE", 1)[0]
    assert dense.score == pytest.approx(dense.signals.window_cosine)


def test_filters_hold(retriever: Retriever) -> None:
    assert {hit.paper.year for hit in retriever.search("diffusion", 5, Filters.of(year=2025))} == {2025}
    assert retriever.search("diffusion", 5, Filters.of(year=1900)) == []


@pytest.mark.parametrize("query", ["", "   ", "?!"])
def test_an_empty_query_finds_nothing(retriever: Retriever, query: str) -> None:
    assert retriever.search(query) == []


@pytest.mark.parametrize(
    "query",
    ['NEAR("a b", 3)', "title:* OR (", "🙂" * 50, "x" * 10_000, "a AND NOT b", "\x00\x1b[31m", "'; DROP TABLE terms; --"],
)
def test_any_text_can_be_searched(retriever: Retriever, query: str) -> None:
    assert len(retriever.search(query, 4)) == 4


def test_none_is_asked_for_none_is_given(retriever: Retriever) -> None:
    assert retriever.search("diffusion", 0) == []


def test_more_than_there_are_gives_all(retriever: Retriever) -> None:
    hits = retriever.search("diffusion", 500)
    assert len(hits) == len({hit.paper.id for hit in hits}) == 57


def test_where_no_paper_passes_the_filters_it_abstains(retriever: Retriever) -> None:
    found = retriever.retrieve(Plan("diffusion?", "diffusion", "answer", filters=Filters.of(year=1900)), 3)
    assert (found.hits, found.scanned, found.abstain) == ((), 0, True)


def test_similar_leaves_the_paper_itself_out(retriever: Retriever) -> None:
    paper = retriever.search("LoRA in federated learning", 1)[0].paper
    hits = retriever.similar(paper.id, 5)
    assert len(hits) == 5
    assert paper.id not in {hit.paper.id for hit in hits}
    assert any("Adaptation" in title for title in titles(hits)[:2])


def test_similar_to_an_unknown_paper_is_refused(retriever: Retriever) -> None:
    with pytest.raises(CorpusError, match="No paper 'nowhere' in seeds"):
        retriever.similar("nowhere")


class Backwards:
    """Turns the order round."""

    def rerank(self, question: str, hits: list[Hit]) -> tuple[Hit, ...]:
        return tuple(reversed(hits))


def test_a_reranker_sees_twenty_and_decides(seeds: Library, model: MiniLM, retriever: Retriever) -> None:
    reranker: Reranker = Backwards()
    hits = Retriever(seeds, model, Settings(), reranker=reranker).search("diffusion", 2)
    assert titles(hits) == titles(retriever.search("diffusion", 20))[:-3:-1]


class Failing:
    """A reranker whose server is gone."""

    def rerank(self, question: str, hits: list[Hit]) -> tuple[Hit, ...]:
        raise ModelError("The server is gone.", kind="connection")


def test_a_failing_reranker_leaves_the_searchs_own_order(seeds: Library, model: MiniLM, retriever: Retriever) -> None:
    failing = Retriever(seeds, model, Settings(), reranker=Failing())
    assert titles(failing.search("diffusion", 3)) == titles(retriever.search("diffusion", 3))
    assert failing.retrieve(Plan("diffusion?", "diffusion", "answer"), 3).notes == ("Not reranked: The server is gone.",)


def test_answer_mode_counts_what_was_scanned(retriever: Retriever) -> None:
    found = retriever.retrieve(Plan("which papers study turn-taking?", "turn-taking", "answer"), 3)
    assert found.query == "turn-taking"
    assert found.scanned == 57
    assert titles(list(found.hits))[0] == TURNS
    assert not found.abstain


def test_list_mode_finds_the_matching_papers(retriever: Retriever) -> None:
    found = retriever.list(Plan("Which papers study diffusion models?", "diffusion models", "list"))
    assert found.scanned == 57
    assert found.matched == len(found.hits)
    assert any("Diffusion" in title for title in titles(list(found.hits))[:2])


def test_words_that_no_abstract_holds_are_said_of_an_answer(retriever: Retriever) -> None:
    topic = "turn-taking of spoken dialogue systems on Gaudi"
    found = retriever.retrieve(Plan(f"How good is {topic}?", topic, "answer"), 3)
    assert (found.abstain, found.notes) == (False, ("No abstract mentions “Gaudi”.",))
