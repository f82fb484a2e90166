"""From history and hits to the messages that a persona is handed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ovos_persona_memory import language
from ovos_persona_memory.records import Context, ContextMessage, ContextRequest, Hit
from ovos_persona_memory.window import estimate_tokens, message_tokens


@dataclass(frozen=True)
class Recalled:
    """What was found for an utterance, and how much of it may be used."""

    hits: Sequence[Hit]
    """Best first."""
    limit: int
    """Hits at most."""
    budget_tokens: int
    """Tokens of quoted text at most."""


def build(request: ContextRequest, history: Sequence[ContextMessage], recalled: Recalled, now: float) -> Context:
    """The persona context: one system message if there is anything for it, the history, the utterance last.

    Of the hits, the best that fit the budget and that the history does not hold already are quoted
    in the system message, as data with who said it and when.
    """
    fresh = _within_budget(_not_in(history, recalled.hits), recalled, request, now)
    parts = [request.system_prompt.strip(), _quoted(fresh, request, now)]
    text = "\n\n".join(part for part in parts if part)
    system = [ContextMessage("system", text)] if text else []
    messages = [*system, *history, ContextMessage("user", request.utterance.strip())]
    return Context(messages, list(fresh), sum(message_tokens(message) for message in messages))


def _not_in(history: Sequence[ContextMessage], hits: Sequence[Hit]) -> list[Hit]:
    held = [" ".join(language.fold(message.text)) for message in history]
    fresh: list[Hit] = []
    for hit in hits:
        text = " ".join(language.fold(hit.text))
        if not any(text in other for other in held):
            fresh.append(hit)
            held.append(text)
    return fresh


def _within_budget(hits: Sequence[Hit], recalled: Recalled, request: ContextRequest, now: float) -> list[Hit]:
    kept: list[Hit] = []
    left = recalled.budget_tokens
    for hit in hits[: recalled.limit]:
        left -= estimate_tokens(_line(hit, request, now))
        if left < 0:
            break
        kept.append(hit)
    return kept


def _quoted(hits: Sequence[Hit], request: ContextRequest, now: float) -> str:
    if not hits:
        return ""
    heading = language.of(request.lang).say("recalled_heading")
    return "\n".join([heading, *(_line(hit, request, now) for hit in hits)])


def _line(hit: Hit, request: ContextRequest, now: float) -> str:
    spoken = language.of(request.lang)
    who = hit.speaker or spoken.say("the_user" if hit.role == "user" else "the_assistant")
    when = spoken.when(datetime.fromtimestamp(hit.at), datetime.fromtimestamp(now))
    # quoted and kept on one line, so that nothing in it can pass for an instruction of its own
    return "- " + spoken.say("recalled_line", who=who, when=when, text='"' + " ".join(hit.text.split()) + '"')
