"""Fetching from OpenReview, arXiv and OpenAlex, against local servers in the services' documented shapes."""

import json
from pathlib import Path
from typing import Any

import pytest

from rag.errors import SourceError, UsageError
from rag.fetch import Page, arxiv_pages, download, openalex_pages, openreview_pages
from rag.readers import read_papers
from rag.records import Paper

RETRY = {"Retry-After": "0"}


def notes(parameters: dict[str, str]) -> tuple[int, dict[str, str], str]:
    offset, limit = int(parameters["offset"]), int(parameters["limit"])
    found = [
        {
            "id": f"note{i}",
            "forum": f"note{i}",
            "content": {
                "title": {"value": f"Paper {i}"},
                "abstract": {"value": f"Abstract number {i} speaks of turn-taking."},
                "authors": {"value": ["Ada Lovelace", "Alan Turing"]},
                "venue": {"value": "ICLR 2025 Poster"},
            },
        }
        for i in range(offset, min(offset + limit, 5))
    ]
    return 200, {}, json.dumps({"notes": found})


def works(parameters: dict[str, str]) -> tuple[int, dict[str, str], str]:
    start = 0 if parameters["cursor"] == "*" else int(parameters["cursor"])
    size = int(parameters["per-page"])
    found = [
        {
            "id": f"https://openalex.org/W{i}",
            "doi": f"https://doi.org/10.1000/{i}",
            "title": f"Work {i}",
            "publication_year": 2024,
            "authorships": [{"author": {"display_name": "Grace Hopper"}}],
            "abstract_inverted_index": {"Compilers": [0], "save": [1], f"time{i}.": [2]},
        }
        for i in range(start, min(start + size, 5))
    ]
    following = str(start + size) if start + size < 5 else None
    return 200, {}, json.dumps({"results": found, "meta": {"count": 5, "next_cursor": following, "per_page": size}})


def feed(parameters: dict[str, str]) -> tuple[int, dict[str, str], str]:
    start, size = int(parameters["start"]), int(parameters["max_results"])
    entries = "".join(
        f"""<entry><id>http://arxiv.org/abs/2503.0117{i}v2</id><published>2025-03-03T05:00:00Z</published>
        <updated>2025-03-04T05:00:00Z</updated><title>Turns {i}</title><summary>We study turn-taking, part {i}.</summary>
        <author><name>Siddhant Arora</name></author><category term="cs.CL"/><arxiv:primary_category term="cs.CL"/>
        <link href="http://arxiv.org/abs/2503.0117{i}v2" rel="alternate" type="text/html"/></entry>"""
        for i in range(start, min(start + size, 5))
    )
    body = f"""<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"
      xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom">
      <title>query</title><id>http://arxiv.org/api/x</id><updated>2025-03-04T00:00:00Z</updated>
      <opensearch:totalResults>5</opensearch:totalResults><opensearch:startIndex>{start}</opensearch:startIndex>
      <opensearch:itemsPerPage>{size}</opensearch:itemsPerPage>{entries}</feed>"""
    return 200, {"Content-Type": "application/atom+xml"}, body


def pages_of(name: str, url: str) -> Any:
    return {
        "openreview": lambda: openreview_pages("ICLR.cc/2025/Conference", base_url=url, page_size=2),
        "arxiv": lambda: arxiv_pages("cat:cs.CL AND turn-taking", base_url=url, page_size=2, delay_s=0),
        "openalex": lambda: openalex_pages("compilers", filters={"publication_year": "2024"}, base_url=url, page_size=2),
    }[name]()


ANSWERS = {"openreview": notes, "arxiv": feed, "openalex": works}
EVERY_SERVICE = pytest.mark.parametrize("name", ANSWERS)


@EVERY_SERVICE
def test_all_pages_arrive_in_a_file_that_the_readers_take(name: str, service: Any, tmp_path: Path) -> None:
    service.answer = ANSWERS[name]
    target = tmp_path / "papers.jsonl"
    assert download(pages_of(name, service.url), name, target) == 5
    papers = list(read_papers([target]))
    assert all(isinstance(paper, Paper) for paper in papers)
    assert len({paper.id for paper in papers}) == 5
    assert all(paper.title and paper.abstract and paper.authors for paper in papers)
    assert sorted(file.name for file in tmp_path.iterdir() if file.is_file()) == ["papers.jsonl"]


@EVERY_SERVICE
def test_rate_limits_are_waited_out(name: str, service: Any, tmp_path: Path) -> None:
    service.answer = ANSWERS[name]
    service.faults = [(429, RETRY, '{"error": "slow down", "message": "slow down"}'), (503, RETRY, "{}")]
    assert download(pages_of(name, service.url), name, tmp_path / "papers.jsonl") == 5


@EVERY_SERVICE
def test_an_empty_result_gives_an_empty_file(name: str, service: Any, tmp_path: Path) -> None:
    empty = {
        "openreview": '{"notes": []}',
        "openalex": '{"results": [], "meta": {"count": 0, "next_cursor": null}}',
        "arxiv": feed({"start": "9", "max_results": "2"})[2].replace(">5<", ">0<"),
    }
    service.answer = lambda parameters: (200, {}, empty[name])
    assert download(pages_of(name, service.url), name, tmp_path / "papers.jsonl") == 0
    assert (tmp_path / "papers.jsonl").read_bytes() == b""


@EVERY_SERVICE
def test_an_error_is_one_line_that_names_the_service(name: str, service: Any, tmp_path: Path) -> None:
    service.answer = lambda parameters: (403, RETRY, '{"error": "forbidden", "name": "ForbiddenError", "message": "forbidden"}')
    with pytest.raises(SourceError, match=r"(?i)" + name) as caught:
        download(pages_of(name, service.url), name, tmp_path / "papers.jsonl")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "papers.jsonl").exists()


@EVERY_SERVICE
def test_nonsense_from_the_service_is_one_line(name: str, service: Any, tmp_path: Path) -> None:
    service.answer = lambda parameters: (200, {}, "<html>maintenance")
    if name == "arxiv":  # a feed parser reads any text as a feed without entries
        assert download(pages_of(name, service.url), name, tmp_path / "papers.jsonl") == 0
        return
    with pytest.raises(SourceError, match="cannot be read"):
        download(pages_of(name, service.url), name, tmp_path / "papers.jsonl")


@EVERY_SERVICE
def test_without_network_it_says_so_in_one_line(name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"No connection to .* Check the network\.$"):
        download(pages_of(name, "http://127.0.0.1:9"), name, tmp_path / "papers.jsonl")


def three_pages(calls: list[str], broken_at: str | None = None) -> Any:
    def pages(cursor: str) -> Page:
        calls.append(cursor)
        if cursor == broken_at:
            raise SourceError("The service failed.")
        number = int(cursor or 0)
        return Page([{"id": f"p{number}"}], str(number + 1) if number < 2 else None, total=3)

    return pages


def test_a_failed_download_goes_on_where_it_stopped(tmp_path: Path) -> None:
    calls: list[str] = []
    target = tmp_path / "papers.jsonl"
    with pytest.raises(SourceError, match="2 papers are kept; run the same command to go on"):
        download(three_pages(calls, broken_at="2"), "q", target)
    with (tmp_path / "papers.jsonl.part").open("a") as part:
        part.write('{"id": "torn')  # what a kill in mid-write leaves
    assert download(three_pages(calls), "q", target) == 3
    assert calls == ["", "1", "2", "2"]
    assert [json.loads(line)["id"] for line in target.read_text().splitlines()] == ["p0", "p1", "p2"]


def test_another_query_starts_anew(tmp_path: Path) -> None:
    calls: list[str] = []
    with pytest.raises(SourceError):
        download(three_pages(calls, broken_at="1"), "q", tmp_path / "papers.jsonl")
    assert download(three_pages(calls), "another", tmp_path / "papers.jsonl") == 3
    assert calls == ["", "1", "", "1", "2"]


def test_a_limit_cuts_the_last_page(tmp_path: Path) -> None:
    assert download(three_pages([]), "q", tmp_path / "papers.jsonl", limit=2) == 2


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path) -> None:
    target = tmp_path / "papers.jsonl"
    target.write_text("mine")
    with pytest.raises(UsageError, match="--force"):
        download(three_pages([]), "q", target)
    assert target.read_text() == "mine"
    assert download(three_pages([]), "q", target, force=True) == 3
