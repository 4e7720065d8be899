"""Citations in a text that arrives in pieces: read, renumbered, and dropped when they point at nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rag.answering.held import Held, Step
from rag.answering.marks import WAIT, Mark, Run, bracket_end, is_begun, is_index, read_run, target_end

_PLAIN = re.compile(r"[^\s`$\\!\[【［(]+(?: [^\s`$\\!\[【［(]+)*")
_SPACE = re.compile(r"\s+")
_LONGEST_SPACE = 200
_CLOSING = ".,;:!?)]}»”’…"
_TICKS = re.compile(r"`+")
_LONGEST_CODE = 400
_LONGEST_MATHS = 1_000
_MONEY = re.compile(r"\$\d[\d,.]*(?:[kKmMbB]n?\b)?(?=[\s,.;:!?)\]\[]|$)")
_ESCAPED_CITATION = re.compile(r"\\\[(\s*\^?\d[\d\s,;–-]*)\\\]")
_LONGEST_TAIL = 60
_TAIL = re.compile(r"\w*$")


class Numbering:
    """Numbers as the reader sees them, by first use; numbers fixed by the conversation are kept.

    Args:
        sources: Number in the prompt -> paper id.
        fixed: Paper id -> number it already has in the conversation.
    """

    def __init__(self, sources: Mapping[int, str], fixed: Mapping[str, int]) -> None:
        self._sources = dict(sources)
        self._fixed = dict(fixed)
        self._following = max(self._fixed.values(), default=0) + 1
        self.cited: dict[str, int] = {}
        """Paper id -> shown number, in order of first use."""
        self.dropped: list[str] = []
        """Marks that matched nothing, as they stood, each once."""

    def shown(self, mark: Mark) -> list[int]:
        """The numbers to show for a mark; those that match nothing are noted as dropped."""
        known = [number for number in mark.numbers if number in self._sources]
        if len(known) < len(mark.numbers):
            unknown = [f"[{number}]" for number in mark.numbers if number not in self._sources]
            self.dropped += [text for text in ([mark.raw] if not known else unknown) if text not in self.dropped]
        return list(dict.fromkeys(self._number(self._sources[number]) for number in known))

    def knows(self, mark: Mark) -> bool:
        """Whether any number of the mark stands for a paper."""
        return any(number in self._sources for number in mark.numbers)

    def _number(self, paper_id: str) -> int:
        if paper_id not in self.cited:
            if paper_id not in self._fixed:
                self._fixed[paper_id] = self._following
                self._following += 1
            self.cited[paper_id] = self._fixed[paper_id]
        return self.cited[paper_id]


class Brackets(Held):
    """Rewrites citations; leaves code, formulas and `x[1]` alone; reduces Markdown links and images to their text."""

    def __init__(self, numbering: Numbering) -> None:
        super().__init__()
        self._numbering = numbering
        self._space = ""
        self._after_drop = False
        self._line_start = True
        self._fence = ""
        self._tail = ""
        self._indexed = False
        self._begun = False

    def close(self) -> str:
        """What was still held back, white space at the end included."""
        rest = super().close()
        space, self._space = self._space, ""
        return rest + ("" if self._after_drop and "\n" not in space else space)

    def step(self, text: str, place: int, *, final: bool) -> Step | None:
        """The next token."""
        character = text[place]
        if self._fence:
            return self._in_fence(text, place, final=final)
        if character.isspace():
            return self._white(text, place)
        handler = {"`": self._code, "$": self._maths, "\\": self._backslash, "!": self._image, "(": self._parenthesis}.get(character)
        if handler is None and character in "[【［":
            handler = self._bracket
        if handler is not None:
            return handler(text, place, final=final)
        match = _PLAIN.match(text, place)
        end = match.end() if match else place + 1
        return self._out(text[place:end]), end

    def _out(self, piece: str) -> str:
        """`piece` behind the white space that was held, less what a dropped citation left over."""
        space, self._space = self._space, ""
        if self._after_drop and space and "\n" not in space and (not self._begun or piece[:1] in _CLOSING):
            space = ""
        self._after_drop = False
        self._line_start = False
        self._indexed = False
        self._tail = _TAIL.search(((self._tail if not space else "") + piece)[-_LONGEST_TAIL:])[0]  # type: ignore[index]  # matches empty text too
        self._begun = True
        return space + piece

    def _white(self, text: str, place: int) -> Step:
        match = _SPACE.match(text, place, place + _LONGEST_SPACE)
        end = match.end() if match else place + 1
        space = text[place:end]
        self._line_start = self._line_start or "\n" in space
        if self._after_drop and self._space:
            both = self._space + space
            space = both[both.find("\n") :] if "\n" in both else " "
            self._space = ""
        self._space += space
        self._tail = ""
        return "", end

    def _in_fence(self, text: str, place: int, *, final: bool) -> Step | None:
        end = text.find("\n", place)
        if end < 0:
            if not final:
                return None
            end = len(text) - 1
        line = text[place : end + 1]
        if line.strip().startswith(self._fence) and not line.strip().strip("`"):
            self._fence = ""
            self._line_start = True
            self._tail = ""
        return line, end + 1

    def _code(self, text: str, place: int, *, final: bool) -> Step | None:
        ticks = _TICKS.match(text, place)[0]  # type: ignore[index]  # called at a tick
        start = place + len(ticks)
        if start == len(text) and not final:
            return None
        if self._line_start and len(ticks) >= 3:
            return self._open_fence(text, place, ticks, final=final)
        end = _closing_ticks(text, start, ticks)
        if end == WAIT or (end == len(text) and not final):
            if not final and len(text) - place < _LONGEST_CODE and "\n\n" not in text[place:]:
                return None
            end = start if end == WAIT else end
        return self._out(text[place:end]), end

    def _open_fence(self, text: str, place: int, ticks: str, *, final: bool) -> Step | None:
        end = text.find("\n", place)
        if end < 0:
            if not final and len(text) - place < _LONGEST_CODE:
                return None
            return self._out(ticks), place + len(ticks)
        if "`" in text[place + len(ticks) : end]:
            return self._out(ticks), place + len(ticks)
        self._fence = ticks
        return self._out(text[place : end + 1]), end + 1

    def _maths(self, text: str, place: int, *, final: bool) -> Step | None:
        if place + 1 == len(text) and not final:
            return None
        mark = "$$" if text[place : place + 2] == "$$" else "$"
        if mark == "$":
            money = _MONEY.match(text, place)
            if money and (money.end() < len(text) or final):
                return self._out(money[0]), money.end()
            if money or (not final and re.fullmatch(r"\$\d[\d,.]*[kKmMbB]?n?", text[place:])):
                return None
            if text[place + 1 : place + 2].isspace():
                return self._out("$"), place + 1
        return self._enclosed(text, place, mark, mark, final=final)

    def _backslash(self, text: str, place: int, *, final: bool) -> Step | None:
        following = text[place + 1 : place + 2]
        if not following and not final:
            return None
        if following == "(":
            return self._enclosed(text, place, "\\(", "\\)", final=final)
        if following == "[":
            if match := _ESCAPED_CITATION.match(text, place):
                return self._cited(read_run(f"[{match[1]}]", 0, final=True) or Run((), 0), match.end())
            return self._enclosed(text, place, "\\[", "\\]", final=final)
        return self._out(text[place : place + 2]), place + 1 + len(following)

    def _enclosed(self, text: str, place: int, opening: str, closing: str, *, final: bool) -> Step | None:
        """A formula, let through as it is; without its end the opening is plain text."""
        start = place + len(opening)
        end = text.find(closing, start, place + _LONGEST_MATHS)
        while closing == "$" and end > 0 and (text[end - 1].isspace() or text[end - 1] == "\\"):
            end = text.find(closing, end + 1, place + _LONGEST_MATHS)
        gap = text.find("\n\n", place, place + _LONGEST_MATHS)
        if end >= 0 and not 0 <= gap < end:
            return self._out(text[place : end + len(closing)]), end + len(closing)
        if gap < 0 and not final and len(text) - place < _LONGEST_MATHS:
            return None
        return self._out(opening), start

    def _image(self, text: str, place: int, *, final: bool) -> Step | None:
        if place + 1 == len(text) and not final:
            return None
        if text[place + 1 : place + 2] != "[":
            return self._out("!"), place + 1
        end = bracket_end(text, place + 1, final=final)
        if end == WAIT:
            return None
        after = target_end(text, end, final=final) if end else 0
        if after == WAIT:
            return None
        if after > end:
            return self._out(re.sub(r"[\[\]]", "", text[place + 2 : end - 1])), after
        return self._out("!"), place + 1

    def _parenthesis(self, text: str, place: int, *, final: bool) -> Step | None:
        """A parenthesis; one around nothing but unknown citations goes with them."""
        if place + 1 == len(text) and not final:
            return None
        if text[place + 1 : place + 2] in ("[", "【", "［"):
            waiting = not final and bracket_end(text, place + 1, final=False) == WAIT
            run = None if waiting else read_run(text, place + 1, final=final)
            if run is None:
                return None
            if run.end == len(text) and run.marks and not final:
                return None
            if run.marks and text[run.end : run.end + 1] == ")" and not any(map(self._numbering.knows, run.marks)):
                return self._cited(run, run.end + 1)
        return self._out("("), place + 1

    def _bracket(self, text: str, place: int, *, final: bool) -> Step | None:
        end = bracket_end(text, place, final=final)
        if end == WAIT:
            return None
        if end == 0:
            return ("", len(text)) if final and is_begun(text, place) else (self._out(text[place]), place + 1)
        if text[place] == "[" and not self._space and (self._indexed or is_index(self._tail)):
            out = self._out(text[place:end])
            self._indexed = True
            return out, end
        run = read_run(text, place, final=final)
        if run is None:
            return None
        if run.marks:
            return self._cited_line(run, text, final=final)
        return self._linked(text, place, end, final=final)

    def _cited_line(self, run: Run, text: str, *, final: bool) -> Step | None:
        """Citations; at the start of a line without the colon that would make a link definition of them."""
        if self._line_start and run.end == len(text) and not final:
            return None
        end = run.end + (self._line_start and text[run.end : run.end + 1] == ":")
        return self._cited(run, end)

    def _cited(self, run: Run, end: int) -> Step:
        out = ""
        last: list[int] = []
        for mark in run.marks:
            shown = [number for number in self._numbering.shown(mark) if number not in last or mark.before.strip()]
            if shown:
                out += (mark.before if out else "") + "".join(f"[{number}]" for number in shown)
                last = [*last, *shown]
        if out:
            return self._out(out), end
        self._after_drop = True
        self._tail = ""
        return "", end

    def _linked(self, text: str, place: int, end: int, *, final: bool) -> Step | None:
        """A bracket that cites nothing: a link is reduced to its text, anything else is text."""
        after = target_end(text, end, final=final)
        if after == WAIT:
            return None
        if self._line_start and text[end : end + 1] == ":" and text[place] == "[":
            return self._out(text[place + 1 : end - 1] + ":"), end + 1
        if after == end:
            return self._out(text[place]), place + 1
        inner = Brackets(self._numbering)
        inner._line_start = False
        inner._begun = True
        return self._out(inner.feed(text[place + 1 : end - 1]) + inner.close()), after


def _closing_ticks(text: str, start: int, ticks: str) -> int:
    """Where the code span ends; `WAIT` when its end has not come within reach."""
    for match in _TICKS.finditer(text, start, start + _LONGEST_CODE):
        if len(match[0]) == len(ticks) and "\n\n" not in text[start : match.start()]:
            return match.end()
    return WAIT
