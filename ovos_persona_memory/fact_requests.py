"""What each verb about facts takes: one struct a verb, one field a line."""

from __future__ import annotations

from typing import Literal

import msgspec

from ovos_persona_memory.fields import Count, Few, Name, ScopeFields, Seconds


class FactsAsked(msgspec.Struct, kw_only=True):
    """Ask for the facts."""

    status: Literal["active", "superseded", "waiting", "all"] = "active"
    slot: Name | None = None
    at: Seconds | None = None
    limit: Few = 20
    offset: Count = 0
    scope: ScopeFields | None = None


class HistoryOfFactAsked(msgspec.Struct, kw_only=True):
    """Ask how a fact came about."""

    id: Name
    scope: ScopeFields | None = None


class FactReviewRequest(msgspec.Struct, kw_only=True):
    """Take in a fact that waits, or forget it."""

    id: Name
    accept: bool
    scope: ScopeFields | None = None


class DecisionsAsked(msgspec.Struct, kw_only=True):
    """Ask what was decided, and why."""

    limit: Few = 20
    scope: ScopeFields | None = None


class FactAuditAsked(msgspec.Struct, kw_only=True):
    """Ask what is wrong with facts and memories."""

    scope: ScopeFields | None = None
