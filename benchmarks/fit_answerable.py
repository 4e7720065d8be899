"""Fits the two judgements of retrieval: "this paper is one of the list" and "the corpus answers".

    python benchmarks/fit_answerable.py EVALUATION CORPORA --home HOME [--write rag/retrieval/fitted.py]

EVALUATION holds seed_questions.jsonl, iclr2018/ and scifact/ (see docs/evaluation.md), CORPORA the conference files whose
authors' keywords make lists. Corpora are indexed under HOME, so that only the first run embeds. Questions of one corpus are
negatives for the others. Rates are printed for each group of questions, those of the bundled corpus also from a fit that never
saw them.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from rag.embedding.bundled import text_hash
from rag.embedding.onnx import MiniLM
from rag.readers import read_papers
from rag.records import Paper
from rag.retrieval import Retriever
from rag.retrieval.answerable import AnswerFeatures, answer_features
from rag.retrieval.constraints import Facets
from rag.retrieval.listing import MatchFeatures, match_features
from rag.retrieval.planner import plan_question
from rag.retrieval.topic import PaperWords, Topic
from rag.settings import Settings
from rag.store.corpora import Corpora
from rag.store.library import Library

ALPHA = 0.04
# Authors name a keyword for a fraction of the papers it fits, so a listed paper stands for several; chosen so that lists of
# complete labels (the bundled corpus) and of incomplete ones (keywords) both come out at the targets.
COMMON_WEIGHT, RARE_WEIGHT, SINGLE_WEIGHT = 30.0, 6.0, 3.0
SMALL, SMALL_CORPORA = 60, 10
EVERYDAY = """how do I bake sourdough bread|who won the football world cup in 1998|what is the best restaurant in Paris|how tall is Mount Everest
when did the Roman Empire fall|what is the weather tomorrow|how do I fix a flat bicycle tyre|which films did Kurosawa direct
what is the boiling point of ethanol|how do I apply for a visa to Japan|who wrote Pride and Prejudice|what should I eat for breakfast
how many calories are in an avocado|what is the population of Brazil|how do I get a mortgage|which dog breed is best for families
what are the rules of chess|how do I grow tomatoes|what is the exchange rate of the euro|who is the president of France
how do I learn to play the guitar|what time is it in New York|which stocks should I buy|what is the meaning of life
how do I remove a wine stain|what causes earthquakes|who painted the Mona Lisa|how long does it take to fly to Sydney""".replace(
    "\n", "|"
).split("|")


@dataclass(frozen=True)
class Corpus:
    library: Library
    retriever: Retriever
    embedder: MiniLM


@dataclass(frozen=True)
class Row:
    group: str
    label: float
    features: tuple[float, ...]
    weight: float = 1.0


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def beir(folder: Path) -> tuple[list[Paper], list[tuple[str, set[str]]]]:
    papers = [Paper(r["_id"], " ".join(r["title"].split()), " ".join(r["text"].split())) for r in lines(folder / "corpus.jsonl")]
    relevant: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels" / "test.tsv").read_text().splitlines()[1:]:
        query, paper, grade = line.split("\t")
        if int(grade) > 0:
            relevant[query].add(paper)
    return papers, [(r["text"], relevant[r["_id"]]) for r in lines(folder / "queries.jsonl") if r["_id"] in relevant]


class Fit:
    def __init__(self, evaluation: Path, corpora: Path, home: Path) -> None:
        self.embedder, self.settings = MiniLM(), Settings(home=home)
        self.random = random.Random(0)
        self.questions = lines(evaluation / "seed_questions.jsonl")
        keywords = lines(evaluation / "iclr2018" / "keyword_lists.jsonl")
        self.keywords = [(r["keyword"], set(r["papers"])) for r in keywords]
        iclr, self.summaries = beir(evaluation / "iclr2018")
        scifact, self.claims = beir(evaluation / "scifact")
        self.random.shuffle(self.summaries)
        self.claims = self.claims[:150]
        wanted = set().union(*(papers for _, papers in self.claims))
        scifact = [p for p in scifact if p.id in wanted] + [p for p in scifact if p.id not in wanted][:1_200]
        submissions = [r for r in read_papers(sorted(corpora.iterdir())) if isinstance(r, Paper)]
        self.seeds = self.opened("seeds", None)
        self.iclr, self.scifact = self.opened("iclr2018", iclr), self.opened("scifact", scifact)
        self.submissions = self.opened("submissions", submissions)
        lists: dict[str, set[str]] = defaultdict(set)
        for paper in self.submissions.library.papers():
            for keyword in paper.keywords:
                lists[" ".join(keyword.lower().split())].add(paper.id)
        self.common = [(k, p) for k, p in sorted(lists.items()) if 3 <= len(p) <= 40]
        self.rare = self.random.sample([(k, p) for k, p in sorted(lists.items()) if len(p) < 3], 400)

    def opened(self, name: str, papers: Sequence[Paper] | None, known: dict | None = None) -> Corpus:
        if papers is None:
            library = Library.open(name, self.settings, self.embedder)
        else:
            with Corpora(self.settings).open_for_sync(name, self.embedder) as building:
                building.sync(papers, prune=True, known=known, copy=False)
            library = Library.open(name, self.settings, self.embedder)
        return Corpus(library, Retriever(library, self.embedder, self.settings), self.embedder)

    def small(self, big: Corpus, name: str) -> list[Corpus]:
        papers = big.library.papers()
        made = []
        for i in range(SMALL_CORPORA):
            chosen = self.random.sample(papers, SMALL)
            stored = big.library.vectors([p.id for p in chosen])
            known = {text_hash(chunk.text): row for chunks, rows in stored.values() for chunk, row in zip(chunks, rows, strict=True)}
            made.append(self.opened(f"small-{name}-{i}", chosen, known))
        return made


def topic_of(question: str) -> str:
    return plan_question(question, Facets()).topic


def list_rows(corpus: Corpus, lists: Iterable[tuple[str, set[str]]], group: str, weight: float) -> list[Row]:
    """One row for each candidate; a listed paper weighs `weight` times."""
    rows = []
    for text, papers in lists:
        hits, topic = corpus.retriever.scan(text).hits, Topic.of(text, corpus.library)
        words = [PaperWords.of(hit.paper) for hit in hits]
        background = corpus.retriever._judge.background()
        vector = corpus.embedder.embed([text])[0]
        for hit, found in zip(hits, match_features(topic, vector, hits, words, background), strict=True):
            label = float(hit.paper.id in papers)
            rows.append(Row(group, label, astuple(found), weight if label else 1.0))
    return rows


def answer_rows(corpus: Corpus, topics: Iterable[str], group: str, label: float) -> list[Row]:
    rows = []
    for text in topics:
        hits, topic = corpus.retriever.scan(text, limit=20).hits, Topic.of(text, corpus.library)
        if hits and topic.terms:
            words = [PaperWords.of(hit.paper) for hit in hits]
            rows.append(Row(group, label, astuple(answer_features(topic, hits, words, corpus.library.count()))))
    return rows


def is_mentioned(corpus: Corpus, text: str) -> bool:
    """Whether one paper holds all words of the topic."""
    topic = Topic.of(text, corpus.library)
    return any(topic.coverage(PaperWords.of(hit.paper)) > 0.999 for hit in corpus.retriever.scan(text, limit=20).hits)


def match_data(fit: Fit) -> list[Row]:
    rows = list_rows(fit.submissions, fit.common, "common keywords", COMMON_WEIGHT)
    rows += list_rows(fit.submissions, fit.rare, "rare keywords", RARE_WEIGHT)
    singles = [Row(r.group, r.label, r.features, SINGLE_WEIGHT) for r in list_rows(fit.iclr, fit.summaries[:200], "summaries", 1.0)]
    return rows + singles


def answer_data(fit: Fit) -> list[Row]:
    topics = {kind: [topic_of(q["question"]) for q in fit.questions if q["kind"] == kind] for kind in ("which", "fact", "list", "none")}
    own = [text for kind in ("which", "fact", "list") for text in topics[kind]]
    single = topics["which"] + topics["fact"]
    summaries, claims = [text for text, _ in fit.summaries[:240]], [text for text, _ in fit.claims]
    common, rare = [k for k, _ in fit.common[:150]], [k for k, _ in fit.rare[:200]]
    rows = answer_rows(fit.seeds, own, "+ seeds", 1) + answer_rows(fit.seeds, topics["none"], "- seeds none", 0)
    rows += answer_rows(fit.iclr, summaries, "+ summaries", 1) + answer_rows(fit.iclr, [k for k, _ in fit.keywords], "+ iclr keywords", 1)
    rows += answer_rows(fit.submissions, common, "+ common keywords", 1) + answer_rows(fit.submissions, rare, "+ rare keywords", 1)
    rows += answer_rows(fit.scifact, claims, "+ claims", 1)
    for name, corpus in (("seeds", fit.seeds), ("iclr", fit.iclr), ("submissions", fit.submissions), ("scifact", fit.scifact)):
        rows += answer_rows(corpus, map(topic_of, EVERYDAY), f"- everyday > {name}", 0)
        if corpus is not fit.scifact:
            rows += answer_rows(corpus, claims[:100], f"- claims > {name}", 0)
        if corpus is not fit.seeds:
            rows += answer_rows(corpus, single, f"- seed questions > {name}", 0)
        if corpus is not fit.iclr:
            rows += answer_rows(corpus, summaries[:120], f"- summaries > {name}", 0)
    rows += answer_rows(fit.seeds, [k for k in common + rare if not is_mentioned(fit.seeds, k)], "- keywords > seeds", 0)
    rows += answer_rows(fit.iclr, [k for k in rare if not is_mentioned(fit.iclr, k)], "- rare keywords > iclr", 0)
    for name, big, lists in (("iclr", fit.iclr, fit.keywords), ("submissions", fit.submissions, fit.common)):
        for corpus in fit.small(big, name):
            ids = corpus.library.ids()
            rows += answer_rows(corpus, [k for k, p in lists if p & ids], f"+ small {name}", 1)
            rows += answer_rows(corpus, [k for k, p in lists if not p & ids and not is_mentioned(corpus, k)], f"- small {name}", 0)
    return rows


def logistic(rows: Sequence[Row], *, penalty: float = 1e-3, balanced: bool) -> np.ndarray:
    """Coefficients with the constant first; every group weighs the same within its label when `balanced`."""
    x, y = np.array([row.features for row in rows]), np.array([row.label for row in rows])
    weight = np.array([row.weight for row in rows])
    if balanced:
        groups = np.array([row.group for row in rows])
        for label in (0, 1):
            names = set(groups[y == label])
            for name in names:
                weight[groups == name] = 1 / len(names) / (groups == name).sum()
    weight, mean, deviation = weight / weight.sum(), x.mean(0), x.std(0) + 1e-9
    z = np.c_[np.ones(len(x)), (x - mean) / deviation]

    def loss(b: np.ndarray) -> tuple[float, np.ndarray]:
        u = z @ b
        ridge = np.r_[0, b[1:]]
        gradient = z.T @ (weight * (1 / (1 + np.exp(-u)) - y)) + 2 * penalty * ridge
        return float((weight * (np.logaddexp(0, u) - y * u)).sum() + penalty * (ridge**2).sum()), gradient

    b = minimize(loss, np.zeros(z.shape[1]), jac=True, method="L-BFGS-B").x
    return np.r_[b[0] - (b[1:] * mean / deviation).sum(), b[1:] / deviation]


def probabilities(rows: Sequence[Row], coefficients: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-(coefficients[0] + np.array([row.features for row in rows]) @ coefficients[1:])))


def conformal(rows: Sequence[Row], coefficients: np.ndarray) -> float:
    """The threshold above which at least 1 - ALPHA of answerable questions are; every group weighs the same."""
    answerable = [row for row in rows if row.label and not row.group.startswith("+ small")]
    found, groups = probabilities(answerable, coefficients), np.array([row.group for row in answerable])
    weight = np.array([1 / (groups == name).sum() for name in groups])
    order = np.argsort(found)
    below = np.cumsum(weight[order]) / (weight.sum() + weight.mean())
    return float(found[order][max(int(np.searchsorted(below, ALPHA)) - 1, 0)])


def report(rows: Sequence[Row], coefficients: np.ndarray, threshold: float) -> None:
    refused: dict[str, list[bool]] = defaultdict(list)
    for row, probability in zip(rows, probabilities(rows, coefficients), strict=True):
        refused[row.group].append(bool(probability < threshold))
    for group, values in sorted(refused.items()):
        print(f"  {group:34} {len(values):4} refused {np.mean(values):.3f}")


def written(match: np.ndarray, answerable: np.ndarray, threshold: float, path: Path) -> None:
    def table(kind: type, values: np.ndarray) -> str:
        names = ["constant", *(f.name for f in fields(kind))]
        return "{" + ", ".join(f'"{name}": {value:.4g}' for name, value in zip(names, values, strict=True)) + "}"

    head, _, _ = path.read_text(encoding="utf-8").partition("MATCH = ")
    path.write_text(
        f"{head}MATCH = {table(MatchFeatures, match)}\n"
        '"""Logistic regression of "the paper is one of the list" on the features of `rag.retrieval.listing`."""\n\n'
        f"ANSWERABLE = {table(AnswerFeatures, answerable)}\n"
        '"""Logistic regression of "the corpus answers" on the features of `rag.retrieval.answerable`."""\n\n'
        f'THRESHOLD = {threshold:.4g}\n"""Split-conformal: at least `1 - ALPHA` of answerable questions are above."""\n\nALPHA = {ALPHA}\n',
        encoding="utf-8",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("evaluation", type=Path)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    fit = Fit(arguments.evaluation, arguments.corpora, arguments.home)
    match = logistic(match_data(fit), balanced=False)
    print("match", match.round(3).tolist())
    rows = answer_data(fit)
    unseen = [row for row in rows if "seeds" not in row.group]
    blind = logistic(unseen, balanced=True)
    print("answerable without the bundled corpus", blind.round(3).tolist(), "threshold", conformal(unseen, blind))
    report([row for row in rows if "seeds" in row.group], blind, conformal(unseen, blind))
    answerable = logistic(rows, balanced=True)
    threshold = conformal(rows, answerable)
    print("answerable", answerable.round(3).tolist(), "threshold", threshold)
    report(rows, answerable, threshold)
    if arguments.write:
        written(match, answerable, threshold, arguments.write)


if __name__ == "__main__":
    main()
