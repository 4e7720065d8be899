"""Dates, DOIs, arXiv ids, addresses, and the rule that gives a paper its id."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import urlsplit

from rag.text.clean import clean_text

_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>{}|\\^`]+", re.IGNORECASE)
_ARXIV = re.compile(
    r"(?:arxiv(?:\.org)?[:/.]?\s*(?:abs/|pdf/)?)?(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?(?:\.pdf)?", re.IGNORECASE
)
_ARXIV_PREFIXED = re.compile(r"arxiv(?:\.org)?[:/.]\s*(?:abs/|pdf/)?(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d|2100)(?!\d)")
_ISO = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?(?![\d])")
_MONTHS = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)}
_MONTH_WORD = re.compile(r"\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", re.IGNORECASE)
_DAY = re.compile(r"(?<![\d-])(\d{1,2})(?:st|nd|rd|th)?(?![\d-])")
_ID_LENGTH = 200


def paper_id(own: object, abstract: str, *, doi: str | None = None, arxiv_id: str | None = None) -> str:
    """The source's own id when there is one, else DOI, else arXiv id, else 12 hex digits of the abstract's SHA-256."""
    if isinstance(own, (str, int)) and not isinstance(own, bool) and (text := clean_text(str(own))[:_ID_LENGTH]):
        return doi_of(text) or text if "10." in text and "doi" in text.lower() else text
    if doi or arxiv_id:
        return doi or arxiv_id or ""
    return hashlib.sha256(" ".join(abstract.split()).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def doi_of(value: object) -> str | None:
    """A bare, lower-cased DOI."""
    match = _DOI.search(value[:2000]) if isinstance(value, str) else None
    return match[0].rstrip(".,;)").lower() if match else None


def arxiv_id_of(value: object, *, prefixed: bool = False) -> str | None:
    """An arXiv id without version; `prefixed` accepts it only where `arXiv` stands before it."""
    text = value.strip()[:2000] if isinstance(value, str) else ""
    match = _ARXIV_PREFIXED.search(text) if prefixed else _ARXIV.search(text) if _ARXIV_PREFIXED.search(text) else _ARXIV.fullmatch(text)
    return match[1] if match else None


def web_address(value: object) -> str | None:
    """An http or https address; None for anything else, so that no other scheme reaches a browser."""
    text = value.strip() if isinstance(value, str) else ""
    if not text or len(text) > 2000 or any(ord(char) <= 32 or ord(char) == 127 for char in text):
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    return clean_text(text) if parts.scheme.lower() in {"http", "https"} and parts.netloc else None


def year_of(value: object) -> int | None:
    """A year from 1500 to 2100 out of a number, a date or a venue's name."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return int(value) if 1500 <= value <= 2100 else None
    match = _YEAR.search(value[:500]) if isinstance(value, str) else None
    return int(match[1]) if match else None


def date_of(value: object) -> str | None:
    """`2025-03-01`, `2025-03` or `2025` out of ISO dates, words, milliseconds since 1970 and CSL's `date-parts`."""
    if isinstance(value, Mapping):
        inner = value.get("raw") or value.get("literal") or value.get("value")
        return _from_parts(value.get("date-parts")) or (None if isinstance(inner, Mapping) else date_of(inner))
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return _from_number(value)
    text = value.strip()[:100] if isinstance(value, str) else ""
    if text.isdigit() and len(text) in (12, 13):
        return _from_number(int(text))
    if (match := _ISO.match(text)) and not _MONTH_WORD.search(text):
        return _iso(int(match[1]), int(match[2] or 0), int(match[3] or 0))
    return _from_words(text)


def _from_words(text: str) -> str | None:
    year, month = _YEAR.search(text), _MONTH_WORD.search(text)
    if year is None:
        return None
    if month is None:
        return _iso(int(year[1]), 0, 0)
    day = _DAY.search(text.replace(year[0], " ", 1))
    return _iso(int(year[1]), _MONTHS[month[1].lower()], int(day[1]) if day else 0)


def _from_number(value: float) -> str | None:
    if 1500 <= value <= 2100:
        return _iso(int(value), 0, 0)
    if not 1e11 < value < 5e12:
        return None
    return datetime.fromtimestamp(value / 1000, UTC).date().isoformat()


def _from_parts(value: object) -> str | None:
    parts = value[0] if isinstance(value, list) and value and isinstance(value[0], list) else []
    numbers = [int(part) for part in parts[:3] if isinstance(part, int) or (isinstance(part, str) and part.isdigit() and len(part) <= 4)]
    return _iso(*(numbers + [0, 0])[:3]) if numbers else None


def _iso(year: int, month: int, day: int) -> str | None:
    if not 1500 <= year <= 2100:
        return None
    if not 1 <= month <= 12:
        return f"{year:04d}"
    return f"{year:04d}-{month:02d}-{day:02d}" if 1 <= day <= 31 else f"{year:04d}-{month:02d}"
