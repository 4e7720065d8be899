"""HTML and JATS markup to plain text."""

from __future__ import annotations

import html
import re

_INLINE = (
    "a abbr abbrev alternatives annotation b big bold cite code em ext-link font graphic i img inline-formula inline-graphic italic kbd "
    "mark math menclose mfenced mfrac mi mmultiscripts mn mo monospace mover mpadded mphantom mprescripts mroot mrow mspace msqrt mstyle "
    "msub msubsup msup mtable mtd mtext mtr munder munderover named-content none overline q roman s samp sans-serif sc semantics small "
    "span strike strong styled-content sub sup tex-math tt u underline uri xref"
).split()
_BLOCK = (
    "abstract abstracttext article-title blockquote body br caption center dd disp-formula div dl dt h1 h2 h3 h4 h5 h6 head hr html label "
    "li list list-item ol p para pre sec section simplepara table tbody td th thead title tr ul"
).split()
_ATTRIBUTES = r"""(?:\s+[\w:.-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))*"""


def _tags(names: list[str]) -> str:
    return rf"</?(?:[a-z]+:)?(?:{'|'.join(sorted(names, key=len, reverse=True))}){_ATTRIBUTES}\s*/?>"


_INLINE_TAG = re.compile(_tags(_INLINE), re.IGNORECASE)
_BLOCK_TAG = re.compile(_tags(_BLOCK), re.IGNORECASE)
_SUB = re.compile(r"<(sub|inf)\b[^<>]*>\s*([^<>]{1,40}?)\s*</\1>", re.IGNORECASE)
_SUP = re.compile(r"<(sup)\b[^<>]*>\s*([^<>]{1,40}?)\s*</\1>", re.IGNORECASE)
_EXPONENT = re.compile(r"[-−–+]?[\d.,]+|[a-z]|[-−–+]|[-−–+]?\w*[-−–+]\w*", re.IGNORECASE)
# Each of these stops where another of its kind begins: searching on to the end from every start would take quadratic time.
_DROPPED = re.compile(r"<!--(?:[^<-]|<(?!!--)|-(?!->))*-->|<(script|style)\b[^<>]*>(?:[^<]|<(?!/?\1\b))*</\1\s*>|<\?[^<>]*>", re.IGNORECASE)
_CDATA = re.compile(r"<!\[CDATA\[((?:[^\]<]|\](?!\]>)|<(?!!\[CDATA\[))*)\]\]>")
_HEADING = re.compile(r"^\s*<((?:[a-z]+:)?title)>\s*(?:abstract|summary)\s*[.:]?\s*</\1>", re.IGNORECASE)
_MATHML_TWIN = re.compile(r"<((?:[a-z]+:)?math)\b[^<>]*>(?:[^<]|<(?!/?(?:[a-z]+:)?math\b))*</\1>", re.IGNORECASE)
_TEX_DOCUMENT = re.compile(
    r"\\documentclass(?:[^\\]|\\(?!begin\{document|documentclass))*\\begin\{document\}"
    r"((?:[^\\]|\\(?!end\{document|documentclass))*)\\end\{document\}"
)
# A semicolon is required: without it `?a=1&copy=2` would lose half of its query.
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def markup_to_text(raw: str) -> str:
    """`raw` without HTML and JATS tags and with its entities resolved, also when they were escaped twice; white space is not normalised."""
    text = _without_tags(raw)
    for _ in range(2):
        resolved = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
        if resolved == text:
            break
        text = _without_tags(resolved)
    return text


def _without_tags(text: str) -> str:
    if "<" not in text:
        return text
    text = _CDATA.sub(r"\1", _DROPPED.sub(" ", text)) if "<!" in text or "<?" in text or "<s" in text.lower() else text
    if "tex-math" in text:
        text = _TEX_DOCUMENT.sub(r"\1", _MATHML_TWIN.sub("", text))
    text = _SUP.sub(_raised, _SUB.sub(_lowered, _HEADING.sub("", text)))
    return _INLINE_TAG.sub("", _BLOCK_TAG.sub(" ", text))


def _raised(match: re.Match[str]) -> str:
    return f"^{match[2]}" if _EXPONENT.fullmatch(match[2]) else match[2]


def _lowered(match: re.Match[str]) -> str:
    return match[2] if match[2].isdigit() else f"_{match[2]}"
