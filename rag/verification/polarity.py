"""What turns a sentence around: negation, opposites, directions, and the two sides of a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from rag.text.words import stem
from rag.verification.directions import direction, is_denial, is_negator, opposites_of
from rag.verification.readings import Idf, Likenesses, Sentence, credit
from rag.verification.wording import Word

_DENIAL_REACH = 4
_NEGATION_REACH = 5
_DENIED_WORDS = 3
_CONTEXT_REACH = 6
_SIDE = 4
_LIKE = 0.7
_COMPARISONS = frozenset(
    stem(word)
    for word in "outperform surpass exceed beat underperform dominate than over versus cause precede inhibit activate imply generalize subsume reduce replace".split()
)


def is_denied(words: Sequence[Word]) -> bool:
    """Whether the words hold a negation."""
    return any(is_negator(word.text) for word in words)


def stance(
    statement: Sequence[Word], sentences: Sequence[Sentence], weights: Sequence[float], alike: Likenesses, idf: Idf
) -> tuple[float, float]:
    """How far the paper moves things the same way as the statement: `(sum, share)`, the sum unbounded, the share in -1..1.

    Every direction word of the statement ("increases") meets every one of the paper ("reduced", "not higher"); agreement counts +1,
    contradiction -1, each weighted by the sentence's weight and by the part of the statement's other words that stand near.
    """
    agreement = total = 0.0
    for place, sign in _signed(statement):
        about = _topic(statement, place)
        mass = sum(map(idf, about)) or 1.0
        for sentence, weight in zip(sentences, weights, strict=True):
            for other_place, other_sign in _signed(sentence.words):
                near = frozenset(word.stem for word in _around(sentence.words, other_place, _CONTEXT_REACH) if word.stem)
                shared = weight * sum(idf(stem_) for stem_ in about if credit(stem_, near, alike) > _LIKE) / mass
                agreement += shared * sign * other_sign
                total += shared
    return agreement, agreement / (total + 0.1)


def opposed_words(statement: Sequence[Word], pool: frozenset[str], alike: Likenesses) -> tuple[str, ...]:
    """The words of a statement that the paper has not, while it has an opposite."""
    return tuple(
        word.text
        for word in statement
        if (opposites := opposites_of(_key(word))) and credit(_key(word), pool, {_key(word): {}, **alike}) < _LIKE and opposites & pool
    )


def negation_differs(statement: Sequence[Word], evidence: Sequence[Word]) -> bool:
    """Whether words common to both are denied in one and not in the other."""
    common = {word.stem for word in statement if word.stem} & {word.stem for word in evidence if word.stem}
    stated, given = _denied_stems(statement) & common, _denied_stems(evidence) & common
    return len(stated ^ given) > len(stated & given)


def sides_swapped(statement: Sequence[Word], evidence: Sequence[Word]) -> bool:
    """Whether a comparison found in both has its two sides exchanged: "A outperforms B" for "B outperforms A"."""
    return any(
        _comparison(word) and _comparison(word) == _comparison(other) and _exchanged(_sides(statement, i), _sides(evidence, j))
        for i, word in enumerate(statement)
        for j, other in enumerate(evidence)
    )


def _signed(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Places of direction words with their sign, turned by a negation up to four words before."""
    found: list[tuple[int, int]] = []
    for place, word in enumerate(words):
        if sign := direction(_key(word)):
            found.append((place, -sign if is_denied(words[max(place - _DENIAL_REACH, 0) : place]) else sign))
    return found


def _topic(words: Sequence[Word], place: int) -> list[str]:
    return list({word.stem: None for i, word in enumerate(words) if word.stem and i != place and not direction(word.stem)})


def _denied_stems(words: Sequence[Word]) -> set[str]:
    """The stems that stand right after a denial, wherever they stand."""
    denied: list[int] = []
    for place, word in enumerate(words):
        if is_denial(word.text):
            denied += [i for i in range(place + 1, min(place + 1 + _NEGATION_REACH, len(words))) if words[i].stem][:_DENIED_WORDS]
    free = {word.stem for place, word in enumerate(words) if place not in denied}
    return {words[place].stem for place in denied} - free


def _exchanged(stated: tuple[set[str], set[str]], given: tuple[set[str], set[str]]) -> bool:
    return bool(stated[0] & given[1]) and bool(stated[1] & given[0]) and not stated[0] & given[0]


def _sides(words: Sequence[Word], place: int) -> tuple[set[str], set[str]]:
    """The nearest informative stems before and after a comparison, those on one side only; for a passive ("is outperformed by") the other way round."""
    left = set([word.stem for word in words[:place] if word.stem][-_SIDE:])
    right = set([word.stem for word in words[place + 1 :] if word.stem][:_SIDE])
    is_passive = words[place].text.endswith("ed") and place + 1 < len(words) and words[place + 1].text == "by"
    return (right - left, left - right) if is_passive else (left - right, right - left)


def _comparison(word: Word) -> str:
    return _key(word) if _key(word) in _COMPARISONS else ""


def _key(word: Word) -> str:
    return word.stem or stem(word.text)


def _around(words: Sequence[Word], place: int, reach: int) -> Sequence[Word]:
    return words[max(place - reach, 0) : place + 1 + reach]
