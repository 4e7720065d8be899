"""How a question begins: words that only greet or join, that open another topic, or that lean on the question before."""

from __future__ import annotations

import re

_JOINING = re.compile(
    r"^(?:(?:and|or|but|so|now|then|also|ok(?:ay)?|well|hm+|oh|ah|right|alright|great|good|cool|nice|interesting|thanks(?: a lot)?"
    r"|thank you|thx|yes|yeah|no|sure|perfect|wow|i see|got it|next|finally|by the way|btw|just curious"
    r"|one more (?:thing|question)|another question|additionally|besides|moreover|plus)\b[\s,.!:;–-]*)+(?=\S)",
    re.IGNORECASE,
)
_VERY = r"(?:completely |entirely |totally |quite |very )?"
_TOPIC = r"(?:topic|subject|question|area|note|matter|issue|theme)s?"
_CHANGED = r"(?:chang(?:e|ing)|switch(?:ing)?|shift(?:ing)?|mov(?:e|ing))"
_NEW_TOPIC = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|now|well|so|thanks|thank you|great|alright|right|let's|let us|and|but)[\s,.!]*)*"
    rf"(?:(?:on |for |to )?(?:an?|some|my)? ?{_VERY}(?:new|different|another|other|unrelated|separate|next) {_TOPIC}"
    r"|(?:(?:let's|let me|let us|i(?:'d| would) like to|i want to|can we|we can) )?"
    rf"{_CHANGED} (?:on|gears|(?:the |to (?:a |an )?(?:new |different |another |other )?)?(?:topics?|subjects?))"
    rf"|something {_VERY}(?:else|different|unrelated)|(?:leaving|putting) (?:that|this|it) aside|forget (?:about )?(?:that|it|this|them)"
    r"|never ?mind(?: that)?|unrelated(?:ly)?|turning to)\b[\s,.:;!–-]*(?:now[\s,:]*)?",
    re.IGNORECASE,
)
_LEANING = re.compile(
    r"^(?:(?:and|or|but|also|so|ok(?:ay)?|now)[\s,]+)*"
    r"(?:(?:what|how) about|(?:the )?same(?: question| thing)? (?:for|about|with)|and|or|also|but)\b[\s,:]*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"^(?:what|which|who|whose|whom|where|when|why|how|is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|list|show|find|give"
    r"|tell|explain|describe|summari[sz]e|compare|name)\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"^(?:for|on|in|with|by|at|to|from|without|under|over|during|across|beyond|using|when|if)\b", re.IGNORECASE)
_THAT = r"(?: (?:on |about )?(?:it|this|that|more|further|again))?"
_PLAINLY = r"(?: in (?:short|a nutshell|(?:one|a) sentence|a few words|(?:simple|simpler|plain|other|your own) (?:terms|words|english)))?"
_BARE = re.compile(
    r"^(?:(?:can|could|would|will) you |please )*"
    rf"(?:(?:please )?(?:explain|elaborate|continue|go on|expand|clarify|summari[sz]e|describe){_THAT}{_PLAINLY}"
    r"|why(?: not| so| is that)?|how(?: so| exactly| come| much| many| long)?|by how much|in (?:what|which) (?:way|sense)|such as"
    r"|for (?:example|instance)|like what|really|are you sure|(?:tell|show|give) me more(?: (?:details|about (?:it|this|that)))?"
    r"|(?:more|further|any) (?:details?|info(?:rmation)?)|details|say more|what else(?: does it say)?"
    r"|in (?:short|a nutshell|one sentence|simple terms)|meaning|and then|so what|what do you mean|otherwise|tl;?dr)(?: please)?\s*[?.!]*$",
    re.IGNORECASE,
)
_LONGEST_FRAGMENT = 8


def without_opener(question: str) -> str:
    """The question without greetings, joining words and announcements of another topic; whole when nothing else is in it."""
    text = question.strip()
    for pattern in (_NEW_TOPIC, _JOINING):
        rest = pattern.sub("", text, count=1).strip()
        text = rest or text
    return text


def opens_topic(question: str) -> bool:
    """Whether the question says that it leaves the topic."""
    return bool(_NEW_TOPIC.match(question))


def fragment(question: str) -> str:
    """What a leaning question asks about: "and what about graphs?" -> "graphs"; empty when it does not lean or is a whole sentence."""
    match = _LEANING.match(question)
    if match is None:
        return ""
    rest = question[match.end() :].strip(" ?.!,")
    return "" if _SENTENCE.match(rest) or len(rest.split()) > _LONGEST_FRAGMENT else rest


def adds_condition(text: str) -> bool:
    """Whether a fragment adds to the last question ("for graphs") instead of taking the place of its subject ("graphs")."""
    return bool(_PREPOSITION.match(text))


def is_bare(question: str) -> bool:
    """Whether a question says nothing but that more is wanted: "why?", "tell me more"."""
    return bool(_BARE.match(without_opener(question)))
