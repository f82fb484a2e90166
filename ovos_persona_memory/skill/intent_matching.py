"""What an utterance asks of the skill, by the wordings of the intent files: a pure function over texts.

An intent engine is given a few plain wordings, as it has to expand each, and matches whole utterances alone. Whatever
it does not know is looked at here, where a line of an intent file is one pattern, however many wordings it has, and
where small words around a request ("um", "could you", "please") do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ovos_persona_memory.text import Language, fold, languages

NOT: Mapping[str, str] = {"remember": "remember_not", "forget_about": "forget_not"}
"""Vocabularies with which an intent is not meant: "remember to" is a reminder."""
SHORTEST = 3
"""Words of something to be kept that stands before "remember that", at least one more."""
STUTTERED = 4
"""Words at most that somebody says again who stumbles over them."""
TIMES = frozenset({"period", "day"})
"""Slots that hold a time. Of two wordings that say as much, one with a time alone is it: "what was said on Monday"."""
LONGEST = 60
"""Words of an utterance at most, but for one that begins with "remember that"; of a language without blanks twice as
many pairs of characters."""
AROUND = 4
"""Phrases of politeness at most that are taken off before a request, and behind it: each doubles the work."""
_MARKS = {"(": "(?:", "|": "|", ")": ")", "[": "(?:(?:", "]": ")?)"}
_PIECE = re.compile(r"[()\[\]|]|{\w+}|[^\s()\[\]|{}]+")


@dataclass(frozen=True)
class MatchedIntent:
    """The intent that was meant."""

    intent: str
    slots: Mapping[str, str] = field(default_factory=dict)
    """Name to words, as they were said."""


def preload(spoken: Language, intents: Iterable[str]) -> None:
    """Read the wordings of a language, which takes some tenths of a second, before the first utterance needs them."""
    for intent in intents:
        _patterns_of(spoken.tag, intent)


@dataclass(frozen=True)
class _PatternMatch:
    """A wording that an utterance has."""

    intent: str
    slot: str | None
    span: tuple[int, int]
    """First and last word of the slot, as a range."""
    literal: int
    """Words that stand in the wording itself."""


def understood(text: str, spoken: Language, intents: Iterable[str]) -> MatchedIntent | None:
    """The intent whose wording says most of the utterance; None where it is none of these."""
    tokens, named = text.split(), tuple(intents)
    if len(tokens) > LONGEST:
        return _to_remember(text, spoken, named)
    whole = [(word, place) for place, token in enumerate(tokens) for word in fold(token)]
    if not whole or len(whole) > 2 * LONGEST:
        return _to_remember(text, spoken, named)
    if [word for word, _ in whole] in [fold(line) for line in spoken.lines("not_ours.voc")]:
        return None  # a phrase that others own: "forget it" takes back a request
    bare = [(word, place) for word, place in whole if word not in _fillers(spoken.tag)]
    forms = [whole, *(said for said in (bare, _without_repeats(bare)) if said != whole)]
    found = [(fit, said) for said in forms if (fit := _fit([word for word, _ in said], spoken, named))]
    if found:
        fit, said = max(found, key=lambda one: (one[0].literal, one[1] == (whole if one[0].slot == "text" else bare)))
        return MatchedIntent(fit.intent, _slots(fit, tokens, [place for _, place in said]))
    each = ([word for word, _ in said] for said in ((whole,) if bare == whole else (whole, bare)))
    return next((meant for words in each if (meant := _of_two_clauses(words, spoken, named))), None)


def _to_remember(text: str, spoken: Language, intents: tuple[str, ...]) -> MatchedIntent | None:
    """What is to be kept of a text that is too long to be anything else; None where it does not ask for that."""
    kept = spoken.without_lead(text)
    if kept == text or "remember" not in intents:
        return None
    lead = fold(text[: text.rindex(kept)])
    begun = f" {' '.join([*lead, *fold(languages.beginning(kept))[:STUTTERED]])} "
    refused = any(f" {' '.join(fold(phrase))} " in begun for phrase in _exclusions("remember", spoken))
    return None if refused else MatchedIntent("remember", {"text": kept})


def _without_repeats(said: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The words without what somebody begins to say twice: "what did I what did I tell you"."""
    left = list(said)
    for length in range(STUTTERED, 0, -1):
        place = 0
        while place + 2 * length <= len(left):
            first, second = left[place : place + length], left[place + length : place + 2 * length]
            if [word for word, _ in first] == [word for word, _ in second]:
                del left[place : place + length]
            else:
                place += 1
    return left


def _fit(words: list[str], spoken: Language, intents: tuple[str, ...]) -> _PatternMatch | None:
    """The wording that says most of the words, with as few small words around it as may be."""
    found = [
        _whole(fit, first, last, words, spoken)
        for first, last in _cores(words, spoken)
        for fit in _fits(words[first:last], spoken, intents)
        if _is_meant(fit, words[first:last], spoken)
    ]
    return max(found, key=lambda fit: (fit.literal, _is_time(fit, words, spoken)), default=None)


def _is_time(fit: _PatternMatch, words: list[str], spoken: Language) -> bool:
    """Whether the slot is for a time and holds nothing else."""
    named = _time_words(spoken.tag) | spoken.stop_words
    return fit.slot in TIMES and named.issuperset(words[slice(*fit.span)])


def _slots(fit: _PatternMatch, tokens: list[str], places: list[int]) -> dict[str, str]:
    if fit.slot is None:
        return {}
    start, end = fit.span
    return {fit.slot: " ".join(tokens[places[start] : places[end - 1] + 1]).strip(" ,.;:!?")}


def _cores(words: list[str], spoken: Language) -> Iterator[tuple[int, int]]:
    """Where the request itself may stand: with fewest of the small words around it first, then with more."""
    starts, ends, loose = _edges(spoken.tag)
    firsts, lasts = [0], [len(words)]
    while (length := _edge(words[firsts[-1] :], starts)) and firsts[-1] + length < len(words) and len(firsts) <= AROUND:
        firsts.append(firsts[-1] + length)
    while (length := _edge(words[: lasts[-1]][::-1], (*ends, *loose))) and lasts[-1] > length and len(lasts) <= AROUND:
        lasts.append(lasts[-1] - length)
    yield from ((first, last) for last in reversed(lasts) for first in reversed(firsts) if first < last)


def _whole(fit: _PatternMatch, first: int, last: int, words: list[str], spoken: Language) -> _PatternMatch:
    """The fit counted from the first word of all; to what is kept belong "now" and its like at its end."""
    start, end = fit.span[0] + first, fit.span[1] + first
    if fit.slot == "text" and end == last:
        end = len(words)
        while (length := _edge(words[:end][::-1], _edges(spoken.tag)[1])) and end - length > start:
            end -= length
    return replace(fit, span=(start, end))


def _edge(words: list[str], phrases: tuple[list[str], ...]) -> int:
    """How many words the longest of the phrases has that the words begin with."""
    return next((len(phrase) for phrase in phrases if words[: len(phrase)] == phrase), 0)


@lru_cache(maxsize=64)
def _edges(tag: str) -> tuple[tuple[list[str], ...], tuple[list[str], ...], tuple[list[str], ...]]:
    """Phrases before a request, polite ones after it, and others after it; of the latter the last word first."""
    spoken = languages.for_language(tag)
    files = ("polite_start.voc", "polite_end.voc", "loose_end.voc")
    starts, ends, loose = (sorted(map(fold, spoken.phrases(name)), key=len, reverse=True) for name in files)
    return tuple(starts), tuple(end[::-1] for end in ends), tuple(end[::-1] for end in loose)


def _of_two_clauses(words: list[str], spoken: Language, intents: tuple[str, ...]) -> MatchedIntent | None:
    """The intent of the one of two clauses to which the other gives the reason, or which asks for the same."""
    joints = {tuple(fold(line)) for line in spoken.phrases("joint.voc")}
    for place in range(len(words) - 1, 1, -1):
        if _gives_reason(words[place:], spoken) and (asked := _without_slot(words[:place], spoken, intents)):
            return MatchedIntent(asked)
        second = _without_slot(words[place:], spoken, intents)
        if second is None:
            continue
        first = words[:place]
        joint = next((one for one in joints if tuple(first[-len(one) :]) == one), ())
        reason = first[: len(first) - len(joint)]
        if (joint and spoken.is_statement(" ".join(reason))) or _without_slot(reason, spoken, intents) == second:
            return MatchedIntent(second)
    return None


def _gives_reason(words: list[str], spoken: Language) -> bool:
    """Whether it is a clause that begins with "because" and goes on."""
    leads = (fold(line) for line in spoken.phrases("reason.voc"))
    return any(words[: len(lead)] == lead and len(words) > len(lead) + 1 for lead in leads)


def _without_slot(words: list[str], spoken: Language, intents: tuple[str, ...]) -> str | None:
    """The intent of a clause that needs no slot."""
    for first, last in _cores(words, spoken):
        said = " ".join(words[first:last]) + " "
        for intent, one in _patterns(spoken.tag, intents):
            if not one.groupindex and one.fullmatch(said):
                return intent
    return None


def _is_meant(fit: _PatternMatch, words: list[str], spoken: Language) -> bool:
    """Whether the slot can be what the intent needs, and nothing says that something else is meant."""
    said = f" {' '.join(words)} "
    if any(f" {' '.join(fold(phrase))} " in said for phrase in _exclusions(fit.intent, spoken)):
        return False
    start, end = fit.span
    slot = words[start:end]
    if fit.slot == "text":  # "my car is red, remember that", but not "I cannot remember that"
        return len(slot) > 1 if start > 0 else len(slot) > SHORTEST and spoken.is_statement(" ".join(slot))
    if fit.slot in TIMES:
        return not _time_words(spoken.tag).isdisjoint(slot)
    return fit.slot is None or not all(word in spoken.stop_words for word in slot)


@lru_cache(maxsize=64)
def _time_words(tag: str) -> frozenset[str]:
    """Folded words of which whoever names a time says one."""
    spoken = languages.for_language(tag)
    files = ("weekdays.list", "months.list", "relative_days.list", "time_words.list")
    lines = (line.partition(":")[0] for name in files for line in spoken.phrases(name))
    named = frozenset(word for line in lines for word in fold(line)) - spoken.stop_words
    ends = {word for words in spoken.table("ends.list") for word in words.split()} - spoken.stop_words
    return named | ends | {word for words in spoken.table("units.list") for word in words.split()}


def _exclusions(intent: str, spoken: Language) -> tuple[str, ...]:
    return spoken.lines(f"{NOT[intent]}.voc") if intent in NOT else ()


def _fits(words: list[str], spoken: Language, intents: tuple[str, ...]) -> Iterator[_PatternMatch]:
    said = " ".join(words) + " "
    for intent, pattern in _patterns(spoken.tag, intents):
        found = pattern.fullmatch(said)
        if found is None:
            continue
        if not pattern.groupindex:
            yield _PatternMatch(intent, None, (0, 0), len(words))
            continue
        (slot,) = pattern.groupindex
        start = said[: found.start(slot)].count(" ")
        length = found[slot].count(" ")
        yield _PatternMatch(intent, slot, (start, start + length), len(words) - length)


@lru_cache(maxsize=64)
def _fillers(tag: str) -> frozenset[str]:
    """Folded words that may stand anywhere and mean nothing."""
    return frozenset(word for line in languages.for_language(tag).phrases("fillers.voc") for word in fold(line))


def _patterns(tag: str, intents: tuple[str, ...]) -> Iterator[tuple[str, re.Pattern[str]]]:
    return ((intent, one) for intent in intents for one in _patterns_of(tag, intent))


@lru_cache(maxsize=1024)
def _patterns_of(tag: str, intent: str) -> tuple[re.Pattern[str], ...]:
    """A pattern for each line of the files of an intent, over folded words with a blank after each.

    Words that mean nothing need not be there: they are taken out of an utterance, too.
    """
    spoken = languages.for_language(tag)
    lines = (line for kind in ("intent", "patterns") for line in spoken.lines(f"{intent}.{kind}"))
    return tuple(re.compile(pattern(line, _fillers(tag))) for line in lines)


def pattern(line: str, fillers: frozenset[str] = frozenset()) -> str:
    """The regular expression of a line with (a | b), [a] and {slot}; OVOS-INTENT-1, section 3.

    ``fillers``: words that need not be there, once something else was.
    """
    made: list[str] = []
    depth, begun = 0, False
    for piece in _PIECE.findall(line):
        depth += (piece in "([") - (piece in ")]")
        if piece in _MARKS:
            made.append(_MARKS[piece])
        elif piece[0] == "{":
            made.append(rf"(?P<{piece[1:-1]}>(?:\S+ )+?)")
        else:
            made.extend(_word(word, begun and word in fillers) for word in fold(piece))
        begun = begun or (depth == 0 and piece != "]")
    return "".join(made)


def _word(word: str, is_optional: bool) -> str:
    return f"(?:{re.escape(word)} )?" if is_optional else f"{re.escape(word)} "
