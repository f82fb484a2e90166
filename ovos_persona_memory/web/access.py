"""Who may open the page: the token, one-time links, browsers that were let in, and the back-off after wrong tokens."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import msgspec

TOKEN, BROWSERS = "web.token", "web.browsers"
"""Files in the data folder: the token, and hashes of the cookies of browsers that were let in."""
LINK_S = 600.0
"""How long a one-time link can be used, seconds."""
BROWSER_S = 30 * 86400.0
"""How long a browser stays let in, seconds."""
MOST_BROWSERS = 64
FREE_TRIES = 5
"""Wrong tokens from one address before it has to wait."""
LONGEST_WAIT_S = 60.0
MOST_PEERS = 1024
"""Addresses with wrong tokens that are remembered at most; the one that tried least lately is forgotten first."""


class MustWait(Exception):
    """Too many wrong tokens came from this address."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"wait {wait_s:.0f} s")
        self.wait_s = wait_s


def token_of(folder: Path) -> str:
    """The token of a data folder, made where there is none; OSError where it can neither be read nor written."""
    path = folder / TOKEN
    try:
        return _own_text(path)
    except FileNotFoundError:
        _write_own(path, secrets.token_urlsafe(32), os.O_EXCL)
        return _own_text(path)


def entry_link(url: str, token: str, now: float) -> str:
    """A link that lets one browser in, once, within LINK_S of ``now`` (seconds since the epoch)."""
    what = f"{int(now + LINK_S)}.{secrets.token_urlsafe(12)}"
    return f"{url}/enter?ticket={what}.{_signed(token, what)}"


class Access:
    """What lets people and programs in. Thread-safe."""

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        self._path = folder / BROWSERS
        self._clock = clock
        self._token = token_of(folder)
        self._lock = threading.Lock()  # guards all below
        self._spent: dict[str, float] = {}
        """Links that were used, until when they could have been."""
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()
        """From an address to its wrong tokens in a row, and until when it has to wait."""
        self._browsers = _kept_browsers(self._path)

    def is_token(self, given: str, peer: str) -> bool:
        """Whether this is the token; MustWait where too many wrong ones came from this address lately."""
        now = self._clock()
        with self._lock:
            times, until = self._wrong.get(peer, (0, 0.0))
            if now < until:
                raise MustWait(until - now)
            if hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode()):
                self._wrong.pop(peer, None)
                return True
            wait_s = min(2.0 ** (times + 1 - FREE_TRIES), LONGEST_WAIT_S) if times + 1 >= FREE_TRIES else 0.0
            # the number stops growing where the wait does: 2.0 ** 1024 is no number
            self._wrong[peer] = (min(times + 1, FREE_TRIES + 10), now + wait_s)
            self._wrong.move_to_end(peer)
            while len(self._wrong) > MOST_PEERS:
                self._wrong.popitem(last=False)
            return False

    def spend(self, ticket: str) -> bool:
        """Whether a link's ticket is good; it is no longer, afterwards."""
        what, _, signature = ticket.rpartition(".")
        until = what.partition(".")[0]
        signed = _signed(self._token, what)
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), signed.encode()) or not until.isdecimal():
            return False
        now = self._clock()
        with self._lock:
            self._spent = {used: ends for used, ends in self._spent.items() if ends > now}
            if now > int(until) or what in self._spent:
                return False
            self._spent[what] = float(until)
            return True

    def let_in(self) -> str:
        """The cookie of a browser that is let in."""
        cookie = secrets.token_urlsafe(32)
        with self._lock:
            now = self._clock()
            newest = sorted(self._browsers.items(), key=lambda one: -one[1])[: MOST_BROWSERS - 1]
            self._browsers = {one: until for one, until in newest if until > now}
            self._browsers[_hash(cookie)] = now + BROWSER_S
            self._keep()
        return cookie

    def is_in(self, cookie: str) -> bool:
        """Whether this is the cookie of a browser that was let in."""
        with self._lock:
            return self._browsers.get(_hash(cookie), 0.0) > self._clock()

    def put_out(self, cookie: str) -> None:
        """A browser has to be let in again."""
        with self._lock:
            if self._browsers.pop(_hash(cookie), None) is not None:
                self._keep()

    def _keep(self) -> None:
        beside = self._path.with_suffix(".new")
        _write_own(beside, msgspec.json.encode(self._browsers).decode(), os.O_TRUNC)
        beside.replace(self._path)


def _signed(token: str, what: str) -> str:
    return hmac.new(token.encode(), f"link:{what}".encode(), hashlib.sha256).hexdigest()


def _hash(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "replace")).hexdigest()


def _kept_browsers(path: Path) -> dict[str, float]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, float])
    except (OSError, msgspec.MsgspecError):
        return {}


def _own_text(path: Path) -> str:
    """What a file of the owner's alone holds; it is made so where it is not."""
    text = path.read_text("utf-8").strip()
    if not text:
        raise FileNotFoundError(path)
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    return text


def _write_own(path: Path, text: str, how: int) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if how == os.O_EXCL and path.exists() and not path.read_text("utf-8").strip():
        path.unlink()  # a start that was cut short left it
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600)
    except FileExistsError:
        return  # another process was quicker
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
