"""Which language a question is in, and what of it an English-only model can use."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_SCRIPTS = (
    (re.compile(r"[\u3040-\u30ff]"), "ja"),
    (re.compile(r"[\uac00-\ud7af]"), "ko"),
    (re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]"), "zh"),
    (re.compile(r"[\u0400-\u04ff]"), "ru"),
    (re.compile(r"[\u0600-\u06ff]"), "ar"),
    (re.compile(r"[\u0590-\u05ff]"), "he"),
    (re.compile(r"[\u0900-\u097f]"), "hi"),
    (re.compile(r"[\u0e00-\u0e7f]"), "th"),
)

# Frequent words of a question in each language; words that two languages share do not decide and are left out where they mislead.
_FUNCTION_WORDS = {
    "en": "the of and to in is are what which how who why when where does do did on for with by from that this these papers paper "
    "list all any there about an as be can has have it or not study work works show me find many much",
    "de": "der die das den dem des und ist sind was welche welcher welches wie wer warum wann wo mit von für über auf ein eine einer "
    "einen zum zur im nicht gibt es arbeiten wird werden kann hat haben bei aus oder zu artikel viele sich nach",
    "es": "el la los las de del y es son qué que cuál cuáles cómo quién por para con sobre un una unos en hay se su artículos trabajos "
    "estudian cuántos cuantos no al como más puede tiene",
    "fr": "le la les des du et est sont que quel quelle quels quelles comment qui pourquoi avec sur une un pour dans il y au aux "
    "articles travaux combien ce cette ces ne pas par quoi",
    "it": "il lo la gli le di del della e è sono che quale quali come chi perché con su per una un nel nella ci articoli lavori quanti "
    "non si dei delle",
    "pt": "o os as do da dos das e é são que qual quais como quem por para com sobre um uma em no na há artigos trabalhos quantos não "
    "se ao",
    "nl": "de het een van en is zijn wat welke hoe wie waarom met over voor op er zijn artikelen hoeveel niet bij naar wordt",
}
_WORDS = {language: frozenset(words.split()) for language, words in _FUNCTION_WORDS.items()}
_FOREIGN_LETTERS = {"ß": "de", "ä": "de", "ö": "de", "ü": "de", "ñ": "es", "¿": "es", "¡": "es", "ã": "pt", "õ": "pt", "ê": "fr", "œ": "fr"}
_NAMES_OF_LANGUAGES = {
    "ar": "Arabic", "de": "German", "es": "Spanish", "fr": "French", "he": "Hebrew", "hi": "Hindi", "it": "Italian", "ja": "Japanese",
    "ko": "Korean", "nl": "Dutch", "pt": "Portuguese", "ru": "Russian", "th": "Thai", "zh": "Chinese", "en": "English",
}  # fmt: skip

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_TERM = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+#/\-]*")
_MAX_CHARACTERS = 2_000


def detect_language(question: str) -> str:
    """The ISO 639-1 code of the question's language; `en` when nothing speaks for another one.

    Decided by script, else by the function words and letters that only some languages use, so that bare names
    ("LoRA versus AdamW") and English topics count as English.
    """
    text = question[:_MAX_CHARACTERS]
    letters = sum(map(str.isalpha, text))
    for script, language in _SCRIPTS:
        found = len(script.findall(text))
        # A character of a dense script weighs as much as a word.
        if found and found * (3 if language in {"zh", "ja", "ko"} else 1) >= letters / 3:
            return language
    return _latin_language(text)


def language_name(code: str) -> str:
    """The English name of a language code that `detect_language` returns."""
    return _NAMES_OF_LANGUAGES.get(code, code)


def usable_names(question: str, language: str) -> tuple[str, ...]:
    """Names and symbols of a question that keep their form in every language, in order, each once.

    In scripts other than Latin these are the Latin and numeric terms ("LoRA", "3D"); in Latin scripts the terms with a
    capital or a digit that are no function words. Empty when there are none.
    """
    latin = all(language != other for _, other in _SCRIPTS)
    function_words = _WORDS.get(language, frozenset())
    names: list[str] = []
    for match in _TERM.finditer(unicodedata.normalize("NFKC", question[:_MAX_CHARACTERS])):
        term = match.group().strip(".-/")
        if _cut_word(question, match) or not term or term.casefold() in function_words:
            continue
        if not latin or _looks_like_name(term, starts=match.start() < 3):
            names.append(term)
    return tuple(dict.fromkeys(names))


def _looks_like_name(term: str, *, starts: bool) -> bool:
    if any(c.isdigit() for c in term) or any(c.isupper() for c in term[1:]):
        return True
    return term[0].isupper() and not starts


def _cut_word(question: str, match: re.Match[str]) -> bool:
    """Whether the ASCII match is a piece of a word with accents, such as `artifici` of `artificiële`."""
    text = unicodedata.normalize("NFKC", question[:_MAX_CHARACTERS])
    around = text[max(match.start() - 1, 0) : match.start()] + text[match.end() : match.end() + 1]
    return any(c.isalpha() and not c.isascii() and "LATIN" in unicodedata.name(c, "") for c in around)


def _latin_language(text: str) -> str:
    words = [word.casefold() for word in _WORD.findall(text)]
    votes: Counter[str] = Counter()
    for language, function_words in _WORDS.items():
        votes[language] = 2 * sum(word in function_words for word in words)
    for letter in text.casefold():
        if letter in _FOREIGN_LETTERS:
            votes[_FOREIGN_LETTERS[letter]] += 1
    best, count = max(votes.items(), key=lambda item: (item[1], item[0] == "en"))
    return best if count > votes["en"] and count >= 3 else "en"
