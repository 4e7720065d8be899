"""Takes the wrapping off a question, so that what is searched is its topic."""

from __future__ import annotations

import re

_MAX_CHARACTERS = 10_000

_PLAIN_NOUN = r"papers?|articles?|abstracts?|publications?|submissions?|preprints?|manuscripts?"
_NOUN = (
    r"(?:(?:research|scientific|academic|recent|new|published|accepted|other|relevant|related)\s+)*"
    rf"(?:{_PLAIN_NOUN}|studies|works?|literature|research|anything|something|everything)"
)
_ASKING = (
    r"please|hi|hello|hey|(?:could|can|would|will) you|do you (?:know|have)(?: of)?|i(?:'d| would) like(?: to)?"
    r"|i(?:'m| am) (?:looking|searching) for|i (?:want|need)(?: to)?|help me|let me|(?:know|see|tell|show|give|get|find|fetch) (?:me|us)"
    r"|show|list|find|give|name|get|enumerate|count|identify|recommend|suggest|search(?: for)?|look(?:ing)?(?: up| for)|me|us|out"
)
_QUANTITY = (
    r"which|what|how many|how much|(?:are|is|was|were) there|there (?:are|is)|all|any|some|every|each|several|many|the|of|these|those"
    r"|an?|number"
)
_LINK = (
    r"in (?:this|the|our|your|my) (?:corpus|collection|library|conference|list|set)|that|which|who|are|is|was|were|be|been|have|has|do|does"
    r"|did|can|could|there|here|about|on|regarding|concerning|around|for|into|(?:related|relating|relevant) to"
    r"|(?:stud(?:y|ies|ied)|discuss|address|propos|investigat|explor|consider|examin|cover|present|introduc|analy[sz]|mention|tackl|describ"
    r"|treat|report|concern|us|involv)(?:e|es|s|ed|ing)?"
    r"|appl(?:y|ies|ied|ying)|(?:deal|deals|dealt|dealing|work|works|worked|working) (?:on|with)|look(?:s|ed|ing)? (?:at|into)"
    r"|focus(?:es|ed|ing)? on|talk(?:s|ed|ing)? about"
)

_ASKED = re.compile(rf"^(?:(?:{_ASKING})\b[\s,:]*)+", re.IGNORECASE)
_SET = re.compile(rf"^(?:(?:{_QUANTITY})\s+)*{_NOUN}\b[\s,:]*(?:(?:{_LINK})\b[\s,:]*)*", re.IGNORECASE)
_ABOUT = re.compile(r"^(?:about|on|for|all|any)\b\s*", re.IGNORECASE)
_DISCUSSED = re.compile(
    r"(?:\s+(?:is|are|was|were))?\s+(?:studied|discussed|addressed|investigated|explored|considered|proposed|used)$", re.IGNORECASE
)
_TAIL = re.compile(
    rf"[\s,]+(?:are there|do (?:you|we) have|exist|please|in (?:this|the|our|your|my) (?:corpus|collection|library)|{_PLAIN_NOUN})$",
    re.IGNORECASE,
)
_MARKS = " ?!.,;:"


def clean_query(question: str) -> str:
    """The topic of a question: without "which papers study", "is there work on", "please list all"; at most 10,000 characters.

    A question about a thing ("how does X encode prompts?") keeps all its words. The whole question when nothing else is left.
    """
    text = " ".join(question[:_MAX_CHARACTERS].split()).strip(_MARKS)
    asked = _ASKED.sub("", text)
    topic = _SET.sub("", asked)
    if topic != asked:
        topic = _DISCUSSED.sub("", _TAIL.sub("", topic))
    elif asked != text and _ABOUT.match(asked):
        topic = _ABOUT.sub("", asked)
    else:
        topic = text
    return _TAIL.sub("", topic).strip(_MARKS) or text
