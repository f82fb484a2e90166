"""What was forgotten, known by keyed hashes: so that nothing old that comes again brings it back."""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Callable, Iterable, Iterator

from ovos_persona_memory.memory.privacy.pending_deletions import Sweeps
from ovos_persona_memory.records import Entry, Turn
from ovos_persona_memory.stores import ANSWERED, FORGOTTEN, Store
from ovos_persona_memory.text import index_terms, languages

KEY, LAST = "ledger_key", "forgotten_at"
"""Names of its small values in the store: the key of the hashes, and when something was last forgotten."""
JUST_NOW_S = 60.0
"""What was said no longer ago, seconds, does not come late."""
SHORT = (1 << 48) - 1
LOOKED_AFTER = 32
"""After so many requests it is looked whether the key is still kept: the transaction that made it may be undone."""
ANSWERED_TOO_MANY = 512
"""After so many requests the list of them is shortened."""


class Tombstones:
    """Remembers what was forgotten without its words. Not thread-safe by itself: the store's transactions are.

    A text is known by a hash of its folded words, one for each user, under a random key that never
    leaves the store. Whoever has the database can try out guesses; that a guess was right is all
    that can be learned.
    """

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store.ledger_store
        self._state = store
        self._clock = clock
        self._key = bytes.fromhex(store.state(KEY) or "")
        self._last = float(store.state(LAST) or 0.0)
        self._answered = 0
        if store.shared and not self._key:  # all devices go by one key, from the beginning
            with store.transaction():
                self._key = bytes.fromhex(store.state(KEY) or "")
                self._make_key()
        self.sweeps = Sweeps(store, clock, self._short_hash)
        """What was forgotten as far as it must reach what comes late."""

    # what was forgotten

    def note(self, records: Iterable[Turn | Entry], texts: Iterable[tuple[str, str, str | None]] = ()) -> None:
        """Take note of records that are forgotten now, and of texts: user, text, language."""
        self._make_key()
        now, self._last = self._clock(), self._after_last()
        hashes = {number for record in records for number in self._of_record(record)}
        hashes |= {number for user_id, text, lang in texts for number in self._of_text(user_id, text, lang)}
        self._store.add(FORGOTTEN, hashes, now)
        self._store.shorten(FORGOTTEN)
        self._state.put_state(LAST, repr(self._last))

    def was_forgotten(self, user_id: str, text: str, lang: str | None) -> bool:
        """Whether this user's text was forgotten, and no person asked anew to have it remembered."""
        return self._at(user_id, text, lang) is not None

    def came_late(self, user_id: str, text: str, lang: str | None, at: float | None) -> bool:
        """Whether a text was said at a time before it was forgotten, and comes now.

        A mark of the future was made while the clock ran ahead: nothing can be told by it.
        """
        forgotten_at = self._at(user_id, text, lang)
        return forgotten_at is not None and at is not None and self._is_before(at, forgotten_at)

    def _is_before(self, at: float, forgotten_at: float) -> bool:
        """Whether something was said before it was forgotten."""
        now = self.sweeps.now()
        if forgotten_at > now:  # by a clock that ran ahead: what is said just now is news, what comes late may be old
            return at < now - JUST_NOW_S
        return at < forgotten_at

    def knows(self, utterance_id: str | None) -> bool:
        """Whether an utterance with this id was forgotten."""
        if not self._key or utterance_id is None:
            return False
        return self._store.at(FORGOTTEN, self._hash("utterance", utterance_id)) is not None

    def lift(self, user_id: str, text: str, lang: str | None) -> None:
        """A person asks anew to have this remembered: it may be learned again."""
        if self._key:
            self._store.remove(FORGOTTEN, self._of_text(user_id, text, lang))

    # requests that come again

    def note_answered(self, request: bytes) -> None:
        """Take note of a request that is carried out now."""
        if self._answered % LOOKED_AFTER == 0:
            self._make_key()
        self._store.add(ANSWERED, [self._hash("request", request.hex())], self._after_last())
        self._answered += 1
        if self._answered % ANSWERED_TOO_MANY == 0:
            self._store.shorten(ANSWERED)

    def is_answered(self, request: bytes) -> bool:
        """Whether this very request was carried out before something was forgotten."""
        last = self._last_forgotten()
        if not self._key or not last:
            return False
        at = self._store.at(ANSWERED, self._hash("request", request.hex()))
        return at is not None and at <= last

    def _after_last(self) -> float:
        """The time; where the clock ran ahead when something was last forgotten, a moment after that."""
        return max(self._clock(), math.nextafter(self._last_forgotten(), math.inf))

    def _last_forgotten(self) -> float:
        return float(self._state.state(LAST) or 0.0) if self._state.shared else self._last

    # hashes

    def _make_key(self) -> None:
        self._key = self._key or secrets.token_bytes(32)
        if self._state.state(KEY) is None:  # also where the transaction that made it was undone
            self._state.put_state(KEY, self._key.hex())

    def _at(self, user_id: str, text: str, lang: str | None) -> float | None:
        if not self._key:
            return None
        number = self._hash("text", user_id, _folded(text, lang))
        return self._store.at(FORGOTTEN, number)

    def _of_record(self, record: Turn | Entry) -> Iterator[int]:
        yield from self._of_text(record.user_id, record.text, record.lang)
        if isinstance(record, Turn) and record.utterance_id is not None:
            yield self._hash("utterance", record.utterance_id)

    def _of_text(self, user_id: str, text: str, lang: str | None) -> Iterator[int]:
        """The text's own hash, and those of its sentences."""
        sentences = languages.sentences_of(text)
        for part in (text, *(sentences if len(sentences) > 1 else ())):
            folded = _folded(part, lang)
            if folded:
                yield self._hash("text", user_id, folded)

    def _short_hash(self, *parts: str) -> int:
        """Short enough for a list of many that is written as numbers."""
        return self._hash("sweep", *parts) & SHORT

    def _hash(self, *parts: str) -> int:
        digest = hashlib.blake2b("\n".join(parts).encode(), key=self._key, digest_size=8).digest()
        return int.from_bytes(digest, "big", signed=True)


def _folded(text: str, lang: str | None) -> str:
    """The words of a text without a leading "remember that"."""
    return " ".join(index_terms.fold(languages.for_language(lang).without_lead(text)))
