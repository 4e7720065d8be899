"""The chat's commands, without a terminal."""

import json
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from chat.chat_fakes import FakeAssistant, Told, texts
from conversation.conversation_fakes import BEES, FLORA, TIDE, FakeAnswerer, FakeModel, answer_citing

from rag import Assistant
from rag.chat.commands import COMMANDS, is_command
from rag.chat.completion import candidates
from rag.chat.plain import run_piped
from rag.errors import ModelError
from rag.records import Answer, Signals, Span, Statement, StatementCitation


def told(*replies: tuple[object, ...], **options: object) -> Told:
    """A chat whose questions are answered by citing these papers in turn."""
    waiting = iter(replies)

    def reply(question: str, asked: object) -> object:
        papers = next(waiting)
        if papers and not hasattr(papers[0], "abstract"):
            return papers
        return answer_citing(question, *papers, numbers=dict(asked.numbers))  # type: ignore[attr-defined,arg-type]

    return Told(lambda: FakeAssistant(answerer=FakeAnswerer(reply)), **options)  # type: ignore[arg-type]


def test_an_answer_stands_above_its_sources() -> None:
    assert told((FLORA,)).say("Who counts flowers?") == (
        "See this [1].\n\n"
        "[1] FloraNet: Counting Flowers from the Air\n"
        "    Ada Lovelace, Bo Li · ICLR 2025\n"
        "    quoted: “Counting flowers by ”\n"
    )


def test_why_shows_rank_verdict_statements_and_the_passage_in_its_abstract() -> None:
    evidence = Span(34, 101, FLORA.abstract[34:101])
    statement = Statement(
        "See this [1].", 0, 13, "weak", (StatementCitation(1, "weak", 0.4, (evidence,), problem="number 7 is not there"),)
    )
    answer = replace(answer_citing("q", FLORA), statements=(statement,))
    hit = replace(answer.retrieval.hits[0], signals=Signals(0.5, 0.25, 7.0, 0.8))  # type: ignore[union-attr]
    answer = replace(answer, retrieval=replace(answer.retrieval, hits=(hit,)))  # type: ignore[type-var]
    chat = Told(lambda: FakeAssistant(answerer=FakeAnswerer(lambda question, options: answer)))
    chat.say("Who counts flowers?")
    assert chat.say("/why 1").splitlines() == [
        "[1] FloraNet: Counting Flowers from the Air",
        "Rank 1, score 1.000 (abstract 0.500, passage 0.250, BM25 7.00, words 80%)",
        "Verdict: quoted, 1.00",
        "- See this [1]. (weak, 0.40: number 7 is not there)",
        "",
        "Counting flowers by hand is slow. »We propose FloraNet, a network that counts flowers in drone images.« "
        "It runs 12.1x faster than YOLO.",
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/why", "Something is missing. Write /why N."),
        ("/why two", "'two' is no number"),
        ("/why 9", "No source [9] in this conversation. Cited so far: 1 to 2."),
        ("/show 9", "No source [9]"),
        ("/show nope", "No paper 'nope' in corpus 'seeds'."),
        ("/open 2", "has no web address"),
        ("/histroy", "No command /histroy. Did you mean /history?"),
        ("/save", "Something is missing. Write /save FILE."),
        ("/xyzzy", "No command /xyzzy. /help lists the commands."),
        ("/filter year>>4", "error: "),
        ("/corpus nowhere", "No corpus named 'nowhere'. Known: meadows, seeds."),
        ("/resume nope", "No conversation 'nope' in the log."),
        ("/save a b", "Name one file"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(line: str, expected: str) -> None:
    chat = told((FLORA, TIDE))
    chat.say("Which papers?")
    printed = chat.say(line)
    assert printed.startswith("error: ")
    assert expected in " ".join(printed.split())
    assert chat.chat.conversation.last is not None


def test_commands_before_the_first_question_say_so() -> None:
    chat = told()
    assert [chat.say(line) for line in ("/sources", "/why 1", "/retry", "/bib", "/history", "/save x.md")] == [
        "error: Nothing has been asked yet.\n",
        "error: No source [1] in this conversation. Nothing has been cited yet.\n",
        "error: Nothing has been asked yet.\n",
        "error: Nothing has been cited yet.\n",
        "Nothing has been asked yet.\n",
        "error: There is nothing to save yet.\n",
    ]


def test_sources_of_the_last_answer_or_of_all() -> None:
    chat = told((FLORA, TIDE), (BEES,))
    chat.say("Which papers?", "And who studies bees?")
    assert "[3] Do Bees Dance in Simulation?" in chat.say("/sources")
    assert chat.say("/sources all").splitlines() == [
        "[1] FloraNet: Counting Flowers from the Air · Ada Lovelace, Bo Li · ICLR 2025",
        "[2] Learning Tides with Gaussian Processes · Cy Young · NeurIPS 2024",
        "[3] Do Bees Dance in Simulation? · Di Prima, Ada Lovelace · ICLR 2025",
    ]


def test_show_takes_numbers_and_ids() -> None:
    chat = told((FLORA,))
    chat.say("Who counts flowers?")
    assert chat.say("/show 1") == chat.say("/show [1]") == chat.say("/show flora")
    assert "Tides follow the moon." in chat.say("/show tide")


def test_similar_lists_other_papers() -> None:
    chat = told((FLORA,))
    chat.say("Who counts flowers?")
    assert "Do Bees Dance in Simulation?" in chat.say("/similar 1")


def test_open_goes_to_web_addresses_only(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = list[str]()
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    papers = (replace(FLORA, url="https://example.org/1"), replace(TIDE, url="file:///etc/passwd"), replace(BEES, doi="10.1/x"))
    chat = told(papers)
    chat.say("Which papers?")
    assert chat.say("/open 1") == "Opened https://example.org/1\n"
    assert "has no web address" in chat.say("/open 2")
    chat.say("/open 3")
    assert opened == ["https://example.org/1", "https://doi.org/10.1/x"]


def test_bib_prints_or_writes_exactly_the_cited_papers(tmp_path: Path) -> None:
    chat = told((TIDE,), (FLORA,))
    chat.say("Who predicts tides?", "Who counts flowers?")
    printed = chat.say("/bib")
    assert printed.count("@inproceedings") + printed.count("@misc") + printed.count("@article") == 2
    assert printed.index("Learning Tides") < printed.index("Counting Flowers")
    assert chat.say(f"/bib '{tmp_path}/my refs.bib'") == f"Written: {tmp_path}/my refs.bib, 2 entries.\n"
    assert (tmp_path / "my refs.bib").read_text() == printed
    assert chat.say(f"/bib '{tmp_path}/my refs.bib'").startswith("error: ")
    assert chat.say(f"/bib '{tmp_path}/my refs.bib' --force").startswith("Written")


def test_save_writes_markdown_or_json(tmp_path: Path) -> None:
    chat = told((FLORA,), (BEES,))
    chat.say("Who counts flowers?", "Who studies bees?", f"/save {tmp_path}/talk.md", f"/save {tmp_path}/talk.json")
    markdown = (tmp_path / "talk.md").read_text()
    assert markdown.startswith("# Who counts flowers?\n\nSee this [1].\n\n## Sources")
    assert "# Who studies bees?" in markdown
    assert [answer["question"] for answer in json.loads((tmp_path / "talk.json").read_text())] == [
        "Who counts flowers?",
        "Who studies bees?",
    ]


def test_filters_hold_for_the_next_questions_until_lifted() -> None:
    answerer = FakeAnswerer()
    chat = Told(lambda: FakeAssistant(answerer=answerer))
    assert chat.say("/filter") == "No filter: all papers are asked.\n"
    assert chat.say("/filter year>=2024 and venue~ICLR") == 'Only papers where year >= 2024 and venue contains "ICLR".\n'
    chat.say("Who counts flowers?")
    chat.say("/filter off", "What about tides in harbours instead?")
    assert [str(options.filters) for _, options in answerer.asked] == ["year>=2024 and venue~ICLR", ""]


def test_another_corpus_begins_a_new_conversation_and_another_model_keeps_it() -> None:
    chat = told((FLORA,))
    chat.say("Who counts flowers?")
    before = chat.chat.conversation.id
    assert chat.say("/corpus") == "  meadows\n* seeds\n"
    assert chat.say("/model") == "fake answers.\n"
    assert chat.say("/model gpt-x") == "gpt-x answers.\n"
    assert chat.chat.conversation.id == before
    assert chat.chat.conversation.numbers == {"flora": 1}
    assert chat.say("/corpus meadows") == "Now asking meadows, in a new conversation.\n"
    assert chat.chat.conversation.id != before
    assert chat.say("/corpus nowhere").startswith("error: No corpus")
    assert chat.say("/corpus") == "* meadows\n  seeds\n"


def test_undo_retry_history_and_new() -> None:
    chat = told((FLORA,), (TIDE,), (BEES,))
    chat.say("Who counts flowers?", "Who predicts tides?")
    assert chat.say("/history") == "1. Who counts flowers?  [1]\n2. Who predicts tides?  [2]\n"
    assert chat.say("/retry").startswith("> Who predicts tides?\nSee this [2].")
    assert chat.chat.conversation.numbers == {"flora": 1, "bees": 2}
    assert chat.say("/undo") == "Taken back: Who predicts tides?\n"
    assert chat.say("/history") == "1. Who counts flowers?  [1]\n"
    assert chat.say("/new") == "A new conversation. Numbers start again at [1].\n"
    assert chat.say("/history") == "Nothing has been asked yet.\n"


def test_resume_lists_conversations_and_goes_on_with_one() -> None:
    chat = told((FLORA,), (BEES,), (TIDE,))
    chat.say("Who counts flowers?")
    first = chat.chat.conversation.id
    chat.say("/new", "Who studies bees?")
    assert [line.split("  ")[0] for line in chat.say("/resume").splitlines()] == [chat.chat.conversation.id, first]
    assert chat.say(f"/resume {first}") == f"Conversation {first}, 1 turns.\n1. Who counts flowers?  [1]\n"


def test_help_names_every_command() -> None:
    lines = told().say("/help")
    assert all(f"/{name}" in lines for name in COMMANDS)
    assert told().say("/help why") == "/why N  why [N] was cited: passage, score, verdict\n"


def test_quit_ends_the_chat_and_aliases_work() -> None:
    for line in ("/quit", "/exit", "/q"):
        chat = told()
        chat.say(line)
        assert chat.chat.is_over


def test_a_line_with_a_slash_in_front_is_a_command_only_when_a_name_follows() -> None:
    assert [is_command(line) for line in ("/help", "/", "//x", "/ x", "what is 1/2?")] == [True, False, False, False, False]


def test_a_failing_question_is_told_and_the_chat_goes_on() -> None:
    chat = told((ModelError("The server is down.", kind="connection"),), (FLORA,))
    assert chat.say("Who counts flowers?") == "error: The server is down.\n"
    assert chat.say("Who counts flowers?").startswith("See this [1].")


def test_an_interrupted_answer_is_kept_and_marked() -> None:
    chat = told(("Flowers are", KeyboardInterrupt()), (FLORA,))
    assert chat.say("Who counts flowers?") == "Flowers are\nStopped; what came is kept. /retry asks again.\n"
    assert chat.chat.last.finish == "interrupted"
    assert chat.say("/retry").startswith("> Who counts flowers?\nSee this [1].")


def test_an_assistant_that_cannot_be_opened_is_told_with_each_try() -> None:
    def fail() -> FakeAssistant:
        raise ModelError("No models folder.", kind="not_found")

    chat = Told(fail)
    assert chat.say("Who counts flowers?") == "error: No models folder.\n"
    assert chat.say("Who counts flowers?") == "error: No models folder.\n"


def test_hostile_titles_and_answers_never_drive_the_terminal() -> None:
    evil = replace(FLORA, title="\x1b]0;owned\x07Evil\x1b[2J\u202egnp.exe", authors=("\x1b[31mMallory",))
    answer = replace(answer_citing("q", evil), text="\x1b[2JHello [1]", notes=("\x1b[5mnote",))
    chat = Told(lambda: FakeAssistant(answerer=FakeAnswerer(lambda question, options: answer)))
    printed = chat.say("q", "/sources all", "/show 1", "/why 1", "/history", "\x1b[31m/x", "/\x1b[31mx")
    assert "\x1b" not in printed
    assert "\u202e" not in printed
    assert "\x07" not in printed


def test_verbose_shows_how_a_follow_up_was_understood() -> None:
    chat = told((FLORA,), (FLORA,), verbose=True)
    chat.say("Who counts flowers?")
    assert "Understood as: How fast is “FloraNet”?" in chat.say("How fast is it?")


def test_a_piped_transcript_has_questions_answers_and_sources() -> None:
    chat = told((FLORA,), (FLORA,))
    code = run_piped(chat.chat, ["\ufeffWho counts flowers?\r\n", "\n", "How fast is it?"])
    assert code == 0
    source = "[1] FloraNet: Counting Flowers from the Air\n    Ada Lovelace, Bo Li · ICLR 2025\n    quoted: “Counting flowers by ”\n"
    assert chat.take() == f"> Who counts flowers?\nSee this [1].\n\n{source}\n> How fast is it?\nSee this [1].\n\n{source}\n"


def test_a_piped_question_that_fails_gives_exit_code_1_and_the_rest_is_answered() -> None:
    chat = told((ModelError("down", kind="server"),), (FLORA,))
    assert run_piped(chat.chat, ["Who counts flowers?", "Who counts flowers?", "/quit", "never asked"]) == 1
    assert chat.take().count("See this [1].") == 1


def test_completion_of_commands_papers_corpora_and_fields() -> None:
    chat = told((FLORA, TIDE))
    assert texts(list(candidates("/s", chat.chat))) == ["/sources", "/show", "/similar", "/save"]
    assert texts(list(candidates("/show ", chat.chat))) == []
    chat.say("Which papers?")
    assert texts(list(candidates("/show ", chat.chat))) == ["1", "2"]
    assert texts(list(candidates("/show b", chat.chat))) == ["bees"]
    assert texts(list(candidates("/corpus ", chat.chat))) == ["meadows", "seeds"]
    assert texts(list(candidates("/model o", chat.chat))) == ["offline"]
    assert texts(list(candidates("/filter year>2020 and v", chat.chat))) == ["venue"]
    assert texts(list(candidates("/help wh", chat.chat))) == ["why"]
    assert texts(list(candidates("what about /s", chat.chat))) == []
    assert texts(list(candidates("/nope ", chat.chat))) == []


def test_completion_of_files(tmp_path: Path) -> None:
    (tmp_path / "notes.md").touch()
    (tmp_path / "nested").mkdir()
    (tmp_path / ".hidden").touch()
    chat = told()
    assert texts(list(candidates(f"/save {tmp_path}/n", chat.chat))) == ["nested/", "notes.md"]
    assert texts(list(candidates("/save /no/such/folder/", chat.chat))) == []


def test_completion_never_waits_for_loading() -> None:
    gate = threading.Event()

    def slow() -> FakeAssistant:
        gate.wait()
        return FakeAssistant()

    chat = Told(slow)
    chat.chat.load()
    assert texts(list(candidates("/show f", chat.chat))) == []
    gate.set()


def test_leaving_closes_the_assistant() -> None:
    assistant = FakeAssistant()
    chat = Told(lambda: assistant)
    with chat.chat:
        chat.say("Who counts flowers?")
    assert assistant.closed


def test_leaving_waits_for_what_is_still_being_opened() -> None:
    gate = threading.Event()
    assistant = FakeAssistant()

    def slow() -> FakeAssistant:
        gate.wait()
        return assistant

    chat = Told(slow).chat
    chat.load()
    threading.Timer(0.1, gate.set).start()
    chat.close()
    assert assistant.closed


def test_an_abstaining_answer_shows_the_nearest_papers() -> None:
    answer = Answer("q", "No paper answers this.", abstained=True, nearest=(TIDE,), finish="complete")
    chat = Told(lambda: FakeAssistant(answerer=FakeAnswerer(lambda question, options: answer)))
    assert chat.say("q") == "No paper answers this.\n  · Learning Tides with Gaussian Processes · Cy Young · NeurIPS 2024\n"


def test_a_real_assistant_goes_on_with_another_model_and_another_corpus(tmp_path: Path) -> None:
    chat = Told(lambda: Assistant(home=tmp_path))
    assert chat.say("/model offline") == "offline answers.\n"
    embedder = chat.chat.assistant.embedder
    assert chat.say("/corpus seeds") == "Now asking seeds, in a new conversation.\n"
    assert chat.chat.assistant.embedder is embedder
    assert chat.chat.assistant.settings.home == tmp_path
    chat.chat.close()


def test_a_reconfigured_assistant_keeps_the_models_it_was_given() -> None:
    given = Assistant(chat_model=FakeModel(name="mine"), corpus="seeds")
    assert given.reconfigured(corpus="meadows").model.name == "mine"
    assert given.reconfigured(corpus="meadows").settings.corpus == "meadows"
    assert given.reconfigured(model="offline").model.name == "offline"


def test_without_a_language_model_the_chat_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    chat = Told(lambda: FakeAssistant(model=None))
    assert chat.say("Who counts flowers?").startswith("Answering offline with sentences from the abstracts.")
    assert chat.say("How fast is it?").startswith("See this [1].")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert Told(lambda: FakeAssistant(model=None)).say("Who counts flowers?").startswith("See this [1].")


def test_the_first_prompt_needs_neither_store_nor_models() -> None:
    code = (
        "import sys; import rag.cli.ask, rag.chat.terminal, rag.chat.screen, rag.chat.chat;"
        "print([m for m in ('numpy', 'chromadb', 'openai', 'onnxruntime', 'tiktoken', 'rag.store', 'rag.answering', 'rag.assistant')"
        " if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
