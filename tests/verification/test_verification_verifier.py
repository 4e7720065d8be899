"""Verdicts on statements: quoted, supported, weak, unsupported, and why."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from rag.protocols import Vectors
from rag.records import Paper
from rag.verification import Verifier, best_quote


class CountingEmbedder:
    """Every text has the same direction but for its length; counts the calls."""

    fingerprint = "fake"
    dimension = 2
    max_tokens = 100

    def __init__(self) -> None:
        self.calls: list[Sequence[str]] = []

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(texts)
        return np.tile(np.array([1.0, 0.0], np.float32), (len(texts), 1))


@pytest.fixture
def verifier(idf: Callable[[str], float]) -> Verifier:
    return Verifier(idf)


@pytest.mark.parametrize(
    "statement",
    [
        "Evaluating large target models over secure computation is prohibitively expensive.",
        "evaluating **large target models** over secure  computation is prohibitively expensive [1]",
        "The authors report that evaluating large target models over secure computation is prohibitively expensive [1].",
        "SelectFormer: Private Data Selection in Data Markets: Evaluating large target models over secure computation is prohibitively expensive.",
        "According to Ada Moreno et al., “evaluating large target models over secure computation is prohibitively expensive”.",
        "SelectFormer outperforms CryptoNet and reduces the delay by 12.1× with only 0.20% accuracy degradation.",
        "Evaluating large target models … is prohibitively expensive.",
        "SelectFormer: Private Data Selection in Data Markets [1]",
    ],
)
def test_verbatim_words_are_quoted_whatever_their_dress(verifier: Verifier, paper: Paper, statement: str) -> None:
    verdict = verifier.check(statement, paper)
    assert (verdict.support, verdict.problem) == ("quoted", None)
    assert verdict.score >= 0.98


def test_evidence_is_the_exact_sentence(verifier: Verifier, paper: Paper) -> None:
    [span] = verifier.check("Our method does not require access to raw training data [1].", paper).evidence
    assert span.text == "Our method does not require access to raw training data."
    assert paper.abstract[span.start : span.end] == span.text


def test_a_quotation_over_two_sentences_has_both_as_evidence(verifier: Verifier, paper: Paper) -> None:
    verdict = verifier.check("We propose SelectFormer, a pipeline for private data selection … Our method does not require access", paper)
    assert verdict.support == "quoted"
    assert [span.text.split()[0] for span in verdict.evidence] == ["We", "Our"]


@pytest.mark.parametrize(
    "statement",
    [
        "The approach scales to video models.",
        "Their method requires access to raw training data.",
        "require access to raw training data",
    ],
)
def test_a_passage_that_the_abstract_denies_or_doubts_is_not_quoted(verifier: Verifier, paper: Paper, statement: str) -> None:
    assert verifier.check(statement, paper).support != "quoted"


@pytest.mark.parametrize(
    "statement",
    [
        "The authors introduce SelectFormer, a pipeline for private data selection that emulates nonlinear operators by small MLPs.",
        "SelectFormer, which outperforms CryptoNet on 6 benchmarks, reduces the delay 12.1-fold.",
        "Reducing the delay by 12.1x, SelectFormer outperforms CryptoNet.",
        "CryptoNet is outperformed by SelectFormer on six benchmarks.",
        "No access to raw training data is required by the method.",
    ],
)
def test_fair_paraphrases_are_supported(verifier: Verifier, paper: Paper, statement: str) -> None:
    verdict = verifier.check(statement, paper)
    assert (verdict.support, verdict.problem) == ("supported", None)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("SelectFormer outperforms CryptoNet and reduces the delay by 21.1x.", "number 21.1x is not in the abstract (12.1× is)"),
        ("SelectFormer outperforms CryptoNet on seven benchmarks.", "number seven is not in the abstract (six is)"),
        (
            "On six benchmarks, SelectFormer outperforms CryptoNet with only 20% accuracy degradation.",
            "number 20% is not in the abstract (0.20% is)",
        ),
        ("Our method does require access to raw training data.", "one of statement and abstract denies what the other says"),
        ("SelectFormer does not outperform CryptoNet and reduces the delay.", "one of statement and abstract denies what the other says"),
        ("CryptoNet outperforms SelectFormer and reduces the delay.", "the two sides of a comparison are exchanged"),
        (
            "SelectFormer underperforms CryptoNet and reduces the delay.",
            "the statement says 'underperforms' where the abstract says 'outperforms'",
        ),
        ("SelectFormer outperforms CryptoNet and increases the delay.", "the statement says 'increases' where the abstract says 'reduces'"),
    ],
)
def test_what_is_turned_around_is_unsupported_and_says_why(verifier: Verifier, paper: Paper, statement: str, problem: str) -> None:
    verdict = verifier.check(statement, paper)
    assert (verdict.support, verdict.problem) == ("unsupported", problem)
    assert verdict.score < 0.6


def test_a_multiplier_with_exchanged_digits_is_never_supported(verifier: Verifier) -> None:
    paper = Paper("x", "Fast", "Our method is 21.1x faster than the baseline on all tasks.")
    for statement in ("Our method is 12.1x faster than the baseline on all tasks.", "The method is 12.1 times faster than the baseline."):
        assert verifier.check(statement, paper).support == "unsupported"


@pytest.mark.parametrize(
    ("statement", "abstract"),
    [
        ("The accuracy improves by 5%.", "The accuracy improves by 5 points."),
        ("The correlation is 0.5 between both metrics.", "The correlation is -0.5 between both metrics."),
        ("The correlation is −0.5 between both metrics.", "The correlation is 0.5 between both metrics."),
        ("The dataset has 1.2k samples from users.", "The dataset has 1,250 samples from users."),
        ("The error rate ranges between 10-25% on tasks.", "The error rate ranges between 10% and 20% on tasks."),
        ("The study was run on 12 March 2019 in hospitals.", "The study was run on 21 March 2019 in hospitals."),
        ("The study was run in March 2019 in hospitals.", "The study was run in May 2019 in hospitals."),
        ("Half of the users prefer the tool.", "A third of the users prefer the tool."),
        ("One third of the users prefer the tool.", "Two thirds of the users prefer the tool."),
        ("The first stage trains the policy model.", "The second stage trains the policy model."),
        ("GPT-4 solves the reasoning tasks.", "GPT-3.5 solves the reasoning tasks."),
        ("BERT-base solves the reasoning tasks.", "BERT-large solves the reasoning tasks."),
        ("ResNet-18 solves the vision tasks.", "ResNet-50 solves the vision tasks."),
        ("Llama-2-7B solves the reasoning tasks.", "Llama-2-70B solves the reasoning tasks."),
        ("Version v2.0 solves the vision tasks.", "Version v2.1 solves the vision tasks."),
        ("Training is more stable with dropout.", "Training is less stable with dropout."),
        ("The method uses at most 10 samples per class.", "The method uses at least 10 samples per class."),
        ("Larger models are slower than smaller models.", "Larger models are faster than smaller models."),
        ("Errors fall from 12% to 8% on tasks.", "Errors fall from 8% to 12% on tasks."),
        ("We use ２１ samples for the test of reasoning.", "We use 12 samples for the test of reasoning."),
    ],
)
def test_one_changed_figure_name_or_comparison_is_never_supported(verifier: Verifier, statement: str, abstract: str) -> None:
    verdict = verifier.check(statement, Paper("x", "A Study", abstract))
    assert verdict.support in ("weak", "unsupported")
    assert verdict.problem


@pytest.mark.parametrize(
    ("statement", "abstract"),
    [
        ("The dataset has 1.2k samples from users.", "The dataset has 1,200 samples from users."),
        ("The accuracy improves by 5%.", "The accuracy improves by 5 percentage points."),
        ("The correlation is −0.5 between both metrics.", "The correlation is -0.5 between both metrics."),
        ("It uses 2-3 layers for coding.", "It uses 2–3 layers for coding."),
        ("The model trains in 180 minutes on one GPU.", "The model trains in 3 hours on one GPU."),
        ("BERT-based models solve the reasoning tasks.", "BERT solves the reasoning tasks."),
        ("ResNet50 solves the reasoning tasks.", "ResNet-50 solves the reasoning tasks."),
        ("We use １２ samples for the test of reasoning.", "We use 12 samples for the test of reasoning."),
    ],
)
def test_another_way_to_write_the_same_passes(verifier: Verifier, statement: str, abstract: str) -> None:
    verdict = verifier.check(statement, Paper("x", "A Study", abstract))
    assert (verdict.support in ("quoted", "supported"), verdict.problem) == (True, None)


@pytest.mark.parametrize(
    ("abstract", "sentence"),
    [
        (
            "One ﬁrst. The eﬃcient ﬁlter ﬂows through Straße and İstanbul quickly. End.",
            "the efficient filter flows through strasse and i̇stanbul quickly",
        ),
        (
            "Intro \\emph{one}. We show $\\frac{1}{2}$ of \\textbf{all users} prefer $O(n^{2})$ methods. End.",
            "1/2 of all users prefer O(n^2) methods",
        ),
        ("㎏ first ½ sentence ™ here. The ① second ﬁgure ﷺ shows large gains. End.", "The 1 second figure … shows large gains"),
        ("Cafe\u0301 one. The re\u0301sume\u0301 model wins always here. End.", "the résumé model wins always here"),
        (
            "**Bold** one. The _second_ sentence `code` shows large gains [see](http://x.example) today. End.",
            "sentence code shows large gains see today",
        ),
        ("Zero\u200bwidth. The sec\u00adond sen\u200btence shows large gains today. End.", "the second sentence shows large gains today"),
    ],
)
def test_evidence_offsets_hold_where_normalising_changes_lengths(verifier: Verifier, abstract: str, sentence: str) -> None:
    paper = Paper("x", "A Study", abstract)
    verdict = verifier.check(sentence, paper)
    [span] = verdict.evidence
    whole = abstract[abstract.index(". ") + 2 : abstract.rindex(" End.")]
    assert (verdict.support, span.text, abstract[span.start : span.end]) == ("quoted", whole, whole)
    quote = best_quote(sentence, paper)
    assert abstract[quote.start : quote.end] == quote.text == whole


def test_a_rounded_figure_is_at_most_weak(verifier: Verifier, paper: Paper) -> None:
    verdict = verifier.check("SelectFormer outperforms CryptoNet and reduces the delay by 12x.", paper)
    assert (verdict.support, verdict.problem) == ("weak", "number 12x is not in the abstract (12.1× is)")


def test_a_name_that_the_paper_does_not_know_is_at_most_weak(verifier: Verifier, paper: Paper) -> None:
    verdict = verifier.check("SelectFormer outperforms BigNet and reduces the delay by 12.1x.", paper)
    assert (verdict.support, verdict.problem) == ("weak", "name BigNet is not in the abstract")


def test_authors_venue_and_spelled_out_acronyms_are_known(verifier: Verifier, paper: Paper) -> None:
    statement = (
        "Moreno and Wei (ICLR 2025) propose SelectFormer, a pipeline for private data selection (PDS) that emulates nonlinear operators."
    )
    assert verifier.check(statement, paper).problem is None


def test_another_papers_statement_is_unsupported(verifier: Verifier, paper: Paper, other_paper: Paper) -> None:
    verdict = verifier.check("Humans take turns in conversation with short gaps.", paper)
    assert (verdict.support, verdict.problem) == ("unsupported", None)
    assert verifier.check("Audio models interrupt users too often.", other_paper).support in ("quoted", "supported")


@pytest.mark.parametrize("statement", ["", "[1]", "...", "The", "of the and"])
def test_a_statement_without_content_is_unsupported(verifier: Verifier, paper: Paper, statement: str) -> None:
    verdict = verifier.check(statement, paper)
    assert (verdict.support, verdict.evidence) == ("unsupported", ())


def test_a_paper_without_abstract_is_checked_by_its_title(verifier: Verifier) -> None:
    paper = Paper("t", "Kernel Slicing for Fast Sums", "")
    assert verifier.check("Kernel Slicing for Fast Sums", paper).support == "quoted"
    assert verifier.check("Pruning removes attention heads.", paper).support == "unsupported"
    assert best_quote("anything", paper).text == ""


def test_verdicts_come_in_order_with_one_embedding_call(idf: Callable[[str], float], paper: Paper, other_paper: Paper) -> None:
    embedder = CountingEmbedder()
    quoted = "Our method does not require access to raw training data."
    pairs = [("Models interrupt people in speech.", other_paper), (quoted, paper), ("Models interrupt people in speech.", paper)]
    verdicts = Verifier(idf, embedder).check_many(pairs)
    assert len(embedder.calls) == 1
    assert verdicts[1].support == "quoted"
    assert verdicts[0].score > verdicts[2].score


def test_quotations_are_not_embedded(idf: Callable[[str], float], paper: Paper) -> None:
    embedder = CountingEmbedder()
    Verifier(idf, embedder).check("Our method does not require access to raw training data.", paper)
    assert embedder.calls == []
    assert Verifier(idf, embedder).check_many([]) == []


def test_the_best_quote_is_the_sentence_that_carries_the_statement(paper: Paper) -> None:
    assert best_quote("The delay is reduced and CryptoNet is beaten.", paper).text.startswith("On six benchmarks")
    quote = best_quote("We propose SelectFormer, a pipeline for private data selection [1].", paper)
    assert quote.text.startswith("We propose SelectFormer")
    assert paper.abstract[quote.start : quote.end] == quote.text
