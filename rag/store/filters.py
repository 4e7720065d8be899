"""Filters: which papers a question, search or listing looks at. Applied in the catalog, before ranking."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.errors import UsageError
from rag.store.conditions import Comparison, Condition, Group, compare
from rag.store.where import parse

__all__ = ["NO_FILTERS", "Filters", "parse_where"]

_YEARS = re.compile(r"(?P<first>\d{4})?\s*(?P<dash>-|–|\.\.)?\s*(?P<last>\d{4})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Filters:
    """A restriction to some papers; `Filters()` restricts nothing and is false."""

    condition: Condition | None = None

    @classmethod
    def of(
        cls,
        *,
        year: int | str | None = None,
        venue: str | None = None,
        author: str | None = None,
        decision: str | None = None,
        track: str | None = None,
        keyword: str | None = None,
        category: str | None = None,
        since: int | str | None = None,
        where: str | None = None,
    ) -> Filters:
        """The filters of a command line or request, all of which must hold.

        `year` is a year or a range (`2023-2025`, `2023-`, `-2025`); `since` a date (`2025`, `2025-03`, `2025-03-01`); the names match
        anywhere in the value, whatever the case and accents; `where` is a condition as `parse_where` reads it.
        Raises `UsageError` for a value of the wrong kind.
        """
        given = {"venue": venue, "author": author, "decision": decision, "track": track, "keyword": keyword, "category": category}
        conditions: list[Condition] = [*_years(year)] if year is not None else []
        conditions += [compare(name, "~", value) for name, value in given.items() if value is not None]
        if since is not None:
            conditions.append(compare("published", ">=", str(since)))
        filters = cls(_all(conditions))
        return filters.and_(parse_where(where)) if where else filters

    def and_(self, other: Filters) -> Filters:
        """What passes both; an empty one adds nothing, and a condition that stands already is not repeated."""
        mine, theirs = _parts(self.condition), _parts(other.condition)
        return Filters(_all([*mine, *(part for part in theirs if part not in mine)]))

    def describe(self) -> str:
        """In words, for the reader: `year >= 2024 and venue contains "ICLR"`; empty when nothing is restricted."""
        return self.condition.describe() if self.condition else ""

    def sql(self) -> tuple[str, tuple[str | int, ...]]:
        """A condition over the catalog's `facets` table and its parameters."""
        return self.condition.sql() if self.condition else ("TRUE", ())

    def __bool__(self) -> bool:
        return self.condition is not None

    def __str__(self) -> str:
        """As a `where` expression: `parse_where(str(filters)) == filters`."""
        return str(self.condition) if self.condition else ""


NO_FILTERS = Filters()


def parse_where(text: str) -> Filters:
    """Filters from an expression such as `year>=2024 and (venue~ICLR or author="Ada Lovelace")`.

    Fields: year, venue, author, decision, track, keyword, category, area, title, published (or since), id, doi. Operators: `=` `!=`
    `<` `<=` `>` `>=` `~` (contains); text compares without case and accents. `and` binds tighter than `or`; `not` and parentheses as
    usual; values with spaces in quotes. Raises `UsageError` that points at the character.
    """
    return Filters(parse(text))


def _all(conditions: list[Condition]) -> Condition | None:
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return Group("and", tuple(conditions))


def _parts(condition: Condition | None) -> tuple[Condition, ...]:
    if isinstance(condition, Group) and condition.joint == "and":
        return condition.conditions
    return (condition,) if condition else ()


def _years(year: int | str) -> tuple[Comparison, ...]:
    match = _YEARS.fullmatch(str(year).strip())
    if match is None or not (match["first"] or match["last"]) or (match["first"] and match["last"] and not match["dash"]):
        raise UsageError(f"{year!r} is not a year or a range of years. Write 2025, 2023-2025, 2023- or -2025.")
    if not match["dash"]:
        return (compare("year", "=", match["first"] or match["last"]),)
    ends = (("<=", match["last"]), (">=", match["first"]))
    return tuple(compare("year", operator, end) for operator, end in reversed(ends) if end)
