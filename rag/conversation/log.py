"""Every exchange kept in SQLite: written before its answer is shown as finished, searchable, exportable, prunable."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rag.conversation.codec import answer_from_json, answer_to_json
from rag.conversation.database import LogFile
from rag.conversation.exchange import Exchange
from rag.errors import UsageError
from rag.records import Answer

FILE = "log.sqlite"
_COLUMNS = "id, conversation, turn, asked_at, question, corpus, model, options, answer, error, undone"
_WORD = re.compile(r"\w+")


class ConversationLog:
    """The log under one home folder, for several threads and processes at once.

    All methods raise `LogError` when the file cannot be read or written; reading never creates it.
    """

    def __init__(self, home: str | Path) -> None:
        self.path = Path(home) / FILE
        self._file = LogFile(self.path)

    def close(self) -> None:
        """Closes the file; it is opened again when needed."""
        self._file.close()

    def begin(
        self,
        conversation: str,
        question: str,
        *,
        corpus: str = "",
        model: str = "",
        options: Mapping[str, Any] | None = None,
        turn: int | None = None,
        asked_at: float | None = None,
    ) -> int:
        """Keeps a question before it is answered; the exchange's id. Without `turn` it comes after the last of its conversation."""
        values = (time.time() if asked_at is None else asked_at, question, corpus, model, _json(options or {}), turn)

        # Not synced to the disk: that takes as long as a search, and the answer's write does it for both.
        with self._file.writing(durable=False) as db:
            row = db.execute(
                "INSERT INTO exchange (conversation, turn, asked_at, question, corpus, model, options)"
                " SELECT ?1, coalesce(?7, max(turn) + 1, 1), ?2, ?3, ?4, ?5, ?6"
                " FROM exchange WHERE conversation = ?1 AND NOT undone RETURNING id",
                (conversation, *values),
            ).fetchone()
            db.execute("INSERT INTO exchange_text (rowid, question) VALUES (?, ?)", (row[0], question))
            return int(row[0])

    def finish(self, exchange: int, answer: Answer) -> None:
        """Keeps the answer, whole or partial; durable when this returns."""
        papers = "\n".join([*(c.paper.title for c in answer.citations), *(paper.title for paper in answer.nearest)])
        row = (answer_to_json(answer), answer.model, answer.corpus, exchange)

        with self._file.writing() as db:
            db.execute("UPDATE exchange SET answer = ?, model = ?, corpus = ?, error = '' WHERE id = ?", row)
            db.execute(
                "UPDATE exchange_text SET standalone = ?, answer = ?, papers = ? WHERE rowid = ?",
                (answer.standalone, answer.text, papers, exchange),
            )

    def fail(self, exchange: int, error: str) -> None:
        """Keeps why a question has no answer."""
        with self._file.writing() as db:
            db.execute("UPDATE exchange SET error = ? WHERE id = ?", (error, exchange))

    def undo(self, exchange: int) -> None:
        """Takes an exchange out of its conversation; it stays in the log."""
        with self._file.writing() as db:
            db.execute("UPDATE exchange SET undone = 1 WHERE id = ?", (exchange,))

    def get(self, exchange: int) -> Exchange:
        """The exchange with this id. Raises `UsageError` for an unknown one."""
        found = self._select("WHERE id = ?", (exchange,))
        if not found:
            raise UsageError(f"No exchange {exchange} in the log. `rag log` lists them.")
        return found[0]

    def conversation(self, conversation: str) -> tuple[Exchange, ...]:
        """The exchanges of a conversation in order, without those taken back; the id may be shortened to a unique beginning.

        Raises `UsageError` for an unknown or ambiguous id.
        """
        rows = self._rows(
            "SELECT DISTINCT conversation FROM exchange WHERE substr(conversation, 1, ?) = ?", (len(conversation), conversation)
        )
        ids = [str(row[0]) for row in rows]
        if conversation not in ids and len(ids) != 1:
            known = f"It could be {', '.join(sorted(ids)[:5])}." if ids else "`rag log` lists them."
            raise UsageError(f"No conversation {conversation!r} in the log. {known}")
        return self._select("WHERE conversation = ? AND NOT undone ORDER BY id", (conversation if conversation in ids else ids[0],))

    def last_conversation(self) -> str:
        """Id of the conversation that was asked in last. Raises `UsageError` when the log is empty."""
        rows = self._rows("SELECT conversation FROM exchange WHERE NOT undone ORDER BY id DESC LIMIT 1")
        if not rows:
            raise UsageError("There is no conversation to continue: the log is empty. Ask a question first.")
        return str(rows[0][0])

    def latest(self, limit: int = 20) -> tuple[Exchange, ...]:
        """The last exchanges, newest first."""
        return self._select("ORDER BY id DESC LIMIT ?", (limit,))

    def search(self, text: str, limit: int = 20) -> tuple[Exchange, ...]:
        """Exchanges whose question, answer or papers hold all words of `text` (word beginnings count), best first.

        Empty when nothing matches or `text` has no word.
        """
        words = _WORD.findall(text)
        if not words:
            return ()
        query = " ".join(f'"{word}"*' for word in words)
        return self._select(
            "JOIN (SELECT rowid AS found, rank FROM exchange_text WHERE exchange_text MATCH ? ORDER BY rank LIMIT ?)"
            " ON found = id ORDER BY rank, id DESC",
            (query, limit),
        )

    def prune(self, *, before: float | None = None, keep: int | None = None, conversation: str | None = None) -> int:
        """Removes exchanges that meet every given condition, all without one, and gives the space back; how many.

        Args:
            before: Asked before this time, in seconds since the epoch.
            keep: All but the last so many.
            conversation: Of this conversation.
        """
        clauses, values = ["1"], list[Any]()
        if before is not None:
            clauses.append("asked_at < ?")
            values.append(before)
        if keep is not None:
            clauses.append("id NOT IN (SELECT id FROM exchange ORDER BY id DESC LIMIT ?)")
            values.append(keep)
        if conversation is not None:
            clauses.append("conversation = ?")
            values.append(conversation)
        return self._remove(" AND ".join(clauses), values)

    def _remove(self, condition: str, values: Sequence[Any]) -> int:
        if not self.path.exists():
            return 0

        with self._file.writing() as db:
            ids = db.execute(f"SELECT id FROM exchange WHERE {condition}", values).fetchall()  # noqa: S608 - clauses are ours
            db.executemany("DELETE FROM exchange_text WHERE rowid = ?", ids)
            db.executemany("DELETE FROM exchange WHERE id = ?", ids)
        if ids:
            with self._file.reading() as db:
                db.execute("VACUUM")
        return len(ids)

    def _select(self, clause: str, values: Sequence[Any] = ()) -> tuple[Exchange, ...]:
        return tuple(_exchange(row) for row in self._rows(f"SELECT {_COLUMNS} FROM exchange {clause}", values))  # noqa: S608 - clauses are ours

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if not self.path.exists():
            return []
        with self._file.reading() as db:
            return db.execute(query, values).fetchall()


def _exchange(row: tuple[Any, ...]) -> Exchange:
    number, conversation, turn, asked_at, question, corpus, model, options, answer, error, undone = row
    return Exchange(
        number,
        conversation,
        turn,
        asked_at,
        question,
        corpus,
        model,
        json.loads(options),
        answer_from_json(answer) if answer else None,
        error,
        bool(undone),
    )


def _json(options: Mapping[str, Any]) -> str:
    return json.dumps(options, ensure_ascii=False, separators=(",", ":"))
