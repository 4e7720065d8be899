"""Words that carry no topic of their own, and the turns of phrase that lean on earlier questions."""

from __future__ import annotations

import re
from typing import Literal

from rag.conversation.openers import without_opener
from rag.retrieval.constraints import Facets
from rag.retrieval.planner import plan_question
from rag.text.words import content_words, stem

_FRAME = """
    paper work study article publication abstract method approach framework technique author researcher team people group they
    show tell say give explain describe summarize summarise elaborate clarify detail discuss mention state claim propose introduce present
    report suggest develop offer provide investigate examine explore consider address exactly actually basically briefly short word sentence
    please question answer know think mean go back talk return compare comparison differ difference different relate relation
    related similar look find list name first second third last former latter previous one two three four five thing stuff point way kind
    sort general overall particular specific specifically main mainly key major sure okay again earlier mentioned cited above below said
    according stand call called named depend happen break down turn
    term terms simple simply plain something anything someone somebody anybody everything else
"""
_ASPECTS = """
    result finding conclusion outcome contribution novelty novel idea insight intuition motivation goal aim purpose objective hypothesis
    problem challenge limitation weakness drawback shortcoming caveat advantage benefit strength disadvantage downside future
    dataset data benchmark task domain experiment experimental evaluation evaluate evaluated test tested testing baseline metric measure
    measured setup setting ablation accuracy performance perform gain improvement improve improved score number figure percent percentage
    quantitative speed speedup fast faster slow slower cost expensive cheap cheaper overhead efficient efficiency time hour long much many
    big large small size scale better best worse good bad well outperform beat state art hardware compute
    resource runtime latency significant significance
    convincing reliable reproducible reproduce valid validate validated sound correct
    code repository repo github open source available availability released release download link url project page website license
    author wrote write written publish published publication venue conference year date when where who affiliation appear appeared
    assumption assume theory theoretical theoretically proof prove proven theorem guarantee bound formal empirical
    example application apply use used useful work works practice practical real world
    enough sufficient amount quantity necessary required requirement minimum maximum typical typically usual usually total
    reason cause happen do does done make reach achieve obtain get take need require involve rely help
    summary detail overview gist tldr abstract background mechanism step part component algorithm procedure model system matter
"""
_FRAME_STEMS = frozenset(stem(word) for word in _FRAME.split())
_ASPECT_STEMS = frozenset(stem(word) for word in _ASPECTS.split())

_NOUNS = r"(?:papers?|works?|ones?|stud(?:y|ies)|articles?|publications?|approach(?:es)?|methods?|results?)"
_THIS_TOPIC = (
    r"(?:this|that|it|these|those|them|the (?:same|topic|subject|area)(?: (?:topic|subject|area|thing|question|problem))?"
    r"|this (?:topic|subject|area))"
)
_ASKED = (
    r"(?:(?:are|is) there |do you (?:have|know) |can you find |show me |give me |list |find |what |which |who |any |anything |something "
    r"|anyone |some |and |the |how about )*"
)
_ON_TOPIC = (
    rf"(?: (?:that |which )?(?:do|does|work on|study|like|on|about|in|for|along|of|tackle|address)? ?{_THIS_TOPIC}"
    r"(?: (?:topic|area|line|kind|too|as well|lines))?)?"
)
_OTHERS = re.compile(
    rf"^{_ASKED}(?:others?|more|else|another|additional|further)\b(?: (?:relevant |related |such )?{_NOUNS}| one)?{_ON_TOPIC}"
    r"(?: (?:are|is) there| exist| too| as well| in (?:the|this) corpus)?\s*[?.!]*$",
    re.IGNORECASE,
)
_SIMILAR = re.compile(
    rf"\b(?:similar|related|comparable|closest|close|akin)\b(?: {_NOUNS})?(?: to\b)?"
    r"|\b(?:something|anything|papers?|works?|others?|ones?|more|what else is) (?:else )?(?:(?:that|which) (?:is|are) )?(?:like|near) ",
    re.IGNORECASE,
)
_COUNT = r"(?: (?:two|three|four|five|six|[2-9]))?"
_SHOWN = r"(?: above| (?:that )?you \w+(?: me)?)?"
_GROUP = rf"(?:them|(?:those|these){_COUNT}(?: {_NOUNS})?|the (?:above|list|two|three|four|five|{_NOUNS}){_SHOWN}|{_NOUNS})"
_WHICH_OF = re.compile(
    rf"^(?:(?:of|among|from|out of) {_GROUP},? (?:which|what)(?: (?P<several>ones)| one|)"
    rf"|which(?: (?P<many>ones)| one|)(?: of {_GROUP})?|(?:what|who|how many) of {_GROUP}"
    rf"|(?:do|does|did|is|are|has|have|was|were) (?P<any>any|some|one|either|all|both|none)(?: ones?)? of {_GROUP}"
    r"|(?:(?:show|give|list|keep)(?: me)? )?(?:only|just) (?:the ones|those)"
    r"|(?:show|give|list|keep)(?: me)? (?:the ones|those))\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"^(?:is|are|was|were|has|have|had|does|do|did|can|could|would|will|should|must|may|might|also|actually|really|not|that|which|about|on"
    r"|with|from|by|for|in|using|\w{3,}s|\w{3,}ed|use|study|report|release|provide|show|propose|work|need|require|introduce|achieve|prove|evaluate|handle|apply"
    r"|cover|compare|include|deal|train|test|consider|address|improve|reduce|run|give|offer|make|rely|simulate|predict|model|solve|learn)\b",
    re.IGNORECASE,
)
# One word is a noun ("which floods?"), and so is one with a verb after it ("which models does it beat?").
_AUXILIARY = r"(?:is|are|was|were|has|have|had|does|do|did|can)"
_NOT_PICKED = re.compile(rf"^\S+$|\bits?\b|^(?!{_AUXILIARY}\b)\S+ {_AUXILIARY}\b", re.IGNORECASE)
_SINGULAR = re.compile(r"(?:is|was|has|does|\w{2,}[^s\W]s)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[;.?!]|,? \b(?:and|but|or|then|while|because|since|when|if|so)\b", re.IGNORECASE)


def own_words(text: str) -> tuple[str, ...]:
    """The words of a question that say what it is about, without those that any question about a paper may hold."""
    return tuple(word for word in content_words(text) if stem(word) not in _FRAME_STEMS)


def is_generic(question: str) -> bool:
    """Whether a question could be asked of any paper: "which datasets were used?"."""
    return bool(question.strip(" ?.!")) and not telling_words(question)


def telling_words(text: str) -> tuple[str, ...]:
    """The own words that name no aspect which every paper has."""
    return tuple(word for word in own_words(text) if stem(word) not in _ASPECT_STEMS)


def asks_for_set(question: str) -> bool:
    """Whether a question asks for papers in the plural or for their number."""
    return plan_question(question, Facets()).mode == "list"


def asks_for_more(question: str) -> Literal["others", "similar"] | None:
    """Whether a question wants further papers like those before: on the same topic, or close to a certain one."""
    if _OTHERS.match(question):
        return "others"
    return "similar" if _SIMILAR.search(question) else None


def picks_among(question: str) -> str:
    """A question for some of the papers shown before, in a form for the whole corpus: "which of those use X?" -> "Which papers use X?".

    Empty when it is none.
    """
    match = _WHICH_OF.match(without_opener(question))
    if match is None or not _VERB.match(match["rest"]) or _NOT_PICKED.search(match["rest"]):
        return ""
    rest = re.sub(r"^(?:that|which) ", "", match["rest"].rstrip(" ?.!"))
    is_singular = bool(_SINGULAR.match(rest)) and not (match["many"] or match["several"] or match["any"])
    return f"Which {'paper' if is_singular else 'papers'} {rest}?"


def has_inner_antecedent(question: str, start: int) -> bool:
    """Whether what stands before `start` is a clause with a topic of its own, which a pronoun there can stand for."""
    before = question[:start]
    if asks_for_set(before) and len(telling_words(before)) > 1:
        return True
    clauses = [match.start() for match in _CLAUSE.finditer(before)]
    return bool(clauses) and bool(telling_words(before[: clauses[-1]]))
