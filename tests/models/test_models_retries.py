"""When a call is repeated, when not, and what is remembered of a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from models_parts import outcome_of
from openai_server import FakeServer, Reply, faults

from rag.models import open_model
from rag.models.abilities import Abilities, ServerMemory
from rag.models.endpoint import Endpoint
from rag.protocols import ChatModel
from rag.settings import Settings

SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": False}
GOOD = "Turn-taking is studied [1]."


@pytest.mark.parametrize("fault", [faults.rate_limited("0.05"), faults.unavailable("0.05"), faults.rate_limited("0")])
def test_a_passing_fault_is_waited_out(openai_server: FakeServer, ask, fault: Reply) -> None:
    openai_server.script([fault, fault, GOOD])
    assert ask().text == GOOD
    assert len(openai_server.chats) == 3


def test_retry_after_is_honoured(openai_server: FakeServer, ask) -> None:
    openai_server.script([faults.rate_limited("0.3"), GOOD])
    assert ask().text == GOOD
    first, second = openai_server.chats
    assert 0.3 <= second.at - first.at < 1.0


def test_a_date_in_retry_after_is_understood(openai_server: FakeServer, ask) -> None:
    openai_server.script([faults.rate_limited("Wed, 21 Oct 2015 07:28:00 GMT"), GOOD])
    assert ask().text == GOOD


def test_milliseconds_in_retry_after_are_understood(openai_server: FakeServer, ask) -> None:
    openai_server.script([Reply(status=429, headers={"retry-after-ms": "100"}, error={"message": "slow down"}), GOOD])
    assert ask().text == GOOD


def test_a_wait_beyond_the_timeout_is_not_begun(openai_server: FakeServer, ask_hastily) -> None:
    openai_server.default = faults.rate_limited("1")
    outcome = ask_hastily()
    assert outcome.error.kind == "rate_limit"
    assert outcome.error.retryable
    assert outcome.seconds < 0.7
    assert len(openai_server.chats) == 1


def test_a_retry_that_gets_no_answer_ends_with_the_fault_before_it(openai_server: FakeServer, ask_hastily) -> None:
    openai_server.script([faults.unavailable("0.05"), faults.slow_first_byte()])
    outcome = ask_hastily()
    assert outcome.error.kind == "server"
    assert outcome.seconds < 2.0


def test_retries_end_after_two(openai_server: FakeServer, ask) -> None:
    openai_server.default = faults.rate_limited("0.01")
    assert ask().error.kind == "rate_limit"
    assert len(openai_server.chats) == 3


@pytest.mark.parametrize("fault", [faults.quota_exhausted(), faults.unauthorized(), faults.bad_request(), faults.context_overflow()])
def test_what_no_retry_cures_is_sent_once(openai_server: FakeServer, ask, fault: Reply) -> None:
    openai_server.default = fault
    assert not ask().error.retryable
    assert len(openai_server.chats) == 1


def test_a_connection_that_breaks_at_once_is_tried_again(openai_server: FakeServer, settings: Settings) -> None:
    openai_server.script([faults.cut(after=0), GOOD])
    assert outcome_of(open_model(settings)).text == GOOD


def test_refused_parameters_are_dropped_one_by_one_and_remembered(openai_server: FakeServer, ask) -> None:
    openai_server.default = faults.rejecting("temperature", "stream_options", then=GOOD)
    assert ask().text == GOOD
    assert [sorted(request.body) for request in openai_server.chats] == [
        ["max_tokens", "messages", "model", "stream", "stream_options", "temperature"],
        ["max_tokens", "messages", "model", "stream", "stream_options"],
        ["max_tokens", "messages", "model", "stream"],
    ]
    assert ask().text == GOOD
    assert len(openai_server.chats) == 4


def test_what_was_learned_lasts_into_the_next_process(openai_server: FakeServer, settings: Settings, home: Path) -> None:
    openai_server.default = faults.rejecting("temperature", then=GOOD)
    outcome_of(open_model(settings))
    stored = json.loads((home / "model-servers.json").read_text())
    assert stored == {
        f"{openai_server.url} test-model": {
            "rejected": ["temperature"],
            "format": "json_schema",
            "context_tokens": None,
            "thinks_silently": False,
        }
    }


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"x": {}}', '{"x": 3}', "null"])
def test_a_damaged_memory_is_as_good_as_none(openai_server: FakeServer, settings: Settings, home: Path, damage: str) -> None:
    home.mkdir()
    (home / "model-servers.json").write_text(damage)
    assert outcome_of(open_model(settings)).error is None


def test_a_home_that_cannot_be_written_costs_nothing(openai_server: FakeServer, settings: Settings, tmp_path: Path) -> None:
    from dataclasses import replace

    (tmp_path / "file").write_text("")
    openai_server.default = faults.rejecting("temperature", then=GOOD)
    assert outcome_of(open_model(replace(settings, home=tmp_path / "file" / "home"))).text == GOOD


def test_other_models_of_the_server_start_afresh(openai_server: FakeServer, settings: Settings) -> None:
    openai_server.default = faults.rejecting("temperature", then=GOOD)
    outcome_of(open_model(settings))
    outcome_of(open_model(settings, "other"))
    assert ["temperature" in request.body for request in openai_server.chats] == [True, False, True, False]


def test_the_newer_name_of_the_token_limit_is_used_where_the_older_is_refused(openai_server: FakeServer, ask) -> None:
    openai_server.default = faults.requiring_max_completion_tokens(GOOD)
    assert ask().text == GOOD
    assert openai_server.chats[-1].body["max_completion_tokens"] == 200
    assert "max_tokens" not in openai_server.chats[-1].body


def test_a_server_that_cannot_stream_is_asked_for_the_whole(openai_server: FakeServer, ask) -> None:
    openai_server.default = faults.rejecting("stream", then=GOOD)
    outcome = ask()
    assert (outcome.text, outcome.finish, outcome.end.prompt_tokens) == (GOOD, "stop", 100)
    assert {"stream", "stream_options"}.isdisjoint(openai_server.chats[-1].body)


def test_a_server_that_does_not_stream_though_asked_is_understood(openai_server: FakeServer, ask) -> None:
    body = {"choices": [{"message": {"content": GOOD}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    openai_server.default = Reply(raw=json.dumps(body).encode())
    outcome = ask()
    assert (outcome.text, outcome.finish, outcome.end.prompt_tokens, outcome.end.completion_tokens) == (GOOD, "stop", 7, 3)


def test_rules_go_into_the_users_message_where_the_system_role_is_unknown(openai_server: FakeServer, ask) -> None:
    openai_server.default = faults.rejecting_system_role(GOOD)
    assert ask().text == GOOD
    assert openai_server.chats[-1].messages == [{"role": "user", "content": "Cite the papers.\n\nwhich papers study turn-taking?"}]


def test_memory_is_read_back_from_its_file(tmp_path: Path) -> None:
    endpoint = Endpoint("http://host/v1?key=1", "m", 1.0)
    learned = Abilities(("stream", "temperature"), "json_object", 4096, thinks_silently=True)
    ServerMemory(tmp_path / "x" / "memory.json").learn(endpoint, learned)
    assert ServerMemory(tmp_path / "x" / "memory.json").of(endpoint) == learned
    assert "key=1" not in (tmp_path / "x" / "memory.json").read_text()


def test_a_schema_is_sent_where_it_is_taken(openai_server: FakeServer, ask) -> None:
    openai_server.default = '{"ok": true}'
    assert ask(schema=SCHEMA).text == '{"ok": true}'
    assert openai_server.chats[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True},
    }


def test_without_schemas_a_json_object_is_asked_for_and_that_is_remembered(openai_server: FakeServer, ask) -> None:
    openai_server.default = faults.rejecting_schema()
    assert ask(schema=SCHEMA).text == '{"ok": true}'
    assert ask(schema=SCHEMA).text == '{"ok": true}'
    formats = [request.body["response_format"]["type"] for request in openai_server.chats]
    assert formats == ["json_schema", "json_object", "json_object"]


def test_without_any_format_the_plain_protocol_is_left(openai_server: FakeServer, ask) -> None:
    openai_server.default = faults.rejecting("response_format", then='Sure: {"ok": true}')
    assert ask(schema=SCHEMA).text == 'Sure: {"ok": true}'
    assert [("response_format" in request.body) for request in openai_server.chats] == [True, True, False]


def test_plain_requests_carry_no_format(openai_server: FakeServer, ask) -> None:
    ask()
    assert "response_format" not in openai_server.chats[0].body


@pytest.mark.parametrize(
    ("fault", "limit"), [(faults.context_overflow(limit=4096), 4096), (faults.context_overflow_plain(limit=2048), 2048)]
)
def test_the_context_length_that_a_server_names_is_kept(openai_server: FakeServer, model: ChatModel, fault: Reply, limit: int) -> None:
    assert model.context_tokens == 8192
    openai_server.default = fault
    outcome_of(model)
    assert model.context_tokens == limit
