"""Figures of a text: numbers with their kind and unit, however they are written, and which of them another text lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

from rag.verification.normalise import normalise

Kind = Literal["plain", "percent", "times"]

_SCALES = {
    "k": 1e3,
    "K": 1e3,
    "M": 1e6,
    "B": 1e9,
    "T": 1e12,
    "bn": 1e9,
    "hundred": 1e2,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
}
_UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("ns", "nanosecond"), ("s", 1e-9)), **dict.fromkeys(("us", "µs", "μs", "microsecond"), ("s", 1e-6)),
    **dict.fromkeys(("ms", "millisecond"), ("s", 1e-3)), **dict.fromkeys(("s", "sec", "second"), ("s", 1.0)), **dict.fromkeys(("min", "minute"), ("s", 60.0)),
    **dict.fromkeys(("h", "hr", "hour"), ("s", 3600.0)), "day": ("s", 86400.0), **dict.fromkeys(("wk", "week"), ("s", 604800.0)),
    **dict.fromkeys(("mo", "month"), ("month", 1.0)), **dict.fromkeys(("yr", "year"), ("month", 12.0)),
    "KB": ("byte", 1e3), "kB": ("byte", 1e3), "MB": ("byte", 1e6), "GB": ("byte", 1e9), "TB": ("byte", 1e12), "Hz": ("Hz", 1.0), "kHz": ("Hz", 1e3),
    "MHz": ("Hz", 1e6), "GHz": ("Hz", 1e9), "nm": ("m", 1e-9), "mm": ("m", 1e-3), "cm": ("m", 1e-2), "km": ("m", 1e3), "µg": ("g", 1e-6), "μg": ("g", 1e-6),
    "mg": ("g", 1e-3), "g": ("g", 1.0), "kg": ("g", 1e3), "ml": ("l", 1e-3), "mL": ("l", 1e-3), "dB": ("dB", 1.0), "fps": ("fps", 1.0),
}  # fmt: skip
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORD_VALUES = {word: float(i) for i, word in enumerate(_ONES)} | {word: 20.0 + 10 * i for i, word in enumerate(_TENS)} | {"dozen": 12.0}
_MULTIPLES = {"twice": 2.0, "double": 2.0, "doubles": 2.0, "doubled": 2.0, "doubling": 2.0, "triple": 3.0, "triples": 3.0, "tripled": 3.0, "tripling": 3.0,
              "thrice": 3.0, "quadruple": 4.0, "quadruples": 4.0, "quadrupled": 4.0, "twofold": 2.0, "threefold": 3.0, "fourfold": 4.0, "fivefold": 5.0,
              "sixfold": 6.0, "sevenfold": 7.0, "eightfold": 8.0, "tenfold": 10.0}  # fmt: skip

_NUMBER = re.compile(
    r"(?:(?<![\w.])(?<![A-Z]-)(?<![A-Z][\w]-)(?<![A-Z][\w]{2}-)(?<![A-Z][\w]{3}-)(?<![A-Z][\w]{4}-)(?<![a-z]{6}-)(?<!\bType )(?<!\btype )|(?<=\d[x×]))"
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+,\d{1,2}(?![\d,])|\d{1,3}(?: \d{3})+(?![\d.,]*\d)(?=\s?[A-Za-z(])|\d+(?:\.\d+)?|\.\d+)"
    r"(?:(?P<power>e[-+]?\d{1,3}(?!\w))|\s?[x×*]\s?10\s?\^\s?(?P<ten>[-+−]?\d{1,3}))?"
    r"(?:(?P<suffix>[kKMBT]|bn)(?![A-Za-z])|[\s-](?P<scale>hundred|thousand|million|billion|trillion)s?\b)?"
)
# 12,1 is a decimal in most languages but English; 12,100 is not.
_DECIMAL_COMMA = re.compile(r",(?=\d{1,2}$)")
_MINUS = re.compile(r"(?:^|[\s(=<>~≈,])-$")
_WORDS = "|".join([*_ONES, *_TENS, "dozen"])
_SPELLED = re.compile(
    rf"(?<![\w])(?P<tens>{'|'.join(_TENS)})[- ](?P<ones>{'|'.join(_ONES[1:10])})(?!\w)"
    rf"|(?<![\w])(?P<word>{_WORDS})(?!\w)(?:[\s-](?P<scale>hundred|thousand|million|billion|trillion)\b)?"
    rf"|(?<![\w])(?P<multiple>{'|'.join(_MULTIPLES)})(?!\w)",
    re.IGNORECASE,
)
_KIND = re.compile(
    r"\s?(?:(?P<percent>%|-?percent\b|per cent\b|percentage[ -]points?\b|pp\b|p\.p\.)|(?P<times>(?:[x×]|-?\s?fold\b|times\b)(?![\s-]?\d)(?![A-Za-z])))",
    re.IGNORECASE,
)
_UNIT = re.compile(r"[\s-]?([A-Za-zµμ]{1,11})(?![A-Za-z])")
_JOINS = re.compile(r"\s?(?:-|to|and|or|/)\s?")
_HEDGE = re.compile(
    r"(?:~|≈|about|around|approximately|roughly|nearly|almost|over|more than|up to|at least|some|circa|close to|less than|under|exceeding)\s?$",
    re.IGNORECASE,
)
_HEDGE_TOLERANCE = 0.05
_NEIGHBOURS = 3
_CLEARLY_NEARER = 2
# "one" is mostly a pronoun or an article; the others say how many.
_UNCHECKED_WORDS = frozenset({"one"})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as a text gives it: `value` in base units, `kind`, and the family of its unit (empty for none)."""

    value: float
    kind: Kind
    unit: str
    start: int
    end: int
    text: str
    decimals: int
    hedged: bool
    around: frozenset[tuple[int, str]] = frozenset()
    """The words near it with their distance, -3..3."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A figure that the paper does not give: `wrong` false when it is only rounded or lacks its unit."""

    quantity: Quantity
    nearest: str
    """The figure of the paper that comes closest; empty when it gives none of that kind."""
    wrong: bool = True


def quantities(text: str) -> tuple[Quantity, ...]:
    """Every number of `text` in order, digits and words; not those in names such as GPT-4. Offsets are in the normalised, unfolded text."""
    plain = normalise(text, fold=False).text
    found = sorted((*_digits(plain), *_spelled(plain)), key=lambda quantity: quantity.start)
    return tuple(replace(quantity, around=_around(plain, quantity)) for quantity in _with_range_kinds(plain, found))


def mismatches(statement: Sequence[Quantity], paper: Sequence[Quantity]) -> tuple[Mismatch, ...]:
    """The figures of a statement that a paper does not give, in order."""
    return tuple(
        Mismatch(q, _nearest(q, paper), wrong=not _is_near(q, paper)) for q in statement if not any(agrees(q, other) for other in paper)
    )


def misplaced(statement: Sequence[Quantity], paper: Sequence[Quantity]) -> tuple[tuple[Quantity, Quantity], ...]:
    """Figures that the paper gives, but of something else, each with the one that stands in the same words there."""
    found: list[tuple[Quantity, Quantity]] = []
    for stated in statement:
        agreeing = [len(stated.around & given.around) for given in paper if agrees(stated, given)]
        others = [given for given in paper if _same_measure(stated, given) and not _equal(stated.value, given.value)]
        best = max(others, key=lambda given: len(stated.around & given.around), default=None)
        if agreeing and best is not None and len(stated.around & best.around) >= max(agreeing) + _CLEARLY_NEARER:
            found.append((stated, best))
    return tuple(found)


def agrees(stated: Quantity, given: Quantity) -> bool:
    """Whether `stated` says what `given` says: same kind and unit, same value, or rounded where the statement says so."""
    if not _same_measure(stated, given):
        return False
    if _equal(stated.value, given.value):
        return True
    if stated.decimals and stated.decimals < given.decimals and stated.unit == given.unit:
        return _equal(round(given.value, stated.decimals), stated.value)
    return stated.hedged and abs(stated.value - given.value) <= _HEDGE_TOLERANCE * abs(given.value)


def _same_measure(stated: Quantity, given: Quantity) -> bool:
    if stated.kind != given.kind and stated.kind != "plain":
        return False
    return not (stated.unit and given.unit) or stated.unit == given.unit


def _equal(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(abs(one), abs(other), 1e-12)


def _is_near(stated: Quantity, paper: Sequence[Quantity]) -> bool:
    """True for a value that is given without its unit, kind or sign, as a share instead of a percentage, or that is a plain rounding."""
    return any(_differs_in_kind(stated, given) or _is_rounded(stated, given) for given in paper)


def _differs_in_kind(stated: Quantity, given: Quantity) -> bool:
    if (stated.unit and given.unit) or "plain" not in (stated.kind, given.kind):
        return False
    is_share = "percent" in (stated.kind, given.kind) and any(_equal(stated.value, given.value * factor) for factor in (100.0, 0.01))
    return is_share or _equal(abs(stated.value), abs(given.value))


def _is_rounded(stated: Quantity, given: Quantity) -> bool:
    is_whole = given.decimals > 0 and stated.decimals == 0 and given.value >= 10
    return is_whole and _same_measure(stated, given) and _equal(round(given.value), stated.value)


def _nearest(stated: Quantity, paper: Sequence[Quantity]) -> str:
    alike = [given for given in paper if given.kind == stated.kind and given.unit == stated.unit]
    return min(alike, key=lambda given: abs(given.value - stated.value)).text if alike else ""


def _digits(text: str) -> Iterator[Quantity]:
    for match in _NUMBER.finditer(text):
        digits = _DECIMAL_COMMA.sub(".", match["number"]).replace(",", "").replace(" ", "")
        value = _sign(text, match.start()) * float(digits) * _SCALES.get(match["suffix"] or match["scale"] or "", 1.0)
        exponent = (match["power"] or "e0")[1:] if match["power"] else (match["ten"] or "0")
        value *= 10.0 ** int(exponent.replace("−", "-"))
        quantity = _measured(text, match.start(), match.end(), value, len(digits.partition(".")[2]))
        if quantity.end < len(text) and quantity.end == match.end() and text[quantity.end].isalpha() and text[quantity.end] not in "x×":
            continue  # 3D, 4th: part of a name
        yield replace(quantity, text=f"-{quantity.text}") if value < 0 else quantity


def _sign(text: str, start: int) -> float:
    """-1 behind a minus that is neither a hyphen nor the dash of a range."""
    return -1.0 if _MINUS.search(text[max(start - 2, 0) : start]) else 1.0


def _spelled(text: str) -> Iterator[Quantity]:
    for match in _SPELLED.finditer(text):
        if multiple := match["multiple"]:
            yield Quantity(_MULTIPLES[multiple.lower()], "times", "", match.start(), match.end(), match[0], 0, hedged=False)
            continue
        word = (match["word"] or match["tens"]).lower()
        quantity = _measured(text, match.start(), match.end(), _spelled_value(match), 0)
        if word not in _UNCHECKED_WORDS or match["scale"] or quantity.kind != "plain" or quantity.unit:
            yield quantity


def _spelled_value(match: re.Match[str]) -> float:
    if tens := match["tens"]:
        return _WORD_VALUES[tens.lower()] + _WORD_VALUES[match["ones"].lower()]
    return _WORD_VALUES[match["word"].lower()] * _SCALES.get((match["scale"] or "").lower(), 1.0)


def _measured(text: str, start: int, end: int, value: float, decimals: int) -> Quantity:
    """The quantity at `start:end` with what follows it: a percent sign, a multiplier or a unit."""
    hedged = bool(_HEDGE.search(text[max(start - 16, 0) : start]))
    if kind := _KIND.match(text, end):
        name: Kind = "percent" if kind["percent"] else "times"
        return Quantity(value, name, "", start, kind.end(), text[start : kind.end()], decimals, hedged)
    if (unit := _UNIT.match(text, end)) and (family := _unit(unit[1])):
        return Quantity(value * family[1], "plain", family[0], start, unit.end(), text[start : unit.end()], decimals, hedged)
    return Quantity(value, "plain", "", start, end, text[start:end], decimals, hedged)


def _around(text: str, quantity: Quantity) -> frozenset[tuple[int, str]]:
    before = re.findall(r"[^\W_]+", text[max(quantity.start - 60, 0) : quantity.start].lower())[-_NEIGHBOURS:]
    after = re.findall(r"[^\W_]+", text[quantity.end : quantity.end + 60].lower())[:_NEIGHBOURS]
    return frozenset([(i - len(before), word) for i, word in enumerate(before)] + [(i + 1, word) for i, word in enumerate(after)])


def _unit(word: str) -> tuple[str, float] | None:
    return _UNITS.get(word) or _UNITS.get(word.lower().removesuffix("s")) if len(word) > 2 else _UNITS.get(word)


def _with_range_kinds(text: str, found: Sequence[Quantity]) -> Iterator[Quantity]:
    """In "10-20%" and "1 to 2 hours" the first number is measured as the second."""
    for quantity, following in zip_longest(found, found[1:]):
        is_bare = quantity.kind == "plain" and not quantity.unit
        if following is None or not is_bare or not _JOINS.fullmatch(text[quantity.end : following.start]):
            yield quantity
        elif following.kind != "plain" or following.unit:
            own_scale = next(
                (scale for name, scale in _UNITS.values() if name == following.unit and _ends_with_unit(following, scale)), 1.0
            )
            yield replace(quantity, kind=following.kind, unit=following.unit, value=quantity.value * own_scale)
        else:
            yield quantity


def _ends_with_unit(quantity: Quantity, scale: float) -> bool:
    family = _unit(re.split(r"[\s\d.,-]+", quantity.text)[-1])
    return family is not None and family[1] == scale
