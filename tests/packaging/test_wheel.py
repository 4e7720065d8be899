"""An installed wheel answers from any folder."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts folder of a venv that has the freshly built wheel and sees this environment's other packages."""
    work = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(work)], cwd=ROOT, check=True, capture_output=True)
    [wheel] = work.glob("askpapers-*.whl")
    venv.create(work / "venv", with_pip=False)
    python = work / "venv" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", "--quiet", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, capture_output=True, text=True
    )
    # A path inside a .pth does not run that folder's own .pth files, so the checkout's editable install stays out.
    Path(site.stdout.strip(), "environment.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return work / "venv" / "bin"


def run(command: list[str | Path], home: Path) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "RAG_HOME": str(home), "LANG": "C"}
    return subprocess.run(command, cwd="/", env=env, capture_output=True, text=True, encoding="utf-8", timeout=120)


def test_the_installed_package_is_not_the_checkout(installed: Path, tmp_path: Path) -> None:
    done = run([installed / "python", "-c", "import rag; print(rag.__file__)"], tmp_path)
    assert str(installed.parent) in done.stdout


def test_it_answers_from_the_root_folder(installed: Path, tmp_path: Path) -> None:
    done = run([installed / "ask", "--json", "which papers study turn-taking?"], tmp_path)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["citations"][0]["paper"]["url"] == "https://openreview.net/forum?id=2e4ECh0ikn"
    assert "[1]" in answer["answer"]


def test_the_rag_script_lists_all_bundled_papers(installed: Path, tmp_path: Path) -> None:
    done = run([installed / "rag", "papers", "--json"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) == 57
