"""Names of users, and how users stand to each other, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

MAX_USER_ID = 256
"""Characters; a longer name of a user is nobody's."""


@dataclass(frozen=True)
class Relatives:
    """Users to whom another stands in a relation that the settings name."""

    approves_for: tuple[str, ...] = ()
    """Children: the other may take in what waits of theirs."""
    cares_for: tuple[str, ...] = ()
    """The other may ask what they asked."""
