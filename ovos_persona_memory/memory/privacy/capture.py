"""Whether memory may be written and read: pauses of a session, a room, a user or everything, and who is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Literal

from ovos_persona_memory.config import CaptureConfig
from ovos_persona_memory.errors import CapturePaused, InvalidRequest
from ovos_persona_memory.records import Capture, Pause, Place, Scope
from ovos_persona_memory.stores import Store

REMEMBERED_S = 30 * 86400.0
"""A pause is known so long after its end, seconds: what was said in it may be delivered late."""
REREAD_S = 0.25
"""What another device has switched holds here this much later at the latest, seconds."""
EVERYTHING = Place()


class CapturePolicy:
    """The pauses of one memory. Not thread-safe by itself: the store's transactions are."""

    def __init__(self, store: Store, config: CaptureConfig, clock: Callable[[], float]) -> None:
        self._store = store
        self._config = config
        self._clock = clock
        self._pauses: dict[Place, list[Pause]] = {}
        self._read_at = 0.0
        self.reload()

    def reload(self) -> None:
        """Read the pauses from the store again."""
        self._read_at = self._clock()
        self._pauses = {}
        for pause in self._store.pauses():
            self._pauses.setdefault(pause.place, []).append(pause)

    def known(self) -> list[Pause]:
        """Every pause as last read from the store."""
        return [pause for pauses in self._pauses.values() for pause in pauses]

    def may_write(self, scope: Scope, at: float | None = None) -> bool:
        """Whether what the scope's user says there may be kept: now, and at the time when it was said."""
        if scope.user_id in self._config.exclude_users:
            return False
        if not self._as_known_now():  # with every turn
            return True
        now = self._clock()
        moments = {now, min(at, now)} if at is not None else {now}
        return all(pause.write for moment in moments for pause in self._in_force(_places(scope), moment))

    def may_read(self, scope: Scope) -> bool:
        """Whether what is kept may be used there now."""
        return not scope.blind and all(pause.read for pause in self._in_force(_places(scope), self._clock()))

    def refuse_while_paused(self, scope: Scope) -> None:
        """Raise CapturePaused where nothing may be kept now."""
        if not self.may_write(scope):
            raise CapturePaused()

    def excludes_skill(self, skill_id: str | None) -> bool:
        """Whether nothing is to be kept of what this skill does."""
        return skill_id in self._config.exclude_skills

    def setting_of(self, place: Place) -> Capture:
        """What holds now for a place, that of everything included."""
        pauses = self._in_force((EVERYTHING, place), self._clock())
        ends = [pause.until for pause in pauses if pause.until is not None]
        left_out = place.kind == "user" and place.name in self._config.exclude_users
        return Capture(
            write=all(pause.write for pause in pauses) and not left_out,
            read=all(pause.read for pause in pauses),
            until=max(ends, default=None),
            **({f"{place.kind}_id": place.name} if place != EVERYTHING else {}),
        )

    def switch(self, place: Place, write: bool | None, read: bool | None, until: float | None) -> None:
        """Set what is given for a place; the rest stays as it is in force there. ``until`` None: until changed."""
        now = self._clock()
        current = self._in_force((place,), now)
        begun = Pause(
            place,
            since=now,
            until=until,
            write=all(pause.write for pause in current) if write is None else write,
            read=all(pause.read for pause in current) if read is None else read,
        )
        ended = [replace(pause, until=now) for pause in current if pause.since < now]
        changed = [*ended, begun] if current or not (begun.write and begun.read) else []
        with self._store.transaction():
            self._store.delete_pauses([pause for pause in self._store.pauses() if _is_over(pause, now - REMEMBERED_S)])
            for pause in changed:
                self._store.put_pause(pause)
        others = [pause for pause in self._pauses.get(place, ()) if pause not in current]
        self._pauses[place] = [pause for pause in (*others, *changed) if not _is_over(pause, now - REMEMBERED_S)]

    def _in_force(self, places: Iterable[Place], at: float) -> list[Pause]:
        known = self._as_known_now()
        pauses = (pause for place in dict.fromkeys(places) for pause in known.get(place, ())) if known else ()
        return [pause for pause in pauses if pause.since <= at and not _is_over(pause, at)]

    def _as_known_now(self) -> Mapping[Place, list[Pause]]:
        """Every pause by its place; what another device has switched is read again after a while."""
        if self._store.shared and not 0 <= self._clock() - self._read_at < REREAD_S:
            self.reload()
        return self._pauses


def _is_over(pause: Pause, at: float) -> bool:
    return pause.until is not None and pause.until <= at


def _places(scope: Scope) -> Iterable[Place]:
    yield EVERYTHING
    for kind in ("session", "site", "user"):
        name = getattr(scope, f"{kind}_id")
        if name is not None:
            yield Place(kind, name)


def place_of(scope: Scope, chosen: Mapping[Literal["session", "site", "user"], bool]) -> Place:
    """The one place in scope that is chosen, everything where none is; InvalidRequest where that cannot be told."""
    kinds = [kind for kind, wanted in chosen.items() if wanted]
    if len(kinds) > 1:
        raise InvalidRequest("person" if kinds[1] == "user" else kinds[1], f"cannot be chosen besides {kinds[0]}")
    for kind in kinds:
        name = getattr(scope, f"{kind}_id")
        if name is None:
            raise InvalidRequest("person" if kind == "user" else kind, f"needs a scope with a {kind}_id")
        return Place(kind, name)
    return EVERYTHING
