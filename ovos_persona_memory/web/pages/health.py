"""Health: how much there is, how quick it is, what is wrong."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from ovos_persona_memory.config import device_timezone
from ovos_persona_memory.web.visit import View, Visit


def health(visit: Visit) -> Response:
    """The figures."""
    status = visit.memory.status()
    visit.app.sample(status)
    return visit.page("health.html", status=status, zone=device_timezone() or "")


def figures(visit: Visit) -> Response:
    """The figures over time, for the plots."""
    newest = visit.app.sample(visit.memory.status())
    kept = list(visit.app.figures)
    return JSONResponse({"samples": kept if kept and kept[-1] is newest else [*kept, newest]})


def audit(visit: Visit) -> Response:
    """What is wrong with facts and memories."""
    return visit.part("audit.html", troubles=visit.memory.facts.audit(visit.scope()))


ADDRESSES: tuple[tuple[str, str, View], ...] = (
    ("GET", "/health", health),
    ("GET", "/health/figures", figures),
    ("GET", "/health/audit", audit),
)
