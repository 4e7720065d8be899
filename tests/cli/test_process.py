"""The scripts as processes: no network, foreign locales, broken pipes, Ctrl-C."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pexpect
import pytest
from openai_server.replies import Reply

BIN = Path(sys.executable).parent
QUESTION = "which papers study turn-taking?"
pytestmark = pytest.mark.slow


def environment(home: Path, **more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **more}


def run(command: list[str | Path], env: dict[str, str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, env=env, capture_output=True, timeout=120, **options)


def _namespaces() -> bool:
    return shutil.which("unshare") is not None and subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not _namespaces(), reason="this system gives no network namespaces")
def test_without_any_network_and_with_an_empty_home_it_answers(tmp_path: Path) -> None:
    done = run(["unshare", "-rn", BIN / "ask", "--json", QUESTION], environment(tmp_path))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["citations"][0]["paper"]["id"] == "2e4ECh0ikn"


@pytest.mark.parametrize("locale", [{"LANG": "C"}, {"LC_ALL": "C"}, {"LC_ALL": "POSIX"}, {"PYTHONIOENCODING": "ascii"}])
def test_any_locale_prints_a_clean_answer(tmp_path: Path, locale: dict[str, str]) -> None:
    done = run([BIN / "ask", "What convergence rate does flow matching achieve?"], environment(tmp_path, **locale))
    assert done.returncode == 0, done.stderr
    assert b"[1]" in done.stdout
    assert b"\x1b" not in done.stdout + done.stderr


def test_a_reader_that_leaves_early_is_no_traceback(tmp_path: Path) -> None:
    command = f"'{BIN / 'rag'}' papers --json | head -c 10"
    done = run(["bash", "-c", command], environment(tmp_path))
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_an_error_is_one_line_without_a_traceback(tmp_path: Path) -> None:
    done = run([BIN / "ask", "-c", "nowhere", "what?"], environment(tmp_path))
    assert done.returncode == 1
    assert done.stderr.decode().startswith("error: No corpus named 'nowhere'. Known: seeds.")
    assert done.stderr.count(b"\n") == 1


def test_ctrl_c_keeps_what_came_and_exits_with_130(tmp_path: Path, openai_server: Any) -> None:
    openai_server.default = Reply(deltas=["PersonalLLM is a benchmark [1]. ", "It adapts models "] + ["word "] * 50, stall_after=3)
    env = environment(tmp_path, OPENAI_BASE_URL=openai_server.url, RAG_MODEL="test", RAG_TIMEOUT_S="60", TERM="xterm")
    child = pexpect.spawn(str(BIN / "ask"), ["What is PersonalLLM?"], env=env, encoding="utf-8", timeout=60, dimensions=(40, 100))
    child.expect("benchmark")
    time.sleep(0.5)
    child.kill(signal.SIGINT)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert "Traceback" not in child.before
    log = run([BIN / "rag", "log", "--json"], env)
    assert "PersonalLLM is a benchmark" in log.stdout.decode()


def test_a_terminal_gets_colour_and_no_color_is_honoured(tmp_path: Path) -> None:
    for extra, has_colour in (({}, True), ({"NO_COLOR": "1"}, False)):
        env = environment(tmp_path, TERM="xterm-256color", **extra)
        child = pexpect.spawn(str(BIN / "ask"), ["What is PersonalLLM?"], env=env, encoding="utf-8", timeout=60, dimensions=(50, 100))
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0
        assert ("\x1b[1;36m[1]" in child.before or "\x1b[1;36m" in child.before) is has_colour
        assert "[1]" in child.before


def test_the_line_of_progress_never_stands_in_a_line_of_the_answer(tmp_path: Path) -> None:
    env = environment(tmp_path, TERM="xterm-256color")
    child = pexpect.spawn(str(BIN / "ask"), ["What is PersonalLLM?"], env=env, encoding="utf-8", timeout=60, dimensions=(50, 100))
    child.expect(pexpect.EOF)
    child.close()
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", child.before)
    shown = [line for line in re.split(r"[\r\n]+", plain) if "checking citations" in line]
    assert shown
    assert all(re.fullmatch(r"(?:\W checking citations\s*)+", line) for line in shown), shown
