"""The rates of `benchmarks/adversarial_answers.py` on some of the bundled abstracts, by wording alone."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from rag.evaluation.support import corpus_idf
from rag.verification import Verifier

SCRIPT = Path(__file__).parent.parent.parent / "benchmarks" / "adversarial_answers.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("adversarial_answers", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_false_statements_are_flagged_and_true_ones_pass(benchmark: ModuleType) -> None:
    papers = benchmark.load(benchmark.bundled_papers(), 20)
    found = list(benchmark.cases(papers))
    figures = benchmark.rates(found, benchmark.judged(found, Verifier(corpus_idf(papers))))
    assert len(found) >= 500
    assert benchmark.failed_targets(figures) == []
    assert figures["negated"]["flagged"] >= 0.95
    assert figures["opposite"]["flagged"] >= 0.9
    assert figures["wrong name"]["flagged"] >= 0.9
