"""Whose words an utterance is taken for: what its first message claims, weighed by what this device trusts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal, TypeVar

from ovos_persona_memory.config import IdentityConfig
from ovos_persona_memory.conversation import linking
from ovos_persona_memory.records import (
    DEFAULT_SESSION,
    GUEST,
    HOUSEHOLD,
    NOBODY,
    Claim,
    Heard,
    Person,
    Request,
    Scope,
    replace_fast,
)

SESSIONS, OF_EACH, UTTERANCES = 256, 12, 1024
"""Sessions, newest utterances of each, and utterance ids that are kept in mind at most."""

K = TypeVar("K")
V = TypeVar("V")


def person_of(claim: Claim, scope: Scope, config: IdentityConfig) -> Person:
    """Who speaks in a message that is not about an earlier utterance: a guest wherever that is not known.

    The names ``household`` and ``guest`` are nobody's: who claims one of them is a guest. A level
    counts for the user whom the message names, if it names one. Where everybody is the household, a name is noted, and
    decides nothing.
    """
    if config.trust == "none":
        return Person(HOUSEHOLD, claim.auth_level, claim.user_id if claim.user_id not in (HOUSEHOLD, GUEST) else None)
    if config.trust == "session":
        known = claim.user_id if claim.user_id != HOUSEHOLD else None
    elif config.clients and claim.client is not None:
        known = config.clients.get(claim.client)
    else:
        by_session = config.map.get(scope.session_id or DEFAULT_SESSION)
        known = by_session or (config.map.get(scope.site_id) if scope.site_id is not None else None)
    if known is None or known == GUEST:
        return Person(GUEST)
    return Person(known, claim.auth_level if claim.user_id in (None, known) else 0)


def relatives(config: IdentityConfig, relation: Literal["children", "carers"], user_id: str | None) -> list[str]:
    """Those whom a user approves for (children) or may ask about (carers), by name; empty for everybody else."""
    return sorted(name for name, others in getattr(config, relation).items() if user_id in others)


@dataclass
class UtteranceOrigin:
    """What is known of an utterance, for all that follows from it."""

    person: Person
    site_id: str | None = None
    """The room in which it was said."""
    kept: bool = True
    """False: nothing of it is kept, and nothing that follows from it."""
    mark: str = ""
    """Tells its words from others without holding them."""
    at: float = 0.0
    waits: bool = False
    """It has no utterance id yet."""


class People:
    """Who said what is being talked about. Not thread-safe by itself: the one who holds it locks.

    The person of an utterance is told by the message in which it first arrives, and by no later
    one: on the session ``default`` the assistant's core hands the last speaker's id on to the next.
    """

    def __init__(self, config: IdentityConfig, stored: Callable[[str, str], str | None]) -> None:
        """``stored``: the user of a session's utterance in the log, by session and utterance id; None where unknown."""
        self._config = config
        self._stored = stored
        self._heard: dict[str, deque[UtteranceOrigin]] = {}
        self._by_id: dict[tuple[str, str], UtteranceOrigin] = {}

    def attribute(self, heard: Heard) -> tuple[Heard, UtteranceOrigin]:
        """The event with its person and room in its scope, with the name of who speaks, and the utterance that it is or
        follows from."""
        said = self._said(heard)
        person, site_id = said.person, heard.scope.site_id or said.site_id
        scope = replace_fast(heard.scope, user_id=person.user_id, auth_level=person.auth_level, site_id=site_id)
        return replace_fast(heard, scope=scope, speaker=person.name), said

    def of_request(self, asked: Request) -> Person:
        """Who asks: the person of the utterance that the request is about, else whoever its own message names."""
        if asked.utterance_id is None:
            return person_of(asked.claim, asked.scope, self._config)
        text = asked.data.get("utterance")
        return self._of_utterance(asked, asked.utterance_id, text if isinstance(text, str) else None).person

    def name_of(self, session_id: str | None, utterance_id: str | None) -> str | None:
        """The name of who said an utterance, as far as one is known: see ``Person.name``."""
        said = self._by_id.get((session_id or DEFAULT_SESSION, utterance_id or ""))
        return None if said is None else said.person.name

    def is_kept(self, session_id: str | None, utterance_id: str | None) -> bool:
        """Whether an utterance may be kept, as far as is known."""
        said = self._by_id.get((session_id or DEFAULT_SESSION, utterance_id or ""))
        return said is None or said.kept

    def rename(self, user_id: str, into: str) -> None:
        """What one user said is another's from now on."""
        for said in (*self._by_id.values(), *(said for each in self._heard.values() for said in each)):
            if said.person.user_id == user_id:
                said.person = replace(said.person, user_id=into)

    def _said(self, heard: Heard) -> UtteranceOrigin:
        if heard.utterance_id is not None and (heard.what != "utterance" or self._knows(heard)):
            text = heard.text if heard.what in ("matched", "persona_turn") else None
            return self._of_utterance(heard, heard.utterance_id, text)
        if heard.what in ("utterance", "query", "clear_data"):
            said = UtteranceOrigin(person_of(heard.claim, heard.scope, self._config), heard.scope.site_id)
            return self._note(heard, said) if heard.what == "utterance" else said
        utterances = self._heard.get(heard.session_id)
        return utterances[-1] if utterances and not heard.scheduled else self._nobodys(heard.scope, heard.claim)

    def _knows(self, heard: Heard) -> bool:
        return (heard.session_id, heard.utterance_id) in self._by_id

    def _nobodys(self, scope: Scope, claim: Claim) -> UtteranceOrigin:
        """What is said where no utterance has been heard: of later messages no name is believed but that of the client,
        which is in no session that could be handed on."""
        unnamed = replace(NOBODY, client=claim.client)
        return UtteranceOrigin(person_of(unnamed, scope, self._config), scope.site_id)

    def _note(self, heard: Heard, said: UtteranceOrigin) -> UtteranceOrigin:
        said.mark, said.at, said.waits = _mark(heard.text), heard.at, heard.utterance_id is None
        if heard.utterance_id is not None:
            _keep(self._by_id, (heard.session_id, heard.utterance_id), said, UTTERANCES)
        utterances = self._heard.pop(heard.session_id, None) or deque(maxlen=OF_EACH)
        again = next((one for one in utterances if (one.at, one.mark) == (said.at, said.mark)), None)
        if again is None:  # else the store failed when it came first
            utterances.append(said)
        _keep(self._heard, heard.session_id, utterances, SESSIONS)
        return again or said

    def _of_utterance(self, message: Heard | Request, utterance_id: str, text: str | None) -> UtteranceOrigin:
        session_id = message.scope.session_id or DEFAULT_SESSION
        known = self._by_id.get((session_id, utterance_id))
        if known is None:
            known = self._claimed(session_id, text) or self._from_the_log(session_id, utterance_id)
            known = known or self._nobodys(message.scope, message.claim)
            _keep(self._by_id, (session_id, utterance_id), known, UTTERANCES)
        return known

    def _claimed(self, session_id: str, text: str | None) -> UtteranceOrigin | None:
        """The utterance that takes an id seen for the first time, by the rules of ``linking.claimant``."""
        utterances = self._heard.get(session_id)
        since = utterances[-1].at - linking.CLAIM_S if utterances else 0.0
        waiting = [said for said in utterances or () if said.waits and said.at >= since]
        if len(waiting) > 1:
            mark = _mark(text or "")
            after_last = takewhile(lambda said: said.waits, reversed(utterances or ()))
            fresh = [said for said in reversed(list(after_last)) if said.at >= since]
            waiting = [*(said for said in waiting if mark and said.mark == mark), *fresh, *waiting]
        if waiting:
            waiting[0].waits = False
        return waiting[0] if waiting else None

    def _from_the_log(self, session_id: str, utterance_id: str) -> UtteranceOrigin | None:
        # how surely they were known is not in the log: at level 0 nothing private is reached
        user_id = None if self._config.trust == "none" else self._stored(session_id, utterance_id)
        return None if user_id is None else UtteranceOrigin(Person(user_id))


def _mark(text: str) -> str:
    """What tells a text from others without holding its words; "" for a text without letters."""
    words = linking.spelled(text)
    return f"{hash(words) & 0xFFFFFFFFFFFFFFFF:x}" if words else ""


def _keep(kept: MutableMapping[K, V], key: K, value: V, most: int) -> None:
    kept[key] = value
    while len(kept) > most:
        del kept[next(iter(kept))]
