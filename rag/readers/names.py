"""Authors and keywords in all the shapes sources give them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

AUTHOR_LIMIT = 20_000
_AND = re.compile(r"\s+(?:and|AND|&)\s+")
_SCOPUS_ID = re.compile(r"\s*\(\d{5,}\)\s*$")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv)\.?", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[A-Z]\.?[ -]?){1,4}")
_GIVEN = ("given", "first", "firstname", "forename", "forenames", "fore_name", "givenname", "given_name", "first_name")
_FAMILY = ("family", "last", "lastname", "surname", "familyname", "family_name", "last_name")
_WHOLE = ("name", "display_name", "fullname", "full_name", "collectivename", "author", "text", "value", "authorname")


def author_names(value: object) -> list[str]:
    """Names as `First Last`, in order; `value` is a text with separators, a list of texts, of `[last, first]` or of objects.

    No more than one above `AUTHOR_LIMIT`.
    """
    if isinstance(value, str):
        return [_turned(name) for name in islice(_split_authors(value), AUTHOR_LIMIT + 1)]
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, (list, tuple)):
        return []
    if len(value) == 1 and isinstance(value[0], str):
        return author_names(value[0])
    return [name for each in value[: AUTHOR_LIMIT + 1] if (name := _one_name(each))]


def split_terms(value: object) -> list[str]:
    """Keywords or categories one by one; a `;` separates even inside a list, a `,` only in a single text without `;`."""
    items = value if isinstance(value, (list, tuple)) else [value]
    texts = [text for item in items if (text := _term(item))]
    if len(texts) == 1 and ";" not in texts[0]:
        texts = re.split(r"[,|\n]", texts[0])
    terms = (part.strip(" \t\r\n.") for text in texts for part in text.split(";"))
    return list(dict.fromkeys(term for term in terms if term))


def _term(item: object) -> str:
    if isinstance(item, Mapping):
        named = (item.get(key) for key in ("display_name", "name", "keyword", "tag", "term", "category", "value"))
        return next((text for text in named if isinstance(text, str)), "")
    return item if isinstance(item, str) else ""


def _one_name(value: object) -> str:
    if isinstance(value, str):
        return _turned(value)
    if isinstance(value, (list, tuple)):  # arXiv's `[last, first, suffix]`
        parts = [part.strip() for part in value[:3] if isinstance(part, str)] + ["", "", ""]
        return " ".join(part for part in (parts[1], parts[0], parts[2]) if part)
    return _named(value) if isinstance(value, Mapping) else ""


def _named(person: Mapping[Any, Any]) -> str:
    fields = {str(key).lower(): text for key, text in person.items() if isinstance(text, str) and text.strip()}
    given = next((fields[key] for key in _GIVEN if key in fields), "")
    family = next((fields[key] for key in _FAMILY if key in fields), "")
    if family:
        particle = fields.get("non-dropping-particle") or fields.get("dropping-particle") or ""
        return " ".join(part for part in (given, particle, family, fields.get("suffix", "")) if part)
    if "literal" in fields:
        return fields["literal"]
    whole = next((fields[key] for key in _WHOLE if key in fields), given)
    if not whole and isinstance(inner := person.get("author"), Mapping):
        return _named(inner) if "author" not in inner else ""
    return _turned(whole)


def _split_authors(text: str) -> Iterator[str]:
    text = text.strip().removesuffix(";")
    if ";" in text or "\n" in text:
        parts = re.split(r"[;\n]", text)
    elif _AND.search(text):
        pieces = _AND.split(text)
        turned = all("," in piece for piece in pieces)
        parts = pieces if turned else [part for piece in pieces for part in piece.split(",")]
    else:
        parts = _comma_separated(text)
    return (part.strip().rstrip(",") for part in parts if part.strip(" ,."))


def _comma_separated(text: str) -> list[str]:
    """`A B, C D` is two names, `Last, First` and `van Last, First Second` one, `Last, F., Other, O.` pairs."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) < 2 or (len(parts) <= 3 and any(_SUFFIX.fullmatch(part) for part in parts[1:])):
        return [text]
    if len(parts) % 2 == 0 and [bool(_INITIALS.fullmatch(part)) for part in parts] == [False, True] * (len(parts) // 2):
        return [f"{last}, {first}" for last, first in zip(parts[::2], parts[1::2], strict=True)]
    are_names = all(" " in part or _CJK.match(part) for part in parts) and not parts[0][0].islower()
    return parts if are_names or len(parts) > 3 else [text]


def _turned(name: str) -> str:
    """`Last, First` and `Last, Jr., First` the right way round."""
    parts = [part.strip() for part in _SCOPUS_ID.sub("", " ".join(name.split())).split(",")]
    if len(parts) == 2 and _SUFFIX.fullmatch(parts[1]):
        return " ".join(parts)
    if len(parts) == 2:
        return " ".join(part for part in (parts[1], parts[0]) if part)
    if len(parts) == 3 and _SUFFIX.fullmatch(parts[1]):
        return f"{parts[2]} {parts[0]} {parts[1]}"
    if len(parts) == 3 and _SUFFIX.fullmatch(parts[2]):
        return f"{parts[1]} {parts[0]} {parts[2]}"
    return ", ".join(part for part in parts if part)
