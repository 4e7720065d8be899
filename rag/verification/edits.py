"""A statement laid beside the sentence it was taken from: what was exchanged, put in or left out, and whether that turns the meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from rag.text.words import stem
from rag.verification.directions import direction, is_denial, opposites_of
from rag.verification.wording import Word

# A longer stretch was moved or left out as a whole; it is not a word for a word.
_MOST_EXCHANGED = 4
# Of these only one can be right in its place.
_ORDINALS = frozenset("one two three four first second third thirds fourth fifth half quarter last".split())


@dataclass(frozen=True, slots=True)
class Edit:
    """Words of the statement in place of words of the sentence; one side may be empty."""

    stated: tuple[Word, ...]
    given: tuple[Word, ...]


def edits(statement: Sequence[Word], sentence: Sequence[Word]) -> tuple[Edit, ...]:
    """The differences in order, between words that both have."""
    matcher = SequenceMatcher(None, [word.text for word in sentence], [word.text for word in statement], autojunk=False)
    return tuple(Edit(tuple(statement[c:d]), tuple(sentence[a:b])) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")


def exchanged_opposites(found: Sequence[Edit]) -> Iterator[tuple[str, str]]:
    """Pairs of a stated word and the opposite that the sentence has in its place."""
    for edit in found:
        if 0 < min(len(edit.stated), len(edit.given)) and max(len(edit.stated), len(edit.given)) <= _MOST_EXCHANGED:
            yield from ((one.text, other.text) for one in edit.stated for other in edit.given if _are_opposite(one, other))


def denial_changed(found: Sequence[Edit]) -> bool:
    """Whether a "not" was put in or taken out by itself; one that only moved, or came and went with what it denies, does not count."""
    if sum(_negations(edit.stated) - _negations(edit.given) for edit in found) % 2 == 0:
        return False
    return any(_turns(edit.stated, edit.given) or _turns(edit.given, edit.stated) for edit in found)


def _turns(denying: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether one side denies what the other says: "does not improve" for "improves", but not "but not naive" for nothing."""
    if max(len(denying), len(other)) > _MOST_EXCHANGED or _negations(denying) % 2 == _negations(other) % 2 or not _negations(denying):
        return False
    said = {word.stem for word in denying if word.stem and not is_denial(word.text)}
    return said <= {word.stem for word in other}


def _negations(words: Sequence[Word]) -> int:
    return sum(is_denial(word.text) for word in words)


def _are_opposite(one: Word, other: Word) -> bool:
    first, second = stem(one.text), stem(other.text)
    if one.text != other.text and {one.text, other.text} <= _ORDINALS or second in opposites_of(first):
        return True
    return direction(first) * direction(second) < 0 or _is_prefixed(one.text, other.text) or _is_prefixed(other.text, one.text)


def _is_prefixed(longer: str, shorter: str) -> bool:
    """`unstable` for `stable`, `inefficient` for `efficient`, `nonlinear` for `linear`."""
    return len(shorter) > 3 and any(longer == prefix + shorter for prefix in ("un", "in", "im", "ir", "il", "non", "dis", "under", "de"))
