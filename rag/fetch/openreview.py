"""The OpenReview API (version 2), through the `openreview-py` client."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

from rag.errors import MissingExtraError, SourceError
from rag.fetch.download import Page, Pages
from rag.fetch.transport import polite_adapter, translated

_URL = "https://api2.openreview.net"
_PAGE = 1000


def openreview_pages(venue: str, *, base_url: str | None = None, page_size: int = _PAGE) -> Pages:
    """Pages of the papers at a venue, by its id such as `ICLR.cc/2025/Conference`."""
    address = (base_url or _URL).rstrip("/")
    try:
        import openreview.api
    except ImportError as error:
        raise MissingExtraError("Fetching from OpenReview", "fetch") from error
    client = openreview.api.OpenReviewClient(baseurl=address)
    for scheme in ("https://", "http://"):
        client.session.mount(scheme, polite_adapter())

    def page(cursor: str) -> Page:
        offset = int(cursor or 0)
        # The client prints its retries; stdout belongs to the command's own output.
        with translated("OpenReview", address), redirect_stdout(io.StringIO()):
            try:
                notes = client.get_notes(content={"venueid": venue}, limit=page_size, offset=offset, sort="number:asc")
            except openreview.OpenReviewException as error:
                raise SourceError(f"OpenReview refused {venue!r}: {_reason(error)}. Check the venue's id.") from error
        records = [
            {"id": note.id, "forum": note.forum, "content": note.content, "pdate": note.pdate, "cdate": note.cdate} for note in notes
        ]
        return Page(records, str(offset + len(notes)) if len(notes) == page_size else None)

    return page


def _reason(error: Exception) -> str:
    detail = error.args[0] if error.args else ""
    return str(detail.get("message") or detail.get("name") or detail) if isinstance(detail, dict) else str(detail)
