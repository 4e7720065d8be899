"""The chat on a real terminal, seen as the reader sees it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pexpect
import pyte
import pytest

pytestmark = pytest.mark.slow

PROGRAM = str(Path(__file__).with_name("chat_program.py"))
GOLDEN = Path(__file__).with_name("screens")


class Terminal:
    """The chat in a pseudo-terminal, with the screen it would show."""

    def __init__(self, columns: int, rows: int, *arguments: str, command: str = PROGRAM, env: Mapping[str, str] | None = None) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=500)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "COLUMNS": str(columns),
            "LINES": str(rows),
            **(env or {}),
        }
        environment.pop("COLUMNS")
        environment.pop("LINES")
        self.child = pexpect.spawn(
            sys.executable, [*command.split(), *arguments], dimensions=(rows, columns), env=environment, timeout=30, echo=True
        )

    def pump(self, seconds: float = 0.05) -> None:
        try:
            data = self.child.read_nonblocking(65_536, timeout=seconds)
        except (pexpect.TIMEOUT, pexpect.EOF):
            return
        self.raw += data
        self._stream.feed(data)

    def wait(self, condition: Callable[[], bool], seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, self.text
            self.pump()

    def wait_for(self, text: str, seconds: float = 30.0) -> None:
        self.wait(lambda: text in self.text, seconds)

    def settle(self) -> None:
        """Waits until nothing has changed for a while."""
        before = None
        while before != self.text:
            before = self.text
            self.pump(0.3)

    def type(self, text: str) -> None:
        self.child.send(text)

    @property
    def lines(self) -> list[str]:
        past = ["".join(line[column].data for column in range(self.screen.columns)) for line in self.screen.history.top]
        return [line.rstrip() for line in [*past, *self.screen.display]]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip("\n")

    def close(self) -> None:
        self.child.close(force=True)


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    opened = list[Terminal]()

    def open_terminal(columns: int = 80, rows: int = 24, *arguments: str, **options: object) -> Terminal:
        opened.append(Terminal(columns, rows, *arguments, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield open_terminal
    for each in opened:
        each.close()


@pytest.mark.parametrize("columns", [80, 40])
def test_a_chat_looks_like_its_golden_screen(terminal: Callable[..., Terminal], columns: int) -> None:
    chat = terminal(columns, 30)
    chat.wait_for("\n>")
    for line, shown in (
        ("Which papers count or predict?", "ICLR 2025"),
        ("and who studies bees?", "[3] Do Bees"),
        ("/histroy", "Did you mean"),
    ):
        chat.type(f"{line}\r")
        chat.wait_for(shown)
        chat.wait(lambda: chat.text.endswith("\n>"))
        chat.settle()
    golden = GOLDEN / f"chat_{columns}.txt"
    if os.environ.get("UPDATE_SCREENS"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(chat.text + "\n", encoding="utf-8")
    assert chat.text + "\n" == golden.read_text(encoding="utf-8")
    assert all(len(line) <= columns for line in chat.lines)


def test_nothing_that_was_printed_of_an_answer_is_drawn_again(terminal: Callable[..., Terminal]) -> None:
    chat = terminal()
    chat.wait_for("\n>")
    chat.type("Which papers count or predict?\r")
    chat.wait_for("NeurIPS 2024")
    chat.settle()
    assert chat.raw.count(b"harbours") == 1
    assert b"\x1b[2J" not in chat.raw
    assert b"\x1b[6n" not in chat.raw


def test_the_prompt_is_there_while_models_still_load(terminal: Callable[..., Terminal]) -> None:
    chat = terminal(80, 24, "600")
    chat.wait_for("\n>")
    chat.type("/help\r")
    chat.wait_for("/quit")


def test_ctrl_c_stops_the_answer_and_keeps_what_came(terminal: Callable[..., Terminal]) -> None:
    chat = terminal()
    chat.wait_for("\n>")
    chat.type("be slow\r")
    chat.wait_for("word9")
    chat.type("\x03")
    chat.wait_for("Stopped; what came is kept.")
    chat.type("/history\r")
    chat.wait_for("1. be slow  interrupted")
    chat.type("who studies bees?\r")
    chat.wait_for("[1] Do Bees")


def test_ctrl_c_clears_the_line_and_ctrl_d_leaves(terminal: Callable[..., Terminal]) -> None:
    chat = terminal()
    chat.wait_for("\n>")
    chat.type("half a questi")
    chat.wait_for("> half a questi")
    chat.type("\x03")
    chat.settle()
    assert chat.child.isalive()
    chat.type("\x04")
    chat.child.expect(pexpect.EOF)
    chat.child.wait()
    assert chat.child.exitstatus == 0


def test_a_pasted_text_of_several_lines_is_one_question(terminal: Callable[..., Terminal]) -> None:
    chat = terminal()
    chat.wait_for("\n>")
    chat.type("\x1b[200~who studies\nbees?\x1b[201~")
    chat.wait_for(". bees?")
    chat.type("\r")
    chat.wait_for("[1] Do Bees")
    chat.type("/history\r")
    chat.wait_for("1. who studies bees?  [1]")


def test_alt_enter_begins_a_new_line(terminal: Callable[..., Terminal]) -> None:
    chat = terminal()
    chat.wait_for("\n>")
    chat.type("who studies\x1b\rbees?\r")
    chat.wait_for("[1] Do Bees")


def test_tab_completes_commands(terminal: Callable[..., Terminal]) -> None:
    chat = terminal()
    chat.wait_for("\n>")
    chat.type("/hist\t")
    chat.wait_for("> /history")
    chat.type("\r")
    chat.wait_for("Nothing has been asked yet.")


def test_questions_of_earlier_sessions_come_back_with_the_arrow_key(terminal: Callable[..., Terminal]) -> None:
    first = terminal()
    first.wait_for("\n>")
    first.type("who studies bees?\r")
    first.wait_for("[1] Do Bees")
    first.type("\x04")
    first.child.expect(pexpect.EOF)
    second = terminal()
    second.wait_for("\n>")
    second.settle()
    second.type("\x1b[A")
    second.wait_for("> who studies bees?")


def test_a_terminal_made_narrower_goes_on(terminal: Callable[..., Terminal]) -> None:
    chat = terminal()
    chat.wait_for("\n>")
    chat.type("who studies bees?\r")
    chat.wait_for("[1] Do Bees")
    chat.child.setwinsize(24, 30)
    chat.screen.resize(24, 30)
    chat.settle()
    chat.type("Which papers count?\r")
    chat.wait_for("NeurIPS")
    chat.settle()
    assert chat.child.isalive()


def test_a_dumb_terminal_gets_plain_lines(terminal: Callable[..., Terminal]) -> None:
    chat = terminal(env={"TERM": "dumb"})
    chat.wait_for("\n>")
    chat.type("who studies bees?\r")
    chat.wait_for("[1] Do Bees")
    chat.type("\x04")
    chat.child.expect(pexpect.EOF)
    assert b"\x1b" not in chat.raw + (chat.child.before or b"")


def test_no_color_is_honoured(terminal: Callable[..., Terminal]) -> None:
    chat = terminal(env={"NO_COLOR": "1"})
    chat.wait_for("\n>")
    chat.type("who studies bees?\r")
    chat.wait_for("[1] Do Bees")
    colours = [code for code in chat.raw.split(b"\x1b[") if code[:2] in (b"31", b"32", b"33", b"36") and code[2:3] in (b"m", b";")]
    assert colours == []


def test_piped_input_gives_a_plain_transcript() -> None:
    run = subprocess.run(
        [sys.executable, PROGRAM], input="who studies bees?\nwho wrote it?\n", capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.startswith("> who studies bees?\nSee this [1].\n\n[1] Do Bees Dance in Simulation?\n")
    assert "\n\n> who wrote it?\n" in run.stdout
    assert "\x1b" not in run.stdout
    assert run.stderr == ""
