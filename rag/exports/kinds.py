"""What kind of publication a paper is, as far as its venue tells."""

from __future__ import annotations

import re
from typing import Literal

from rag.records import Paper

Kind = Literal["conference", "journal", "preprint"]

_PREPRINT = re.compile(r"arxiv|corr\b|biorxiv|medrxiv|ssrn|preprint|submitted to|openreview archive", re.IGNORECASE)
_CONFERENCE = re.compile(
    r"conference|proceedings|workshop|symposium|meeting|congress|colloquium|advances in neural"
    r"|^\(?[A-Z][A-Za-z]*[A-Z][A-Za-z-]*\)?(?:[ '-]*\d{2,4})?(?:\s+\w+)?$"
)


def kind_of(paper: Paper) -> Kind:
    """Conference for a named one or an acronym such as `ICLR 2025`; preprint for arXiv and no venue; else journal."""
    venue = paper.venue or ""
    if not venue or _PREPRINT.search(venue):
        return "preprint"
    return "conference" if _CONFERENCE.search(venue) or re.search(r"conference|proceedings|workshop", venue, re.IGNORECASE) else "journal"
