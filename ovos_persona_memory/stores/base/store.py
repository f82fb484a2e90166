"""The storage port: what every backend does, and the plain scan that fast searches are compared with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records import HOUSEHOLD, Entry, Forgotten, Note, Pause, Role, Scope, Selection, Session, Turn
from ovos_persona_memory.stores.base.bm25 import bm25, words_of
from ovos_persona_memory.stores.base.selection import BOTH, in_scope, kind_of, redacted, selected

if TYPE_CHECKING:
    from ovos_persona_memory.stores.base.documents import DocumentStore
    from ovos_persona_memory.stores.base.episodes import EpisodeStore
    from ovos_persona_memory.stores.base.facts import FactStore
    from ovos_persona_memory.stores.base.learning_queue import LearningQueueStore
    from ovos_persona_memory.stores.base.tombstones import TombstoneStore
    from ovos_persona_memory.stores.base.vectors import VectorStore


@dataclass(frozen=True)
class FoundRecord:
    """One document that a search by words found."""

    record: Turn | Entry
    score: float
    """BM25 over its user's own documents; higher is better."""
    words: frozenset[str]
    """The query terms that it holds."""


@dataclass(frozen=True)
class NeighbourTurn:
    """A turn near a found one in its session, with the fields that ranking needs."""

    id: str
    seq: int
    at: float
    role: Role
    speaker: str | None
    words: str


@dataclass(frozen=True)
class ExcludedTurn:
    """A turn that is left out of a search, and counts nowhere in it, as if nobody had said it.

    A question is in the log before it is answered, and must not make its own words known.
    """

    seq: int
    user_id: str
    lang: str | None
    words: str
    """Its index terms, as they are stored."""


@dataclass(frozen=True)
class Statistics:
    """The collection statistics of one user's documents that a search needs."""

    documents: int
    mean_length: float
    """Terms of a document, on average; 0 where there are none."""
    frequency: Mapping[str, int]
    """Document frequency of each term; a term that occurs nowhere is missing."""


@dataclass(frozen=True)
class Counts:
    """Numbers of records in a store, over all users."""

    turns: int
    entries: int
    sessions: int
    users: int
    facts: int = 0
    """Active facts."""


class Store(ABC):
    """One storage backend.

    Thread-safe: calls from several threads are serialised by the store's own lock. Every driver
    error arrives as a ``StoreError``, and so does a text with a NUL or half of a surrogate pair.
    Writes are durable when the outermost ``transaction`` (or, outside one, the call itself) has
    returned; a failed one leaves everything as it was.

    ``words`` of a document is its text as index words, separated by one space, in their order
    (the caller has folded and stemmed them): what ``search`` compares with.

    ``without``: turns that a search, statistics and the talk around a turn go by as if they had never been
    added. They are of the store, each once.
    """

    durable: bool
    """Whether what was acknowledged survives the process and a loss of power."""
    shared: bool = False
    """Whether other processes may change it meanwhile."""
    keeps_turns: bool = True
    """Whether a turn can be read again after it was added."""
    document_store: DocumentStore
    """Documents: under the same lock, in the same transactions."""
    vector_store: VectorStore
    """Vectors of turns and entries: likewise."""
    fact_store: FactStore
    """Facts: likewise."""
    episode_store: EpisodeStore
    """Episodes: likewise."""
    ledger_store: TombstoneStore
    """Tombstones of forgotten texts: likewise."""
    unlearned: LearningQueueStore | None = None
    """The learning queue, where other processes may write, too: likewise."""

    @abstractmethod
    def close(self) -> None:
        """Release everything; a second call does nothing."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing. Nested ones join the outermost; an exception undoes the outermost whole.

        Where an inner one failed and the outermost ends all the same, that is a StoreError. What a
        write refuses before it starts (UnknownEntry, a known id, an unstorable text) may be caught inside.
        """

    @contextmanager
    def unsynced(self) -> Iterator[None]:
        """A transaction after which the caller calls ``sync`` before acknowledging it.

        A store that gains nothing by that commits as always. Within a transaction it is a part of that.
        """
        with self.transaction():
            yield

    def sync(self) -> None:  # noqa: B027  # nothing to do where every commit is durable
        """Return when all that was committed is durable; StoreError where it cannot be made so.

        Does not wait for the store's lock: others may write meanwhile.
        """

    # turns

    @abstractmethod
    def add_turn(self, turn: Turn, words: str) -> Turn:
        """Keep a turn; it comes back with its ``seq``. ``at`` and ``id`` are set. A known id is a StoreError."""

    def add_turns(self, turns: Sequence[tuple[Turn, str]], fresh: bool = False) -> list[Turn]:
        """Keep several turns, each with its words, as ``add_turn`` does; all of them or none.

        ``fresh``: their ids were made just now. A known id may then be reported only at the end of the outermost
        transaction, which fails.
        """
        with self.transaction():
            return [self.add_turn(turn, words) for turn, words in turns]

    @abstractmethod
    def change_turn(self, turn: Turn, words: str) -> None:
        """Replace the turn that has this id, in its place (``seq`` stays); UnknownEntry where there is none."""

    @abstractmethod
    def turn(self, turn_id: str) -> Turn | None:
        """The turn with this id; None where there is none."""

    @abstractmethod
    def turns(
        self, scope: Scope, limit: int | None = None, since: float | None = None, until: float | None = None
    ) -> list[Turn]:
        """The newest ``limit`` turns in scope with ``at`` in [since, until), oldest first by ``seq``."""

    def talk(self, scope: Scope, limit: int | None = None) -> tuple[list[Turn], int]:
        """The newest turns of the session in scope, as ``turns``, and the ``seq`` up to which its note replaces them by
        the summary; 0 for none."""
        note = self.note(scope.user_id or HOUSEHOLD, scope.session_id or "")
        return self.turns(scope, limit), note.trimmed_to if note else 0

    def moments(self, scope: Scope, since: float | None = None) -> list[tuple[float, str]]:
        """When each turn in scope was said since then, seconds since the epoch, UTC, and its role; in no order."""
        return [(turn.at or 0.0, turn.role) for turn in self.turns(scope, since=since)]

    def latest(self, user_id: str | None, limit: int) -> list[tuple[Turn, str]]:
        """The newest turns of a user, None: of anybody, with their words, the newest first."""
        every = self.documents(Scope(user_id=user_id), frozenset({"turn"}))
        turns = [(record, words) for record, words in every if isinstance(record, Turn)]
        return sorted(turns, key=lambda one: -one[0].seq)[:limit]

    def oldest_turns(self, until: float, limit: int) -> list[str]:
        """The ids of at most ``limit`` turns of anybody with ``at`` before this time, in no particular order."""
        return [turn.id for turn in self.turns(Scope.everyone(), until=until)[:limit]]

    @abstractmethod
    def sessions(self, scope: Scope, limit: int | None = None) -> list[Session]:
        """The sessions in scope that hold turns, the one with the newest turn (by ``seq``) first."""

    @abstractmethod
    def note(self, user_id: str, session_id: str) -> Note | None:
        """The note of a user's session: summary, description and trim mark; None where there is none."""

    @abstractmethod
    def put_note(self, user_id: str, session_id: str, note: Note) -> None:
        """Keep a session's note in place of the one before; it covers the turns added up to now."""

    # lasting memories

    @abstractmethod
    def put_entry(self, entry: Entry, words: str) -> Entry:
        """Keep an entry; the one with the same user, persona and key is replaced (its id, seq and created_at stay)."""

    @abstractmethod
    def entry(self, key: str, user_id: str, persona_id: str | None = None) -> Entry | None:
        """The entry with this key of exactly this user and persona (None: of no persona); None where there is none."""

    def entry_in(self, key: str, scope: Scope) -> Entry | None:
        """The entry that a key names in a scope, wherever it was kept; None where there is none that may be known.

        A persona's own comes before that of no persona. A scope without a persona means that of no persona before those
        of personas, and of these the one last changed.
        """
        user_id = scope.user_id or HOUSEHOLD
        if scope.persona_id is not None:
            own = (self.entry(key, user_id, persona_id) for persona_id in (scope.persona_id, None))
            held = [entry for entry in own if entry is not None and scope.may_know(entry.private)]
            return held[0] if held else None
        refuse_unstorable(None, key)
        of_user = Scope(user_id=user_id, auth_level=scope.auth_level, secrets=scope.secrets)
        chosen = self.select(Selection(of_user, keys=(key,), kinds=frozenset({"memory"})))
        every = [one for one in chosen if isinstance(one, Entry)]
        return max(every, key=lambda one: (one.persona_id is None, one.updated_at, one.seq), default=None)

    @abstractmethod
    def entries(self, scope: Scope, limit: int | None = None, offset: int = 0) -> list[Entry]:
        """The entries in scope, newest change first (by ``updated_at``, then ``seq``)."""

    def has_secrets(self, user_id: str) -> bool:
        """Whether any of a user's entries is a secret: called before each question that may be for one."""
        return any(entry.secret for entry in self.entries(_all_of(user_id)))

    # finding

    @abstractmethod
    def documents(self, scope: Scope, kinds: frozenset[str]) -> Iterator[tuple[Turn | Entry, str]]:
        """Every document in scope with its words, those of a kind by ``seq``: what the plain scan reads."""

    def search(
        self,
        words: Sequence[str],
        scope: Scope,
        kinds: frozenset[str],
        limit: int,
        without: Sequence[ExcludedTurn] = (),
    ) -> list[FoundRecord]:
        """The best ``limit`` documents in scope that hold at least one of the words, best first.

        BM25 where document frequency, count and mean length are those of all documents (of either
        kind, in any session) of the document's own user: what others said changes nothing. Equal
        scores: the newer ``seq`` first, memories before turns. This is the plain scan; a backend
        with an index may leave out the weakest documents of a large store, and nothing else.
        """
        found: list[FoundRecord] = []
        by_user: dict[str, list[tuple[Turn | Entry, str]]] = {}
        for record, text in self._but_for(_all_of(scope.user_id), BOTH, without):
            by_user.setdefault(record.user_id, []).append((record, text))
        for documents in by_user.values():
            found += _search_one_user(documents, words, scope, kinds)
        found.sort(key=found_order)
        return found[:limit]

    def statistics(self, words: Sequence[str], user_id: str, without: Sequence[ExcludedTurn] = ()) -> Statistics:
        """Document count, mean length and the frequency of these words among all documents of a user."""
        documents = [words_of(text) for _, text in self._but_for(_all_of(user_id), BOTH, without)]
        lengths, held = sum(map(len, documents)), list(map(frozenset, documents))
        frequency = {word: n for word in set(words) if (n := sum(word in one for one in held))}
        return Statistics(len(documents), lengths / len(documents) if documents else 0.0, frequency)

    def languages(self, user_id: str, without: Sequence[ExcludedTurn] = ()) -> frozenset[str]:
        """The language tags of a user's turns and memories; tags of forgotten ones may be among them."""
        every = self._but_for(_all_of(user_id), BOTH, without)
        return frozenset(record.lang for record, _ in every if record.lang)

    def newest_words(  # more than five: a scope, and what is left out of it
        self,
        scope: Scope,
        kinds: frozenset[str],
        limit: int,
        without: Sequence[ExcludedTurn] = (),
        parts: Sequence[str] = (),
    ) -> list[str]:
        """The index words of the newest documents in scope, at most ``limit`` of each kind, newest first by kind.

        ``parts``: only of documents that hold a word with one of these letters in it; none of them holds a blank.
        """
        found: list[str] = []
        for kind in sorted(kinds):
            newest = sorted(self._but_for(scope, frozenset({kind}), without), key=lambda one: -one[0].seq)
            held = (words for _, words in newest if not parts or any(part in words for part in parts))
            found += islice(held, limit)
        return found

    def around(
        self, turns: Sequence[Turn], reach: int, persona_id: str | None = None, without: Sequence[ExcludedTurn] = ()
    ) -> list[list[NeighbourTurn]]:
        """For each of these turns the talk around it: up to ``reach`` turns before it in its session, itself,
        and up to ``reach`` after it, in order of arrival; of no other persona than ``persona_id``, where given.
        A turn without a session stands alone. None of the turns is one of those ``without``.
        """
        return [self._talk_around(turn, reach, persona_id, without) for turn in turns]

    def _talk_around(
        self, turn: Turn, reach: int, persona_id: str | None, without: Sequence[ExcludedTurn]
    ) -> list[NeighbourTurn]:
        scope = Scope(turn.session_id, turn.user_id, persona_id)
        talk = sorted(
            (record.seq, record, text)
            for record, text in self._but_for(scope, frozenset({"turn"}), without)
            if isinstance(record, Turn) and (turn.session_id is not None or record.seq == turn.seq)
        )
        place = next(i for i, (seq, _, _) in enumerate(talk) if seq == turn.seq)
        near = talk[max(place - reach, 0) : place + reach + 1]
        return [NeighbourTurn(one.id, seq, one.at or 0.0, one.role, one.speaker, text) for seq, one, text in near]

    def _but_for(
        self, scope: Scope, kinds: frozenset[str], without: Sequence[ExcludedTurn]
    ) -> Iterator[tuple[Turn | Entry, str]]:
        """Every document in scope but the turns that are left out."""
        gone = {one.seq for one in without}
        for record, words in self.documents(scope, kinds):
            if not (isinstance(record, Turn) and record.seq in gone):
                yield record, words

    # forgetting

    def select(self, selection: Selection, limit: int | None = None) -> list[Turn | Entry]:
        """The selected turns, the newest ``limit`` by ``seq``, newest first; then the selected memories."""
        every = self.documents(selection.scope, selection.kinds)
        chosen = [record for record, words in every if selected(record, selection, words)]
        chosen.sort(key=lambda record: -record.seq)
        turns = [record for record in chosen if isinstance(record, Turn)]
        return [*turns[:limit], *(record for record in chosen if isinstance(record, Entry))]

    @abstractmethod
    def count(self, selection: Selection) -> Forgotten:
        """How many records ``delete`` would delete; changes nothing."""

    @abstractmethod
    def delete(self, selection: Selection) -> Forgotten:
        """Delete what is selected and say how much that was; ``purge`` makes it gone.

        A session's note goes where the selection takes it (``takes_note``), and with any turn that was there when it
        was put: it may retell it. Documents go with everything of their user.
        """

    @abstractmethod
    def notes(self, scope: Scope) -> list[tuple[str, str, Note]]:
        """The notes of the user and session in scope, in no particular order: user, session, note."""

    @abstractmethod
    def notes_retelling(self, turns: Sequence[Turn]) -> list[tuple[str, str]]:
        """User and session of the notes that were put when one of these turns was there already."""

    @abstractmethod
    def delete_notes(self, names: Sequence[tuple[str, str]]) -> int:
        """Delete the notes of these users and sessions; how many there were."""

    def redact(self, turn_ids: Sequence[str]) -> int:
        """Remove the text of turns, which stay in their place; how many had any. Notes that may retell them go."""
        with self.transaction():
            turns = [turn for turn_id in dict.fromkeys(turn_ids) if (turn := self.turn(turn_id)) and not turn.redacted]
            self.delete_notes(self.notes_retelling(turns))
            self.episode_store.delete(self.episode_store.ids_around(turns))
            for turn in turns:
                self.change_turn(redacted(turn), "")
        return len(turns)

    @abstractmethod
    def purge_later(self) -> None:
        """Have the next ``purge`` do its work though nothing was deleted: for a name that must not stay anywhere."""

    @abstractmethod
    def purge(self) -> None:
        """Make the words of everything deleted or replaced gone: from rows, index and journal.

        Where the process ended between ``delete`` and ``purge``, opening the store does it.
        """

    def tidy(self) -> bool:
        """Do a little postponed work, some ten milliseconds; whether more is left."""
        return False

    def compact(self) -> bool:
        """Rewrite the file where more than half is empty after forgetting; whether that was done. It takes seconds."""
        return False

    # small state

    @abstractmethod
    def pauses(self) -> list[Pause]:
        """Every stored pause, ended ones included."""

    @abstractmethod
    def put_pause(self, pause: Pause) -> None:
        """Keep a pause, in place of the one of the same target that began at the same time."""

    @abstractmethod
    def delete_pauses(self, pauses: Sequence[Pause]) -> None:
        """Delete the pauses of these targets that began at these times."""

    @abstractmethod
    def state(self, name: str) -> str | None:
        """A small value kept by name; None where there is none."""

    @abstractmethod
    def put_state(self, name: str, value: str) -> None:
        """Keep a small value by name."""

    @abstractmethod
    def users(self) -> list[str]:
        """The users of whom turns, entries, facts, notes or documents are kept, in no particular order."""

    @abstractmethod
    def counts(self) -> Counts:
        """How much is stored."""

    def details(self) -> Mapping[str, Any]:
        """Details for the owner: path, size in bytes, files that were set aside."""
        return {}


def _all_of(user_id: str | None) -> Scope:
    return Scope(user_id=user_id, secrets=True)


def found_order(found: FoundRecord) -> tuple[float, int, int]:
    """Sort key of search results: best first, then memories, then the newer."""
    return (-found.score, isinstance(found.record, Turn), -found.record.seq)


def refuse_unstorable(record: object, *texts: str) -> None:
    """Raise StoreError where a text holds what no backend can keep: a NUL or half of a surrogate pair."""
    fields = vars(record).values() if record is not None else ()
    text = "".join([text for text in (*texts, *fields) if isinstance(text, str)])
    if "\0" in text or not (text.isascii() or _encodes(text)):
        raise StoreError("a text holds a character that cannot be kept")


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _search_one_user(
    documents: list[tuple[Turn | Entry, str]], words: Sequence[str], scope: Scope, kinds: frozenset[str]
) -> list[FoundRecord]:
    asked = set(words)
    held = [(record, text, frozenset(asked.intersection(words_of(text)))) for record, text in documents]
    frequency = Counter(word for _, _, matched in held for word in matched)
    mean = sum(len(words_of(text)) for _, text, _ in held) / len(held)
    return [
        FoundRecord(record, bm25(words, text, frequency, len(held), mean), matched)
        for record, text, matched in held
        if matched and in_scope(record, scope) and kind_of(record) in kinds
    ]
