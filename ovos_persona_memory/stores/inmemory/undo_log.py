"""Undo log of the in-memory store: its parts change their dicts through it, so that a failed transaction is undone."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class UndoLog:
    """The functions that the store hands to each of its parts."""

    transaction: Callable[[], AbstractContextManager[None]]
    """The store's own transaction."""
    reading: Callable[[], AbstractContextManager[None]]
    """A context for reads."""
    put: Callable[[Any, Any, Any], None]
    """Sets a key of a dict to a value, and notes the value before."""
    gone: object
    """The value that deletes a key."""
    table: Callable[[str], MutableMapping[Any, Any]]
    """Makes the table of this name."""
    number: Callable[[str], int]
    """The next number of a series, within a transaction."""
