"""Memoisation: results that are cached for good, or until texts are forgotten."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from threading import Lock, RLock
from typing import Any, TypeVar
from weakref import WeakSet

_Key = TypeVar("_Key", bound=Hashable)
_Made = TypeVar("_Made")
_KEPT: WeakSet[Any] = WeakSet()
"""The caches that ``lru_cached`` made."""
_KEPT_LOCK = Lock()  # guards _KEPT: a language may be read on another thread


def lru_cached(read: Callable[[_Key], _Made], most: int) -> Callable[[_Key], _Made]:
    """The function with a cache of its last ``most`` results, which ``clear_caches`` clears."""
    found = lru_cache(maxsize=most)(read)
    with _KEPT_LOCK:
        _KEPT.add(found)
    return found


def clear_caches() -> None:
    """Clear every cache that ``lru_cached`` made. Thread-safe."""
    with _KEPT_LOCK:
        for one in _KEPT:
            one.cache_clear()


def computed_once(read: Callable[[_Key], _Made]) -> Callable[[_Key], _Made]:
    """The function with one computation for each key: a second thread waits for the first. Thread-safe."""
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
