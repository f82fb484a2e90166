"""What each verb about facts takes: one struct a verb, one field a line."""

from __future__ import annotations

import msgspec

from ovos_persona_memory.fact import ListedStatus
from ovos_persona_memory.fields import Count, EpochSeconds, Few, Name, ScopeFields


class FactsAsked(msgspec.Struct, kw_only=True):
    """Ask for the facts."""

    status: ListedStatus = "active"
    slot: Name | None = None
    at: EpochSeconds | None = None
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
