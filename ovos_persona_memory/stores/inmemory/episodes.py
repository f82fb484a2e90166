"""Episodes in this process's memory."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import replace

from ovos_persona_memory.records import Episode, EpisodesWanted
from ovos_persona_memory.stores.base.episodes import EpisodeStore, is_wanted, newest_first
from ovos_persona_memory.stores.base.store import refuse_unstorable
from ovos_persona_memory.stores.inmemory.undo_log import UndoLog


class InMemoryEpisodes(EpisodeStore):
    """One dict."""

    def __init__(self, changes: UndoLog) -> None:
        self._transaction, self._put, self._gone = changes.transaction, changes.put, changes.gone
        self._reading, self._number = changes.reading, changes.number
        self._held: MutableMapping[str, tuple[Episode, str]] = changes.table("episode")

    def add(self, episode: Episode, words: str = "") -> Episode:
        refuse_unstorable(episode, words, *map(str, episode.detail.values()))
        with self._transaction():
            kept = replace(episode, seq=self._number("episode"))
            self._put(self._held, kept.id, (kept, words))
            return kept

    def finish(self, episode: Episode) -> None:
        with self._transaction():
            if episode.id in self._held:
                held, words = self._held[episode.id]
                turn_id, outcome = episode.turn_id, episode.outcome
                ended = replace(held, turn_id=turn_id, outcome=outcome, latency_ms=episode.latency_ms)
                self._put(self._held, episode.id, (ended, words))

    def episodes(self, wanted: EpisodesWanted) -> list[Episode]:
        with self._reading():
            found = [episode for episode, _ in self._held.values() if is_wanted(episode, wanted)]
        return sorted(found, key=newest_first)[: wanted.limit]

    def last_use(self, record_id: str) -> Episode | None:
        return next(iter(sorted(self._using(record_id), key=lambda one: -one.seq)), None)

    def uses(self, record_id: str) -> int:
        return len(self._using(record_id))

    def _using(self, record_id: str) -> list[Episode]:
        with self._reading():
            return [episode for episode, _ in self._held.values() if record_id in episode.used]

    def held(self, user_id: str | None) -> Sequence[tuple[Episode, str]]:
        with self._reading():
            found = [one for one in self._held.values() if user_id in (None, one[0].user_id)]
        return sorted(found, key=lambda one: one[0].seq)

    def delete(self, ids: Sequence[str]) -> int:
        return self._delete(lambda episode: episode.id in ids)

    def ids_of_turns(self, turn_ids: Sequence[str]) -> list[str]:
        turns = set(turn_ids)
        with self._reading():
            return [episode.id for episode, _ in self._held.values() if episode.turn_id in turns]

    def ids_of_utterances(self, utterance_ids: Sequence[str]) -> list[str]:
        with self._reading():
            return [episode.id for episode, _ in self._held.values() if episode.utterance_id in utterance_ids]

    def delete_before(self, at: float) -> int:
        return self._delete(lambda episode: episode.at < at)

    def _delete(self, chosen: Callable[[Episode], bool]) -> int:
        with self._transaction():
            gone = [episode.id for episode, _ in self._held.values() if chosen(episode)]
            for episode_id in gone:
                self._put(self._held, episode_id, self._gone)
        return len(gone)

    def rename_user(self, user_id: str, into: str) -> int:
        with self._transaction():
            moved = [(episode, words) for episode, words in self._held.values() if episode.user_id == user_id]
            for episode, words in moved:
                self._put(self._held, episode.id, (replace(episode, user_id=into), words))
        return len(moved)
