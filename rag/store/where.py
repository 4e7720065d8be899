"""The `--where` grammar, from text to a condition.

condition  = both { "or" both }
both       = one { "and" one }
one        = "not" one | "(" condition ")" | field operator value
operator   = "=" "!=" "<" "<=" ">" ">=" "~"
value      = bare word | "quoted" | 'quoted'      (backslash escapes inside quotes)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NoReturn

from rag.errors import UsageError
from rag.store.conditions import ALIASES, FIELDS, Condition, Group, Negation, compare

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<mark>[()])|(?P<operator><=|>=|!=|==|=|<|>|~)"
    r"|(?P<quoted>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<word>[^\s()\"'=!<>~\\]+)",
    re.DOTALL,
)
_MAX_COMPARISONS = 200
_MAX_DEPTH = 30


@dataclass(frozen=True, slots=True)
class _Token:
    kind: Literal["mark", "operator", "quoted", "word", "end"]
    text: str
    position: int
    """1-based."""


_EXAMPLE = "Example: year>=2024 and venue~ICLR."


def parse(text: str) -> Condition | None:
    """The condition that `text` states; None for an empty text, which restricts nothing.

    Raises `UsageError` that says what is wrong at which character, with an example of what is right.
    """
    try:
        return _parsed(text)
    except UsageError as error:
        raise UsageError(f"{error} {_EXAMPLE}") from error


def _parsed(text: str) -> Condition | None:
    tokens = tuple(_tokens(text))
    if len(tokens) == 1:
        return None
    if sum(token.kind == "operator" for token in tokens) > _MAX_COMPARISONS:
        raise UsageError(f"The condition has more than {_MAX_COMPARISONS} comparisons. Split it into several searches.")
    return _Parser(text, tokens).whole()


class _Parser:
    def __init__(self, text: str, tokens: tuple[_Token, ...]) -> None:
        self._text = text
        self._tokens = tokens
        self._next = 0
        self._depth = 0

    def whole(self) -> Condition:
        condition = self._any()
        if self._peek().kind != "end":
            self._fail(self._peek(), 'expected `and`, `or` or the end; quote a value that has spaces, such as venue~"ICLR 2025"')
        return condition

    def _any(self) -> Condition:
        return self._joined("or", self._all)

    def _all(self) -> Condition:
        return self._joined("and", self._one)

    def _joined(self, joint: Literal["and", "or"], part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while self._takes(joint):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Group(joint, tuple(parts))

    def _one(self) -> Condition:
        start = self._peek()
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self._fail(start, f"nested more than {_MAX_DEPTH} deep")
        if self._takes("not"):
            condition: Condition = Negation(self._one())
        elif self._takes("("):
            condition = self._any()
            if not self._takes(")"):
                self._fail(self._peek(), f"expected `)` for the `(` at character {start.position}")
        else:
            condition = self._comparison()
        self._depth -= 1
        return condition

    def _comparison(self) -> Condition:
        field = self._expect(("word",), "expected a field, such as year or venue")
        operator = self._expect(("operator",), f"expected one of = != < <= > >= ~ after {field.text!r}{_instead(field.text)}")
        value = self._expect(("word", "quoted"), f"expected a value after {field.text}{operator.text}")
        text = re.sub(r"\\(.)", r"\1", value.text[1:-1], flags=re.DOTALL) if value.kind == "quoted" else value.text
        try:
            return compare(field.text, operator.text.replace("==", "="), text)
        except UsageError as error:
            raise UsageError(f"In the condition {self._text!r}, at character {field.position}: {error}") from error

    def _expect(self, kinds: tuple[str, ...], problem: str) -> _Token:
        token = self._peek()
        if token.kind not in kinds or (token.kind == "word" and token.text.lower() in ("and", "or", "not")):
            self._fail(token, problem)
        self._next += 1
        return token

    def _takes(self, text: str) -> bool:
        token = self._peek()
        found = token.kind in ("word", "mark") and token.text.lower() == text
        self._next += found
        return found

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _fail(self, token: _Token, problem: str) -> NoReturn:
        found = "the end" if token.kind == "end" else repr(token.text)
        raise UsageError(f"In the condition {self._text!r}, at character {token.position} ({found}): {problem}.")


def _instead(word: str) -> str:
    """What a value that stands alone was meant as."""
    if word.lower() in FIELDS or word.lower() in ALIASES:
        return ""
    return f"; for the year write year={word}" if re.fullmatch(r"\d{4}", word) else f"; for a venue write venue~{word}"


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            problem = "a quote is never closed" if text[position] in "\"'" else "unexpected character; put the value in quotes"
            raise UsageError(f"In the condition {text!r}, at character {position + 1} ({text[position]!r}): {problem}.")
        if match.lastgroup != "space":
            tokens.append(_Token(match.lastgroup, match[0], position + 1))  # type: ignore[arg-type]  # the group names are the kinds
        position = match.end()
    return [*tokens, _Token("end", "", len(text) + 1)]
