"""One sentence by which people tell facts, and the words that it is compared with."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ovos_persona_memory.extraction.templates.compiler import Match, Pattern
from ovos_persona_memory.text import Tokens

SHORT_IS = "s"
"""What is left of "is" behind a name."""


_PARTICIPLE = re.compile(r"(?:\w{2,5})?ge\w+(?:en|t)|(?:ver|be|er|ent|zer)\w+(?:en|t)|\w+iert")
"""What German closes a clause with, that means something else without it: "(ich habe zwei hunde im park) gesehen"."""


@dataclass(frozen=True)
class PatternMatch:
    """What a template took from a clause, in the speaker's spelling."""

    slot: str
    ends: bool
    """It takes back what was told before."""
    value: Tokens | None
    thing: Tokens | None
    subject: str
    named: str | None
    """The thing that the template itself names; a * in it stands for the value."""
    words: int = 0
    """How many words of the clause it took: what is left says more about it (<tail>)."""
    more: bool = False
    """What is left says something else (<loose>)."""


@dataclass(frozen=True, slots=True)
class Template:
    """One line of the file."""

    slot: str
    ends: bool
    pattern: Pattern
    named: str | None
    loose: frozenset[str] = frozenset()
    """Words that what follows a complete statement begins with: it says more, or something else."""

    def may_fit(self, held: frozenset[str]) -> bool:
        """Whether a clause of these words may fit: quickly, and seldom wrong."""
        return not any(held.isdisjoint(words) for words in self.pattern.needed)

    def told(self, clause: Tokens) -> PatternMatch | None:
        """What it takes from a clause; None where it does not fit."""
        match = self.pattern.match(clause.folded)
        if match is None or (match.more and not self._may_follow(clause, match.until)):
            return None
        value, thing = _captured(match, clause, "value"), _captured(match, clause, "thing")
        subject = " ".join(word for one in match.held if one.name == "subject" for word in one.words)
        return PatternMatch(self.slot, self.ends, value, thing, subject, self.named, match.until, match.more)

    def _may_follow(self, clause: Tokens, place: int) -> bool:
        """Whether what stands from a word on leaves the statement before it as it is: no verb that it waited for."""
        held = clause.folded
        return held[place] in self.loose and _PARTICIPLE.fullmatch(held[-1]) is None


def _captured(match: Match, clause: Tokens, name: str) -> Tokens | None:
    """The words of all captures of a name, one behind the other; None where there is none."""
    numbers = [n for one in match.held if one.name == name for n in range(one.first, one.first + len(one.words))]
    if not numbers:
        return None
    return Tokens(clause.text, tuple(clause.folded[n] for n in numbers), tuple(clause.spans[n] for n in numbers))
