"""The file in which waits what a store that is away is still to be given."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from ovos_persona_memory.errors import StoreFull
from ovos_persona_memory.records import Pause, Place
from ovos_persona_memory.stores.sqlite.offline_queue import DATABASE, OfflineQueue, QueuedArrival


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[OfflineQueue]:
    found = OfflineQueue(tmp_path)
    yield found
    found.close()


def kept(number: int, body: bytes | None = None) -> QueuedArrival:
    return QueuedArrival(
        f"id{number}", "heard", 1000.0 + number, body or f"something was said {number}".encode(), tried=number == 2
    )


def on_disk(folder: Path, words: bytes) -> list[str]:
    return [path.name for path in folder.iterdir() if words in path.read_bytes()]


def test_what_was_added_is_there_after_a_process_that_just_ended(waiting: OfflineQueue, tmp_path: Path) -> None:
    waiting.add([kept(1), kept(2)])
    waiting.add([kept(3)])
    other = OfflineQueue(tmp_path)  # the first was not closed
    try:
        assert other.device == waiting.device
        assert len(other) == 3
        assert [(one.id, one.at, one.tried, one.num) for one in other.oldest(10)] == [
            ("id1", 1001.0, False, 1),
            ("id2", 1002.0, True, 2),
            ("id3", 1003.0, False, 3),
        ]
        assert [one.id for one in other.newest(2)] == ["id2", "id3"]
        assert [one.id for one in other.oldest(2)] == ["id1", "id2"]
    finally:
        other.close()


def test_what_is_delivered_is_gone_from_every_file_and_what_waits_is_not(waiting: OfflineQueue, tmp_path: Path) -> None:
    bodies = [f"my secret garden {number} {'of roses ' * (number * 37)}".encode() for number in range(120)]
    for number, body in enumerate(bodies):
        waiting.add([kept(number, body)])
    waiting.empty(up_to=60)
    assert len(waiting) == 60
    for body in bodies[:60]:
        assert on_disk(tmp_path, body[:19].rstrip() + b" ") == []
    assert on_disk(tmp_path, bodies[60][:19]) != []
    assert waiting.oldest(1)[0].body == bodies[60]
    waiting.empty(up_to=120)
    assert len(waiting) == 0
    assert on_disk(tmp_path, b"garden") == on_disk(tmp_path, b"roses") == []


def test_a_number_is_never_given_again(waiting: OfflineQueue, tmp_path: Path) -> None:
    waiting.add([kept(1), kept(2)])
    waiting.empty(up_to=2)
    waiting.close()
    again = OfflineQueue(tmp_path)
    again.add([kept(3)])
    assert again.oldest(1)[0].num == 3
    again.close()


def test_without_room_nothing_of_it_is_kept_and_the_rest_stays(waiting: OfflineQueue) -> None:
    waiting.add([kept(1)])
    waiting._sql.execute("PRAGMA max_page_count = 20")
    with pytest.raises(StoreFull):
        waiting.add([kept(2), kept(3, b"x" * 1_000_000)])
    assert len(waiting) == 1
    assert [one.id for one in waiting.oldest(10)] == ["id1"]
    waiting.add([kept(4)])
    assert [one.id for one in waiting.oldest(10)] == ["id1", "id4"]


@pytest.mark.parametrize("damage", [b"this is no database at all " * 40, b"SQLite format 3\0" + b"\xff" * 8000])
def test_a_damaged_file_is_set_aside_and_a_new_device_begins(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / DATABASE).write_bytes(damage)
    found = OfflineQueue(tmp_path, clock=lambda: 0.0)
    found.add([kept(1)])
    assert [path.read_bytes() for path in tmp_path.glob(f"{DATABASE}.damaged-*")] == [damage]
    assert len(found) == 1
    found.close()


def test_pauses_are_kept_in_place_of_those_before(waiting: OfflineQueue, tmp_path: Path) -> None:
    assert waiting.pauses() is None
    waiting.keep_pauses([Pause(Place("site", "hall"), 1.0, None, False, True)])
    waiting.keep_pauses([])
    assert waiting.pauses() == []
    pause = Pause(Place("user", "ann"), 1.0, 2.0, False, False)
    waiting.keep_pauses([pause])
    again = OfflineQueue(tmp_path)
    assert again.pauses() == [pause]
    again.close()


def test_the_file_is_the_owners_alone(waiting: OfflineQueue, tmp_path: Path) -> None:
    waiting.add([kept(1)])
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
