"""Sessions that are to be looked at."""

from __future__ import annotations

import pytest

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.memory.tidying.touched_sessions import TouchedSessions
from ovos_persona_memory.records import GUEST, HOUSEHOLD

Planned = list[tuple[str, str, int]]


def looked_at(touched: TouchedSessions[int]) -> Planned:
    found: Planned = []
    touched.look(lambda user_id, session_id, what: found.append((user_id, session_id, what)))
    return found


def test_each_is_looked_at_once_with_what_was_asked_for_last() -> None:
    touched: TouchedSessions[int] = TouchedSessions(9, guests=False)
    for user_id, session_id, what in (("ann", "s1", 1), (None, "s2", 2), ("ann", "s1", 3), (GUEST, "s3", 4)):
        touched.touch(user_id, session_id, what)
    touched.touch("ann", None, 5)
    assert touched
    assert looked_at(touched) == [("ann", "s1", 3), (HOUSEHOLD, "s2", 2)]
    assert not touched
    assert looked_at(touched) == []


def test_of_too_many_the_last_are_kept_and_guests_count_where_they_are_wanted() -> None:
    touched: TouchedSessions[int] = TouchedSessions(2, guests=True)
    for number in range(4):
        touched.touch(GUEST, f"s{number}", number)
    assert looked_at(touched) == [(GUEST, "s2", 2), (GUEST, "s3", 3)]


def test_one_whose_look_fails_is_looked_at_again() -> None:
    touched: TouchedSessions[int] = TouchedSessions(9, guests=False)
    touched.touch("ann", "s1", 1)

    def fail(*_: object) -> None:
        raise StoreError("away")

    with pytest.raises(StoreError):
        touched.look(fail)
    assert looked_at(touched) == [("ann", "s1", 1)]
