"""Papers from online services, as JSONL that `rag index` takes (extra `fetch`)."""

from __future__ import annotations

from rag.fetch.arxiv import arxiv_pages
from rag.fetch.download import Page, Pages, download
from rag.fetch.openalex import openalex_pages
from rag.fetch.openreview import openreview_pages

__all__ = ["Page", "Pages", "arxiv_pages", "download", "openalex_pages", "openreview_pages"]
