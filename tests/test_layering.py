"""Imports run one way, and each heavy dependency has one importer."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "rag"

# Lowest first: a module may import its own layer and those before it.
LAYERS = (
    {"rag.errors", "rag.records", "rag.settings", "rag.resources"},
    {"rag.protocols"},
    {"rag.text"},
    {"rag.prompting"},
    {"rag.chunks", "rag.readers"},
    {"rag.models"},
    {"rag.embedding"},
    {"rag.store"},
    {"rag.exports", "rag.verification", "rag.retrieval", "rag.fetch"},
    {"rag.answering"},
    {"rag.conversation"},
    {"rag.doctor"},
    {"rag.assistant"},
    {"rag.evaluation"},
    {"rag.chat", "rag.cli"},
)

ONE_IMPORTER = {
    "chromadb": "rag/store/chroma.py",
    "openai": "rag/models/openai_client.py",
    "onnxruntime": "rag/embedding/onnx.py",
    "tiktoken": "rag/text/tokens.py",
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imported_names(path: Path) -> set[str]:
    """Every module named by an import anywhere in the file, except under `if TYPE_CHECKING`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def layer_of(name: str) -> int | None:
    for level, layer in enumerate(LAYERS):
        if any(name == module or name.startswith(f"{module}.") for module in layer):
            return level
    return None


def test_every_module_stands_in_a_layer() -> None:
    names = {path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__") for path in modules()}
    assert {name for name in names - {"rag", "rag.__main__"} if layer_of(name) is None} == set()


@pytest.mark.parametrize("path", [p for p in modules() if p.parent != PACKAGE or p.name != "__init__.py"], ids=str)
def test_imports_run_downwards(path: Path) -> None:
    own = layer_of(path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."))
    upwards = {name for name in imported_names(path) if own is not None and (layer_of(name) or 0) > own}
    assert upwards == set()


@pytest.mark.parametrize("vendor", ONE_IMPORTER)
def test_each_heavy_vendor_has_one_importer(vendor: str) -> None:
    importers = {
        path.relative_to(ROOT).as_posix()
        for path in modules()
        if any(name == vendor or name.startswith(f"{vendor}.") for name in imported_names(path))
    }
    assert importers == {ONE_IMPORTER[vendor]}


@pytest.mark.parametrize("statement", ["import rag", "import rag.cli.ask", "import rag.cli.main", "from rag import Assistant; Assistant()"])
def test_start_up_loads_no_heavy_vendor(statement: str) -> None:
    code = f"{statement}; import sys; print(sorted({set(ONE_IMPORTER)} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
