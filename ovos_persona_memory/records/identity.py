"""Names of users and relations between users, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

MAX_USER_ID = 256
"""Characters at most of a user's name; a longer name is no user's."""


@dataclass(frozen=True)
class Relatives:
    """Users related to another user by the settings."""

    approves_for: tuple[str, ...] = ()
    """Children whose waiting memories the user may approve."""
    cares_for: tuple[str, ...] = ()
    """People whose questions the user may ask about."""
