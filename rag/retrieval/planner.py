"""What a question asks for: one answer or a set of papers, about which topic, among which papers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from rag.records import Mode
from rag.retrieval.constraints import Facets, find_constraints
from rag.retrieval.language import detect_language, usable_names
from rag.store.filters import Filters

# "works" and "studies" are verbs as often as nouns: they count only where the rules below say so.
_PLURAL = r"(?:papers|articles|publications|abstracts|submissions|posters|orals|spotlights|preprints|manuscripts|literature)"
_SINGULAR = r"(?:paper|article|publication|abstract|submission|poster|preprint|manuscript|study|work)"
_NOUN = rf"(?:{_PLURAL}|{_SINGULAR}|works|studies|research)"
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = rf"\d{{1,4}}|{'|'.join(_NUMBERS)}"
_QUANTITY = (
    r"(?:(?:all|any|every|each|some|an?|the|these|those|this|of|me|us|other|more|accepted|recent|new|relevant|top|first|best|most"
    rf"|{_NUMBER})\s+)*"
)
_NO_MODIFIER = (
    r"(?!(?:summari[sz]e|explain|describe|compare|review|overview|tell|what|which|how|why|when|where|do|does|did|is|are|was|were|can|has|have"
    r"|about|on|that|of)\b)"
)
_MODIFIERS = rf"(?P<modifiers>(?:{_NO_MODIFIER}[^\s,;:?]+\s+){{0,4}}?)"
_ABOUT = r"(?:on|about|that|which|who|using|with|for|in|from|of|dealing|concerning|related|relating|regarding|addressing|studying|where)"
_SEARCH = r"(?:list|show|give|find|name|enumerate|get|display|return|fetch|collect|retrieve|see|search(?: for)?|look(?:ing)? for|identify)"
_CORPUS = r"(?:(?:the|this|your|our|my) (?:corpus|collection|database|library|papers|abstracts))"

_PLEASE = re.compile(
    r"^(?:hi|hello|hey|ok(?:ay)?|so|and|well|please|kindly|(?:can|could|would) you|(?:can|could) i|i(?: would|'d)? like(?: you)? to"
    r"|i(?:'m| am) (?:looking|searching) for|(?:i|we) (?:want|need)(?: to)?|i am after|help me|(?:tell|inform) me(?: about)?"
    r"|let me know|do you know)\b[\s,!.]*",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"[\s,]*(?:please|thanks|thank you|(?:do|can) you (?:have|know|find)(?: of| about)?|(?:that )?(?:are|is) there|exist"
    rf"|have you (?:got|indexed)|(?:in|from|of|among) {_CORPUS})[\s?.!]*$",
    re.IGNORECASE,
)
_SET_QUESTIONS = tuple(
    re.compile(rf"^(?:{pattern})(?P<rest>.*)$", re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"(?:among|in|of) {_QUANTITY}(?:papers|corpus|collection|abstracts),? (?:which|what)(?: ones| papers)?\b",
        rf"(?:which|what)(?:'s| is| are)? {_QUANTITY}{_MODIFIERS}{_PLURAL}\b",
        rf"(?:which|what)(?: is| are)? {_QUANTITY}(?:(?:prior|previous|existing|related|empirical|theoretical) )*"
        r"(?:works?|studies|research)"
        rf"(?= (?:{_ABOUT}|is|are|has|have|exists?|\w+s?)\b)(?! best\b)",
        rf"(?:in )?(?:which|what) ones\b(?= of| {_ABOUT}| \w)",
        rf"{_SEARCH} {_QUANTITY}{_MODIFIERS}{_NOUN}\b",
        rf"{_SEARCH} (?:me |us )?(?:everything|all|anything)\b(?= (?:on|about|related|concerning|that|using)\b)",
        rf"(?:are|is|were|was) there (?:also )?{_QUANTITY}{_MODIFIERS}{_NOUN}\b",
        rf"(?:do|does) (?:we|you|{_CORPUS}) (?:have|know(?: of)?|contain|include|hold) {_QUANTITY}{_MODIFIERS}{_NOUN}\b",
        rf"(?:do|does|did|have|has) {_QUANTITY}{_MODIFIERS}{_NOUN}\b",
        r"(?:has|have|did|is|does) (?:anyone|anybody|someone|somebody)\b",
        r"who(?: is| are| has| have|'s)? (?:been )?(?:work|publish|stud(?:y|i)|research)(?:e?s|e?d|ing)?\b",
        r"(?:which|what) (?:researchers|authors|people|groups|labs|teams) (?=(?:work|publish|stud|research)\w*\b)",
        r"what (?:has|have|did) (?:been )?(?:written|published|done|reported|proposed|said|publish|write)\b",
        rf"{_QUANTITY}{_MODIFIERS}{_NOUN}\b(?= {_ABOUT}\b)",
        r"(?:everything|anything) (?=(?:on|about)\b)",
        rf"{_QUANTITY}(?P<topic>(?:{_NO_MODIFIER}[^\s,;:?]+\s+){{0,6}}){_PLURAL}\s*(?=$)",
    )
)
_COUNT = re.compile(
    rf"^(?:how many|(?:what(?:'s| is) )?the (?:total )?number of|number of|count) (?:of )?{_QUANTITY}{_MODIFIERS}"
    rf"(?:{_PLURAL}|works|studies)\b(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_FOREIGN_SETS = re.compile(
    r"^\s*(?:welche\w* .*(?:arbeiten|artikel|papiere?|papers?|studien|veröffentlichungen|publikationen|aufsätze)\b"
    r"|(?:¿\s*)?(?:qué|que|cuáles|cuales) .*(?:artículos|articulos|trabajos|papers|estudios|publicaciones)\b"
    r"|quel(?:le)?s .*(?:articles|travaux|papiers|études|publications)\b|quali .*(?:articoli|lavori|studi|pubblicazioni)\b"
    r"|(?:que|quais) .*(?:artigos|trabalhos|estudos|publicações)\b|welke .*(?:artikelen|papers|studies|publicaties)\b)"
    r"|(?:哪些|哪几篇|有没有|有哪些|列出|所有).*(?:论文|文章|研究|工作|論文)|どの論文|どんな論文|어떤 논문|какие (?:статьи|работы)"
    r"|gibt es .*(?:arbeiten|artikel|papers?|studien)\b|hay .*(?:artículos|trabajos|papers|estudios)\b",
    re.IGNORECASE,
)
_FOREIGN_COUNTS = re.compile(r"wie ?viele|cuántos|cuantos|combien|quanti|quantos|hoeveel|多少篇|几篇|いくつ|몇 편|сколько", re.IGNORECASE)

_NEUTRAL_VERBS = (
    r"(?:use|propos|introduc|examin|investigat|explor|involv|describ|tackl|us)(?:e|es|ed|ing)|(?:stud|appl)(?:y|ies|ied|ying)"
    r"|(?:present|consider|cover|treat|mention|employ|develop|contain|concern)(?:s|ed|ing)?|(?:discuss|address|research)(?:es|ed|ing)?"
    r"|report(?:s|ed|ing)? on|make use of|(?:deal(?:s|t|ing)?|work(?:s|ed|ing)?) (?:with|on)|focus(?:es|ed|ing)? on"
    r"|look(?:s|ed|ing)? (?:at|into)|(?:tr(?:y|ies|ied)|aims?|seeks?|attempts?) to|published?|written|done|said|reported|proposed"
)
_FIRST_WORD = re.compile(r"\s*([A-Za-z]{5,14})\b")
_VERBS = tuple(
    "address addresses addressing discuss discusses discussing study studies studying propose proposes investigate investigates describe "
    "describes consider considers examine examines explore explores introduce introduces present presents tackle tackles research "
    "researches".split()
)
_ALIKE = 0.88
_NEUTRAL = re.compile(
    r"^(?:that|which|who|whose|where|when|are|is|were|was|be|been|being|have|has|had|do|does|did|there|can|could|may|exist(?:s|ed|ing)?"
    r"|available|any|also|actually|specifically|mainly|directly|currently|already|ever|explicitly|primarily|mostly"
    r"|about|on|of|for|in|with|into|at|to|from|regarding|(?:related|relating|relevant|pertaining|devoted|dedicated) to|topics? like"
    rf"|the (?:topic|subject|problem|question|issue|field|area|use) of|{_NEUTRAL_VERBS})\b[\s,:]*",
    re.IGNORECASE,
)
_SINGLE = re.compile(rf"^(?:in )?(?:which|what) {_SINGULAR}\b(?: is| are)?\s*", re.IGNORECASE)
_LIMIT = re.compile(
    rf"\b(?:top|first|best|up to|at most) (?P<top>{_NUMBER})\b"
    rf"|\b(?:list|show|give|find|name|get)(?: me| us)? (?:the )?(?P<asked>{_NUMBER}) (?:\w+ )?{_NOUN}\b|^(?P<bare>{_NUMBER}) {_PLURAL}\b",
    re.IGNORECASE,
)
_MAX_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question is going to be answered."""

    question: str
    """As it was asked."""
    topic: str
    """What is searched: the question without words that ask, restrict or count; empty when every paper of the filters is meant."""
    mode: Mode
    count: bool = False
    """True when the question asks how many papers there are."""
    filters: Filters = Filters()
    """Restrictions on year, venue, author... found in the question."""
    language: str = "en"
    """ISO 639-1 code of the question's language."""
    limit: int | None = None
    """The number of papers the reader asked to see, as in "list five papers"."""


def plan_question(question: str, facets: Facets, *, force_mode: Mode | None = None) -> Plan:
    """The plan of a question, by rules; `facets` are what the corpus's papers can be restricted by.

    Questions for a set ("which papers ...", "list ...", "is there work on ...", "who works on ...", "papers about ...") or a count
    ("how many posters on ...") are of mode `list`, all others of mode `answer`; `force_mode` overrules.
    """
    language = detect_language(question)
    if language != "en":
        return _foreign_plan(question, language, force_mode)
    asked = " ".join(question[:_MAX_CHARACTERS].split())
    limit = _limit(asked)
    filters, rest = find_constraints(_without_politeness(asked), facets)
    rest = _without_politeness(rest)
    if counted := _COUNT.match(rest):
        return Plan(question, _topic(counted), force_mode or "list", True, filters, limit=limit)
    found = next((match for pattern in _SET_QUESTIONS if (match := pattern.match(rest))), None)
    if found is not None:
        return Plan(question, _topic(found), force_mode or "list", False, filters, limit=limit)
    single = _SINGLE.sub("", rest)
    topic = _stripped(single) if single != rest else rest.strip(" ?.!,")
    return Plan(question, topic, force_mode or "answer", False, filters)


def _foreign_plan(question: str, language: str, force_mode: Mode | None) -> Plan:
    count = bool(_FOREIGN_COUNTS.search(question))
    is_set = count or bool(_FOREIGN_SETS.search(question))
    names = usable_names(question, language)
    topic = " ".join(names) or " ".join(question.split())
    return Plan(question, topic, force_mode or ("list" if is_set else "answer"), count, language=language)


def _without_politeness(text: str) -> str:
    text = text.strip(" \t\"'`“”")
    while (shorter := _TRAILING.sub("", _PLEASE.sub("", text)).strip(" ,")) != text:
        text = shorter
    return text


def _topic(match: re.Match[str]) -> str:
    groups = match.groupdict()
    modifiers = _NEUTRAL.sub("", (groups.get("modifiers") or groups.get("topic") or "").strip())
    return " ".join(part for part in (modifiers.strip(), _stripped(_without_slip(match["rest"]))) if part)


def _without_slip(rest: str) -> str:
    """What follows "which papers", with its verb of asking as it is spelled: "adress", "discus"."""
    found = _FIRST_WORD.match(rest)
    meant = get_close_matches(found[1].lower(), _VERBS, 1, _ALIKE) if found else []
    return rest.replace(found[1], meant[0], 1) if found and meant else rest


def _stripped(text: str) -> str:
    text = text.strip(" ?.!,:;-")
    while (shorter := _NEUTRAL.sub("", text, count=1)) != text:
        text = shorter
    return _TRAILING.sub("", text).strip(" ?.!,:;")


def _limit(text: str) -> int | None:
    match = _LIMIT.search(text)
    if match is None:
        return None
    number = (match["top"] or match["asked"] or match["bare"]).lower()
    limit = _NUMBERS.index(number) + 1 if number in _NUMBERS else int(number)
    return limit or None
