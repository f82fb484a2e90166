"""The users of a memory: who there is, and two that are one person made one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from ovos_persona_memory.errors import InvalidRequest, StoreError
from ovos_persona_memory.memory.forgetting import Forgetting
from ovos_persona_memory.memory.transcript import MemoryParts
from ovos_persona_memory.records import (
    GUEST,
    HOUSEHOLD,
    MAX_USER_ID,
    Entry,
    Forgotten,
    Heard,
    Moved,
    Note,
    Place,
    Scope,
    Selection,
    User,
    checked,
    replace_fast,
)
from ovos_persona_memory.search import index_words
from ovos_persona_memory.stores import EVERY_STATUS

NEON_DATA = ("CACHES", "PROFILE", "ALL_TR", "CONF_LIKES", "CONF_DISLIKES", "ALL_DATA", "ALL_MEDIA", "ALL_UNITS",
             "ALL_LANGUAGE")  # fmt: skip
"""The kinds of data of ``neon.clear_data``, named or given by their place here (NeonGecko's skill-data_controls
and neon-data-models, read 2026-11-22)."""
NOTHING: frozenset[str] = frozenset()
CLEARED = {
    "ALL_DATA": frozenset({"turn", "memory", "fact", "episode"}),
    "ALL_TR": frozenset({"turn", "episode"}),
    "PROFILE": frozenset({"memory", "fact"}),
}
TASTES = {"CONF_LIKES": "likes", "CONF_DISLIKES": "dislikes"}
"""What goes for each of them, for the last two the facts in one slot; documents go with everything."""
NEON_DEFAULT = "local"
"""What Neon calls its user where it knows nobody."""
PART = 500
"""Turns that are moved between two looks at the store."""


class Users:
    """The verbs of PersonaMemory about its users. Thread-safe."""

    def __init__(self, workings: MemoryParts, forgetting: Forgetting) -> None:
        self._workings, self._forgetting = workings, forgetting
        self._store = workings.store

    @checked
    def list(self, counted: bool = True) -> list[User]:
        """Everybody of whom anything is kept, whoever talked last first; then those who never did, by name.

        ``counted`` false: only who they are; every number is 0, and a large memory answers at once.
        """
        found = [self._user(user_id, counted) for user_id in self._store.users()]
        return sorted(found, key=lambda user: (-(user.last_at or 0.0), user.user_id))

    def _user(self, user_id: str, counted: bool) -> User:
        held = self._store.count(Selection(Scope(user_id=user_id))) if counted else Forgotten()
        newest = self._store.turns(Scope(user_id=user_id), limit=1)
        last_at = newest[0].at if newest else None
        return User(user_id, held.turns, held.memories, held.documents, held.notes, last_at)

    def clear(self, heard: Heard) -> int:
        """Forget what a Neon assistant asks to clear of its user; how much that was.

        Only for the person of the message, by the same rules as everything: nothing where it names
        somebody else. Of a guest the turns of the session; of others all turns (``ALL_TR``), all lasting
        memories and facts (``PROFILE``), the facts about tastes (``CONF_LIKES``, ``CONF_DISLIKES``) or
        everything (``ALL_DATA``). Its other kinds of data are not kept here.
        """
        heard, _ = self._workings.transcript.people.attribute(heard)
        scope = Scope(user_id=heard.scope.user_id, auth_level=heard.scope.auth_level)
        if scope.user_id != HOUSEHOLD and heard.names_user not in (None, NEON_DEFAULT, scope.user_id):
            return 0
        wanted = {_cleared(asked) for asked in heard.clears}
        if scope.user_id == GUEST:
            scope = replace(scope, session_id=heard.session_id)
            wanted = {kinds & {"turn", "episode"} for kinds in wanted}
        sweeps = self._workings.transcript.ledger.sweeps
        asked_at = self._workings.clock() if sweeps.is_late else None  # what was said since then stays
        chosen: list[tuple[Selection, Sequence[str] | None]]
        chosen = [(Selection(scope, kinds=kinds, until=asked_at), None) for kinds in wanted if kinds]
        tastes = {TASTES[asked] for asked in heard.clears if isinstance(asked, str) and asked in TASTES}
        if tastes and scope.user_id != GUEST:
            held = self._store.fact_store.held(scope.user_id, EVERY_STATUS)
            facts = [fact for fact, _ in held if fact.slot in tastes and (not asked_at or fact.created_at < asked_at)]
            taken = Selection(scope, ids=tuple(fact.id for fact in facts), kinds=frozenset({"fact"}))
            chosen.append((taken, sorted(tastes)))
        # each by itself: turns and memories together are everything
        forgotten = self._forgetting.delete_each(chosen)
        documents = self._documents(scope) if asked_at and CLEARED["ALL_DATA"] in wanted else 0
        return documents + sum(one.total for one in forgotten)

    def _documents(self, scope: Scope) -> int:
        """Forget all documents of a user who is no guest: when each was written is not known."""
        gone = 0 if scope.user_id == GUEST else self._store.document_store.delete_of_user(scope.user_id)
        self._workings.purge_if(gone > 0)
        return gone

    @checked
    def merge(self, user_id: str, into: str) -> Moved:
        """Make everything of one user the other's, all or nothing, and say how much that was.

        Nothing of the one is left, and its name in no file. Where both have a memory (of the same persona)
        or a document of one name, the newer keeps it and the older gets a number behind it; of two summaries of one
        session both are kept in one. Where it was cut short, or the one has talked again, do it again:
        what is moved already stays. InvalidRequest for a name that cannot be one, or the same twice.
        """
        _refuse_unusable(user_id=user_id, into=into)
        if user_id == into:
            raise InvalidRequest("into", "is the same user")
        with self._store.transaction():
            moved = Moved(
                turns=self._move_turns(user_id, into),
                memories=self._move_entries(user_id, into),
                documents=self._store.document_store.merge_user(user_id, into),
                notes=self._move_notes(user_id, into),
                facts=self._store.fact_store.merge_user(user_id, into, self._workings.clock()),
            )
            self._store.episode_store.rename_user(user_id, into)
            self._move_pauses(user_id, into)
            self._store.purge_later()
            if user_id in self._store.users():
                raise StoreError(f"something of {user_id!r} could not be moved, so nothing was")
        self._workings.transcript.rename(user_id, into)
        self._workings.purge_if(True)
        return moved

    def _move_turns(self, user_id: str, into: str) -> int:
        moved = 0
        while turns := self._store.turns(Scope(user_id=user_id), limit=PART):
            for turn in turns:
                self._store.change_turn(replace_fast(turn, user_id=into), index_words(turn))
            moved += len(turns)
        return moved

    def _move_entries(self, user_id: str, into: str) -> int:
        entries = self._store.entries(Scope(user_id=user_id, secrets=True))
        for entry in reversed(entries):  # the last changed last, so that their order stays
            other = self._store.entry(entry.key, into, entry.persona_id)
            self._store.delete(self._one(user_id, entry))
            if other is not None and other.updated_at >= entry.updated_at:
                self._keep(entry, into, self._free_key(entry, into))
                continue
            if other is not None:
                self._store.delete(self._one(into, other))
                self._keep(other, into, self._free_key(other, into))
            self._keep(entry, into, entry.key)
        return len(entries)

    @staticmethod
    def _one(user_id: str, entry: Entry) -> Selection:
        return Selection(Scope(user_id=user_id, secrets=True), ids=(entry.id,), kinds=frozenset({"memory"}))

    def _keep(self, entry: Entry, user_id: str, key: str) -> None:
        kept = replace(entry, user_id=user_id, key=key)
        self._store.put_entry(kept, index_words(kept))

    def _free_key(self, entry: Entry, user_id: str) -> str:
        numbers = (f"{entry.key}-{number}" for number in count(2))
        return next(one for one in numbers if self._store.entry(one, user_id, entry.persona_id) is None)

    def _move_notes(self, user_id: str, into: str) -> int:
        notes = self._store.notes(Scope(user_id=user_id))
        for _, session_id, note in notes:
            self._store.put_note(into, session_id, _joined(self._store.note(into, session_id), note))
        self._store.delete_notes([(user_id, session_id) for _, session_id, _ in notes])
        return len(notes)

    def _move_pauses(self, user_id: str, into: str) -> None:
        place = Place("user", user_id)
        pauses = [pause for pause in self._store.pauses() if pause.place == place]
        for pause in pauses:
            self._store.put_pause(replace(pause, place=Place("user", into)))
        self._store.delete_pauses(pauses)


def _cleared(asked: object) -> frozenset[str]:
    if isinstance(asked, int) and not isinstance(asked, bool):
        asked = NEON_DATA[asked] if asked in range(len(NEON_DATA)) else None
    return CLEARED.get(str(asked), NOTHING)


def _joined(one: Note | None, other: Note) -> Note:
    """Two notes of one session as one, the older first: what either leaves to the summary is in it."""
    if one is None:
        return other
    older, newer = sorted((one, other), key=lambda note: note.updated_at)
    return Note(
        summary="\n".join(dict.fromkeys(filter(None, (older.summary, newer.summary)))),
        description=newer.description or older.description,
        trimmed_to=min(one.trimmed_to, other.trimmed_to),
        updated_at=newer.updated_at,
        summarised_at=max((note.summary_at for note in (older, newer) if note.summary), default=0.0),
    )


def _refuse_unusable(**names: str) -> None:
    for field, name in names.items():
        if not name.strip() or len(name) > MAX_USER_ID:
            raise InvalidRequest(field, "cannot be the name of a user")
