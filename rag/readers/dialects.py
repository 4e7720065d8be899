"""JSON as services write it: nested records brought to flat ones with common names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_ARXIV_ID = re.compile(r"\d{4}\.\d{4,5}|[a-z.-]+(?:\.[A-Z]{2})?/\d{7}")
_CONFERENCE_FILE = re.compile(r"(?:^|[/!])([a-z]{2,12})(20\d\d)\.json(?:\.gz)?$")
_CONFERENCES = {"nips": "NeurIPS", "neurips": "NeurIPS", "corl": "CoRL", "siggraphasia": "SIGGRAPH Asia"}
_DECISION = re.compile(r"\b(?:oral|spotlight|poster|withdrawn|desk rejected|rejected|submitted)\b", re.IGNORECASE)
_POSITION_LIMIT = 200_000


def flatten(record: Mapping[str, Any], file: str = "") -> Mapping[str, Any]:
    """`record` with the fields of its dialect under common names; unknown dialects as they are.

    `file` is the source's name: paperlists names the conference nowhere else.
    """
    if isinstance(record.get("content"), Mapping):
        return _openreview(record)
    if "abstract_inverted_index" in record or isinstance(record.get("authorships"), list):
        return _openalex(record)
    if "authors_parsed" in record:
        return _arxiv_snapshot(record)
    if isinstance(ids := record.get("externalIds", record.get("externalids")), Mapping):
        return _semantic_scholar(record, ids)
    if "bibtex" in record and "site" in record:
        return _paperlists(record, file)
    if str(record.get("archive")).lower() == "arxiv" and "archive_location" in record:
        return {**record, "arxiv_id": record["archive_location"]}
    if isinstance(metadata := record.get("metadata"), Mapping):
        return {**{key: value for key, value in metadata.items() if key != "text"}, **record}
    return record


def _openreview(note: Mapping[str, Any]) -> dict[str, Any]:
    content = {key: value["value"] if isinstance(value, Mapping) and "value" in value else value for key, value in note["content"].items()}
    forum = note.get("forum") or note.get("id")
    known: dict[str, Any] = {"published": next((note[key] for key in ("pdate", "odate", "cdate", "tcdate") if note.get(key)), None)}
    decision = _DECISION.search(str(content.get("venue") or ""))
    known["decision"] = decision and decision[0].capitalize()
    return {**known, "url": f"https://openreview.net/forum?id={forum}" if forum else None, **content, "id": note.get("id") or forum}


def _openalex(work: Mapping[str, Any]) -> dict[str, Any]:
    place = _inner(work, "primary_location") or _inner(work, "host_venue")
    venue = _inner(place, "source").get("display_name") or place.get("display_name")
    identifier = str(work.get("id") or "").rsplit("/", 1)[-1]
    return {
        "id": identifier,
        "title": work.get("title") or work.get("display_name"),
        "abstract": work.get("abstract") or _from_inverted_index(work.get("abstract_inverted_index")),
        "authors": [_inner(each, "author") or {"name": each.get("raw_author_name")} for each in _dicts(work.get("authorships"))],
        "year": work.get("publication_year"),
        "published": work.get("publication_date"),
        "venue": venue,
        "doi": work.get("doi"),
        "url": place.get("landing_page_url") or work.get("doi") or work.get("id"),
        "keywords": work.get("keywords"),
        "categories": work.get("topics") or work.get("concepts"),
    }


def _from_inverted_index(index: object) -> str:
    """The abstract spelled out; positions are sorted, never used as sizes, since they come from outside."""
    if not isinstance(index, Mapping):
        return ""
    places = [
        (position, str(word))
        for word, positions in index.items()
        if isinstance(positions, list)
        for position in positions[:_POSITION_LIMIT]
        if isinstance(position, int)
    ]
    return " ".join(word for _, word in sorted(places, key=lambda place: place[0]))


def _arxiv_snapshot(entry: Mapping[str, Any]) -> dict[str, Any]:
    versions = _dicts(entry.get("versions"))
    identifier = str(entry.get("id") or "")
    return {
        **entry,
        "authors": entry.get("authors_parsed") or entry.get("authors"),
        "arxiv_id": identifier if _ARXIV_ID.fullmatch(identifier) else None,
        "categories": str(entry.get("categories") or "").split(),
        "venue": entry.get("journal-ref") or "arXiv",
        "published": (versions[0].get("created") if versions else None) or entry.get("update_date"),
        "url": f"https://arxiv.org/abs/{identifier}" if identifier else None,
    }


def _semantic_scholar(paper: Mapping[str, Any], ids: Mapping[str, Any]) -> dict[str, Any]:
    names = {str(key).lower(): value for key, value in ids.items()}
    venue = paper.get("venue") or _inner(paper, "publicationVenue").get("name") or _inner(paper, "journal").get("name")
    return {
        **paper,
        "id": paper.get("paperId") or paper.get("corpusid") or paper.get("corpusId"),
        "doi": names.get("doi"),
        "arxiv_id": names.get("arxiv"),
        "venue": venue,
        "categories": paper.get("fieldsOfStudy") or [each.get("category") for each in _dicts(paper.get("s2FieldsOfStudy"))],
    }


def _paperlists(paper: Mapping[str, Any], file: str) -> dict[str, Any]:
    bibtex = str(paper.get("bibtex") or "")
    year = re.search(r"\byear\s*=\s*[{\"]?\s*(\d{4})", bibtex)
    venue = re.search(r"\b(?:booktitle|journal)\s*=\s*[{\"]([^{}\"]+)", bibtex)
    named = _CONFERENCE_FILE.search(file)
    conference = f"{_CONFERENCES.get(named[1], named[1].upper())} {named[2]}" if named else venue and venue[1]
    found = {"year": year and year[1], "venue": conference}
    return {**found, **paper, "url": paper.get("site")}


def _inner(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = record.get(key)
    return value if isinstance(value, Mapping) else {}


def _dicts(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
