"""JSON is found in a reply, however it is wrapped."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag.errors import ModelError
from rag.models.structured import is_strict, read_json

WRAPPED = {
    "bare": ('{"a": 1}', {"a": 1}),
    "list": ('[{"a": 1}]', [{"a": 1}]),
    "fence": ('```json\n{"a": 1}\n```', {"a": 1}),
    "fence without end": ('```json\n{"a": 1}\n', {"a": 1}),
    "fence amid prose": ('Here you are:\n```\n{"a": [1, 2]}\n```\nEnjoy [1].', {"a": [1, 2]}),
    "prose around": ('Sure! {"a": "x } y"} Done.', {"a": "x } y"}),
    "citation before": ('As [1] says, {"a": 1}', {"a": 1}),
    "trailing commas": ('{"a": [1, 2,], "b": ",]",}', {"a": [1, 2], "b": ",]"}),
    "line break in a string": ('{"a": "x\ny"}', {"a": "x\ny"}),
    "cut in a list": ('{"verdicts": [{"n": 1}, {"n": 2}, {"n"', {"verdicts": [{"n": 1}, {"n": 2}]}),
    "cut in a string": ('{"a": 1, "b": "half', {"a": 1}),
    "cut after a comma": ('[{"a": 1},', [{"a": 1}]),
    "list of words": ('The ids: ["x", "y"].', ["x", "y"]),
    "escaped quotes": (r'text {"a": "say \"hi\" {"} text', {"a": 'say "hi" {'}),
}


@pytest.mark.parametrize(("text", "value"), WRAPPED.values(), ids=WRAPPED.keys())
def test_json_is_read_out_of(text: str, value: object) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize(
    "text", ["", "no json", "see [1] and [2, 3]", "{", "[[[[", "{]}", '"only a string"', "17", "``` ```", "[" * 100_000]
)
def test_a_reply_without_json_is_an_error(text: str) -> None:
    with pytest.raises(ModelError, match="holds no JSON") as raised:
        read_json(text)
    assert raised.value.kind == "protocol"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@settings(deadline=None, max_examples=60)
@example({"0": None, "```": None}, "```json\n{}\n```")
@given(st.dictionaries(st.text(min_size=1), VALUES, min_size=1), st.sampled_from(["{}", "Sure: {} Done.", "```json\n{}\n```", "a\n{}"]))
def test_any_object_survives_its_wrapping(value: dict[str, object], wrapping: str) -> None:
    assert read_json(wrapping.replace("{}", json.dumps(value))) == value


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet='{}[]",:\\ab1`\n', max_size=60))
def test_no_text_makes_it_fail_otherwise(text: str) -> None:
    with suppress(ModelError):
        assert isinstance(read_json(text), dict | list)


def test_strict_schemas_are_told_apart() -> None:
    closed = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    assert is_strict({"type": "array", "items": closed})
    assert not is_strict({**closed, "required": []})
    assert not is_strict({"type": "array", "items": {**closed, "additionalProperties": True}})
