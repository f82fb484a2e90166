"""Answers that are kept in mind to be quick: for good, or until texts are forgotten."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from threading import Lock, RLock
from typing import Any, TypeVar
from weakref import WeakSet

_Key = TypeVar("_Key", bound=Hashable)
_Made = TypeVar("_Made")
_KEPT: WeakSet[Any] = WeakSet()
"""What ``kept`` made."""
_KEPT_LOCK = Lock()  # guards _KEPT: a language may be read on another thread


def lru_cached(read: Callable[[_Key], _Made], most: int) -> Callable[[_Key], _Made]:
    """The same, the last few answers kept in mind until texts are forgotten."""
    found = lru_cache(maxsize=most)(read)
    with _KEPT_LOCK:
        _KEPT.add(found)
    return found


def forget() -> None:
    """Let go of all that ``kept`` keeps in mind. Thread-safe."""
    with _KEPT_LOCK:
        for one in _KEPT:
            one.cache_clear()


def computed_once(read: Callable[[_Key], _Made]) -> Callable[[_Key], _Made]:
    """The same, done once for each key: who asks meanwhile waits for who has begun. Thread-safe."""
    found: dict[_Key, _Made] = {}
    locks: dict[_Key, RLock] = {}
    guard = Lock()

    @wraps(read)
    def get(key: _Key) -> _Made:
        if key not in found:
            with guard:
                lock = locks.setdefault(key, RLock())
            with lock:
                if key not in found:
                    found[key] = read(key)
        return found[key]

    return get
