import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.text.words import content_words, index_terms, query_pairs, query_terms, stem


def shared(question: str, abstract: str) -> set[str]:
    return {*query_terms(question), *query_pairs(question)} & set(index_terms(abstract).split())


@pytest.mark.parametrize("question", ["turn taking", "turn-taking", "turntaking", "Turn‑Taking", "TURN-TAKING"])
@pytest.mark.parametrize("abstract", ["turn taking", "turn-taking", "turntaking", "TurnTaking"])
def test_hyphen_space_and_case_variants_meet(question: str, abstract: str) -> None:
    assert "turntak" in shared(question, abstract)


def test_words_are_stemmed_and_stop_words_left_out() -> None:
    assert query_terms("How are the models connected to studies?") == ("model", "connect", "studi")


def test_acronyms_meet_their_plural() -> None:
    assert {"gan", "ʌgan"} <= shared("GANs", "a GAN")


def test_a_name_in_capitals_differs_from_the_word() -> None:
    assert "ʌsafe" in shared("SAFE", "SAFE proves code")
    assert "ʌsafe" not in shared("SAFE", "a safe planner")


def test_parts_of_a_camel_case_name_are_found() -> None:
    assert {"long", "align"} <= set(index_terms("LongAlign").split())


def test_decimals_stay_whole() -> None:
    assert shared("12.1", "by 12.1x and 12") == set()
    assert shared("12.1x", "by 12.1x") == {"12d1x"}


def test_scripts_without_spaces_are_indexed_by_pairs() -> None:
    assert query_terms("扩散模型") == ("扩散", "散模", "模型")
    assert shared("扩散", "我们研究扩散模型") == {"扩散"}


def test_accents_and_compatibility_forms_are_folded() -> None:
    assert query_terms("naïve ﬁne Straße") == query_terms("naive fine strasse")


def test_neighbours_over_a_stop_word_are_a_pair() -> None:
    assert "learninglearn" in shared("learning to learn", "a learning-to-learn view")


def test_words_of_different_sentences_are_no_pair() -> None:
    assert query_pairs("models. Learning") == ()


def test_content_words_keep_order_and_repetition() -> None:
    assert content_words("The reward of a reward-model's LoRA") == ("reward", "reward", "model", "lora")


@pytest.mark.parametrize(("word", "expected"), [("Studies", "studi"), ("taking", "take"), ("LoRA", "lora"), ("日本語", "日本語"), ("", "")])
def test_stem(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize("question", ["", "   ", "which of the", "🙂🙂", "\"'*()^:-", "\x00\x1f"])
def test_a_question_without_words_has_no_terms(question: str) -> None:
    assert query_terms(question) == ()
    assert query_pairs(question) == ()


def test_a_long_question_is_capped() -> None:
    question = " ".join(f"word{i}" for i in range(10_000))
    assert len(query_terms(question)) == 128
    assert len(query_pairs(question)) == 128


@given(st.text(max_size=200))
def test_every_term_is_one_token_of_the_full_text_index(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE VIRTUAL TABLE terms USING fts5 (body, tokenize = "unicode61 remove_diacritics 0")')
    connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab (terms, row)")
    stored = index_terms(text)
    connection.execute("INSERT INTO terms VALUES (?)", (stored,))
    assert {term for (term,) in connection.execute("SELECT term FROM vocabulary")} == set(stored.split())
    connection.close()


@given(st.text(max_size=300))
def test_a_text_holds_all_terms_of_itself_as_a_question(text: str) -> None:
    held = set(index_terms(text).split())
    assert set(query_terms(text)) <= held
    assert set(query_pairs(text)) <= held
