import pytest

from rag.embedding import MiniLM
from rag.retrieval import Retriever
from rag.retrieval.planner import Plan
from rag.retrieval.spelling import respelled
from rag.store.library import Library


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("conformal predicton", "conformal prediction"),
        ("system identifcation", "system identification"),
        ("model ailgnment", "model alignment"),
        ("processinig of speech", "processing of speech"),
        ("personalise models", "personalize models"),
    ],
)
def test_a_misspelled_word_is_read_as_the_corpus_has_it(seeds: Library, model: MiniLM, typed: str, read: str) -> None:
    assert respelled(typed, seeds, model)[0] == read


@pytest.mark.parametrize(
    "topic",
    [
        "turn-taking in conversation",
        "mortality of patients",  # words, though no paper has them
        "which papers study stimulation",
        "tabular decoding",
        "Predicton",  # a name
        "predicton2",
        "sped lern",  # short words are close to many
        "trainingx_predicton",
        "",
    ],
)
def test_other_words_stay(seeds: Library, model: MiniLM, topic: str) -> None:
    assert respelled(topic, seeds, model) == (topic, ())


def test_the_reader_is_told_what_was_searched(retriever: Retriever) -> None:
    found = retriever.retrieve(Plan("conformal predicton?", "conformal predicton", "answer"), 3)
    assert found.query == "conformal prediction"
    assert found.notes == ("No abstract has “predicton”: searched for “prediction”.",)
    assert not found.abstain


def test_a_list_is_told_so_too(retriever: Retriever) -> None:
    found = retriever.list(Plan("Which papers study conformal predicton?", "conformal predicton", "list"))
    assert found.notes == ("No abstract has “predicton”: searched for “prediction”.",)
    assert found.matched


def test_search_reads_typing_errors(retriever: Retriever) -> None:
    wrong, right = (retriever.search(f"conformal {word}", 5) for word in ("predicton", "prediction"))
    assert wrong == right
