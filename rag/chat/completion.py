"""What could be meant by the beginning of a line: commands, papers, corpora, models, fields, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rag.chat.chat import Chat
from rag.chat.commands import COMMANDS, is_command
from rag.records import Paper

_MOST = 50


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may take the place of the last `replaces` characters, with what it stands for."""

    text: str
    replaces: int
    meaning: str = ""


def candidates(line: str, chat: Chat) -> Iterator[Candidate]:
    """The completions of a line up to the cursor, likeliest first; none for a question. Never waits for models or the store."""
    if not (line == "/" or is_command(line)) or "\n" in line:
        return
    name, space, argument = line[1:].partition(" ")
    if not space:
        for command in COMMANDS.values():
            if command.name.startswith(name.lower()):
                yield Candidate(f"/{command.name}", len(line), command.help)
        return
    known = COMMANDS.get(name.lower())
    if known is not None and known.completes:
        yield from _ARGUMENTS[known.completes](argument, chat)


def _commands(argument: str, chat: Chat) -> Iterator[Candidate]:
    for command in COMMANDS.values():
        if command.name.startswith(argument.lower()):
            yield Candidate(command.name, len(argument), command.help)


def _papers(argument: str, chat: Chat) -> Iterator[Candidate]:
    if not chat.is_loaded:
        return
    numbered = {str(c.number): c.paper for turn in chat.conversation.turns for c in turn.answer.citations}
    for number, paper in sorted(numbered.items(), key=lambda item: int(item[0])):
        if number.startswith(argument):
            yield Candidate(number, len(argument), paper.title)
    if argument:
        yield from _ids(argument, chat.papers())


def _ids(argument: str, papers: tuple[Paper, ...]) -> Iterator[Candidate]:
    found = [paper for paper in papers if paper.id.lower().startswith(argument.lower())]
    for paper in found[:_MOST]:
        yield Candidate(paper.id, len(argument), paper.title)


def _corpora(argument: str, chat: Chat) -> Iterator[Candidate]:
    if chat.is_loaded:
        for name in chat.assistant.corpora.names():
            if name.lower().startswith(argument.lower()):
                yield Candidate(name, len(argument))


def _models(argument: str, chat: Chat) -> Iterator[Candidate]:
    if chat.is_loaded:
        settings = chat.assistant.settings
        for name in dict.fromkeys(filter(None, ("offline", settings.model, chat.assistant.model.name))):
            if name.lower().startswith(argument.lower()):
                yield Candidate(name, len(argument))


def _filters(argument: str, chat: Chat) -> Iterator[Candidate]:
    from rag.store.conditions import FIELDS

    word = argument.rpartition(" ")[2]
    for name in (*FIELDS, "off"):
        if name.startswith(word.lower()):
            yield Candidate(name, len(word))


def _files(argument: str, chat: Chat) -> Iterator[Candidate]:
    folder, _, start = argument.rpartition("/")
    place = Path(f"{folder}/" if folder or argument.startswith("/") else ".").expanduser()
    try:
        entries = sorted(place.iterdir())
    except OSError:
        return
    for entry in entries[:1_000]:
        if entry.name.startswith(start) and (start or not entry.name.startswith(".")):
            yield Candidate(f"{entry.name}/" if entry.is_dir() else entry.name, len(start))


_ARGUMENTS: Mapping[str, Callable[[str, Chat], Iterator[Candidate]]] = {
    "command": _commands,
    "paper": _papers,
    "corpus": _corpora,
    "model": _models,
    "filter": _filters,
    "file": _files,
}
