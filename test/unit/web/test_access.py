"""Who is let in: the token, links that work once, browsers, and how long wrong tokens have to wait."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from ovos_persona_memory.web import access
from ovos_persona_memory.web.access import Access, MustWait, entry_link, token_of


class Clock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def door(tmp_path: Path, clock: Clock) -> Access:
    return Access(tmp_path / "data", clock)


def ticket_of(link: str) -> str:
    found = re.fullmatch(r"http://127\.0\.0\.1:8188/enter\?ticket=([\w.-]+)", link)
    assert found, link
    return found[1]


def test_the_token_is_the_owners_alone_and_stays_the_same(tmp_path: Path) -> None:
    token = token_of(tmp_path / "data")
    assert len(token) >= 40
    assert token_of(tmp_path / "data") == token != token_of(tmp_path / "other")
    assert stat.S_IMODE((tmp_path / "data" / access.TOKEN).stat().st_mode) == 0o600


def test_a_token_that_others_could_read_is_the_owners_again(tmp_path: Path) -> None:
    token = token_of(tmp_path)
    (tmp_path / access.TOKEN).chmod(0o644)
    assert token_of(tmp_path) == token
    assert stat.S_IMODE((tmp_path / access.TOKEN).stat().st_mode) == 0o600


def test_an_empty_token_file_lets_nobody_in(tmp_path: Path) -> None:
    (tmp_path / access.TOKEN).write_text("\n")
    assert len(token_of(tmp_path)) >= 40


def test_the_token_lets_in_and_nothing_like_it(door: Access, tmp_path: Path) -> None:
    token = token_of(tmp_path / "data")
    assert door.is_token(token, "here")
    for wrong in ("", token[:-1], token + "x", "half \ud83d", "é"):
        assert not door.is_token(wrong, wrong)


def test_wrong_tokens_have_to_wait_longer_and_longer_but_only_where_they_came_from(
    door: Access, clock: Clock, tmp_path: Path
) -> None:
    token = token_of(tmp_path / "data")
    for _ in range(access.FREE_TRIES):
        assert not door.is_token("wrong", "there")
    waits = []
    for _ in range(20):
        with pytest.raises(MustWait) as told:
            door.is_token(token, "there")
        waits.append(told.value.wait_s)
        clock.now += told.value.wait_s
        assert not door.is_token("wrong", "there")
    assert waits[:4] == [1.0, 2.0, 4.0, 8.0]
    assert max(waits) == waits[-1] == access.LONGEST_WAIT_S
    assert door.is_token(token, "here")
    clock.now += access.LONGEST_WAIT_S
    assert door.is_token(token, "there")
    assert not door.is_token("wrong", "there")


def test_addresses_with_wrong_tokens_do_not_fill_the_memory(door: Access) -> None:
    for number in range(access.MOST_PEERS + 50):
        door.is_token("wrong", f"peer {number}")
    assert len(door._wrong) == access.MOST_PEERS


def test_a_link_lets_in_once(door: Access, clock: Clock, tmp_path: Path) -> None:
    token = token_of(tmp_path / "data")
    one, other = (ticket_of(entry_link("http://127.0.0.1:8188", token, clock())) for _ in range(2))
    assert [door.spend(one), door.spend(one), door.spend(other)] == [True, False, True]


def test_a_link_that_is_too_old_or_was_changed_lets_nobody_in(door: Access, clock: Clock, tmp_path: Path) -> None:
    token = token_of(tmp_path / "data")
    ticket = ticket_of(entry_link("http://127.0.0.1:8188", token, clock()))
    until, nonce, signature = ticket.split(".")
    later = f"{int(until) + 1000}.{nonce}.{signature}"
    foreign = ticket_of(entry_link("http://127.0.0.1:8188", "another token", clock()))
    for wrong in (later, foreign, "", "..", "x.y.z", f"{until}.{nonce}.", f"{until}.{nonce}.é"):
        assert not door.spend(wrong)
    clock.now += access.LINK_S + 1
    assert not door.spend(ticket)


def test_a_browser_stays_in_over_a_restart_until_it_leaves_or_its_time_is_over(
    door: Access, clock: Clock, tmp_path: Path
) -> None:
    cookie, other = door.let_in(), door.let_in()
    again = Access(tmp_path / "data", clock)
    assert again.is_in(cookie)
    assert not again.is_in("")
    assert not again.is_in(cookie + "x")
    again.put_out(cookie)
    assert not again.is_in(cookie)
    assert not Access(tmp_path / "data", clock).is_in(cookie)
    clock.now += access.BROWSER_S + 1
    assert not again.is_in(other)


def test_no_cookie_is_written_down(door: Access, tmp_path: Path) -> None:
    cookie = door.let_in()
    path = tmp_path / "data" / access.BROWSERS
    assert cookie not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_oldest_of_too_many_browsers_is_put_out(door: Access, clock: Clock) -> None:
    cookies = []
    for _ in range(access.MOST_BROWSERS + 1):
        clock.now += 1
        cookies.append(door.let_in())
    assert [door.is_in(cookie) for cookie in cookies] == [False] + [True] * access.MOST_BROWSERS


def test_a_damaged_list_of_browsers_lets_nobody_in_and_stops_nothing(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / access.BROWSERS).write_text("{damaged")
    door = Access(tmp_path, clock)
    assert not door.is_in("anything")
    assert door.is_in(door.let_in())
