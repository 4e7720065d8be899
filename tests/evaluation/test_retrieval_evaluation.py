import json
from pathlib import Path

import pytest

from rag.embedding import MiniLM
from rag.errors import UsageError
from rag.evaluation.retrieval import (
    compare_retrieval,
    comparison_json,
    comparison_rows,
    evaluate_retrieval,
    figures_json,
    figures_rows,
    parse_variant,
)
from rag.retrieval.fusion import Ranking
from rag.settings import Settings

PAPERS = {
    "turns": ("Talking Turns", "We study turn-taking events in spoken dialogue. Audio models interrupt too often."),
    "lora": ("Selective Aggregation", "We investigate LoRA in federated learning. Two matrices are averaged."),
    "dock": ("Fast Docking", "Molecular docking predicts the bound structure of a protein. Our model is fast."),
}
QUERIES = {"q1": ("turn taking in dialogue", "turns"), "q2": ("low-rank adaptation LoRA", "lora"), "q3": ("protein structures", "dock")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    papers = [{"_id": key, "title": title, "text": text} for key, (title, text) in PAPERS.items()]
    queries = [{"_id": key, "text": text, "metadata": {"paper_id": "lora"}} for key, (text, _) in QUERIES.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, papers)))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    grades = [f"{key}\t{paper}\t1" for key, (_, paper) in QUERIES.items()]
    (folder / "qrels" / "test.tsv").write_text("\n".join(["query\tpaper\tgrade", *grades]))
    return folder


class Counting(MiniLM):
    """The real model, counting texts."""

    texts = 0

    def embed(self, texts):
        self.texts += len(texts)
        return super().embed(texts)


def test_figures_of_a_small_collection(folder: Path, home: Path) -> None:
    figures = evaluate_retrieval(folder, Settings(home=home))
    assert (figures.data, figures.papers, figures.queries) == ("tiny", 3, 3)
    assert figures.per_query["hit@1"] == {"q1": 1.0, "q2": 0.0, "q3": 1.0}
    assert figures.measures["hit@1"].mean == pytest.approx(2 / 3)
    assert figures_json(figures)["measures"]["R@100"]["mean"] == pytest.approx(2 / 3)
    assert figures_rows(figures)[0] == ("measure", "tiny, 3 queries", "95% interval")


def test_the_second_run_embeds_only_the_questions(folder: Path, home: Path) -> None:
    embedder = Counting()
    evaluate_retrieval(folder, Settings(home=home), embedder=embedder)
    first, embedder.texts = embedder.texts, 0
    evaluate_retrieval(folder, Settings(home=home), embedder=embedder)
    assert first == 6
    assert embedder.texts == 3


def test_the_users_corpora_stay_untouched(folder: Path, home: Path) -> None:
    evaluate_retrieval(folder, Settings(home=home))
    assert [path.name for path in home.iterdir()] == ["evaluation"]


def test_the_querys_own_paper_is_no_result(folder: Path, home: Path) -> None:
    figures = evaluate_retrieval(folder, Settings(home=home), similar=True)
    assert figures.per_query["R@100"] == {"q1": 1.0, "q2": 0.0, "q3": 1.0}


def test_two_variants_are_compared_in_pairs(folder: Path, home: Path) -> None:
    comparison = compare_retrieval(folder, Settings(home=home), "lexical=0", "lexical=1,pairs=0")
    assert set(comparison_json(comparison)) == {"a", "b", "differences"}
    rows = comparison_rows(comparison)
    assert rows[0][1:3] == ("A: lexical=0", "B: lexical=1,pairs=0")
    assert {len(row) for row in rows} == {6}


def test_a_variant_changes_ranking_and_settings() -> None:
    settings, ranking = parse_variant("lexical=0.25, reranker=llm", Settings())
    assert settings.reranker == "llm"
    assert ranking == Ranking(lexical=0.25)
    assert parse_variant("", Settings()) == (Settings(), Ranking())


@pytest.mark.parametrize("text", ["fast", "colour=1", "lexical=high", "lexical=2"])
def test_an_unknown_variant_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=text.partition("=")[0]):
        parse_variant(text, Settings())
