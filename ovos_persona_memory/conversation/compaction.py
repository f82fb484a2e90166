"""A context that is too long for a model: what gives way, and in which order. It decides nothing that lasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ovos_persona_memory.conversation import extractive, prompt
from ovos_persona_memory.conversation.prompt import Recalled
from ovos_persona_memory.conversation.window import INSTRUCTIONS, message_tokens, shorten_message
from ovos_persona_memory.records import Context, ContextMessage, ContextRequest, Turn
from ovos_persona_memory.text import languages

SUMMARY_PART = 4
"""The summary takes one part in so many of a context that is too long, at most."""
LEAST_OF_QUESTION = 32
"""So many tokens of the question are shown in any case."""


@dataclass(frozen=True)
class ContextParts:
    """What a context is made of."""

    request: ContextRequest
    history: Sequence[ContextMessage]
    recalled: Recalled
    now: float
    """Seconds since the epoch, UTC."""

    def built(self) -> Context:
        """The context of all of it."""
        return prompt.build_prompt(self.request, self.history, self.recalled, self.now)

    def without_hits(self) -> ContextParts:
        """The same without what was recalled; the summary stays."""
        return replace(self, recalled=replace(self.recalled, hits=[]))

    def replace_summary(self, summary: str) -> ContextParts:
        """The same with another summary, as old as the one before; one made now where there was none."""
        note = self.recalled.note
        told = replace(note, summary=summary, summarised_at=note.summary_at if note.summary else self.now)
        return replace(self, recalled=replace(self.recalled, note=told))


def fitted(parts: ContextParts, most_tokens: int | None, summary_tokens: int) -> Context:
    """The context in at most so many tokens, characters / 4; the whole one where that fits, or nothing limits it.

    First the older rounds give way: the newest stay word for word, and what goes is told in the summary, in
    ``summary_tokens`` at most. Then what was recalled, then the newest round, then the summary. At last the question is
    shortened in the middle, visibly. The system prompt stays, and 32 tokens of the question, whether they fit or not.
    The same parts give the same context.
    """
    known = parts.built()
    if most_tokens is None or known.tokens <= most_tokens:
        return known
    share = min(summary_tokens, most_tokens // SUMMARY_PART)
    rounds = [place for place, message in enumerate(parts.history) if message.role == "user"]
    for cuts in (rounds, [len(parts.history)]):
        for kept in (parts, parts.without_hits()):
            found = _cut(kept, cuts, most_tokens, share)
            if found is not None:
                return found
    return _question_alone(parts, most_tokens)


def _cut(parts: ContextParts, cuts: Sequence[int], most_tokens: int, share: int) -> Context | None:
    """The context with as much of the history as fits from one of these places on; None where none fits."""
    room = most_tokens - replace(parts.replace_summary(""), history=[]).built().tokens
    for cut in cuts:
        # where nothing is left out and there is no summary, none needs room
        needed = share if cut or parts.recalled.note.summary else 0
        if sum(map(message_tokens, _kept(parts.history, cut))) + needed <= room:
            return _summarised(parts, cut, most_tokens, needed)
    return None


def _summarised(parts: ContextParts, cut: int, most_tokens: int, share: int) -> Context:
    """The context from one place of the history on, with a summary of what stands before it that fits."""
    recent = replace(parts.replace_summary(""), history=_kept(parts.history, cut)).built()
    left = [_as_turn(message) for message in parts.history[:cut] if message.role not in INSTRUCTIONS]
    spoken = languages.for_language(parts.request.lang)
    while share > 0:  # quoted, a summary takes more room than its words
        summary = extractive.summarise(parts.recalled.note.summary, left, spoken, share)
        known = replace(parts.replace_summary(summary), history=_kept(parts.history, cut)).built()
        if known.tokens <= most_tokens:
            return known
        share //= 2
    return recent


def _kept(history: Sequence[ContextMessage], cut: int) -> list[ContextMessage]:
    return [*(message for message in history[:cut] if message.role in INSTRUCTIONS), *history[cut:]]


def _as_turn(message: ContextMessage) -> Turn:
    return Turn(message.role, message.text, tool_calls=message.tool_calls, name=message.name)


def _question_alone(parts: ContextParts, most_tokens: int) -> Context:
    alone = replace(parts.without_hits().replace_summary(""), history=[])
    around = replace(alone, request=replace(parts.request, utterance="")).built().tokens
    left = max(most_tokens - around, LEAST_OF_QUESTION)
    asked = shorten_message(ContextMessage("user", parts.request.utterance.strip()), left).text
    return replace(alone, request=replace(parts.request, utterance=asked)).built()
