"""A fault of the model's server in every step: the answer's own fault is one error, any other costs a note and nothing else."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from answering_parts import PAPERS, FakeRetriever, WordVerifier, answerer
from openai_server import FakeServer, faults

from rag.answering import Answerer, AskOptions
from rag.embedding import open_embedder
from rag.errors import ModelError, RagError
from rag.models import open_model
from rag.records import Answer
from rag.settings import Settings
from rag.store import Corpora
from rag.text.tokens import count_tokens

KEY = "sk-the-key-of-the-user-0123456789"
TIMEOUT_S = 0.8
HANGING_S = 30.0
"""Half of what the server stalls for: far beyond the time-out, since the machine may be busy."""
QUESTION = "How accurate is the judge model at turn changes?"
TRUE = "Our judge model predicts turn changes with 91.5% accuracy [1]."
WRONG = "The moon consists of green cheese entirely [1]."

DEAD = {
    "unauthorized": faults.unauthorized,
    "model_not_found": faults.model_not_found,
    "rate_limited": faults.rate_limited,
    "quota": faults.quota_exhausted,
    "server_error": faults.server_error,
    "unavailable": faults.unavailable,
    "slow_first_byte": faults.slow_first_byte,
    "invalid_json": faults.invalid_json,
    "broken_json": faults.broken_json,
    "invalid_sse": faults.invalid_sse,
    "foreign_json": faults.foreign_json,
    "refusal": faults.refusal,
    "filtered": faults.filtered,
}
"""No usable word comes."""
SILENT = {"empty_choices": faults.empty_choices, "empty_text": faults.empty_text}
BROKEN = {"stall": faults.stall, "cut": faults.cut, "unfinished": faults.unfinished, "error_in_stream": faults.error_in_stream}
"""Something comes, then it breaks off."""
STEPS = {
    "repair": "not backed by the papers",
    "translate": "Translate this question",
    "judge": "You decide which papers match",
    "verify": "You check whether abstracts",
    "rerank": "You order papers",
}
"""What the prompt of each step says."""


ASKED = {
    "repair": (QUESTION, "Repair"),
    "translate": ("Wie genau ist das Modell bei der Vorhersage von Sprecherwechseln?", "Translation"),
    "judge": ("Which papers study LoRA?", "Judging"),
    "verify": (QUESTION, "Checking by the model"),
}
"""A question that needs the step, and what the note calls it."""


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda low, high: 0.02)


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    """Loading the packages takes seconds on a busy machine; no time-out of a test should pay for it."""
    importlib.import_module("openai")
    count_tokens("warm")


@pytest.fixture
def model_settings(openai_server: FakeServer, tmp_path: Path) -> Settings:
    return Settings(openai_api_key=KEY, openai_base_url=openai_server.url, model="test-model", timeout_s=TIMEOUT_S, home=tmp_path)


def ask(settings: Settings, question: str = QUESTION, **options: object) -> Answer:
    started = time.monotonic()
    answer = answerer(open_model(settings)).ask(question, AskOptions(**options))  # type: ignore[arg-type]  # by name
    assert time.monotonic() - started < HANGING_S
    assert KEY not in repr(answer)
    assert faults.LEAK not in repr(answer)
    return answer


@pytest.mark.parametrize("name", DEAD)
def test_a_fault_of_the_answer_itself_is_one_error(name: str, openai_server: FakeServer, model_settings: Settings) -> None:
    openai_server.default = DEAD[name]()
    started = time.monotonic()
    with pytest.raises(ModelError) as caught:
        answerer(open_model(model_settings)).ask(QUESTION)
    assert time.monotonic() - started < HANGING_S
    assert "\n" not in str(caught.value)
    assert not {KEY, faults.LEAK} & set(str(caught.value).split())
    if name == "quota":
        assert len(openai_server.chats) == 1


@pytest.mark.parametrize("name", SILENT)
def test_a_silent_model_is_replaced_by_the_offline_one(name: str, openai_server: FakeServer, model_settings: Settings) -> None:
    openai_server.default = SILENT[name]()
    answer = ask(model_settings)
    assert answer.text == TRUE
    assert answer.notes == ("test-model gave no usable answer; these sentences of the abstracts stand in for it.",)


@pytest.mark.parametrize("name", BROKEN)
def test_a_partial_answer_stays_and_is_marked(name: str, openai_server: FakeServer, model_settings: Settings) -> None:
    openai_server.default = BROKEN[name](f"{TRUE} And more to come") if name != "stall" else faults.stall(f"{TRUE} And more", after=12)
    if name in ("cut", "error_in_stream"):
        openai_server.default = BROKEN[name](f"{TRUE} And more to come", after=12)  # type: ignore[call-arg]  # these have it
    answer = ask(model_settings)
    assert answer.text.startswith(TRUE)
    assert answer.finish == "cut"
    assert answer.citations[0].support == "quoted"
    assert len(openai_server.chats) == 1


def test_an_answer_cut_by_its_length_says_so(openai_server: FakeServer, model_settings: Settings) -> None:
    openai_server.default = faults.truncated(f"{TRUE} Another")
    answer = ask(model_settings)
    assert (answer.finish, answer.text.startswith(TRUE)) == ("length", True)
    assert "test-model stopped at its limit of tokens; the answer may be incomplete." in answer.notes


@pytest.mark.parametrize("fault", [faults.context_overflow, faults.context_overflow_plain])
def test_an_overflow_is_cured_by_half_the_papers(fault: object, openai_server: FakeServer, model_settings: Settings) -> None:
    openai_server.script([fault(), TRUE])  # type: ignore[operator]  # a fault
    assert ask(model_settings).text == TRUE
    assert [request.user.count("<<<paper [") for request in openai_server.chats] == [3, 1]


@pytest.mark.parametrize("name", DEAD | SILENT | BROKEN)
@pytest.mark.parametrize("step", ["repair", "translate", "judge", "verify"])
def test_a_fault_of_another_step_costs_a_note_and_nothing_else(
    step: str, name: str, openai_server: FakeServer, model_settings: Settings
) -> None:
    openai_server.on(STEPS[step], (DEAD | SILENT | BROKEN)[name]())
    openai_server.default = f"{WRONG} {TRUE}" if step == "repair" else TRUE
    question, noted = ASKED[step]
    if step == "verify":
        openai_server.default = "One judge model predicts turn changes quite accurately [1]."
    answer = ask(model_settings, question, verify="llm" if step == "verify" else "local")
    assert any(note.startswith(f"{noted} failed") for note in answer.notes) or name in BROKEN
    assert answer.citations[0].paper.id == "p1"
    assert answer.finish == "complete"
    if name == "quota":
        assert sum(STEPS[step] in request.text for request in openai_server.chats) == 1


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[object, object, Path]]:
    """The bundled corpus, for the step that needs a real search."""
    home = tmp_path_factory.mktemp("seeds")
    settings = Settings(home=home)
    embedder = open_embedder(settings)
    with Corpora(settings).open("seeds", embedder) as library:
        yield library, embedder, home


@pytest.mark.parametrize("name", ["unauthorized", "quota", "server_error", "slow_first_byte", "invalid_json", "empty_text", "stall", "cut"])
def test_a_fault_of_reranking_keeps_the_order_of_the_search(
    name: str, openai_server: FakeServer, seeds: tuple[object, object, Path], tmp_path: Path
) -> None:
    from rag.retrieval import Retriever

    library, embedder, _ = seeds
    settings = Settings(
        openai_api_key=KEY, openai_base_url=openai_server.url, model="test-model", timeout_s=TIMEOUT_S, home=tmp_path, reranker="llm"
    )
    openai_server.on(STEPS["rerank"], (DEAD | SILENT | BROKEN)[name]())
    openai_server.default = "Turn-taking capabilities are assessed by a supervised model as a judge [1]."
    retriever = Retriever(library, embedder, settings)  # type: ignore[arg-type]  # of the fixture
    pipeline = Answerer(library, retriever, embedder, open_model(settings), WordVerifier(), settings)  # type: ignore[arg-type]  # the same
    answer = pipeline.ask("How does a judge model evaluate turn-taking?")
    assert answer.citations[0].paper.title.startswith("Talking Turns")
    assert any(note.startswith("Reranking failed (") for note in answer.notes) or name in BROKEN
    assert KEY not in repr(answer)


def test_every_step_reports_its_tokens(openai_server: FakeServer, model_settings: Settings) -> None:
    openai_server.on(STEPS["translate"], "How accurate is the judge model at turn changes?")
    openai_server.on(STEPS["repair"], TRUE)
    openai_server.default = f"{WRONG} {TRUE}"
    german = ask(model_settings, "Wie genau ist das Modell bei der Vorhersage von Sprecherwechseln?")
    assert [(step.step, step.prompt_tokens, step.completion_tokens) for step in german.usage.steps] == [
        ("translate", 100, 20),
        ("answer", 100, 20),
    ]
    assert german.notes[0] == "Searched in English: How accurate is the judge model at turn changes?"
    assert "Answer in German" in german.prompt
    english = ask(model_settings)
    assert [step.step for step in english.usage.steps] == ["answer", "repair"]
    assert (english.usage.prompt_tokens, english.usage.completion_tokens, english.usage.estimated) == (200, 40, False)


def test_the_chat_model_can_check_statements(openai_server: FakeServer, model_settings: Settings) -> None:
    openai_server.on(STEPS["verify"], '{"verdicts": [{"number": 1, "verdict": "contradicted"}]}')
    openai_server.default = f"One judge model predicts turn changes quite accurately [1]. {TRUE}"
    answer = ask(model_settings, verify="llm", repair=False)
    assert answer.text == f"One judge model predicts turn changes quite accurately [1?]. {TRUE}"
    assert [statement.verdict for statement in answer.statements] == ["unsupported", "quoted"]
    assert answer.statements[0].citations[0].problem == "the model finds the opposite in the abstract"
    assert [step.step for step in answer.usage.steps] == ["answer", "verify"]


def test_the_limit_holds_over_all_steps(openai_server: FakeServer, model_settings: Settings) -> None:
    openai_server.default = f"{WRONG} {TRUE}"
    answer = answerer(open_model(model_settings), max_tokens_per_question=650).ask(QUESTION)
    assert [step.step for step in answer.usage.steps] == ["answer"]
    assert any("of 650 are left for this question" in note for note in answer.notes)


def test_two_models_asked_at_once_do_not_mix(openai_server: FakeServer, model_settings: Settings) -> None:
    openai_server.default = TRUE
    pipeline = answerer(open_model(model_settings), retriever=FakeRetriever(PAPERS))
    runs = [pipeline.stream(QUESTION) for _ in range(3)]
    events = [[next(run) for run in runs] for _ in range(3)]
    assert all(len(row) == 3 for row in events)
    answers = [[event for event in run if isinstance(event, Answer)][0] for run in runs]
    assert [answer.text for answer in answers] == [TRUE] * 3


def test_errors_are_of_one_family() -> None:
    assert issubclass(ModelError, RagError)
