"""Health: how much there is, how quick it is, what is wrong."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse, Response

from ovos_persona_memory.config import device_timezone
from ovos_persona_memory.records import Scope
from ovos_persona_memory.web import texts
from ovos_persona_memory.web.visit import View, Visit

MONTH_DAYS, DAY_S = 30, 86400.0


def health(visit: Visit) -> Response:
    """The figures."""
    status = visit.memory.status()
    visit.app.sample(status)
    return visit.page("health.html", status=status, zone=device_timezone() or "")


def figures(visit: Visit) -> Response:
    """The figures over time, for the plots."""
    newest = visit.app.sample(visit.memory.status())
    kept = list(visit.app.figures)
    told: dict[str, Any] = {"samples": kept if kept and kept[-1] is newest else [*kept, newest]}
    if visit.asked("days"):
        told["days"] = _days(visit)
    return JSONResponse(told)


def _days(visit: Visit) -> list[dict[str, float]]:
    """How much was said on each day of the last month, the oldest first."""
    said = {one.day: one.turns for one in visit.memory.activity(Scope.everyone(), visit.now - MONTH_DAYS * DAY_S)}
    moments = [visit.now - back * DAY_S for back in range(MONTH_DAYS - 1, -1, -1)]
    return [{"at": at, "turns": said.get(texts.day_of(at), 0)} for at in moments]


def audit(visit: Visit) -> Response:
    """What is wrong with facts and memories."""
    return visit.part("audit.html", troubles=visit.memory.facts.audit(visit.scope()))


ADDRESSES: tuple[tuple[str, str, View], ...] = (
    ("GET", "/health", health),
    ("GET", "/health/figures", figures),
    ("GET", "/health/audit", audit),
)
