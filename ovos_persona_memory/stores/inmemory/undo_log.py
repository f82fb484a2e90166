"""How the parts of the in-memory store change their dicts, so that what fails is undone."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class UndoLog:
    """What the store hands to each of its parts."""

    transaction: Callable[[], AbstractContextManager[None]]
    """The store's own."""
    reading: Callable[[], AbstractContextManager[None]]
    """Around what only looks."""
    put: Callable[[Any, Any, Any], None]
    """Sets a key of a dict to a value, noting what was there before."""
    gone: object
    """The value that takes a key out."""
    table: Callable[[str], MutableMapping[Any, Any]]
    """Makes the table of this name."""
    number: Callable[[str], int]
    """The next number of a series, within a transaction."""
