"""Users in the SQLite store: the number and the languages of each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from ovos_persona_memory.stores.base.store import ExcludedTurn

NOBODY = 0
"""A number that no user has."""
SPEAKS = (
    "SELECT EXISTS (SELECT 1 FROM turn WHERE owner = ?1 AND lang = ?2 AND seq NOT IN (SELECT value FROM json_each(?3)))"
    " OR EXISTS (SELECT 1 FROM entry WHERE owner = ?1 AND lang = ?2)"
)
LANGUAGES = "SELECT DISTINCT lang FROM turn WHERE owner = ? UNION SELECT DISTINCT lang FROM entry WHERE owner = ?"


class SqliteUsers:
    """Works on the store's connection, within the store's transactions and under its lock."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection
        self._languages: dict[int, set[str]] = {}

    def number(self, user_id: str) -> int | None:
        """The number of a user; None for an unknown user."""
        row = self._sql.execute("SELECT num FROM owner WHERE user_id = ?", (user_id,)).fetchone()
        return row[0] if row else None

    def made(self, user_id: str, lang: str | None = None) -> int:
        """The number of a user, who is inserted where new; ``lang``: the language of the record that is added."""
        owner = self.number(user_id)
        if owner is None:
            owner = self._sql.execute("INSERT INTO owner (user_id) VALUES (?)", (user_id,)).lastrowid or NOBODY
        if lang and owner in self._languages:
            self._languages[owner].add(lang)
        return owner

    def languages(self, user_id: str, without: Sequence[ExcludedTurn] = ()) -> frozenset[str]:
        """See Store. Read once, since it takes a look at each row of the user; then kept up to date with what is added.

        A language of a turn that is left out counts only where another row has it.
        """
        owner = self.number(user_id) or NOBODY
        if owner not in self._languages:
            found = self._sql.execute(LANGUAGES, (owner, owner)).fetchall()
            self._languages[owner] = {lang for (lang,) in found if lang}
        seqs = json.dumps([one.seq for one in without])
        doubtful = {one.lang for one in without if one.lang and one.user_id == user_id} & self._languages[owner]
        gone = {lang for lang in doubtful if not self._sql.execute(SPEAKS, (owner, lang, seqs)).fetchone()[0]}
        return frozenset(self._languages[owner] - gone)
