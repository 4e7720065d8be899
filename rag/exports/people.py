"""Names the way bibliographies want them."""

from __future__ import annotations

from dataclasses import dataclass

_PARTICLES = frozenset(
    "af al ap ben bin da dal de del della den der des di dos du el la le lo st. ten ter van vande vanden vom von zu zum zur".split()
)
_SUFFIXES = frozenset("jr jr. sr sr. ii iii iv".split())
_GROUPS = ("collaboration", "consortium", "committee", "group", "team", "initiative", "network", "organization", "university", "institute")


@dataclass(frozen=True, slots=True)
class Person:
    """A name in parts; a group, or a name of one word, has only `family`."""

    family: str
    given: str = ""
    suffix: str = ""


def person_of(name: str) -> Person:
    """`Ludwig van Beethoven Jr.` as family `van Beethoven`, given `Ludwig`, suffix `Jr.`."""
    words = name.split()
    if any(word.lower().strip("().,") in _GROUPS for word in words):
        return Person(name)
    suffix = words.pop() if len(words) > 2 and words[-1].lower() in _SUFFIXES else ""
    if len(words) < 2:
        return Person(name)
    cut = len(words) - 1
    while cut > 1 and words[cut - 1].lower() in _PARTICLES and words[cut - 1][0].islower():
        cut -= 1
    return Person(" ".join(words[cut:]), " ".join(words[:cut]), suffix)
