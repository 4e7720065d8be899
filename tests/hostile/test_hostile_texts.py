"""Hostile papers and questions against a model that obeys them: what the pipeline guarantees all by itself.

The model is the scripted server's obedient one: it repeats every payload, link, tag, escape and citation it finds in the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from answering_parts import FakeRetriever, answerer
from hostile_texts import ABSTRACTS, QUESTIONS
from openai_server import FakeServer, obedient

from rag.answering import AskOptions
from rag.answering.prompt import number_sources
from rag.models import open_model
from rag.models.offline import OfflineModel
from rag.prompting.framing import framed
from rag.prompting.templates import REFUSAL, Prompts
from rag.protocols import ChatModel, Source
from rag.records import Answer, Paper
from rag.settings import Settings

ASKED = "Which method studies cats?"
FIRST = Paper("honest1", "Cats in the Wild", "We study cats in the wild and count them.", url="https://openreview.net/forum?id=honest1")
LAST = Paper("honest3", "Dogs at Home", "We study dogs at home and feed them.", url="https://openreview.net/forum?id=honest3")
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")
HTML = re.compile(r"<(?:a|b|img|script|svg|iframe|style|/a|/b|/script|/style|/iframe|!)[^\w]?", re.IGNORECASE)
LINK = re.compile(
    r"[a-z][a-z0-9+.-]*://[^\s\])>]*|\bwww\.\w|javascript:\S|data:\w+/|mailto:\S|\]\(\S*\)|^\[[^\]]*\]:", re.IGNORECASE | re.MULTILINE
)


@pytest.fixture(scope="module")
def obeying(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChatModel]:
    """A hosted model behind a real server that does whatever the prompt says."""
    with FakeServer(default=obedient) as server:
        yield open_model(
            Settings(openai_api_key="sk-test", openai_base_url=server.url, model="obedient", home=tmp_path_factory.mktemp("home"))
        )


def hostile(text: str, *, title: str = "A Study of Cats") -> tuple[Paper, ...]:
    """The hostile paper between two honest ones."""
    return FIRST, Paper("hostile2", title, text, url="javascript:alert(document.cookie)"), LAST


def assert_harmless(answer: Answer, papers: tuple[Paper, ...]) -> None:
    known = {paper.id for paper in papers}
    assert {citation.paper.id for citation in answer.citations} <= known
    assert sorted(c.number for c in answer.citations) == list(range(1, len(answer.citations) + 1))
    outside_code = re.sub(r"`[^`]*`|\$[^$]*\$|\\\[.*?\\\]|\\\(.*?\\\)", "", answer.text, flags=re.DOTALL)
    shown = {int(number) for number in re.findall(r"\[(\d+)\??\]", outside_code)}
    assert shown <= {citation.number for citation in answer.citations}
    assert not UNSAFE.search(answer.text)
    assert not HTML.search(answer.text)
    allowed = {citation.paper.url for citation in answer.citations}
    assert {link for link in LINK.findall(answer.text) if link.rstrip(".,)") not in allowed} == set()
    assert all(c.paper.url is None or c.paper.url.startswith("https://openreview.net/forum?id=honest") for c in answer.citations)
    assert "sk-test" not in repr(answer)


@pytest.mark.parametrize("name", ABSTRACTS)
@pytest.mark.parametrize("place", ["abstract", "title"])
def test_an_obeying_model_cannot_carry_a_hostile_paper_into_the_answer(name: str, place: str, obeying: ChatModel) -> None:
    papers = hostile(ABSTRACTS[name]) if place == "abstract" else hostile("We study cats.", title=ABSTRACTS[name])
    answer = answerer(obeying, papers).ask(ASKED)
    assert_harmless(answer, papers)


@pytest.mark.parametrize("name", ABSTRACTS)
def test_the_offline_model_carries_nothing_hostile_into_the_answer(name: str) -> None:
    papers = hostile(ABSTRACTS[name])
    for question in (ASKED, "Which papers study cats?"):
        assert_harmless(answerer(OfflineModel(), papers).ask(question), papers)


@pytest.mark.parametrize("name", ABSTRACTS)
def test_a_list_judged_by_an_obeying_model_stays_harmless(name: str, obeying: ChatModel) -> None:
    papers = hostile(ABSTRACTS[name])
    answer = answerer(obeying, papers).ask("Which papers study cats?")
    assert_harmless(answer, papers)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_hostile_question_brings_nothing_into_the_answer(name: str, obeying: ChatModel) -> None:
    papers = (FIRST, LAST)
    assert_harmless(answerer(obeying, papers).ask(QUESTIONS[name]), papers)


@pytest.mark.parametrize("name", ABSTRACTS)
def test_a_hostile_paper_stays_inside_its_frame(name: str) -> None:
    sources = number_sources([replace(hit) for hit in FakeRetriever(hostile(ABSTRACTS[name])).hits], {})
    blocks = [framed(source) for source in sources]
    assert (
        blocks[0] == "<<<paper [1]>>>\nTitle: Cats in the Wild\nAbstract: We study cats in the wild and count them.\n<<<end of paper [1]>>>"
    )
    assert blocks[2] == "<<<paper [3]>>>\nTitle: Dogs at Home\nAbstract: We study dogs at home and feed them.\n<<<end of paper [3]>>>"
    head, title, abstract, foot = blocks[1].split("\n")
    assert (head, foot) == ("<<<paper [2]>>>", "<<<end of paper [2]>>>")
    for line in (title, abstract):
        assert not re.search(r"<{3}|>{3}|<\||\|>|[\[【［]\s*\^?\d|\[/?INST\]|</?(?:s|think|start_of_turn|end_of_turn)>", line)
        assert not UNSAFE.search(line)


@pytest.mark.parametrize("name", ABSTRACTS)
def test_a_hostile_paper_changes_neither_rules_nor_numbers(name: str, obeying: ChatModel) -> None:
    papers = hostile(ABSTRACTS[name])
    run = answerer(obeying, papers).stream(ASKED, AskOptions(verify="off"))
    answer = [event for event in run if isinstance(event, Answer)][-1]
    rules = Prompts().render("system", language="English", refusal=REFUSAL)
    assert answer.prompt.startswith(rules)
    assert answer.prompt.count("<<<paper [") == answer.prompt.count("<<<end of paper [") == 3
    assert answer.prompt.count(framed(Source(1, FIRST))) == answer.prompt.count(framed(Source(3, LAST))) == 1
    assert answer.prompt.count("\nQuestion: ") == 1


def test_there_are_enough_hostile_texts() -> None:
    assert len(ABSTRACTS) + len(QUESTIONS) >= 40
