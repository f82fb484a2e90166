"""Rows of the PostgreSQL store: mapping to records, and conditions for scopes and selections."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from ovos_persona_memory.records import Entry, Scope, Selection, Turn
from ovos_persona_memory.stores.base.store import ExcludedTurn
from ovos_persona_memory.stores.sql.turn_rows import COLUMNS, FLAGS, calls_text, packed, turns_of
from ovos_persona_memory.stores.sql.where_clause import OWNER, PLACES, Where, between, narrowed, owner_name

TURN_FIELDS = [*(name for name in COLUMNS if name not in ("seq", "user_id")), *FLAGS]
ENTRY_FIELDS = ["key", "text", "id", "lang", "created_at", "updated_at", "turn_id", "status", *PLACES]
ANY_ROW = Where(mark="%s")
"""No condition, in this dialect."""


def name_hash(name: str) -> str:
    """The hash of a name that is only compared, never read again."""
    return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()


def column_list(fields: Iterable[str]) -> str:
    """The columns of the rows ``r``."""
    return ", ".join(f"r.{name}" for name in fields)


def marks(number: int) -> str:
    """This many placeholders."""
    return ", ".join(["%s"] * number)


def assigned(fields: list[str]) -> str:
    """An assignment to each of these columns."""
    return ", ".join(f"{name} = %s" for name in fields)


TURN_COLUMNS = f"{column_list(COLUMNS)}, {packed('r.{}::int')}, r.data"
TURNS = f"SELECT {TURN_COLUMNS}, r.words FROM turn r"
ENTRIES = f"SELECT r.seq, r.user_id, r.words, r.data, {column_list(ENTRY_FIELDS)} FROM entry r"
TOLD = (
    f"SELECT {TURN_COLUMNS}, coalesce((SELECT n.trimmed_to FROM note n"
    " WHERE n.household = %s AND n.user_id = %s AND n.session_id = %s), 0) FROM turn r"
)
"""Rows of turns with a last column: the seq up to which the session's note replaces its turns."""
NEXT = "nextval('persona_memory_order')"
ADD_TURN = (
    f"INSERT INTO turn (household, user_id, seq, version, words, data, {', '.join(TURN_FIELDS)})"
    f" SELECT %s, %s, n, n, {marks(2 + len(TURN_FIELDS))} FROM {NEXT} n"
    " ON CONFLICT (household, id) DO NOTHING RETURNING seq"
)
GIVEN = ["user_id", "words", "data", *TURN_FIELDS]
GIVEN_ARRAYS = ", ".join(
    "%s::float8[]" if name == "at" else "%s::bool[]" if name in FLAGS else "%s::text[]" for name in GIVEN
)
ADD_TURNS = (
    f"INSERT INTO turn (household, seq, version, {', '.join(GIVEN)}) SELECT %s, seq, seq, {', '.join(GIVEN)}"
    f" FROM unnest(%s::bigint[], {GIVEN_ARRAYS}) g (seq, {', '.join(GIVEN)}) ON CONFLICT (household, id) DO NOTHING"
)
"""Inserts many turns: a list of values for each column."""
CHANGE_TURN = (
    f"UPDATE turn SET user_id = %s, version = coalesce(%s, {NEXT}), words = %s, data = %s, {assigned(TURN_FIELDS)}"
    " WHERE household = %s AND user_id = %s AND seq = %s"
)
ENTRY_COLUMNS = ["words", "data", "private", *ENTRY_FIELDS]
ADD_ENTRY = (
    f"INSERT INTO entry (household, user_id, seq, version, {', '.join(ENTRY_COLUMNS)})"
    f" SELECT %s, %s, n, n, {marks(len(ENTRY_COLUMNS))} FROM {NEXT} n RETURNING seq"
)
CHANGE_ENTRY = (
    f"UPDATE entry SET version = coalesce(%s, {NEXT}), {assigned(ENTRY_COLUMNS)}"
    " WHERE household = %s AND user_id = %s AND seq = %s"
)


def turn_of(row: tuple[Any, ...]) -> tuple[Turn, str]:
    """A row of ``TURNS`` as a turn and its words."""
    return turns_from([row])[0], row[-1]


def turns_from(rows: Iterable[tuple[Any, ...]]) -> list[Turn]:
    """Rows of ``TURNS`` or ``TOLD`` as turns."""
    return turns_of(rows)


def entry_of(row: tuple[Any, ...]) -> tuple[Entry, str]:
    """A row of ``ENTRIES`` as an entry and its words."""
    seq, user_id, words, data, *values = row
    fields = dict(zip(ENTRY_FIELDS, values, strict=True))
    return Entry(seq=seq, user_id=user_id, metadata=json.loads(data) if data else {}, **fields), words


def turn_values(turn: Turn, words: str) -> list[Any]:
    """Words, data and the values of ``TURN_FIELDS``."""
    return [words, calls_text(turn), *(getattr(turn, name) for name in TURN_FIELDS)]


def entry_values(entry: Entry, words: str) -> list[Any]:
    """The values of ``ENTRY_COLUMNS``."""
    data = json.dumps(entry.metadata) if entry.metadata else None
    return [words, data, entry.private, *(getattr(entry, name) for name in ENTRY_FIELDS)]


def of_household(household: str) -> Where:
    """Condition for the rows of a household."""
    return ANY_ROW.also("r.household = %s", household)


def within(household: str, scope: Scope, kind: str = "turn") -> Where:
    """Conditions for the rows of a household in scope, of turns, memories or facts."""
    where = of_household(household)
    if scope.user_id is not None:
        where = where.also("r.user_id = %s", scope.user_id)
    return narrowed(where, scope, kind)


def but_for(where: Where, without: Sequence[ExcludedTurn]) -> Where:
    """Conditions for turns that are not left out."""
    return where.also("NOT r.seq = ANY(%s)", [one.seq for one in without]) if without else where


def chosen_turns(household: str, selection: Selection) -> Where | None:
    """Conditions for the turns of a selection, but for its words; None where it can hold none."""
    if "turn" not in selection.kinds or selection.keys is not None:
        return None
    where = between(within(household, selection.scope), "at", selection.since, selection.until)
    if selection.ids is not None:
        where = where.also("r.id = ANY(%s)", list(selection.ids))
    if selection.source is not None:
        where = where.also("%s IN (r.skill_id, r.persona_id)", selection.source)
    return _worded(_spared(where, selection), selection)


def chosen_entries(household: str, selection: Selection) -> Where | None:
    """Conditions for the entries of a selection; None where it can hold none."""
    if "memory" not in selection.kinds:
        return None
    where = between(within(household, selection.scope, "memory"), "updated_at", selection.since, selection.until)
    if selection.keys is not None:
        where = where.also("r.key = ANY(%s)", list(selection.keys))
    if selection.owners is not None:
        where = where.also(f"{OWNER} = ANY(%s)", [owner_name(persona_id) for persona_id in selection.owners])
    if selection.ids is not None:
        where = where.also("r.id = ANY(%s)", list(selection.ids))
    if selection.source is not None:
        where = where.also("r.persona_id = %s", selection.source)
    return _worded(_spared(where, selection), selection)


def _spared(where: Where, selection: Selection) -> Where:
    return where.also("NOT r.id = ANY(%s)", list(selection.spare)) if selection.spare else where


def _worded(where: Where, selection: Selection) -> Where:
    return where if selection.words is None else holding(where, selection.words)


def holding(where: Where, groups: tuple[frozenset[str], ...]) -> Where:
    """Conditions for rows whose terms hold at least one of each group; no row for no group."""
    if not groups:
        return where.also("false")
    for group in groups:
        where = where.also("string_to_array(r.words, ' ') && %s::text[]", sorted(group))
    return where
