"""Restrictions that stand in a question: year, venue, author, decision, track and keyword."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from rag.records import Paper
from rag.store.filters import Filters

_PAPERS = (
    r"(?:papers?|articles?|publications?|abstracts?|submissions?|posters?|orals?|spotlights?|preprints?|works?|stud(?:y|ies)|research"
    r"|literature)"
)
_YEAR = r"(?:19[5-9]\d|20\d\d)"
_PUBLISHED = r"\b(?:(?:that )?(?:were |was |are )?(?:published|written|released|presented|accepted|appeared) )?"
_YEARS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern.replace("YEAR", _YEAR).replace("PUBLISHED ", _PUBLISHED), re.IGNORECASE), where)
    for pattern, where in (
        (r"PUBLISHED (?:between|from|in|of) (YEAR)(?:\s*(?:-|–|and|to|until|through)\s*)(YEAR)\b", "year>={0} and year<={1}"),
        (r"PUBLISHED (?:since|starting (?:in|from)) (YEAR)\b", "year>={0}"),
        (r"PUBLISHED (?:from |in )?(YEAR) (?:onwards?|and later|or later|and newer)\b", "year>={0}"),
        (r"PUBLISHED (?:after|later than|newer than) (YEAR)\b", "year>{0}"),
        (r"PUBLISHED (?:before|earlier than|older than|prior to) (YEAR)\b", "year<{0}"),
        (r"PUBLISHED (?:until|up to) (YEAR)\b", "year<={0}"),
        # "in the 2012 census", "of 2020's models": the year belongs to the topic.
        (r"PUBLISHED (?:in|from|of|during) (?:the year )?(YEAR)\b(?!['’]s| \w*(?:set|corpus|challenge|census|election)s?\b)", "year={0}"),
        (rf"\b(YEAR) (?={_PAPERS}\b)", "year={0}"),
    )
)
# A venue that the corpus does not hold must lead to "no such papers", not to papers of another venue.
_KNOWN_VENUES = (
    "AAAI ACL AISTATS COLING COLM COLT CVPR EACL ECCV EMNLP ICASSP ICCV ICDE ICLR ICML ICRA IJCAI INTERSPEECH JMLR KDD MICCAI NAACL "
    "NeurIPS NIPS OSDI SIGGRAPH SIGIR SIGMOD SOSP TACL TMLR UAI USENIX VLDB WACV WSDM"
).split()
_AT_VENUE = r"\b(?:(?:published|presented|accepted|appearing|appeared) )?(?:(?:at|in|from|of|for) (?:the )?)?"
_DECISIONS = {
    "poster": r"posters?",
    "oral": r"orals?",
    "spotlight": r"spotlights?",
    "reject": r"rejected",
    "accept": r"accepted",
    "withdraw": r"withdrawn",
}
_NAME_WORD = re.compile(r"[^\W\d_][\w.'’-]*")
_AUTHOR_CUES = re.compile(
    rf"\b(?:(?P<kept>{_PAPERS}) (?:(?:co-?)?(?:authored|written|published) )?|(?:co-?)?(?:authored|written|published) )?by\s+"
    r"|\b(?:whose )?authors? (?:is|are|include|includes)\s+|\bauthor:\s*",
    re.IGNORECASE,
)
_AUTHOR_SUFFIX = re.compile(r"(?:['’]s?)?(?: and (?:colleagues|coworkers|others|collaborators)| et al\.?)?")
_MAX_NAMESAKES = 50
_KEYWORD_CUE = re.compile(r"\b(?:(?:with|having|under) (?:the )?keywords?|tagged(?: with| as)?|keywords?:)\s*", re.IGNORECASE)
_TRACK_CUE = re.compile(
    r"\b(?:in|from|of|on) the (?P<name>[\w ,&/-]{2,60}?) track\b|(?P<before>[\w&/-]+(?: [\w&/-]+){0,3}) track (?=papers\b)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Facets:
    """What the papers of a corpus can be restricted by: the distinct values of each field, as the sources write them."""

    years: frozenset[int] = frozenset()
    venues: frozenset[str] = frozenset()
    decisions: frozenset[str] = frozenset()
    tracks: frozenset[str] = frozenset()
    keywords: frozenset[str] = field(default=frozenset(), repr=False)
    authors: frozenset[str] = field(default=frozenset(), repr=False)
    folded_authors: frozenset[str] = field(default=frozenset(), repr=False)
    """Authors' full names and last names, without case and accents."""

    @classmethod
    def of(cls, papers: Iterable[Paper]) -> Facets:
        """The facets of these papers; one pass, worth keeping for as long as the corpus does not change."""
        held = list(papers)
        authors = frozenset(author for paper in held for author in paper.authors)
        folded = [_fold(author) for author in authors]
        return cls(
            years=frozenset(paper.year for paper in held if paper.year is not None),
            venues=frozenset(paper.venue for paper in held if paper.venue),
            decisions=frozenset(paper.decision for paper in held if paper.decision),
            tracks=frozenset(paper.track for paper in held if paper.track),
            keywords=frozenset(keyword for paper in held for keyword in paper.keywords),
            authors=authors,
            folded_authors=frozenset(folded) | frozenset(name.rsplit(" ", 1)[-1] for name in folded),
        )


def find_constraints(question: str, facets: Facets) -> tuple[Filters, str]:
    """The restrictions that `question` states, and the question without them.

    A field that no paper of the corpus has is never restricted. "posters" and the like leave the word "papers" behind, so that
    what remains is still a question.
    """
    filters, rest = Filters(), question
    for find in (_venue, _years, _author, _decision, _track, _keyword):
        found, rest = find(rest, facets)
        filters = filters.and_(found)
    return filters, " ".join(rest.split())


def _venue(text: str, facets: Facets) -> tuple[Filters, str]:
    if not facets.venues:
        return Filters(), text
    held = {re.sub(rf"\W*\b{_YEAR}\b.*", "", venue).strip() for venue in facets.venues} - {""}
    for name in sorted({*held, *_KNOWN_VENUES}, key=len, reverse=True):
        acronym = sum(map(str.isupper, name)) > 1 and " " not in name
        pattern = rf"{_AT_VENUE}{re.escape(name)}(?:['’\s-]*({_YEAR}|['’]\d\d))?\b(?: conference| proceedings)?"
        match = re.search(pattern, text, re.IGNORECASE if acronym else 0)
        if match is None or (name not in held and not _names_a_source(text, match)):
            continue
        filters = Filters.of(venue=name)
        if year := match[1]:
            filters = filters.and_(_of_year(name, 2000 + int(year[-2:]) if len(year) < 4 else int(year), facets))
        return filters, _without(text, match)
    return Filters(), text


def _of_year(venue: str, year: int, facets: Facets) -> Filters:
    dated = [held for held in facets.venues if venue in held and str(year) in held]
    return Filters.of(venue=f"{venue} {year}") if not facets.years and dated else Filters.of(year=str(year))


def _names_a_source(text: str, match: re.Match[str]) -> bool:
    before_papers = re.match(rf"\s*(?:\w+ )?{_PAPERS}\b", text[match.end() :], re.IGNORECASE)
    return bool(before_papers or re.match(r"(?:at|from|published|presented|accepted|appear)", match.group(), re.IGNORECASE))


def _years(text: str, facets: Facets) -> tuple[Filters, str]:
    if not facets.years or not re.search(rf"\b{_PAPERS}\b", text, re.IGNORECASE):
        return Filters(), text
    for pattern, where in _YEARS:
        if match := pattern.search(text):
            years = match.groups()
            found = Filters.of(year=years[0]) if where == "year={0}" else Filters.of(where=where.format(*years))
            return found, _without(text, match)
    return Filters(), text


def _author(text: str, facets: Facets) -> tuple[Filters, str]:
    if not facets.authors:
        return Filters(), text
    start, end = _full_name(text, facets) or _cued_name(text, facets) or (0, 0)
    if not end:
        return Filters(), text
    tail = _AUTHOR_SUFFIX.match(text, end)
    after = tail.end() if tail else end
    cue = next((cue for cue in _AUTHOR_CUES.finditer(text) if cue.end() == start), None)
    before = text[:start] if cue is None else text[: cue.end("kept")] if cue["kept"] else text[: cue.start()]
    return _of_author(re.sub(r"['’]s?$", "", text[start:end]), facets), f"{before} {text[after:]}"


def _full_name(text: str, facets: Facets) -> tuple[int, int] | None:
    """Where the full name of an author of the corpus stands."""
    words = list(_NAME_WORD.finditer(text))
    for length in (4, 3, 2):
        for first, last in zip(words, words[length - 1 :], strict=False):
            if _fold(text[first.start() : last.end()]) in facets.folded_authors:
                return first.start(), last.end()
    return None


def _cued_name(text: str, facets: Facets) -> tuple[int, int] | None:
    """Where, after "by" and the like, an author's last name stands, or two words that can only be somebody's name."""
    for cue in _AUTHOR_CUES.finditer(text):
        word = _NAME_WORD.match(text, cue.end())
        if word is None or not word.group()[0].isupper():
            continue
        if _fold(word.group()) in facets.folded_authors:
            return word.span()
        second = _NAME_WORD.match(text, word.end() + 1)
        if second is not None and second.group().istitle() and word.group().istitle():
            return word.start(), second.end()
    return None


def _of_author(name: str, facets: Facets) -> Filters:
    """Papers by exactly the authors meant: "Li" is not "Liu"."""
    folded = _fold(name)
    meant = sorted(author for author in facets.authors if folded in ((whole := _fold(author)), whole.rsplit(" ", 1)[-1]))
    if not meant or len(meant) > _MAX_NAMESAKES:
        return Filters.of(author=name)
    return Filters.of(where=" or ".join('author="' + author.replace("\\", "\\\\").replace('"', '\\"') + '"' for author in meant))


def _decision(text: str, facets: Facets) -> tuple[Filters, str]:
    for decision, word in _DECISIONS.items():
        held = any(decision in value.casefold() for value in facets.decisions)
        noun = rf"\b(?:(?:accepted|presented) )?(?:as )?(?:an? )?{word}(?: (?:papers|presentations|submissions))\b"
        plural = rf"\b{word}(?<=s)\b" if word.endswith("s?") else rf"\b{word}(?= \w*\s?(?:{_PAPERS})\b)"
        match = re.search(noun, text, re.IGNORECASE) or re.search(rf"\b(?:accepted|presented) as (?:an? )?{word}\b", text, re.IGNORECASE)
        match = match or re.search(plural, text, re.IGNORECASE)
        if not held or match is None:
            continue
        rest = _without(
            text, match, "" if re.search(rf"\b{_PAPERS}\b", text[: match.start()] + text[match.end() :], re.IGNORECASE) else "papers"
        )
        return Filters.of(decision=decision), rest
    return Filters(), text


def _track(text: str, facets: Facets) -> tuple[Filters, str]:
    for match in _TRACK_CUE.finditer(text):
        name = match["name"] or match["before"]
        if _held(name, facets.tracks):
            return Filters.of(track=name), _without(text, match)
    return Filters(), text


def _keyword(text: str, facets: Facets) -> tuple[Filters, str]:
    cue = _KEYWORD_CUE.search(text)
    if cue is None or not facets.keywords:
        return Filters(), text
    quoted = re.compile(r"[\"'“‘]([^\"'”’]+)[\"'”’]").match(text, cue.end())
    if quoted:
        return Filters.of(keyword=quoted[1]), f"{text[: cue.start()]} {text[quoted.end() :]}"
    folded = {_fold(keyword) for keyword in facets.keywords}
    words = re.findall(r"\S+", text[cue.end() :])
    for length in range(min(len(words), 6), 0, -1):
        name = " ".join(words[:length]).strip(" ?.!,")
        if _fold(name) in folded:
            after = text.find(words[length - 1], cue.end()) + len(words[length - 1])
            return Filters.of(keyword=name), f"{text[: cue.start()]} {text[after:]}"
    return Filters(), text


def _held(name: str, values: Iterable[str]) -> bool:
    return any(_fold(name) in _fold(value) for value in values)


def _without(text: str, match: re.Match[str], instead: str = "") -> str:
    return f"{text[: match.start()]} {instead} {text[match.end() :]}"


def _fold(name: str) -> str:
    """Without case, accents and punctuation at the ends."""
    decomposed = unicodedata.normalize("NFKD", re.sub(r"['’]s$", "", name))
    return " ".join("".join(c for c in decomposed if not unicodedata.combining(c)).casefold().strip(" .,?!").split())
