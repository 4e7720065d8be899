import pytest

from rag.retrieval.query import clean_query


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("which papers study turn-taking?", "turn-taking"),
        ("Which papers are about robots?", "robots"),
        ("Is there work on sparse attention?", "sparse attention"),
        ("Are there any papers on protein folding?", "protein folding"),
        ("Please list all papers about LoRA.", "LoRA"),
        ("Can you show me papers that study in-context learning, please?", "in-context learning"),
        ("I'm looking for research on graph neural networks", "graph neural networks"),
        ("how many papers use diffusion models?", "diffusion models"),
        ("How many papers in this corpus use CLIP?", "CLIP"),
        ("what papers are there on GANs?", "GANs"),
        ("Tell me about LoRA", "LoRA"),
        ("active learning papers", "active learning"),
    ],
)
def test_words_that_only_ask_are_removed(question: str, topic: str) -> None:
    assert clean_query(question) == topic


@pytest.mark.parametrize(
    "question",
    [
        "How does LongAlign encode long prompts",
        "list decoding of codes",
        "Show that SGD converges",
        "which methods reduce memory",
        "finding minima",
    ],
)
def test_a_question_about_a_thing_keeps_its_words(question: str) -> None:
    assert clean_query(question) == question


@pytest.mark.parametrize("question", ["papers", "List papers", "How many papers are there", "research papers"])
def test_a_question_that_is_all_wrapping_is_kept(question: str) -> None:
    assert clean_query(question) == question


def test_white_space_is_collapsed_and_length_capped() -> None:
    assert clean_query("  a \n b ") == "a b"
    assert len(clean_query("x" * 20_000)) == 10_000


@pytest.mark.parametrize("question", ["", " ?! "])
def test_nothing_stays_nothing(question: str) -> None:
    assert clean_query(question) == ""
