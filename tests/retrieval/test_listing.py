"""Which candidates a list holds."""

from dataclasses import replace

import pytest

from rag.embedding import MiniLM
from rag.records import Hit, Paper, Span
from rag.retrieval import Retriever
from rag.retrieval.background import Background
from rag.retrieval.listing import MatchFeatures, best_cut, matching
from rag.retrieval.planner import Plan
from rag.retrieval.topic import PaperWords, Topic, alternatives
from rag.store.filters import Filters
from rag.store.library import Library


@pytest.mark.parametrize(
    ("probabilities", "cut"),
    [
        ([], 0),
        ([0.0, 0.0], 0),
        ([0.9], 1),
        ([0.01], 1),
        ([0.9, 0.1], 1),
        ([0.9, 0.8, 0.7, 0.02], 3),
        ([0.02, 0.9, 0.7, 0.8], 3),
        ([0.5, 0.5, 0.5, 0.5], 4),
    ],
)
def test_the_cut_has_the_highest_expected_f1(probabilities: list[float], cut: int) -> None:
    assert best_cut(probabilities) == cut


def test_many_improbable_papers_do_not_move_the_cut() -> None:
    assert best_cut([0.9, 0.8] + [0.04] * 10_000) == 2


def test_matching_chooses_by_probability_and_orders_by_height() -> None:
    hits = [Hit(rank, 1.0, Paper(str(rank), "t", "a"), Span(0, 1, "a")) for rank in (1, 2, 3)]
    features = [
        MatchFeatures(height=1.7, gap=0.0, full=0.0, missing=0.0),
        MatchFeatures(height=0.2, gap=9.0, full=0.0, missing=9.0),
        MatchFeatures(height=1.6, gap=0.3, full=1.0, missing=0.0),
    ]
    chosen = matching(hits, features)
    assert [(hit.paper.id, hit.rank) for hit in chosen] == [("1", 1), ("3", 2)]
    assert [hit.score for hit in chosen] == [features[0].probability, features[2].probability]
    assert chosen[1].score > chosen[0].score


def test_probability_rises_with_height_and_falls_with_missing_words() -> None:
    base = MatchFeatures(height=1.6, gap=0.0, full=1.0, missing=0.0)
    assert replace(base, height=1.8).probability > base.probability
    assert replace(base, full=0.0, missing=4.0).probability < base.probability
    assert replace(base, gap=2.0).probability < base.probability


def test_an_or_between_two_topics_makes_alternatives() -> None:
    assert alternatives("graph pruning or audio tagging") == ("graph pruning", "audio tagging")


@pytest.mark.parametrize("text", ["a new benchmark or protocol", "turn-taking", "oracle bounds", ""])
def test_an_or_that_shares_its_words_does_not(text: str) -> None:
    assert alternatives(text) == (text,)


def test_topic_words_are_weighed_by_how_rare_they_are(seeds: Library) -> None:
    topic = Topic.of("turn-taking models", seeds)
    words = PaperWords.of(Paper("x", "Turn-taking", "Speakers take turns."))
    assert topic.idf["take"] > topic.idf["model"]
    assert 0.5 < topic.coverage(words) < 1.0
    assert topic.lexical(words, 100.0) > topic.lexical(PaperWords.of(Paper("y", "Models", "A model.")), 100.0) > 0.0
    assert topic.asked_words(frozenset(["take", "turn"])) == ("turn-taking",)


def test_words_of_asking_count_only_alone(seeds: Library) -> None:
    assert Topic.of("What gain does dropout report?", seeds).terms == ("gain", "dropout")
    assert Topic.of("report", seeds).terms == ("report",)


def test_a_topic_without_informative_words_weighs_nothing(seeds: Library) -> None:
    topic = Topic.of("what is it", seeds)
    words = PaperWords.of(Paper("x", "Title", "Text."))
    assert (topic.weight, topic.coverage(words), topic.lexical(words, 100.0)) == (0, 0.0, 0.0)


def test_the_evidence_is_the_sentence_that_holds_the_topic(seeds: Library) -> None:
    abstract = "We study cats. Dropout is used in training. It works."
    paper = Paper("x", "T", abstract)
    window = Span(0, len(abstract), abstract)
    assert Topic.of("dropout", seeds).evidence(paper, window).text == "Dropout is used in training."
    assert Topic.of("zebra", seeds).evidence(paper, window) == window


def test_the_background_is_the_whole_of_a_small_corpus(seeds: Library, model: MiniLM) -> None:
    background = Background.of(seeds)
    assert len(background.words) == len(background.whole) == len(background.first) == 57
    topic = Topic.of("turn-taking", seeds)
    spread = background.spread(topic, model.embed([topic.text])[0])
    assert 0.0 < spread.mean < 0.3
    assert spread.standardised(spread.mean + 2 * spread.deviation) == pytest.approx(2.0)


def test_a_sample_is_spread_over_the_corpus(seeds: Library) -> None:
    assert len(Background.of(seeds, most=10).words) == 10


def test_a_list_counts_what_matches_and_gives_each_a_sentence(retriever: Retriever) -> None:
    found = retriever.list(Plan("Which papers study diffusion models?", "diffusion models", "list"))
    assert found.scanned == found.judged == 57
    assert found.matched == len(found.hits) > 3
    assert all("diffusion" in f"{hit.paper.title} {hit.paper.abstract}".lower() for hit in found.hits)
    assert all(0.1 < hit.score < 1.0 for hit in found.hits)
    for hit in found.hits:
        assert hit.paper.abstract[hit.passage.start : hit.passage.end] == hit.passage.text


def test_a_list_on_nothing_in_the_corpus_abstains_with_the_nearest(retriever: Retriever) -> None:
    found = retriever.list(Plan("Which papers study beekeeping?", "beekeeping", "list"))
    assert (found.abstain, found.matched) == (True, 0)
    assert found.hits
    assert found.reason is not None
    assert "“beekeeping”" in found.reason


def test_without_a_topic_all_papers_of_the_filters_are_listed(retriever: Retriever) -> None:
    everything = retriever.list(Plan("list all papers", "", "list"))
    assert (everything.matched, everything.abstain) == (57, False)
    none = retriever.list(Plan("papers of 1900", "", "list", filters=Filters.of(year=1900)))
    assert (none.matched, none.abstain) == (0, True)
