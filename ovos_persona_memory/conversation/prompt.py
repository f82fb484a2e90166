"""Prompts: from history and hits to the messages that a persona is handed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache

from ovos_persona_memory.conversation.deduplication import without_repeats
from ovos_persona_memory.conversation.quoting import quoted, visible_text
from ovos_persona_memory.conversation.window import WORTH_SHORTENING, estimate_tokens, message_tokens
from ovos_persona_memory.records import Context, ContextMessage, ContextRequest, Hit, Note, ToolCall
from ovos_persona_memory.text import Language, beginning, languages, time_expressions

LEFT_OUT = "…"
"""The mark of an omission."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def excerpt(text: str, question: str, spoken: Language, most: int) -> str:
    """The text; of one with more than ``most`` characters the sentences around the one with most of the question's
    words, with a mark at each omission; a longer sentence without its middle."""
    if len(text) <= most:
        return text
    sentences = [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]
    wanted = set(spoken.content_words(beginning(question)))
    best = max(range(len(sentences)), key=lambda n: len(wanted.intersection(spoken.words(sentences[n]))), default=0)
    room = most - 2 * (len(LEFT_OUT) + 1)
    if not sentences or len(sentences[best]) > room:
        return _without_middle(sentences[best] if sentences else text, most)
    first, last = _widened(sentences, best, room)
    before, behind = first > 0, last < len(sentences)
    return " ".join([*[LEFT_OUT] * before, *sentences[first:last], *[LEFT_OUT] * behind])


def _widened(sentences: list[str], best: int, room: int) -> tuple[int, int]:
    """The range of sentences that fits around the best one: those that follow it first, then those before it."""
    first, last = best, best + 1
    room -= len(sentences[best])
    while last < len(sentences) and len(sentences[last]) < room:
        room -= len(sentences[last]) + 1
        last += 1
    while first > 0 and len(sentences[first - 1]) < room:
        first -= 1
        room -= len(sentences[first]) + 1
    return first, last


def _without_middle(text: str, most: int) -> str:
    half = max((most - len(LEFT_OUT) - 2) // 2, 0)
    return f"{text[:half]} {LEFT_OUT} {text[len(text) - half :]}" if most > len(LEFT_OUT) + 2 else ""


TOOL = "memory_recall"
"""The name of the simulated tool whose result carries recalled text."""
PLACE = "{memory}"
"""Placeholder in a system prompt for recalled text (injection mode system_prompt)."""
LONGEST_NAME = 64
"""Characters of a speaker's name that are shown."""


@dataclass(frozen=True)
class Recalled:
    """The hits for an utterance, and the budget for quoting them."""

    hits: Sequence[Hit]
    """Best first."""
    limit: int
    """Hits at most."""
    budget_tokens: int
    """Tokens of quoted text at most."""
    note: Note = field(default_factory=Note)
    """The session's note; its summary replaces the session's earlier part."""


def build_prompt(request: ContextRequest, history: Sequence[ContextMessage], recalled: Recalled, now: float) -> Context:
    """The persona context: one system message if there is anything for it, the history, the utterance last.

    The session's summary, and of the hits the best that fit the budget and that neither the history nor the summary
    holds already, are quoted as data, with speaker and date, in the place that ``request.inject`` names.
    """
    hits = without_repeats(recalled.hits, history, recalled.note.summary)
    lines = _within_budget(hits, recalled, request, now)
    notes = "\n\n".join(filter(None, (_summary(recalled.note, request, now), _notes([*lines.values()], request))))
    messages = [*_system(request, notes), *history, *_called(request, history, notes), _asking(request, notes)]
    return Context(messages, [hits[place] for place in lines], sum(message_tokens(message) for message in messages))


def into_talk(
    request: ContextRequest, talk: Sequence[ContextMessage], recalled: Recalled, now: float
) -> list[ContextMessage]:
    """A talk that somebody else keeps, with what is recalled for its last question where ``request.inject`` says.

    What stays as it is is the very message that was given: all, where nothing is recalled that the talk does not hold
    already. What stands behind the question, the results of tools perhaps, stays there.
    """
    place = max((place for place, message in enumerate(talk) if message.role == "user"), default=None)
    if place is None:
        return list(talk)
    opening = [message for message in talk[:1] if message.role == "system"]
    fresh = replace(recalled, hits=without_repeats(recalled.hits, talk, ""))
    asked = replace(request, utterance=talk[place].text, system_prompt="".join(message.text for message in opening))
    made = build_prompt(asked, talk[len(opening) : place], fresh, now)
    if not made.hits:
        return list(talk)
    kept = [next((own for own in (*opening, talk[place]) if own == message), message) for message in made.messages]
    return [*kept, *talk[place + 1 :]]


def _system(request: ContextRequest, notes: str) -> list[ContextMessage]:
    prompt = request.system_prompt.strip()
    if request.inject == "system_prompt" and PLACE in prompt:
        before, _, after = prompt.partition(PLACE)
        # braces in quoted text mean nothing, and a second placeholder stays empty: nothing is quoted twice
        prompt, notes = f"{before}{notes}{after.replace(PLACE, '')}".strip(), ""
    behind = notes if request.inject in ("system", "system_prompt") else ""
    text = "\n\n".join(part for part in (prompt, behind) if part)
    system = [ContextMessage("system", text)] if text else []
    return [*system, ContextMessage("developer", notes)] if request.inject == "developer" and notes else system


def _called(request: ContextRequest, history: Sequence[ContextMessage], notes: str) -> list[ContextMessage]:
    """A call of a memory tool with its result, for injection mode tool.

    A conversation never opens with a call: where the history is empty, a question of ours stands before it.
    """
    if request.inject != "tool" or not notes:
        return []
    call = ToolCall(_unused_id(history), TOOL, {"query": request.utterance.strip()})
    result = ContextMessage("tool", notes, tool_call_id=call.id, name=TOOL)
    opened = any(message.role == "user" for message in history)
    opening = [] if opened else [ContextMessage("user", languages.for_language(request.lang).say("recall_request"))]
    return [*opening, ContextMessage("assistant", "", tool_calls=(call,)), result]


def _unused_id(history: Sequence[ContextMessage]) -> str:
    """An id that no call in the history has: nine letters and digits, which Mistral's chat templates insist on."""
    used = {call.id for message in history for call in message.tool_calls}
    return next(made for number in range(10**6) if (made := f"rec{number:06}") not in used)


def _asking(request: ContextRequest, notes: str) -> ContextMessage:
    utterance = request.utterance.strip()
    if request.inject == "user" and notes:
        return ContextMessage("user", f"{notes}\n\n{utterance}")
    return ContextMessage("user", utterance)


def without_notes(text: str) -> str:
    """The utterance in a user's message, without the notes that injection mode user puts before it."""
    blocks = text.split("\n\n")
    while len(blocks) > 1 and _is_notes(blocks[0]):
        del blocks[0]
    return "\n\n".join(blocks)


def _is_notes(block: str) -> bool:
    heading, *lines = block.split("\n")
    return heading.startswith(_headings()) and bool(lines) and all(one.startswith("- ") for one in lines)


@cache
def _headings() -> tuple[str, ...]:
    """The headings of notes in every shipped language; of those with a date, the text before it."""
    spoken = [languages.for_language(tag) for tag in languages.shipped()]
    dated = (one.say("summary_heading", when="\n").split("\n")[0] for one in spoken)
    return tuple({*dated, *(one.say("recalled_heading") for one in spoken)})


def _within_budget(hits: Sequence[Hit], recalled: Recalled, request: ContextRequest, now: float) -> dict[int, str]:
    """The lines of the hits that fit, by their position; a long text takes half of the budget at most, in an
    excerpt."""
    lines: dict[int, str] = {}
    left = recalled.budget_tokens
    for place, hit in enumerate(hits[: recalled.limit]):
        short = _shorter(hit, request, now, min(left, recalled.budget_tokens // 2))
        shown = f"- {line(short, request.lang, now, request.timezone)}"
        cost = estimate_tokens(f"{shown}\n")
        if cost <= left:
            lines[place] = shown
            left -= cost
    return lines


def _shorter(hit: Hit, request: ContextRequest, now: float, most_tokens: int) -> Hit:
    """The hit with as much of its text as costs this many tokens; whole where too little would be left of it."""
    around = len(f"- {line(replace(hit, text=''), request.lang, now, request.timezone)}\n")
    # escapes take room, too: as large a share as in the whole text
    room = (most_tokens * 4 - around) * len(hit.text) // max(len(quoted(hit.text)) - 2, 1)
    if len(hit.text) <= room or most_tokens < WORTH_SHORTENING:
        return hit
    return replace(hit, text=excerpt(hit.text, request.utterance, languages.for_language(request.lang), room))


def _notes(lines: Sequence[str], request: ContextRequest) -> str:
    return "\n".join([languages.for_language(request.lang).say("recalled_heading"), *lines]) if lines else ""


def line(hit: Hit, lang: str | None, now: float, timezone: str | None = None) -> str:
    """A hit as data for a prompt: speaker, date and quoted text, on one line in this language."""
    spoken = languages.for_language(lang)
    name = visible_text(hit.speaker or "")[:LONGEST_NAME]
    # a name is other people's text, too
    who = quoted(name) if name else spoken.say("the_user" if hit.role == "user" else "the_assistant")
    when = spoken.when(*_moments(hit.at, now, timezone))
    return spoken.say("recalled_line", who=who, when=when, text=quoted(hit.text))


def _summary(note: Note, request: ContextRequest, now: float) -> str:
    """A heading, and each line of the summary quoted on a line of its own."""
    lines = [f"- {quoted(line)}" for line in note.summary.splitlines() if visible_text(line)]
    if not lines:
        return ""
    when = languages.for_language(request.lang).when(*_moments(note.summary_at, now, request.timezone))
    heading = languages.for_language(request.lang).say("summary_heading", when=when)
    return "\n".join([heading, *lines])


def _moments(at: float, now: float, timezone: str | None) -> tuple[datetime, datetime]:
    where = time_expressions.zone(timezone)
    return datetime.fromtimestamp(at, where), datetime.fromtimestamp(now, where)
