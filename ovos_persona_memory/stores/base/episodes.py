"""The episode port: the log of events in every backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ovos_persona_memory.records import Episode, EpisodesWanted, Scope, Selection, Turn
from ovos_persona_memory.stores.base.selection import holds_all

FIELDS = [
    "id",
    "user_id",
    "kind",
    "at",
    "session_id",
    "persona_id",
    "site_id",
    "utterance_id",
    "turn_id",
    "skill_id",
    "name",
    "outcome",
    "latency_ms",
]
"""The fields of an episode that have a column of their own in tables."""


class EpisodeStore(ABC):
    """An append-only log, with the promises of the Store that it belongs to.

    ``words`` of an episode: the index words of its slots, arguments and errors, separated by one space.
    """

    @abstractmethod
    def add(self, episode: Episode, words: str = "") -> Episode:
        """Note an episode; it comes back with its ``seq``. ``id`` is set."""

    @abstractmethod
    def finish(self, episode: Episode) -> None:
        """Note how an episode ended: its outcome, latency and turn. Nothing where it is gone."""

    @abstractmethod
    def episodes(self, wanted: EpisodesWanted) -> list[Episode]:
        """The newest ``limit`` episodes that are wanted, newest first (by ``at``, then ``seq``)."""

    @abstractmethod
    def last_use(self, record_id: str) -> Episode | None:
        """The newest recall that handed a record out; None where none did."""

    @abstractmethod
    def uses(self, record_id: str) -> int:
        """How many recalls handed a record out."""

    @abstractmethod
    def held(self, user_id: str | None) -> Sequence[tuple[Episode, str]]:
        """Every episode of a user, None: of everybody, with its words: the input of forgetting."""

    @abstractmethod
    def delete(self, ids: Sequence[str]) -> int:
        """Delete episodes; how many there were. The Store's ``purge`` makes them gone."""

    @abstractmethod
    def ids_of_turns(self, turn_ids: Sequence[str]) -> list[str]:
        """The ids of the episodes that belong to these turns."""

    @abstractmethod
    def ids_of_utterances(self, utterance_ids: Sequence[str]) -> list[str]:
        """The ids of the episodes that belong to these utterances."""

    @abstractmethod
    def delete_before(self, at: float) -> int:
        """Delete what began before a time, seconds since the epoch; how many there were."""

    @abstractmethod
    def rename_user(self, user_id: str, into: str) -> int:
        """Make one user's episodes another's; how many they were."""

    def chosen(self, selection: Selection) -> list[Episode]:
        """The episodes that a selection takes itself; others go with their turns."""
        if "episode" not in selection.kinds or selection.keys is not None:
            return []
        return [one for one, words in self.held(selection.scope.user_id) if takes_episode(selection, one, words)]

    def ids_around(self, turns: Sequence[Turn]) -> list[str]:
        """The ids of the episodes that belong to these turns, or to their utterances."""
        named = [turn.utterance_id for turn in turns if turn.utterance_id is not None]
        return [*self.ids_of_turns([turn.id for turn in turns]), *self.ids_of_utterances(named)]

    def going(self, selection: Selection, turn_ids: Sequence[str]) -> list[str]:
        """The ids of the episodes that go with a selection, and with these turns."""
        chosen = (episode.id for episode in self.chosen(selection))
        return list(dict.fromkeys([*chosen, *self.ids_of_turns(turn_ids)]))


def in_scope(episode: Episode, scope: Scope) -> bool:
    """Whether an episode is within the scope; it belongs to no task."""
    return (
        scope.user_id in (None, episode.user_id)
        and scope.session_id in (None, episode.session_id)
        and (scope.persona_id is None or episode.persona_id in (None, scope.persona_id))
        and scope.site_id in (None, episode.site_id)
        and scope.task_id is None
    )


def is_wanted(episode: Episode, wanted: EpisodesWanted) -> bool:
    """Whether an episode matches the query."""
    return (
        episode.kind in wanted.kinds
        and in_scope(episode, wanted.scope)
        and (wanted.since is None or episode.at >= wanted.since)
        and (wanted.until is None or episode.at < wanted.until)
    )


def takes_episode(selection: Selection, episode: Episode, words: str) -> bool:
    """Whether a selection takes an episode."""
    names = (episode.id, episode.turn_id)
    return (
        in_scope(episode, selection.scope)
        and (selection.ids is None or any(name in selection.ids for name in names))
        and not any(name in selection.spare for name in names)
        and (selection.words is None or holds_all(words, selection.words))
        and (selection.since is None or episode.at >= selection.since)
        and (selection.until is None or episode.at < selection.until)
        and selection.source in (None, episode.skill_id, episode.persona_id)
    )


def newest_first(episode: Episode) -> tuple[float, int]:
    """Sort key of a list: the newest first."""
    return (-episode.at, -episode.seq)
