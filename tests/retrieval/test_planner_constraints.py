"""Restrictions that stand in a question become filters and leave the topic."""

import pytest

from rag.records import Paper
from rag.retrieval.constraints import Facets
from rag.retrieval.planner import plan_question

FACETS = Facets.of(
    [
        Paper("1", "A", "a", authors=("Ada Lovelace", "Bo Li"), year=2025, venue="ICLR 2025", decision="Poster", track="main"),
        Paper("2", "B", "b", authors=("José Pérez", "Wei Liu"), year=2024, venue="COLM 2024", decision="Oral", track="datasets"),
        Paper("3", "C", "c", authors=("Mary Li",), year=2023, venue="Nature", keywords=("graph learning",)),
    ]
)


@pytest.mark.parametrize(
    ("question", "filters", "topic"),
    [
        ("which ICLR 2025 papers by Ada Lovelace use LoRA?", 'venue~ICLR and year=2025 and author="Ada Lovelace"', "LoRA"),
        ("how many posters on diffusion are there?", "decision~poster", "diffusion"),
        ("which oral papers deal with rewards", "decision~oral", "rewards"),
        ("which papers were accepted as orals?", "decision~oral", ""),
        ("what papers from 2024 discuss privacy", "year=2024", "privacy"),
        ("papers on trees since 2024", "year>=2024", "trees"),
        ("papers between 2023 and 2024 about trees", "year>=2023 and year<=2024", "trees"),
        ("which papers published after 2023 concern safety?", "year>2023", "safety"),
        ("which papers before 2024 use CLIP?", "year<2024", "CLIP"),
        ("2024 papers on trees", "year=2024", "trees"),
        ("papers by Jose Perez", 'author="José Pérez"', ""),
        ("What has Ada Lovelace published on robots?", 'author="Ada Lovelace"', "robots"),
        ("which papers by Li et al. study robustness?", 'author="Bo Li" or author="Mary Li"', "robustness"),
        ("papers by Grace Hopper on compilers", 'author~"Grace Hopper"', "compilers"),
        ("how many papers in the datasets track use transformers", "track~datasets", "transformers"),
        ("papers with the keyword graph learning", 'keyword~"graph learning"', ""),
        ("which Nature papers study cells?", "venue~Nature", "cells"),
    ],
)
def test_restrictions_become_filters(question: str, filters: str, topic: str) -> None:
    plan = plan_question(question, FACETS)
    assert (str(plan.filters), plan.topic, plan.mode) == (filters, topic, "list")


def test_a_known_venue_that_the_corpus_lacks_still_restricts() -> None:
    plan = plan_question("which NeurIPS papers study bandits?", FACETS)
    assert (str(plan.filters), plan.topic) == ("venue~NeurIPS", "bandits")


@pytest.mark.parametrize(
    "question",
    [
        "which papers are about the nature of bias?",
        "which papers study oral cancer?",
        "which papers learn by gradient descent?",
        "How did the 2024 election affect posts?",
        "which papers study the ImageNet 2012 challenge?",
    ],
)
def test_words_of_a_topic_restrict_nothing(question: str) -> None:
    assert not plan_question(question, FACETS).filters


def test_a_corpus_without_the_field_is_not_restricted() -> None:
    plan = plan_question("which posters from 2024 by Ada Lovelace study trees?", Facets())
    assert not plan.filters
    assert plan.mode == "list"
