"""From history and hits to the messages that a persona is handed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ovos_persona_memory import language
from ovos_persona_memory.records import Context, ContextMessage, ContextRequest, Hit, ToolCall
from ovos_persona_memory.window import estimate_tokens, message_tokens

TOOL = "memory_recall"
"""The tool that seems to have been called where what is recalled is injected as a tool's result."""
PLACE = "{memory}"
"""Where a system prompt may say that what is remembered shall stand (injection mode system_prompt)."""


@dataclass(frozen=True)
class Recalled:
    """What was found for an utterance, and how much of it may be used."""

    hits: Sequence[Hit]
    """Best first."""
    limit: int
    """Hits at most."""
    budget_tokens: int
    """Tokens of quoted text at most."""
    summary: str = ""
    """What is known of the session's earlier part."""


def build(request: ContextRequest, history: Sequence[ContextMessage], recalled: Recalled, now: float) -> Context:
    """The persona context: one system message if there is anything for it, the history, the utterance last.

    Of the hits, the best that fit the budget and that the history does not hold already are
    quoted, as data with who said it and when, in the place that ``request.inject`` names.
    """
    fresh = _within_budget(_not_in(history, recalled.hits), recalled, request, now)
    quoted = _quoted(fresh, request, now)
    system = _system(request, recalled.summary.strip(), quoted)
    messages = [*system, *history, *_called(request, quoted), _asking(request, quoted)]
    return Context(messages, list(fresh), sum(message_tokens(message) for message in messages))


def _system(request: ContextRequest, summary: str, quoted: str) -> list[ContextMessage]:
    prompt, developer = request.system_prompt.strip(), ""
    if request.inject == "system_prompt" and PLACE in prompt:
        # one pass: braces in the prompt and in what was said mean nothing
        prompt, quoted = re.sub(re.escape(PLACE), lambda _: quoted, prompt).strip(), ""
    if request.inject == "developer":
        developer, quoted = quoted, ""
    elif request.inject in ("user", "tool"):
        quoted = ""
    text = "\n\n".join(part for part in (prompt, summary, quoted) if part)
    system = [ContextMessage("system", text)] if text else []
    return [*system, ContextMessage("developer", developer)] if developer else system


def _called(request: ContextRequest, quoted: str) -> list[ContextMessage]:
    """A call of a memory tool with its result, where that is how what is recalled comes in."""
    if request.inject != "tool" or not quoted:
        return []
    call = ToolCall("recalled", TOOL, {"query": request.utterance.strip()})
    result = ContextMessage("tool", quoted, tool_call_id=call.id, name=TOOL)
    return [ContextMessage("assistant", "", tool_calls=(call,)), result]


def _asking(request: ContextRequest, quoted: str) -> ContextMessage:
    utterance = request.utterance.strip()
    if request.inject == "user" and quoted:
        return ContextMessage("user", f"{quoted}\n\n{utterance}")
    return ContextMessage("user", utterance)


def _not_in(history: Sequence[ContextMessage], hits: Sequence[Hit]) -> list[Hit]:
    held = [_bare(message.text) for message in history]
    fresh: list[Hit] = []
    for hit in hits:
        text = _bare(hit.text)
        if text.strip() and not any(text in other for other in held):
            fresh.append(hit)
            held.append(text)
    return fresh


def _bare(text: str) -> str:
    return f" {' '.join(language.fold(text))} "


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
