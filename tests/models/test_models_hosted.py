"""What is sent to a server, what is read of its reply, and what never shows."""

from __future__ import annotations

import logging
import traceback
from dataclasses import replace
from pathlib import Path

import pytest
from models_parts import KEY, MESSAGES, SHORT_S, outcome_of
from openai_server import FakeServer, Reply, faults

from rag.errors import ModelError, UsageError
from rag.models import offline_notice, open_model
from rag.models.openai_client import embed_texts, offered_models
from rag.protocols import ChatModel, ChatRequest
from rag.settings import Settings


def test_messages_go_out_as_they_are_with_temperature_zero(openai_server: FakeServer, ask) -> None:
    ask()
    request = openai_server.chats[0]
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "test-model",
        "messages": [{"role": "system", "content": "Cite the papers."}, {"role": "user", "content": "which papers study turn-taking?"}],
        "temperature": 0,
        "max_tokens": 200,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_deltas_come_as_the_server_sends_them_and_then_the_usage(openai_server: FakeServer, model: ChatModel) -> None:
    openai_server.default = Reply(deltas=("Turn", "-taking ", "[", "1", "]."), usage=(12, 5))
    items = list(model.stream(ChatRequest("answer", MESSAGES, 200)))
    assert [item.text for item in items[:-1]] == ["Turn", "-taking ", "[", "1", "]."]
    assert (items[-1].finish, items[-1].prompt_tokens, items[-1].completion_tokens) == ("stop", 12, 5)


def test_usage_that_is_not_reported_is_none(openai_server: FakeServer, ask) -> None:
    openai_server.default = faults.without_usage()
    end = ask().end
    assert (end.finish, end.prompt_tokens, end.completion_tokens) == ("stop", None, None)


THOUGHTS = {
    "in tags": faults.thinking("Yes [1]."),
    "in tags of another name": Reply("<thinking>no [9]</thinking>\nYes [1]."),
    "in tags after white space": Reply(deltas=("\n ", "<think>", "no</think>", "\n", "Yes [1].")),
    "twice": Reply("<think>no</think><think>still no</think>Yes [1]."),
    "in a field": Reply("Yes [1].", reasoning="no [9]"),
    "in a harmony channel": Reply("<|channel|>analysis<|message|>no<|end|><|channel|>final<|message|>Yes [1]."),
    "as parts": Reply(
        raw=b'{"choices": [{"message": {"content": [{"type": "thinking", "thinking": "no"}, {"type": "text", "text": "Yes [1]."}]},'
        b' "finish_reason": "stop"}]}'
    ),
}


@pytest.mark.parametrize("reply", THOUGHTS.values(), ids=THOUGHTS.keys())
def test_thoughts_never_reach_the_answer(openai_server: FakeServer, ask, reply: Reply) -> None:
    openai_server.default = reply
    assert ask().text == "Yes [1]."


def test_thoughts_split_at_every_character_never_reach_the_answer(openai_server: FakeServer, ask) -> None:
    openai_server.default = Reply(deltas=tuple("<think>a < b </thin [9]</think>\n\nYes [1]."))
    assert ask().text == "Yes [1]."


@pytest.mark.parametrize("text", ["The <think> token helps [1].", "<b>Yes</b> [1].", "<", "a </think> b", "<thin"])
def test_text_about_tags_stays(openai_server: FakeServer, ask, text: str) -> None:
    openai_server.default = Reply(deltas=tuple(text))
    assert ask().text == text


def test_a_model_known_to_think_without_opening_tag_is_held_back(openai_server: FakeServer, settings: Settings) -> None:
    openai_server.default = Reply("No [9]. Or so.</think>Yes [1].")
    assert outcome_of(open_model(settings, "deepseek-r1:8b")).text == "Yes [1]."
    openai_server.default = Reply("Yes [1] without thoughts.")
    assert outcome_of(open_model(settings, "deepseek-r1:8b")).text == "Yes [1] without thoughts."
    openai_server.default = Reply("Yes [1].", reasoning="no")
    assert outcome_of(open_model(settings, "deepseek-r1:8b")).text == "Yes [1]."


def test_a_model_found_to_think_without_opening_tag_is_held_back_the_next_time(openai_server: FakeServer, ask) -> None:
    openai_server.default = Reply("Hm [9]. </think> Yes [1].")
    ask()
    assert ask().text == "Yes [1]."


def test_no_key_is_needed_with_a_base_url(openai_server: FakeServer, settings: Settings) -> None:
    assert outcome_of(open_model(replace(settings, openai_api_key=None))).text == "The papers say this [1]."


def test_a_missing_key_that_is_wanted_is_named(openai_server: FakeServer, settings: Settings) -> None:
    openai_server.default = faults.unauthorized()
    error = outcome_of(open_model(replace(settings, openai_api_key=None))).error
    assert "wants a key (401). Set OPENAI_API_KEY." in str(error)


def test_a_login_in_the_base_url_is_sent_and_never_shown(openai_server: FakeServer, settings: Settings) -> None:
    openai_server.default = faults.bad_request()
    url = openai_server.url.replace("http://", "http://ada:s3cret@")
    error = outcome_of(open_model(replace(settings, openai_base_url=url))).error
    assert openai_server.chats[0].headers["authorization"] == "Basic YWRhOnMzY3JldA=="
    assert f"at {openai_server.url} refused the request (400)" in str(error)
    assert "s3cret" not in str(error)


LEAKY = {
    "401": faults.unauthorized(),
    "400": faults.bad_request(f"no such thing: Authorization: Bearer {KEY} / {faults.LEAK}"),
    "501": Reply(status=501, error={"message": f"key {KEY} and {faults.LEAK} failed"}),
    "error event": Reply(raw=b'data: {"error": {"message": "bad key %s"}}\n\n' % KEY.encode(), content_type="text/event-stream"),
    "refusal": faults.refusal(f"I will not use {KEY}"),
    "redirect": faults.redirect("http://x.example/v1?key=1"),
    "404": faults.model_not_found(KEY),
    "timeout": faults.slow_first_byte(),
}


@pytest.mark.parametrize("reply", LEAKY.values(), ids=LEAKY.keys())
def test_keys_stand_in_no_message_traceback_or_log(
    openai_server: FakeServer, settings: Settings, caplog: pytest.LogCaptureFixture, reply: Reply
) -> None:
    caplog.set_level(logging.DEBUG)
    openai_server.default = reply
    error = outcome_of(open_model(replace(settings, timeout_s=SHORT_S))).error
    shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    everything = "\n".join([shown, str(error), repr(error), repr(error.__context__), repr(error.__cause__), repr(settings), caplog.text])
    for secret in (KEY, faults.LEAK, "Bearer sk"):
        assert secret not in everything
    assert error.__context__ is None
    assert error.__cause__ is None


def test_control_characters_of_a_server_never_reach_a_message(openai_server: FakeServer, ask) -> None:
    openai_server.default = faults.bad_request("red \x1b[31m and \u202e reversed\n\x07" + "long " * 200)
    message = str(ask().error)
    assert "\x1b" not in message
    assert "\u202e" not in message
    assert len(message) < 500


def test_redirects_are_not_followed(openai_server: FakeServer, ask) -> None:
    with FakeServer() as other:
        openai_server.default = faults.redirect(other.url + "/chat/completions")
        assert ask().error.kind == "protocol"
        assert other.requests == []


@pytest.mark.parametrize("url", ["localhost:11434/v1", "ftp://host/v1", "http://", "http://host:99999/v1", "http://ada:s3cret@:x/v1"])
def test_a_base_url_that_is_none_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(UsageError, match=r"is no http or https address\. Write it like http://localhost:11434/v1") as raised:
        open_model(Settings(openai_base_url=url))
    assert "s3cret" not in str(raised.value)


def test_the_offline_model_answers_when_nothing_is_configured() -> None:
    assert open_model(Settings()).name == "offline"
    assert open_model(Settings(), "gpt-4.1").name == "offline"
    assert open_model(Settings(openai_api_key="x", model="offline")).name == "offline"
    assert open_model(Settings(openai_api_key="x", model="gpt-4.1"), "offline").name == "offline"
    assert "\n" not in offline_notice()
    assert "OPENAI_API_KEY" in offline_notice()
    assert offline_notice("gpt-x").startswith("No server is set for model 'gpt-x': answering offline.")


def test_the_named_model_is_opened() -> None:
    assert open_model(Settings(openai_api_key="x", model="a")).name == "a"
    assert open_model(Settings(openai_api_key="x", model="a"), "b").name == "b"
    assert open_model(Settings(openai_api_key="x")).generative


@pytest.mark.parametrize(
    ("model", "tokens"),
    [("gpt-4o-mini", 128_000), ("openai/gpt-4.1", 1_000_000), ("gpt-4", 8_192), ("llama3.1:8b", 8_192), ("gpt-oss:20b", 8_192)],
)
def test_context_lengths_of_known_families(home: Path, model: str, tokens: int) -> None:
    assert open_model(Settings(openai_api_key="x", home=home), model).context_tokens == tokens
    assert open_model(Settings(openai_api_key="x", home=home, context_tokens=99), model).context_tokens == 99


def test_a_proxy_that_cannot_be_used_is_one_clear_error(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "nonsense://x")
    error = outcome_of(open_model(settings)).error
    assert error.kind == "connection"
    assert "Correct HTTP_PROXY" in str(error)


def test_the_models_on_offer_are_named(openai_server: FakeServer, settings: Settings) -> None:
    openai_server.models = ("a", "b")
    assert offered_models(settings) == ("a", "b")
    openai_server.models = tuple(f"model-{number}" for number in range(9))
    openai_server.default = faults.model_not_found()
    error = outcome_of(open_model(settings)).error
    assert str(error).endswith("It offers: model-0, model-1, model-2, model-3, model-4, model-5, ….")


def test_a_wrong_path_is_told(openai_server: FakeServer, settings: Settings) -> None:
    wrong = replace(settings, openai_base_url=openai_server.url.removesuffix("/v1"))
    error = outcome_of(open_model(wrong)).error
    assert error.kind == "not_found"
    assert str(error).endswith("Set RAG_MODEL to a model it offers, or correct OPENAI_BASE_URL.")
    with pytest.raises(ModelError) as raised:
        offered_models(wrong)
    assert raised.value.kind == "not_found"


def test_texts_are_embedded_in_order_and_in_batches(openai_server: FakeServer, settings: Settings) -> None:
    from openai_server.server import vector

    texts = [f"text {number}" for number in range(70)] + [""]
    vectors = embed_texts(settings, "embedder", texts)
    assert vectors == [vector(text or " ", 16) for text in texts]
    assert [len(request.body["input"]) for request in openai_server.requests] == [64, 7]
    assert embed_texts(settings, "embedder", []) == []


EMBEDDING_FAULTS = {
    "404": (faults.model_not_found(), "not_found", "Set RAG_EMBEDDER to a model it offers"),
    "HTML": (faults.invalid_json(), "protocol", "sent JSON that holds no embeddings"),
    "other JSON": (faults.foreign_json(), "protocol", "sent JSON that holds no embeddings"),
    "broken JSON": (faults.broken_json(), "protocol", "sent something that is no JSON"),
    "too few": (Reply(raw=b'{"data": [{"index": 0, "embedding": [1.0]}]}'), "protocol", "1 vectors of [1] numbers for 2 texts"),
    "not a number": (Reply(raw=b'{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}'), "protocol", "not finite"),
    "slow": (faults.slow_first_byte(), "timeout", "sent nothing for 0.8 s"),
    "quota": (faults.quota_exhausted(), "quota", "the quota is used up"),
}


@pytest.mark.parametrize(("reply", "kind", "words"), EMBEDDING_FAULTS.values(), ids=EMBEDDING_FAULTS.keys())
def test_embedding_faults_have_the_same_outcomes(
    openai_server: FakeServer, settings: Settings, reply: Reply, kind: str, words: str
) -> None:
    openai_server.embedding_replies = [reply]
    with pytest.raises(ModelError) as raised:
        embed_texts(replace(settings, timeout_s=SHORT_S), "embedder", ["a", "b"])
    assert raised.value.kind == kind
    assert words in str(raised.value)
    assert raised.value.__context__ is None


def test_embeddings_are_tried_again_after_a_passing_fault(openai_server: FakeServer, settings: Settings) -> None:
    openai_server.embedding_replies = [faults.rate_limited("0.01")]
    assert len(embed_texts(settings, "embedder", ["a"])) == 1
