"""Questions that are not English: detected, and searched by the names in them."""

import pytest

from rag.retrieval.constraints import Facets
from rag.retrieval.language import detect_language, language_name, usable_names
from rag.retrieval.planner import plan_question


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("哪些论文研究扩散模型？", "zh"),
        ("拡散モデルに関する論文はありますか", "ja"),
        ("확산 모델에 대한 논문이 있나요?", "ko"),
        ("Welche Arbeiten untersuchen Diffusionsmodelle?", "de"),
        ("Was ist LoRA und wie funktioniert es?", "de"),
        ("¿Qué artículos estudian los modelos de difusión?", "es"),
        ("Quels articles étudient les modèles de diffusion ?", "fr"),
        ("какие статьи изучают диффузионные модели?", "ru"),
        ("which papers study diffusion models?", "en"),
        ("LoRA versus AdamW", "en"),
        ("die casting of alloys", "en"),
        ("naïve Bayes", "en"),
        ("", "en"),
    ],
)
def test_the_language_is_detected(question: str, language: str) -> None:
    assert detect_language(question) == language


@pytest.mark.parametrize(
    ("question", "mode", "topic"),
    [
        ("哪些论文研究 LoRA 和 AdamW？", "list", "LoRA AdamW"),
        ("Wie hängt LoRA mit AdamW zusammen?", "answer", "LoRA AdamW"),
        ("¿Qué artículos estudian Rust y Mamba?", "list", "Rust Mamba"),
        ("Welche Arbeiten untersuchen den Rust-Compiler?", "list", "Rust-Compiler"),
    ],
)
def test_names_are_searched(question: str, mode: str, topic: str) -> None:
    plan = plan_question(question, Facets())
    assert (plan.mode, plan.topic) == (mode, topic)
    assert plan.language != "en"


def test_without_names_the_question_itself_is_the_topic() -> None:
    assert plan_question("什么是扩散模型？", Facets()).topic == "什么是扩散模型？"


def test_a_foreign_count_is_a_count() -> None:
    assert plan_question("Wie viele Arbeiten benutzen LoRA?", Facets()).count


def test_pieces_of_accented_words_are_no_names() -> None:
    assert usable_names("étudie ÉtudierX Rust2", "fr") == ("Rust2",)


def test_languages_have_names() -> None:
    assert (language_name("de"), language_name("xx")) == ("German", "xx")
