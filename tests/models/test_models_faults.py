"""Every way a server goes wrong has one outcome, in bounded time."""

from __future__ import annotations

import pytest
from models_parts import MESSAGES, outcome_of
from openai_server import FakeServer, Reply, faults

from rag.models import open_model
from rag.protocols import ChatModel, ChatRequest
from rag.settings import Settings

EARLY = {
    "401": (faults.unauthorized(), "authentication", "does not accept the key (401). Correct OPENAI_API_KEY."),
    "403": (faults.forbidden(), "authentication", "refuses access to model 'test-model' (403)"),
    "404": (
        faults.model_not_found(),
        "not_found",
        "Set RAG_MODEL to a model it offers, or correct OPENAI_BASE_URL. It offers: test-model.",
    ),
    "429": (faults.rate_limited("120"), "rate_limit", "It asks to wait 120 s"),
    "quota": (faults.quota_exhausted(), "quota", "the quota is used up (429): You exceeded your current quota"),
    "500": (faults.server_error(), "server", "failed (500): The server had an error while processing your request. Try again later."),
    "503": (faults.unavailable("30"), "server", "failed (503): The engine is currently overloaded. It asks to wait 30 s"),
    "context": (faults.context_overflow(), "context_length", "Use fewer papers (-k), or set RAG_CONTEXT_TOKENS"),
    "context, without a code": (
        faults.context_overflow_plain(),
        "context_length",
        "Requested tokens (3000) exceed context window of 2048.",
    ),
    "400": (faults.bad_request(), "bad_request", "refused the request (400): Something else is wrong with this request."),
    "slow first byte": (faults.slow_first_byte(), "timeout", "sent nothing for 0.8 s. Raise RAG_TIMEOUT_S, or check the server."),
    "HTML": (faults.invalid_json(), "protocol", "sent no chat completion. Check that OPENAI_BASE_URL"),
    "broken JSON": (faults.broken_json(), "protocol", "sent something that is no JSON"),
    "broken events": (faults.invalid_sse(), "protocol", "sent something that is no JSON"),
    "JSON of another service": (faults.foreign_json(), "protocol", "sent JSON that is no chat completion"),
    "no choices": (faults.empty_choices(), "empty", "sent a reply without choices"),
    "no text": (faults.empty_text(), "empty", "sent an empty reply"),
    "only spaces": (Reply("  \n "), "empty", "sent an empty reply"),
    "thoughts only": (
        Reply("<think>so many thoughts", finish="length"),
        "empty",
        "used up its 200 completion tokens before the first word",
    ),
    "filtered": (faults.filtered(), "refusal", "its content filter stopped the reply"),
    "refusal": (faults.refusal(), "refusal", "declined to answer: I'm sorry, I can't help with that."),
    "redirect": (faults.redirect("http://other.example/v1?key=1"), "protocol", "redirects (307) to http://other.example/v1."),
    "error event at once": (faults.error_in_stream(after=0), "server", "broke off the reply: The server had an error in mid-stream"),
}


@pytest.mark.parametrize(("reply", "kind", "words"), EARLY.values(), ids=EARLY.keys())
def test_a_fault_before_the_first_word_raises_one_clear_line(
    openai_server: FakeServer, ask_hastily, reply: Reply, kind: str, words: str
) -> None:
    openai_server.default = reply
    outcome = ask_hastily()
    assert outcome.text == ""
    assert outcome.error.kind == kind
    assert words in str(outcome.error)
    assert "\n" not in str(outcome.error)
    assert outcome.seconds < 2.0


MIDWAY = {
    "cut": faults.cut(),
    "stall": faults.stall(),
    "error event": faults.error_in_stream(),
    "no finish_reason": faults.unfinished(),
}


@pytest.mark.parametrize("reply", MIDWAY.values(), ids=MIDWAY.keys())
def test_a_fault_in_mid_stream_keeps_what_came_and_says_cut(openai_server: FakeServer, ask_hastily, reply: Reply) -> None:
    openai_server.default = reply
    outcome = ask_hastily()
    assert (outcome.text, outcome.finish, outcome.error) == ("Turn-taking is studied", "cut", None)
    assert outcome.seconds < 2.0
    assert len(openai_server.chats) == 1


def test_a_reply_at_its_token_limit_says_length(openai_server: FakeServer, ask_hastily) -> None:
    openai_server.default = faults.truncated()
    assert ask_hastily().finish == "length"


def test_text_before_a_content_filter_stays(openai_server: FakeServer, ask_hastily) -> None:
    openai_server.default = faults.filtered("Turn-taking is studied")
    outcome = ask_hastily()
    assert (outcome.text, outcome.finish) == ("Turn-taking is studied", "content_filter")


@pytest.mark.parametrize("reply", [faults.endless(), faults.huge()], ids=["endless", "10 MB"])
def test_a_reply_without_end_is_stopped(openai_server: FakeServer, ask_hastily, reply: Reply) -> None:
    openai_server.default = reply
    outcome = ask_hastily(max_tokens=100)
    assert outcome.finish == "length"
    assert len(outcome.text) == 1600
    assert outcome.seconds < 2.0


def test_thoughts_without_end_are_stopped(openai_server: FakeServer, ask_hastily) -> None:
    event = b'data: {"choices": [{"delta": {"reasoning_content": "' + b"hmm " * 1000 + b'"}}]}\n\n'
    openai_server.default = Reply(raw=(event for _ in range(10_000)), content_type="text/event-stream")
    assert ask_hastily().error.kind == "empty"


@pytest.mark.parametrize("noise", [b": keep-alive\n\n", b'data: {"choices": [{"delta": {"content": ""}}]}\n\n', b"data: "])
def test_bytes_that_say_nothing_do_not_extend_the_wait(openai_server: FakeServer, ask_hastily, noise: bytes) -> None:
    openai_server.default = Reply(raw=_dripping(openai_server, noise), content_type="text/event-stream")
    outcome = ask_hastily()
    assert outcome.error.kind == "timeout"
    assert 0.7 < outcome.seconds < 2.0


def test_bytes_that_say_nothing_after_some_text_end_in_a_cut(openai_server: FakeServer, ask_hastily) -> None:
    def events():
        yield b'data: {"choices": [{"delta": {"content": "Turn-taking"}}]}\n\n'
        yield from _dripping(openai_server, b": keep-alive\n\n")

    openai_server.default = Reply(raw=events(), content_type="text/event-stream")
    outcome = ask_hastily()
    assert (outcome.text, outcome.finish) == ("Turn-taking", "cut")
    assert outcome.seconds < 2.0


def test_a_whole_reply_that_trickles_in_is_bounded(openai_server: FakeServer, ask_hastily) -> None:
    openai_server.default = Reply(raw=_dripping(openai_server, b" "), content_type="application/json")
    outcome = ask_hastily()
    assert outcome.error.kind == "timeout"
    assert outcome.seconds < 2.0


def test_thoughts_in_their_own_field_count_as_signs_of_life(openai_server: FakeServer, ask_hastily) -> None:
    def events():
        for _ in range(12):
            openai_server.stopping.wait(0.1)
            yield b'data: {"choices": [{"delta": {"reasoning_content": "hmm"}}]}\n\n'
        yield b'data: {"choices": [{"delta": {"content": "Yes."}, "finish_reason": "stop"}]}\n\n'

    openai_server.default = Reply(raw=events(), content_type="text/event-stream")
    outcome = ask_hastily()
    assert (outcome.text, outcome.finish) == ("Yes.", "stop")
    assert outcome.seconds > 1.1


def test_no_server_is_told_at_once(home) -> None:
    model = open_model(Settings(openai_base_url="http://127.0.0.1:9/v1", model="m", home=home, timeout_s=5))
    outcome = outcome_of(model)
    assert outcome.error.kind == "connection"
    assert "Cannot reach the model server at http://127.0.0.1:9/v1: " in str(outcome.error)
    assert "Connection refused" in str(outcome.error)
    assert outcome.seconds < 2.0


def test_a_reader_that_leaves_ends_the_request_at_the_server(openai_server: FakeServer, model: ChatModel) -> None:
    sent: list[int] = []

    def events():
        while not openai_server.stopping.wait(0.01):
            sent.append(1)
            yield b'data: {"choices": [{"delta": {"content": "more "}}]}\n\n'

    openai_server.default = Reply(raw=events(), content_type="text/event-stream")
    stream = model.stream(ChatRequest("answer", MESSAGES, 100_000))
    assert next(stream).text == "more "
    stream.close()
    openai_server.stopping.wait(0.2)
    by_then = len(sent)
    openai_server.stopping.wait(0.2)
    assert len(sent) == by_then < 15


def _dripping(server: FakeServer, noise: bytes):
    while not server.stopping.wait(0.05):
        yield noise
