"""Whose words an utterance is taken for: what its first message claims, weighed by what this device trusts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, MutableMapping
from dataclasses import replace
from typing import TypeVar

from ovos_persona_memory.config import IdentityConfig
from ovos_persona_memory.linking import claimant, spelled
from ovos_persona_memory.messages import DEFAULT_SESSION, Heard, Request
from ovos_persona_memory.records import GUEST, HOUSEHOLD, NOBODY, Claim, Person, Scope, Turn

SESSIONS, OF_EACH, UTTERANCES = 256, 12, 1024
"""Sessions, newest utterances of each, and utterance ids that are kept in mind at most."""

K = TypeVar("K")
V = TypeVar("V")


def person_of(claim: Claim, scope: Scope, config: IdentityConfig) -> Person:
    """Who speaks in a message that is not about an earlier utterance: a guest wherever that is not known.

    The names ``household`` and ``guest`` are nobody's: who claims one of them is a guest. A level
    counts for the user whom the message names, if it names one.
    """
    if config.trust == "none":
        return Person(HOUSEHOLD, claim.auth_level)
    if config.trust == "session":
        known = claim.user_id if claim.user_id != HOUSEHOLD else None
    else:
        by_session = config.map.get(scope.session_id or DEFAULT_SESSION)
        known = by_session or (config.map.get(scope.site_id) if scope.site_id is not None else None)
    if known is None or known == GUEST:
        return Person(GUEST)
    return Person(known, claim.auth_level if claim.user_id in (None, known) else 0)


class People:
    """Who said what is being talked about. Not thread-safe by itself: the one who holds it locks.

    The person of an utterance is told by the message in which it first arrives, and by no later
    one: on the session ``default`` the assistant's core hands the last speaker's id on to the next.
    """

    def __init__(self, config: IdentityConfig, stored: Callable[[str, str], str | None]) -> None:
        """``stored``: the user of a session's utterance in the log, by session and utterance id; None where unknown."""
        self._config = config
        self._stored = stored
        self._heard: dict[str, deque[tuple[Turn, Person]]] = {}
        self._by_id: dict[tuple[str, str], Person] = {}

    def attribute(self, heard: Heard) -> Heard:
        """The event with its person in its scope."""
        person = self._person_of(heard)
        return replace(heard, scope=replace(heard.scope, user_id=person.user_id, auth_level=person.auth_level))

    def of_request(self, asked: Request) -> Person:
        """Who asks: the person of the utterance that the request is about, else whoever its own message names."""
        if asked.utterance_id is None:
            return person_of(asked.claim, asked.scope, self._config)
        text = asked.data.get("utterance")
        return self._of_utterance(asked.scope, asked.utterance_id, text if isinstance(text, str) else None)

    def rename(self, user_id: str, into: str) -> None:
        """What one user said is another's from now on."""
        for key, person in self._by_id.items():
            self._by_id[key] = _renamed(person, user_id, into)
        for session_id, utterances in self._heard.items():
            kept = [(turn, _renamed(person, user_id, into)) for turn, person in utterances]
            self._heard[session_id] = deque(kept, OF_EACH)

    def _person_of(self, heard: Heard) -> Person:
        if heard.utterance_id is not None and (heard.what != "utterance" or self._knows(heard)):
            text = heard.text if heard.what in ("matched", "persona_turn") else None
            return self._of_utterance(heard.scope, heard.utterance_id, text)
        if heard.what in ("utterance", "query", "clear_data"):
            person = person_of(heard.claim, heard.scope, self._config)
            return self._note(heard, person) if heard.what == "utterance" else person
        utterances = self._heard.get(heard.session_id)
        return utterances[-1][1] if utterances else self._nobody(heard.scope)

    def _knows(self, heard: Heard) -> bool:
        return (heard.session_id, heard.utterance_id) in self._by_id

    def _nobody(self, scope: Scope) -> Person:
        """The person where an utterance has not been heard: of its later messages no name is believed."""
        return person_of(NOBODY, scope, self._config)

    def _note(self, heard: Heard, person: Person) -> Person:
        turn = Turn(
            "user", _mark(heard.text), at=heard.at, session_id=heard.session_id, utterance_id=heard.utterance_id
        )
        if heard.utterance_id is not None:
            _keep(self._by_id, (heard.session_id, heard.utterance_id), person, UTTERANCES)
        utterances = self._heard.pop(heard.session_id, None) or deque(maxlen=OF_EACH)
        utterances.append((turn, person))
        _keep(self._heard, heard.session_id, utterances, SESSIONS)
        return person

    def _of_utterance(self, scope: Scope, utterance_id: str, text: str | None) -> Person:
        session_id = scope.session_id or DEFAULT_SESSION
        known = self._by_id.get((session_id, utterance_id))
        if known is None:
            known = self._claimed(session_id, utterance_id, text) or self._from_the_log(session_id, utterance_id)
            known = known or self._nobody(scope)
            _keep(self._by_id, (session_id, utterance_id), known, UTTERANCES)
        return known

    def _claimed(self, session_id: str, utterance_id: str, text: str | None) -> Person | None:
        utterances = self._heard.get(session_id, ())
        waiting = claimant([turn for turn, _ in utterances], utterance_id, _mark(text or ""))
        for place, (turn, person) in enumerate(utterances):
            if turn is waiting:
                self._heard[session_id][place] = (replace(turn, utterance_id=utterance_id), person)
                return person
        return None

    def _from_the_log(self, session_id: str, utterance_id: str) -> Person | None:
        # how surely they were known is not in the log: at level 0 nothing private is reached
        user_id = None if self._config.trust == "none" else self._stored(session_id, utterance_id)
        return None if user_id is None else Person(user_id)


def _mark(text: str) -> str:
    """What tells a text from others without holding its words; "" for a text without letters."""
    words = spelled(text)
    return f"{hash(words) & 0xFFFFFFFFFFFFFFFF:x}" if words else ""


def _renamed(person: Person, user_id: str, into: str) -> Person:
    return replace(person, user_id=into) if person.user_id == user_id else person


def _keep(kept: MutableMapping[K, V], key: K, value: V, most: int) -> None:
    kept[key] = value
    while len(kept) > most:
        del kept[next(iter(kept))]
