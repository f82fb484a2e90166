"""The preview: exactly the messages that a persona would get for a sentence."""

from __future__ import annotations

from starlette.responses import Response

from ovos_persona_memory.records import HOUSEHOLD, ContextRequest, Scope
from ovos_persona_memory.web.visit import View, Visit


def preview(visit: Visit) -> Response:
    """The form, and below it what would be handed to a persona."""
    said = visit.asked("say")[:4000]
    known = None
    if said:
        scope = Scope(
            session_id=visit.asked("session") or None,
            user_id=visit.asked("person") or HOUSEHOLD,
            persona_id=visit.asked("persona") or None,
        )
        known = visit.memory.context(
            ContextRequest(said, scope, lang=visit.asked("speech") or visit.texts.tag, preview=True)
        )
    if visit.is_part:
        return visit.part("preview_result.html", known=known, said=said)
    return visit.page("preview.html", users=visit.app.users(), known=known, said=said)


ADDRESSES: tuple[tuple[str, str, View], ...] = (("GET", "/preview", preview),)
