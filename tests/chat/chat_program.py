"""A chat with a scripted pipeline as a program of its own, for tests on a real terminal."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from chat.chat_fakes import FakeAssistant
from conversation.conversation_fakes import BEES, FLORA, TIDE, FakeAnswerer, answer_citing

from rag.answering import AskOptions
from rag.chat import run_chat
from rag.records import Answer, Progress

LONG = "We count **flowers** from the air with FloraNet [1], while tides in harbours are modelled by Gaussian processes [2]."


def reply(question: str, options: AskOptions) -> Answer | Sequence[object]:
    if "slow" in question:
        return slowly(question)
    if "bees" in question:
        return answer_citing(question, BEES, numbers=dict(options.numbers))
    answer = answer_citing(question, FLORA, TIDE, numbers=dict(options.numbers))
    final = Answer(question, LONG, citations=answer.citations, retrieval=answer.retrieval, model="fake", corpus="seeds")
    words = [f"{word} " for word in LONG.split(" ")]
    return [Progress("retrieve"), *words, final]


class slowly(Sequence[object]):  # noqa: N801 - reads as what it does
    """Words that keep coming until somebody stops them."""

    def __init__(self, question: str) -> None:
        self.question = question

    def __len__(self) -> int:
        return 1_000

    def __getitem__(self, place: int) -> object:  # type: ignore[override]
        if place:
            time.sleep(0.05)
        return f"word{place} "


def open_assistant() -> FakeAssistant:
    time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 0)
    return FakeAssistant(answerer=FakeAnswerer(reply))  # type: ignore[arg-type]


if __name__ == "__main__":
    sys.exit(run_chat(open_assistant))  # type: ignore[arg-type]
