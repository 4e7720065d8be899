# ruff: noqa: E501 - samples and expected texts stand in one piece
import dataclasses
import json

from rag.exports import answer_json, hit_json, paper_json, record_json

CITED = {
    "id": "p1", "title": "Talking Turns: GPT-4 & 5% of {sets}", "authors": ["Jane A. Doe", "Ludwig van Beethoven", "José García Jr.", "Bird Team", "张伟"],
    "year": 2025, "venue": "ICLR 2025", "url": "https://x.org/a_b?c=1&d=%20",
}  # fmt: skip


def test_paper_has_exactly_the_cited_fields(paper, bare):
    assert paper_json(paper) == CITED
    assert paper_json(bare) == {"id": "p2", "title": "=SUM(A1)", "authors": [], "year": None, "venue": None, "url": None}


def test_record_has_all_that_is_there(paper, bare):
    assert record_json(bare) == {**paper_json(bare), "abstract": "+1 better."}
    assert set(record_json(paper)) - set(CITED) == {
        "abstract", "doi", "arxiv_id", "decision", "track", "primary_area", "keywords", "categories", "published", "sources",
    }  # fmt: skip


def test_hit(hit):
    assert hit_json(hit) == {"rank": 1, "score": 0.5, "paper": CITED, "passage": "We show"}


def test_answer_has_the_documented_shape(answer):
    assert answer_json(answer) == {
        "question": "Which *papers* study turns?", "answer": "One paper does [1].", "abstained": False, "reason": None, "mode": "list",
        "model": "offline", "corpus": "seeds", "scanned": 57, "matched": 1,
        "citations": [{"number": 1, "paper": CITED, "quote": "We show $x_t \\leq 5$", "support": "quoted", "score": 0.91, "added": True}],
        "dropped": ["[9]"], "nearest": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "estimated": True},
        "timing": {"retrieve_s": 0.1, "first_token_s": 0.2, "total_s": 0.3}, "conversation": "c1",
        "statements": [{
            "text": "One paper does [1].", "start": 0, "end": 19, "verdict": "quoted",
            "citations": [{"number": 1, "support": "quoted", "score": 0.9, "evidence": ["We show"], "added": False, "problem": None}],
        }],
        "judged": 9, "notes": ["a note"], "finish": "complete", "standalone": "Which papers study turns?",
    }  # fmt: skip
    json.dumps(answer_json(answer))


def test_nearest_papers_are_named_only_when_it_abstained(answer, bare):
    assert answer_json(answer)["nearest"] == []
    abstained = dataclasses.replace(answer, abstained=True, reason="Not here.", citations=(), nearest=(bare,))
    assert answer_json(abstained)["nearest"] == [paper_json(bare)]
    assert answer_json(abstained)["reason"] == "Not here."
