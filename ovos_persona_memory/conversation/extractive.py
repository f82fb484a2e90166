"""A summary without a language model: of what was said, the sentences that say most, with who said each."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ovos_persona_memory.conversation import quoting
from ovos_persona_memory.conversation.window import estimate_tokens, shorten_message
from ovos_persona_memory.records import ContextMessage, Turn
from ovos_persona_memory.text import Language, languages

LONGEST_PART, LONGEST = 4, 40
"""No sentence takes more than one part in so many of a summary, or so many tokens where that is more; a longer one is
shorten_message in the middle."""
FIRST_SENTENCE = 1.25
"""The first sentence of a turn says what it is about (the position feature of Edmundson 1969)."""
ASKED = 0.6
"""What was asked, or ordered, says less than what was told."""
SPOKEN_BY_USER = 1.5
"""What people say about themselves cannot be had again; an answer of the assistant can."""
MOST_SAID = 2.0
"""What is said often is what the talk is about; but a word counts at most so many times as much as one said once, else
nothing would be told that was said once, an allergy perhaps."""
SAID_BEFORE = 0.5
"""What a word counts for each time that it has been told already (the update step of SumBasic, Nenkova 2005)."""


@dataclass(frozen=True)
class Line:
    """One sentence that may stand in a summary."""

    text: str
    """With who said it."""
    words: tuple[str, ...]
    """Its content words as index words, each once."""
    weight: float
    """How much more than others it says, by who said it, where and how."""


def summarise(before: str, turns: Sequence[Turn], spoken: Language, most_tokens: int) -> str:
    """The lines that say most of a summary so far and of the turns that follow it, oldest first, one a line.

    At most ``most_tokens``, characters / 4. The lines of the summary so far compete with the new ones. Where no line
    has a content word, as many of the newest as fit; empty where there is nothing at all.
    """
    longest = max(most_tokens // LONGEST_PART, LONGEST)
    every = [*_lines_before(before, spoken), *_lines_of(turns, spoken, longest)]
    lines = [replace(line, text=_shortened(line.text, most_tokens)) for line in every]
    chosen = _chosen(lines, most_tokens)
    return "\n".join(lines[place].text for place in sorted(chosen))


def who_said(turn: Turn, spoken: Language) -> str:
    """The name of who said a turn, in this language, as it stands before the words."""
    if turn.role == "tool":
        return quoting.visible_text(turn.name or "") or spoken.say("the_assistant")
    named = quoting.visible_text(turn.speaker or "") if turn.role == "user" else ""
    return named or spoken.say("the_user" if turn.role == "user" else "the_assistant")


def told(turn: Turn) -> str:
    """What a turn says: its text, and the tools that it calls."""
    calls = (f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}" for call in turn.tool_calls)
    return " ".join(filter(None, (turn.text.strip(), *calls)))


def _lines_before(before: str, spoken: Language) -> Iterator[Line]:
    by_assistant = f"{spoken.say('the_assistant')}: "
    for line in before.splitlines():
        if text := quoting.visible_text(line):
            said = text.partition(": ")[2] or text
            weight = 1.0 if text.startswith(by_assistant) else SPOKEN_BY_USER
            yield Line(text, tuple(spoken.content_words(said)), weight * _form(said, spoken))


def _lines_of(turns: Iterable[Turn], spoken: Language, longest: int) -> Iterator[Line]:
    for turn in turns:
        who = who_said(turn, spoken)
        parts = [part for part in languages.sentences_of(told(turn)) if quoting.visible_text(part)]
        for number, part in enumerate(parts):
            weight = SPOKEN_BY_USER if turn.role == "user" else 1.0
            weight *= FIRST_SENTENCE if number == 0 else 1.0
            weight *= _form(part, spoken)
            text = _shortened(quoting.visible_text(part), longest)
            yield Line(f"{who}: {text}", tuple(spoken.content_words(part)), weight)


def _shortened(text: str, most_tokens: int) -> str:
    return shorten_message(ContextMessage("user", text), most_tokens).text


def _form(said: str, spoken: Language) -> float:
    return ASKED if spoken.is_question(said) or spoken.is_command(said) else 1.0


def _chosen(lines: Sequence[Line], most_tokens: int) -> list[int]:
    """The places of the lines that say most together: the best by itself, then whatever adds most to it."""
    frequency = Counter(word for line in lines for word in line.words)
    value = {word: min(1.0 + math.log(number), MOST_SAID) for word, number in frequency.items()}
    # of equal ones the newer: it comes first here, and max takes the first
    left = [place for place in reversed(range(len(lines))) if lines[place].words] or list(reversed(range(len(lines))))
    chosen: list[int] = []
    room = most_tokens * 4
    while left := [place for place in left if len(lines[place].text) < room or not chosen]:
        best = max(left, key=lambda place: _worth(lines[place], value))
        left = [place for place in left if lines[place].text != lines[best].text]
        room -= len(lines[best].text) + 1
        chosen.append(best)
        value.update((word, value[word] * SAID_BEFORE) for word in lines[best].words)
    return chosen


def _worth(line: Line, value: dict[str, float]) -> float:
    # of two that say as much the shorter; by the root, else a word alone would come before every sentence
    return line.weight * sum(value[word] for word in line.words) / math.sqrt(estimate_tokens(line.text) or 1)
