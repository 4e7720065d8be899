"""The arXiv API, through the `arxiv` client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag.errors import MissingExtraError, SourceError
from rag.fetch.download import Page, Pages, Record
from rag.fetch.transport import polite_adapter, translated

if TYPE_CHECKING:
    from arxiv import Result

_URL = "https://export.arxiv.org/api/query"
_PAGE = 200
# The terms of use ask for at most one request every three seconds.
_DELAY_S = 3.0


def arxiv_pages(query: str, *, base_url: str | None = None, delay_s: float = _DELAY_S, page_size: int = _PAGE) -> Pages:
    """Pages of papers for a query in arXiv's own syntax, such as `cat:cs.CL AND turn-taking`; newest first."""
    address = (base_url or _URL).rstrip("/")
    try:
        import arxiv
    except ImportError as error:
        raise MissingExtraError("Fetching from arXiv", "fetch") from error
    client = arxiv.Client(page_size=page_size, delay_seconds=delay_s, num_retries=2)
    client.query_url_format = f"{address}?{{}}"
    # The client counts tries but does not read Retry-After; its session does, given this adapter.
    for scheme in ("https://", "http://"):
        client._session.mount(scheme, polite_adapter())
    search = arxiv.Search(query, sort_by=arxiv.SortCriterion.SubmittedDate)

    def page(cursor: str) -> Page:
        start = int(cursor or 0)
        try:
            with translated("arXiv", address):
                feed = client._parse_feed(client._format_url(search, start, page_size), first_page=start == 0)
        except arxiv.ArxivError as error:
            status = getattr(error, "status", "an empty page")
            raise SourceError(f"arXiv answered {status} for {query!r}. Check the query, or try again later.", retryable=True) from error
        total, end = feed.header.total_results, start + len(feed.results)
        return Page([_record(result) for result in feed.results], str(end) if feed.results and end < total else None, total)

    return page


def _record(result: Result) -> Record:
    identifier = result.get_short_id().rsplit("v", 1)[0]
    record: dict[str, Any] = {
        "id": identifier,
        "arxiv_id": identifier,
        "title": result.title,
        "abstract": result.summary,
        "authors": [author.name for author in result.authors],
        "year": result.published.year,
        "published": result.published.date().isoformat(),
        "venue": result.journal_ref or None,
        "doi": result.doi or None,
        "categories": list(result.categories),
        "url": f"https://arxiv.org/abs/{identifier}",
    }
    return record
