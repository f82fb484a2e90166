"""Counts as phrases for people: "2 turns"."""

from __future__ import annotations

from collections.abc import Mapping

FORMS: Mapping[str, tuple[str, str]] = {
    "turns": ("turn", "turns"),
    "memories": ("memory", "memories"),
    "entries": ("entry", "entries"),
    "facts": ("fact", "facts"),
    "documents": ("document", "documents"),
    "notes": ("summary of a session", "summaries of sessions"),
    "episodes": ("episode", "episodes"),
    "redacted": ("turn that stays without its words", "turns that stay without their words"),
    "sessions": ("session", "sessions"),
    "users": ("user", "users"),
}
"""Singular and plural of each kind of record that is counted on the wire."""


def counted(number: int, one: str, several: str | None = None) -> str:
    """The number with a noun in singular or plural, "1 turn" or "2 turns"; ``several`` defaults to ``one`` with an
    s."""
    return f"{number} {one if number == 1 else several or f'{one}s'}"


def counted_kinds(counts: Mapping[str, int]) -> str:
    """The counts of several kinds, by their names on the wire: "2 turns, 1 memory". An unknown name stays as it is."""
    return ", ".join(counted(number, *FORMS.get(kind, (kind, kind))) for kind, number in counts.items())
