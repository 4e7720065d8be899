"""Dialogues are measured turn by turn, and the bundled set meets its targets."""

import json
from pathlib import Path

import pytest
from chat.chat_fakes import FakeAssistant
from conversation.conversation_fakes import FLORA, TIDE, FakeAnswerer, answer_citing

from rag.assistant import Assistant
from rag.errors import SourceError
from rag.evaluation.dialogues import DialogueFigures, dialogues_json, dialogues_rows, evaluate_dialogues, read_dialogues
from rag.records import Answer, Retrieval

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "dialogues.jsonl"


def measured(file: Path, *, rewriting: bool = False, split: str | None = None) -> DialogueFigures:
    """The figures of an assistant that finds tides where tides are asked for, floods nowhere, and flowers otherwise."""

    def reply(question: str, options: object) -> Answer:
        searched = options.standalone or question  # type: ignore[attr-defined]
        if "floods" in searched:
            return Answer(question, "No.", abstained=True, retrieval=Retrieval(searched, (), 3, 0.0, abstain=True))
        paper = TIDE if "tide" in searched.lower() else FLORA
        return answer_citing(question, paper, numbers=dict(options.numbers))  # type: ignore[attr-defined]

    return evaluate_dialogues(file, FakeAssistant(answerer=FakeAnswerer(reply)), rewriting=rewriting, split=split)  # type: ignore[arg-type]


def write(folder: Path, *dialogues: object) -> Path:
    file = folder / "dialogues.jsonl"
    file.write_text("\n".join(json.dumps(dialogue) for dialogue in dialogues), encoding="utf-8")
    return file


FIRST = {
    "turns": [
        {"question": "Who studies tides?", "papers": ["tide"]},
        {"question": "What do they say?", "papers": ["tide"], "standalone": "What does the paper on tides say?"},
        {"question": "Who counts flowers?", "papers": ["tide"]},
        {"question": "What about floods?", "papers": [], "abstain": True},
    ]
}
SECOND = {
    "split": "held out",
    "turns": [
        {"question": "Who counts flowers?", "papers": ["flora"]},
        {"question": "Any floods?", "papers": ["flora"]},
        {"question": "Who bakes bread?", "papers": [], "abstain": True},
    ],
}


def test_follow_ups_openings_and_refusals_are_counted_apart(tmp_path: Path) -> None:
    figures = measured(write(tmp_path, FIRST, SECOND))
    assert (figures.dialogues, figures.follow_ups) == (2, 3)
    assert figures.first.mean == pytest.approx(1 / 3)
    assert figures.cited_first.mean == pytest.approx(1 / 3)
    assert figures.opening_first.mean == 1.0
    assert figures.refused.mean == 0.5
    assert figures.wrongly_refused.mean == pytest.approx(1 / 5)
    assert [(miss.dialogue, miss.turn) for miss in figures.misses] == [(1, 3), (2, 2), (2, 3)]


def test_each_dialogue_is_a_conversation_of_its_own_and_nothing_is_logged(tmp_path: Path, home: Path) -> None:
    measured(write(tmp_path, FIRST, SECOND))
    assert not home.exists()


def test_a_scripted_model_rewrites_as_the_file_says(tmp_path: Path) -> None:
    plain, rewriting = (measured(write(tmp_path, FIRST), rewriting=on).outcomes[1].standalone for on in (False, True))
    assert plain == "What do “Learning Tides with Gaussian Processes” say?"
    assert rewriting == "What does the paper on tides say?"


def test_only_the_dialogues_of_a_split(tmp_path: Path) -> None:
    assert measured(write(tmp_path, FIRST, SECOND), split="held out").dialogues == 1


def test_json_and_table_hold_the_figures(tmp_path: Path) -> None:
    figures = measured(write(tmp_path, FIRST))
    values = json.loads(json.dumps(dialogues_json(figures)))
    assert (values["dialogues"], values["refused"]["mean"], values["outcomes"][1]["first"]) == (1, 1.0, True)
    rows = dialogues_rows(figures)
    assert rows[0] == ("measure", "share", "95% interval", "turns")
    assert rows[1][:2] == ("follow-ups: right paper first", "0.500")
    assert rows[4][3] == "1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no dialogue"),
        ("{", ":1 is no dialogue"),
        ('\n{"turns": []}', ":2 is no dialogue"),
        ('{"turns": [{"papers": ["a"]}]}', "question"),
        ('{"turns": [{"question": "q"}]}', "names no papers and does not abstain"),
        ("[1, 2]", "is no dialogue"),
    ],
)
def test_what_is_no_dialogue_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "dialogues.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=message):
        read_dialogues(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere.jsonl"):
        read_dialogues(tmp_path / "nowhere.jsonl")


def test_the_bundled_set_is_large_and_varied_enough() -> None:
    dialogues = read_dialogues(BENCHMARK)
    assert len(dialogues) >= 30
    assert all(3 <= len(dialogue.turns) <= 5 for dialogue in dialogues)
    assert sum(dialogue.split == "held out" for dialogue in dialogues) * 3 == len(dialogues)
    assert sum(turn.abstain for dialogue in dialogues for turn in dialogue.turns) >= 4


@pytest.mark.slow
@pytest.mark.parametrize(("rewriting", "target"), [(False, 0.90), (True, 0.95)])
def test_follow_ups_on_the_bundled_corpus_find_the_right_paper_first(rewriting: bool, target: float) -> None:
    with Assistant(corpus="seeds", model="offline", log=False) as assistant:
        figures = evaluate_dialogues(BENCHMARK, assistant, rewriting=rewriting)
    assert figures.first.mean >= target
    assert figures.refused.mean == 1.0
    assert figures.wrongly_refused.mean <= 0.05
