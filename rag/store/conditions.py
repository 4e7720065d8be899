"""Conditions on a paper's metadata: comparisons joined by and, or, not; written as text, as SQL, and in words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from rag.errors import UsageError

Operator = Literal["=", "!=", "<=", ">=", "<", ">", "~"]
FieldKind = Literal["number", "date", "text", "list", "exact"]

ORDERED = ("=", "!=", "<", "<=", ">", ">=")
TEXTUAL = ("=", "!=", "~")

_DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
_BARE_VALUE = re.compile(r"[^\s()\"'=!<>~\\]+")
_DOI_PREFIX = re.compile(r"^(https?://(dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_RESERVED = frozenset({"and", "or", "not"})
_WORDS = {"=": "is", "!=": "is not", "~": "contains"}


@dataclass(frozen=True, slots=True)
class Field:
    """A field that can be compared: its column in the catalog's `facets` table and how its values compare."""

    column: str
    kind: FieldKind

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators that make sense for it."""
        return ORDERED if self.kind in ("number", "date") else TEXTUAL


FIELDS = {
    "year": Field("year", "number"),
    "venue": Field("venue", "text"),
    "author": Field("authors", "list"),
    "decision": Field("decision", "text"),
    "track": Field("track", "text"),
    "keyword": Field("keywords", "list"),
    "category": Field("categories", "list"),
    "area": Field("area", "text"),
    "title": Field("title", "text"),
    "published": Field("published", "date"),
    "id": Field("id", "exact"),
    "doi": Field("doi", "text"),
}
ALIASES = {"authors": "author", "keywords": "keyword", "categories": "category", "since": "published", "date": "published"}


def fold(text: str) -> str:
    """`text` without case, accents and doubled spaces: what two values must share to count as equal."""
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(text.casefold().split())


def bare_doi(doi: str) -> str:
    """A DOI in lower case without `https://doi.org/` or `doi:` in front."""
    return _DOI_PREFIX.sub("", doi.strip()).lower()


@dataclass(frozen=True, slots=True)
class Comparison:
    """One field against one value, e.g. `year >= 2024`; made by `compare`, which checks both."""

    field: str
    operator: Operator
    value: str

    def sql(self) -> tuple[str, tuple[str | int, ...]]:
        """A condition over `facets` that is never NULL, and its parameters; a missing value only ever satisfies `!=`."""
        if self.operator == "!=":
            text, parameters = Comparison(self.field, "=", self.value).sql()
            return f"NOT {text}", parameters
        field = FIELDS[self.field]
        return _COMPILERS[field.kind](field.column, self.operator, self.value)

    def describe(self) -> str:
        """The comparison in words."""
        if FIELDS[self.field].kind in ("number", "date"):
            return f"{self.field} {self.operator if self.operator != '=' else 'is'} {self.value}"
        return f'{self.field} {_WORDS[self.operator]} "{self.value}"'

    def __str__(self) -> str:
        if _BARE_VALUE.fullmatch(self.value) and self.value.lower() not in _RESERVED:
            return f"{self.field}{self.operator}{self.value}"
        escaped = self.value.replace("\\", "\\\\").replace('"', '\\"')
        return f'{self.field}{self.operator}"{escaped}"'


@dataclass(frozen=True, slots=True)
class Negation:
    """Everything that `condition` leaves out."""

    condition: Condition

    def sql(self) -> tuple[str, tuple[str | int, ...]]:
        """See `Comparison.sql`."""
        text, parameters = self.condition.sql()
        return f"NOT {text}", parameters

    def describe(self) -> str:
        """The negation in words."""
        return f"not ({self.condition.describe()})"

    def __str__(self) -> str:
        return f"not ({self.condition})"


@dataclass(frozen=True, slots=True)
class Group:
    """Two or more conditions, joined by `and` or by `or`."""

    joint: Literal["and", "or"]
    conditions: tuple[Condition, ...]

    def sql(self) -> tuple[str, tuple[str | int, ...]]:
        """See `Comparison.sql`."""
        parts = [condition.sql() for condition in self.conditions]
        text = f" {self.joint.upper()} ".join(part for part, _ in parts)
        return f"({text})", tuple(parameter for _, parameters in parts for parameter in parameters)

    def describe(self) -> str:
        """The group in words."""
        return f" {self.joint} ".join(self._nested(c, c.describe()) for c in self.conditions)

    def __str__(self) -> str:
        return f" {self.joint} ".join(self._nested(c, str(c)) for c in self.conditions)

    @staticmethod
    def _nested(condition: Condition, text: str) -> str:
        return f"({text})" if isinstance(condition, Group) else text


Condition = Comparison | Negation | Group


def compare(field: str, operator: str, value: str) -> Comparison:
    """A checked comparison; aliases resolved, dates and years in one form.

    Raises `UsageError` for an unknown field, an operator that the field does not take, or a value of the wrong kind.
    """
    name = ALIASES.get(field.lower(), field.lower())
    if name not in FIELDS:
        raise UsageError(f"No field named {field!r}. Fields: {', '.join([*FIELDS, 'since'])}.")
    if field.lower() == "since" and operator == "=":
        operator = ">="
    kind = FIELDS[name].kind
    if operator not in FIELDS[name].operators:
        raise UsageError(f"{name!r} does not take {operator!r}. It takes: {' '.join(FIELDS[name].operators)}.")
    return Comparison(name, operator, _checked(name, kind, value))  # type: ignore[arg-type]  # one of the field's operators


def _checked(name: str, kind: FieldKind, value: str) -> str:
    text = " ".join(value.split())
    if not fold(text):
        raise UsageError(f"{name!r} is compared with nothing. Give it a value, such as {name}={_EXAMPLES.get(kind, 'ICLR')}.")
    if kind == "number" and not re.fullmatch(r"\d{1,4}", text, re.ASCII):
        raise UsageError(f"{value!r} is not a year. Write it with digits, such as {name}>=2024.")
    if kind == "date" and not _DATE.fullmatch(text):
        raise UsageError(f"{value!r} is not a date. Write 2025, 2025-03 or 2025-03-01.")
    return str(int(text)) if kind == "number" else text


_EXAMPLES: dict[str, str] = {"number": "2024", "date": "2025-03-01"}


def _number_sql(column: str, operator: str, value: str) -> tuple[str, tuple[str | int, ...]]:
    return f"(({column} {operator} ?) IS TRUE)", (int(value),)


def _date_sql(column: str, operator: str, value: str) -> tuple[str, tuple[str | int, ...]]:
    # Dates compare at the precision of the coarser one: a paper of "2025" counts as published since 2025-03-01.
    return f"((substr({column}, 1, length(?)) {operator} substr(?, 1, length({column}))) IS TRUE)", (value, value)


def _text_sql(column: str, operator: str, value: str) -> tuple[str, tuple[str | int, ...]]:
    wanted = fold(bare_doi(value) if column == "doi" else value)
    return (f"(({column} = ?) IS TRUE)" if operator == "=" else f"((instr({column}, ?) > 0) IS TRUE)"), (wanted,)


def _exact_sql(column: str, operator: str, value: str) -> tuple[str, tuple[str | int, ...]]:
    return (f"({column} = ?)" if operator == "=" else f"(instr({column}, ?) > 0)"), (value,)


def _list_sql(column: str, operator: str, value: str) -> tuple[str, tuple[str | int, ...]]:
    # A list is stored as "\nfirst\nsecond\n", so that a whole entry is found by its borders.
    wanted = fold(value)
    return f"(instr({column}, ?) > 0)", (f"\n{wanted}\n" if operator == "=" else wanted,)


_COMPILERS = {"number": _number_sql, "date": _date_sql, "text": _text_sql, "exact": _exact_sql, "list": _list_sql}
