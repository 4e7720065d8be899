"""Typing errors and other spellings: a word that no paper holds is read as one that papers do hold, a letter away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_lowercase
from typing import TYPE_CHECKING

from rag.text.words import STOP_WORDS, query_terms

if TYPE_CHECKING:
    from rag.protocols import Embedder
    from rag.store.joined import JoinedLibrary
    from rag.store.library import Library

# Short words are a letter away from too many others; capitals and digits make a name, which is meant as it is written.
_WORD = re.compile(r"(?<![^\W])[a-z]{8,40}(?![^\W])")
_MOST_WORDS = 8
_LETTER = "a"
# Vowels mistaken for one another in long words only: "decoding" is not "deciding", and no other letters: "provably" is not "probably".
_VOWELS, _LONG = "aeiouy", 9


def respelled(topic: str, library: Library | JoinedLibrary, embedder: Embedder) -> tuple[str, tuple[str, ...]]:
    """The topic with misspelled words replaced, and a note for the reader on each; the topic itself when all words are known.

    A word counts as misspelled when no paper holds it, the embedding model does not know it whole, and one of the corpus's words is
    a letter away that it does know whole, or that is the American spelling. Of several the commonest in the corpus is taken.
    """
    notes: list[str] = []
    for word in tuple(dict.fromkeys(_WORD.findall(topic)))[:_MOST_WORDS]:
        if word in STOP_WORDS or embedder.count_tokens(word) <= embedder.count_tokens(_LETTER) or _is_known(word, library):
            continue
        if meant := _nearest(word, library, embedder):
            topic = re.sub(rf"(?<![^\W]){word}(?![^\W])", meant, topic)
            notes.append(f"No abstract has “{word}”: searched for “{meant}”.")
    return topic, tuple(notes)


def _is_known(word: str, library: Library | JoinedLibrary) -> bool:
    terms = query_terms(word)
    return any(library.document_frequency(terms).values())


def _nearest(word: str, library: Library | JoinedLibrary, embedder: Embedder) -> str:
    """The commonest word of the corpus that is one edit away and well known, or differs in s and z; empty when there is none."""
    terms = {edited: term for edited in sorted(_edits(word)) for term in query_terms(edited)}
    frequencies = library.document_frequency(terms.values())
    whole = embedder.count_tokens(_LETTER)
    held = [edited for edited, term in terms.items() if frequencies[term]]
    found = [edited for edited in held if _zed(edited) == _zed(word) or embedder.count_tokens(edited) <= whole]
    return max(found, key=lambda edited: frequencies[terms[edited]], default="")


def _zed(word: str) -> str:
    return word.replace("s", "z")


def _edits(word: str) -> set[str]:
    """The words one edit away; the first letter is taken to be right."""
    return {edited for place in range(1, len(word) + 1) for edited in _edited(word[:place], word[place:])} - {word}


def _edited(before: str, after: str) -> Iterator[str]:
    """A letter added between the two halves; dropped, mistaken or swapped with the next at the start of the second."""
    yield from (before + letter + after for letter in ascii_lowercase)
    if after:
        yield before + after[1:]
        alike = "sz" if after[0] in "sz" else _VOWELS if after[0] in _VOWELS and len(before + after) >= _LONG else ""
        yield from (before + letter + after[1:] for letter in alike)
    if len(after) > 1:
        yield before + after[1] + after[0] + after[2:]
