"""What a paper is called in conversation: the name that it gave itself, and the words that describe it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from rag.records import Paper
from rag.text.words import content_words, stem

_COINED = r"(?:[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*|[A-Z]{2,}[A-Za-z0-9]*|[A-Z][a-z]+\d[\w]*|\d+[A-Za-z]*[A-Z][A-Za-z]*)"
_NAME = rf"(?:[A-Za-z0-9]+-)?{_COINED}(?:[-+][A-Za-z0-9]+)*"
_TITLE_NAME = re.compile(r"^([^:?!]{2,40}?)\s*(?::|\s[-–—]\s)")
_COINAGE = re.compile(
    r"\b(?:propos|introduc|present|develop|describ|releas|design|construct|devis|build|call|nam|term|dub|denot|creat)\w*\s"
    rf"(?:(?!\b(?:compar\w+|than|like|unlike|such as|with|on|for)\b)[^.;:]){{0,70}}?(?<=[\s(`\"“])({_NAME})(?![\w-])"
)
# A shorter name may be a word ("SAFE", "SteP").
_SHORT = 4
_PLURALS = re.compile(r"(?<=[A-Z])s$")
_COMMON = frozenset(
    "AI ML DL NLP LLM LLMs CV RL NN NNs DNN DNNs GPU GPUs CPU CPUs SOTA API APIs VLM VLMs GNN GNNs CNN CNNs RNN RNNs".split()
)


@lru_cache(maxsize=4_096)
def own_names(paper: Paper) -> tuple[str, ...]:
    """Names that the paper coined, the likeliest first: what stands before the colon of its title, and what it says it proposes."""
    title = _TITLE_NAME.match(paper.title)
    names = [title[1].strip()] if title and len(title[1].split()) <= 3 else []
    names += [match[1] for match in _COINAGE.finditer(_unmarked(paper.abstract))]
    if not names:
        names = re.findall(r"(?<![\w-])[A-Za-z]*[a-z][A-Z]\w*(?![\w-])", paper.title)
    return tuple(dict.fromkeys(name for name in names if len(name) > 2 and _PLURALS.sub("", name) not in _COMMON))


def name_of(paper: Paper) -> str:
    """What to call the paper in a question: a short name of its own that cannot be mistaken for a word, else its title."""
    return next((name for name in own_names(paper) if len(name.split()) <= 2 and (name in paper.title or len(name) > 4)), paper.title)


def find_names(text: str, papers: Iterable[Paper]) -> list[tuple[int, int, Paper]]:
    """Where `text` calls one of the papers by a name of its own or by its title: start, end and paper, in order, none overlapping.

    A name that several papers coined counts for the one given last.
    """
    found: dict[tuple[int, int], Paper] = {}
    for paper in papers:
        for name in (paper.title.rstrip(" ."), *own_names(paper)):
            for match in _pattern(name).finditer(text):
                found[match.span()] = paper
    chosen: list[tuple[int, int, Paper]] = []
    for (start, end), paper in sorted(found.items(), key=lambda item: (item[0][0], -item[0][1])):
        if not chosen or start >= chosen[-1][1]:
            chosen.append((start, end, paper))
    return chosen


def best_described(description: str, papers: Sequence[Paper], *, at_least: float = 0.5) -> Paper | None:
    """The paper that most words of the description fit, title words counting double; the last one of equals; None when few fit."""
    wanted = stems(description)
    if not wanted:
        return None
    best, best_score = None, 0.0
    for paper in papers:
        in_title, in_text = title_stems(paper), paper_stems(paper)
        share = len(wanted & in_text) / len(wanted)
        score = share + len(wanted & in_title) / len(wanted)
        if share >= at_least and score >= best_score:
            best, best_score = paper, score
    return best


def stems(text: str) -> frozenset[str]:
    """The stems of the informative words of a text."""
    return frozenset(stem(word) for word in content_words(text))


@lru_cache(maxsize=4_096)
def title_stems(paper: Paper) -> frozenset[str]:
    """The stems of a paper's title."""
    return stems(paper.title)


@lru_cache(maxsize=4_096)
def paper_stems(paper: Paper) -> frozenset[str]:
    """The stems of a paper's title, abstract, authors and venue."""
    return stems(" ".join((paper.title, paper.abstract, *paper.keywords, *paper.authors, paper.venue or "")))


@lru_cache(maxsize=4_096)
def _pattern(name: str) -> re.Pattern[str]:
    """Finds a short name as it is written, a longer one in any case, one in capitals not as a proper name ("RAVEN", never "Raven")."""
    if len(name) <= _SHORT:
        return re.compile(rf"(?<![\w-]){re.escape(name)}(?:['’]s)?(?![\w-])")
    if name.isupper():
        return re.compile(rf"(?<![\w-])(?:{re.escape(name)}|{re.escape(name.lower())})(?:['’]s)?(?![\w-])")
    spelled = r"[\s\-‐‑]?".join(re.escape(part) for part in re.split(r"[\s\-‐‑]+", name))
    return re.compile(rf"(?<![\w-]){spelled}(?:['’]s)?(?![\w-])", re.IGNORECASE)


def _unmarked(text: str) -> str:
    return re.sub(r"\\(?:text\w+|emph|underline)|[*_${}\\]", "", text)
