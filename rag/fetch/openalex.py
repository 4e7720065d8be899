"""The OpenAlex API, through the `pyalex` client."""

from __future__ import annotations

from collections.abc import Mapping

from rag.errors import MissingExtraError, SourceError
from rag.fetch.download import Page, Pages
from rag.fetch.transport import polite_adapter, translated

_URL = "https://api.openalex.org"
_PAGE = 200
_FIELDS = "id,doi,title,publication_year,publication_date,language,type,authorships,primary_location,keywords,abstract_inverted_index"


def openalex_pages(query: str, *, filters: Mapping[str, str] | None = None, base_url: str | None = None, page_size: int = _PAGE) -> Pages:
    """Pages of works that have an abstract, for a full-text query and OpenAlex's own filters, such as `publication_year: 2024`."""
    address = (base_url or _URL).rstrip("/")
    try:
        import pyalex
        from pyalex.api import Paginator, QueryError
    except ImportError as error:
        raise MissingExtraError("Fetching from OpenAlex", "fetch") from error

    class Works(pyalex.Works):  # type: ignore[misc]  # pyalex is untyped; it builds the path from the class's name
        """Works of the service at `address`, which pyalex itself cannot change."""

        @property
        def url(self) -> str:
            """The address asked, without page."""
            usual: str = super().url
            return usual.replace(_URL, address, 1)

    def page(cursor: str) -> Page:
        works = Works().filter(has_abstract=True, **(filters or {})).select(_FIELDS.split(","))
        paginator = Paginator(works.search(query) if query else works, value=cursor or "*", per_page=page_size)
        for scheme in ("https://", "http://"):
            paginator._session.mount(scheme, polite_adapter())
        try:
            with translated("OpenAlex", address):
                found = next(paginator, None)
        except QueryError as error:
            raise SourceError(f"OpenAlex refused the query {query!r}: {error}. Check the filters.") from error
        return Page([dict(work) for work in found], found.meta.get("next_cursor"), found.meta.get("count")) if found else Page([], None)

    return page
