"""Memoisation: results that are cached for good, or until texts are forgotten."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from threading import Lock, RLock
from typing import Any, Generic, TypeVar
from weakref import WeakSet

_Key = TypeVar("_Key", bound=Hashable)
_Made = TypeVar("_Made")
_KEPT: WeakSet[Any] = WeakSet()
"""The caches that ``lru_cached`` and NotedResults made."""
_KEPT_LOCK = Lock()  # guards _KEPT: a language may be read on another thread


def lru_cached(read: Callable[[_Key], _Made], most: int) -> Callable[[_Key], _Made]:
    """The function with a cache of its last ``most`` results, which ``clear_caches`` clears."""
    found = lru_cache(maxsize=most)(read)
    with _KEPT_LOCK:
        _KEPT.add(found)
    return found


class NotedResults(Generic[_Key, _Made]):
    """The results of a function for the last keys: computed when asked for, or noted by who found them on the way.

    ``clear_caches`` clears it. Thread-safe.
    """

    def __init__(self, compute: Callable[[_Key], _Made], most: int) -> None:
        self._compute, self._most = compute, most
        self._found: OrderedDict[_Key, _Made] = OrderedDict()
        self._lock = Lock()
        with _KEPT_LOCK:
            _KEPT.add(self)

    def __call__(self, key: _Key) -> _Made:
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        made = self._compute(key)
        self.note(key, made)
        return made

    def known(self, key: _Key) -> _Made | None:
        """The result for a key; None where there is none yet."""
        with self._lock:
            return self._found.get(key)

    def note(self, key: _Key, made: _Made) -> None:
        """Keep the result for a key; the key that was asked for longest ago goes where there are too many."""
        with self._lock:
            self._found[key] = made
            self._found.move_to_end(key)
            if len(self._found) > self._most:
                self._found.popitem(last=False)

    def cache_clear(self) -> None:
        """Forget all results."""
        with self._lock:
            self._found.clear()


def clear_caches() -> None:
    """Clear every cache that ``lru_cached`` and NotedResults keep. Thread-safe."""
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
