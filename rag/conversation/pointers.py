"""The wordings that point at papers of a conversation, as patterns."""

from __future__ import annotations

import re

ORDINALS = {
    **{word: index for index, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split())},
    **{f"{n}{'th' if n > 3 else ('st', 'nd', 'rd')[n - 1]}": n - 1 for n in range(1, 21)},
    **{"last": -1, "final": -1, "latter": -1, "former": 0, "top": 0},
}
"""Word -> place in the list, from 0; negative from the end."""
CARDINALS = {word: n for n, word in enumerate("one two three four five six seven eight nine ten".split(), 1)}


def _words(text: str) -> str:
    return "|".join(text.split())


_PAPER = (
    "(?:"
    + _words("papers? ones? works? study studies articles? publications? abstracts? methods? approach(?:es)? results? hits? sources?")
    + ")"
)
_THING = (
    "(?:"
    + _words("""
        paper work study article publication abstract method approach framework technique algorithm model system benchmark architecture
        optimi[sz]er estimator dataset proposal procedure solution theory theorem result finding claim idea bound guarantee scheme strategy
        evaluation analysis solver network attack defen[cs]e metric protocol pipeline simulator tool
    """)
    + ")"
)
_THINGS = (
    "(?:"
    + _words("""
        papers works studies articles publications methods approaches frameworks techniques algorithms models systems benchmarks results
        solutions ideas bounds
    """)
    + ")"
)
_COUNT = rf"(?:{'|'.join(CARDINALS)}|[2-9])"
_SHOWN = r"(?:above|(?:that )?you (?:listed|cited|found|mentioned|gave|showed)(?: me)?)"

# After a word that is complete without a noun; before another noun it would mean something else ("the first study of its kind").
_AFTER = _words("and or but is are was does do did has have had can could would will use[sd]? says? reports?")
_END = rf"(?=\s*(?:$|[?.!,;:)]|(?:{_AFTER}|with|instead|again|too|also|please|then)\b))"

BRACKETED = re.compile(r"\[\s*\d{1,4}(?:\s*(?:[,;]|[-–])\s*\d{1,4})*\s*\]")
_LABEL = rf"(?:{_words('papers? numbers? no[.]? nos[.]? references? refs?[.]? sources? citations? entry result')})"
_MORE_NUMBERS = r"(?:(?:\s*,\s*|\s*(?:,\s*)?(?:and|or|&)\s*)#?\d{1,3})*"
NUMBERED = re.compile(rf"\b{_LABEL}\s*#?\d{{1,3}}{_MORE_NUMBERS}\b(?!\s*(?:%|papers))|(?<![\w&])#\d{{1,3}}\b", re.IGNORECASE)
SPELLED = re.compile(rf"\b(?:number|no\.?|paper) (?P<number>{'|'.join(CARDINALS)})\b", re.IGNORECASE)
ORDERED = re.compile(
    r"\b(?:(?:both|all|either|one) of )?(?:the |that |your )?(?:very )?"
    rf"(?:(?P<end>first|last|top) (?P<count>{_COUNT})\b(?: {_PAPER}\b)?"
    rf"|(?P<ordinal>{'|'.join(ORDINALS)})"
    rf"(?:[ -](?:mentioned |cited |listed |of (?:them|those|these) )?(?P<noun>{_PAPER})\b(?! (?:to|that) )|{_END}))",
    re.IGNORECASE,
)
OTHER = re.compile(
    rf"\bthe other(?P<many>s| {_COUNT}(?: {_THINGS})?| {_THINGS})?(?: {_THING}| one)?\b{_END}"
    rf"|\bthe (?P<rest>rest)(?: of (?:them|those))?\b{_END}",
    re.IGNORECASE,
)
BEFORE = re.compile(
    rf"\b(?:the )?(?:previous|earlier|preceding|prior) (?:{_THING}|one)\b(?! (?:on|about|that))|\bthe (?:{_THING}|one) before\b(?: that)?",
    re.IGNORECASE,
)
_ABOUT = _words("about on with for that which from by using proposing introducing studying called named")
DESCRIBED_AFTER = re.compile(
    rf"\b(?:the|that|this) (?:(?:other|earlier|previous|first) )?(?:{_THING}|one) (?:{_ABOUT}) (?P<what>[^?.!;:,]{{2,80}})", re.IGNORECASE
)
DESCRIBED_BEFORE = re.compile(
    r"\b(?:the|that|this) (?P<what>(?!(?:other|same|new|whole|entire|current)\b)[\w+-]+(?: [\w+-]+){0,3}?)"
    r" (?:papers?|one|work|study|article)\b(?! (?:on|about) )",
    re.IGNORECASE,
)
DESCRIBED_BACK = re.compile(r"\b(?:back|return(?:ing)?) to (?:the |that )?(?P<what>[^?.!;:,]{2,80})", re.IGNORECASE)
GROUP = re.compile(
    r"\b(?:(?:all|any|each|both|some|most|none|one|which|either|neither) of )?"
    r"(?:those\b(?! (?:who|that|which|with|in|of|from)\b)|(?:these|them|they|their|theirs)\b)"
    rf"(?: {_COUNT}\b)?(?: {_THINGS}\b)?"
    rf"|\b(?:of|among|from) the (?:above|list|{_THINGS} {_SHOWN})\b"
    rf"|\b(?:the|all|those) (?:{_THINGS}|ones) {_SHOWN}"
    rf"|\bboth\b(?: {_THINGS})?(?! \w+ and\b)|\beach other\b|\ball (?:of )?(?:two|three|four|five)\b"
    rf"|\bthe two\b(?: {_THINGS})?{_END}",
    re.IGNORECASE,
)
PEOPLE = re.compile(r"(?:they|their|theirs|(?:the|these|those) authors?)", re.IGNORECASE)

# "It" that stands for nothing: "is it possible to", "how long does it take to".
_JUDGED = _words("possible impossible true known clear common necessary important hard easy difficult worth feasible that")
_DUMMY = (
    rf"(?! (?:is|was|would be|seems?|appears?) (?:{_JUDGED})\b)(?! (?:possible|true|known|necessary|feasible|worth|the case)\b)"
    r"(?! (?:better|hard|easy|important|common|safe) to\b)(?! (?:takes?|mean) (?!so |this |that )(?:\w+ ){0,3}to )(?! rain| snow)"
)
_BEFORE_THAT = "|".join(rf"(?<=\b{word} )" for word in "does did is was can could would will has explain describe".split())
_BEFORE_LAST_THAT = "|".join(rf"(?<=\b{word} )" for word in "about of for with to than from like behind do".split())
_AFTER_THIS = _words("is was does do did has can could would will works? compares? holds? means? helps? needs?")
_NOT_SHOWN = _words("year month week time corpus collection library field area topic subject way kind type sort question conversation")
PRONOUN = re.compile(
    rf"\b(?:(?<!what time is )it{_DUMMY}|its|itself|it['’]s)\b"
    rf"|\b(?:this|that|the same|such an?|said) (?:(?:very|new|proposed|latter) )?{_THING}\b|\b(?:this|that) one\b"
    rf"|\b(?:this|such an?) (?!(?:{_NOT_SHOWN}|{_AFTER_THIS})\b)[a-z]{{3,}}\b"
    r"|\b(?<!is )(?<!are )(?:there|here)\b(?=\s*[?.!]*$)"
    rf"|(?:{_BEFORE_THAT})(?:this|that)\b"
    rf"|(?:{_BEFORE_LAST_THAT})(?:this|that)\b(?=\s*(?:$|[?.!,;]|(?:in|on|for|with|to|and|or|at|by)\b))"
    rf"|\bthis\b(?=\s*(?:$|[?.!,;]|(?:{_AFTER_THIS})\b))",
    re.IGNORECASE,
)
_FURTHER = _words("of for on about that which who by with from called named to in")
DEFINITE = re.compile(
    rf"\b(?:the|their|your) (?:(?:proposed|new|resulting|authors['’]?|suggested|final|same) )?"
    rf"(?:{_THING}|results|authors?|researchers|team)\b(?:['’]s?)?(?! (?:{_FURTHER})\b)(?![\w-])",
    re.IGNORECASE,
)
