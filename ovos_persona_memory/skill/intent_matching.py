"""Intent matching of whole utterances by the wordings of the intent files: a pure function over texts.

An intent engine is given a few plain wordings, as it has to expand each, and matches whole utterances alone. Other
utterances are matched here, where a line of an intent file is one pattern, however many wordings it has, and where
filler words around a request ("um", "could you", "please") do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ovos_persona_memory.text import Language, fold, languages, prepositions, telling_words, time_expressions

NOT: Mapping[str, str] = {"remember": "remember_not", "forget_about": "forget_not"}
"""Vocabularies that exclude an intent: "remember to" is a reminder."""
SHORTEST = 3
"""Words at least of a statement before "remember that"."""
STUTTERED = 4
"""Words at most that a stumbling speaker repeats."""
TIMES = frozenset({"period", "day"})
"""Slots that hold a time. Of two wordings that match as much, the one whose slot is a time alone wins: "what was said
on Monday"."""
LONGEST = 60
"""Words at most of an utterance, unless it begins with "remember that"; in a language of bigrams twice as many
bigrams."""
AROUND = 4
"""Phrases of politeness at most that are taken off before a request, and behind it: each doubles the work."""
_MARKS = {"(": "(?:", "|": "|", ")": ")", "[": "(?:(?:", "]": ")?)"}
_PIECE = re.compile(r"[()\[\]|]|{\w+}|[^\s()\[\]|{}]+")


@dataclass(frozen=True)
class MatchedIntent:
    """An intent with its slots."""

    intent: str
    slots: Mapping[str, str] = field(default_factory=dict)
    """Name mapped to the words as they were said."""


def preload(spoken: Language, intents: Iterable[str]) -> None:
    """Compile the patterns of a language, which takes some tenths of a second, before the first utterance needs
    them."""
    for intent in intents:
        _patterns_of(spoken.tag, intent)


@dataclass(frozen=True)
class _PatternMatch:
    """A pattern that matches an utterance."""

    intent: str
    slot: str | None
    span: tuple[int, int]
    """First and last word of the slot, as a range."""
    literal: int
    """Number of words that stand in the pattern itself."""


def understood(text: str, spoken: Language, intents: Iterable[str]) -> MatchedIntent | None:
    """The intent whose pattern covers most of the utterance; None where none matches."""
    tokens, named = text.split(), tuple(intents)
    if len(tokens) > LONGEST:
        return _to_remember(text, spoken, named)
    whole = [(word, place) for place, token in enumerate(tokens) for word in fold(token)]
    if not whole or len(whole) > 2 * LONGEST:
        return _to_remember(text, spoken, named)
    if [word for word, _ in whole] in [fold(line) for line in spoken.lines("not_ours.voc")]:
        return None  # a phrase of other skills: "forget it" cancels a request
    bare = _without_fillers(whole, spoken.tag)
    forms = [whole, *(said for said in (bare, _without_repeats(bare)) if said != whole)]
    found = [(fit, said) for said in forms if (fit := _fit([word for word, _ in said], spoken, named))]
    if found:
        fit, said = max(found, key=lambda one: (one[0].literal, one[1] == (whole if one[0].slot == "text" else bare)))
        return MatchedIntent(fit.intent, _slots(fit, tokens, [place for _, place in said]))
    each = ([word for word, _ in said] for said in ((whole,) if bare == whole else (whole, bare)))
    return next((meant for words in each if (meant := _of_two_clauses(words, spoken, named))), None)


def _to_remember(text: str, spoken: Language, intents: tuple[str, ...]) -> MatchedIntent | None:
    """The statement of a text too long for any other intent; None where it is no request to remember."""
    kept = spoken.without_lead(text)
    if kept == text or "remember" not in intents:
        return None
    lead = fold(text[: text.rindex(kept)])
    begun = f" {' '.join([*lead, *fold(languages.beginning(kept))[:STUTTERED]])} "
    refused = any(f" {' '.join(fold(phrase))} " in begun for phrase in _exclusions("remember", spoken))
    return None if refused else MatchedIntent("remember", {"text": kept})


def _without_fillers(said: list[tuple[str, int]], tag: str) -> list[tuple[str, int]]:
    """The words without fillers, of one word or several: "o que é que sabes"."""
    phrases, words = _filler_phrases(tag), [word for word, _ in said]
    starts = [
        (place, len(one)) for one in phrases for place in range(len(words)) if words[place : place + len(one)] == one
    ]
    inside = {place for start, length in starts for place in range(start, start + length)}
    return [one for place, one in enumerate(said) if place not in inside and one[0] not in _fillers(tag)]


def _without_repeats(said: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The words without false starts: "what did I what did I tell you"."""
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
    """The pattern that covers most of the words, with as few filler words around it as possible."""
    found = [
        _whole(fit, first, last, words, spoken)
        for first, last in _cores(words, spoken)
        for fit in _fits(words[first:last], spoken, intents)
        if _is_meant(fit, words[first:last], spoken)
    ]
    return max(found, key=lambda fit: (fit.literal, _is_time(fit, words, spoken)), default=None)


def _is_time(fit: _PatternMatch, words: list[str], spoken: Language) -> bool:
    """Whether the slot is meant for a time and holds nothing else."""
    named = _time_words(spoken.tag) | spoken.stop_words
    return fit.slot in TIMES and named.issuperset(words[slice(*fit.span)])


def _slots(fit: _PatternMatch, tokens: list[str], places: list[int]) -> dict[str, str]:
    if fit.slot is None:
        return {}
    start, end = fit.span
    return {fit.slot: " ".join(tokens[places[start] : places[end - 1] + 1]).strip(" ,.;:!?")}


def _cores(words: list[str], spoken: Language) -> Iterator[tuple[int, int]]:
    """The spans where the request itself may stand: with fewest filler words around it first, then with more."""
    starts, ends, loose = _edges(spoken.tag)
    firsts, lasts = [0], [len(words)]
    while (length := _edge(words[firsts[-1] :], starts)) and firsts[-1] + length < len(words) and len(firsts) <= AROUND:
        firsts.append(firsts[-1] + length)
    while (length := _edge(words[: lasts[-1]][::-1], (*ends, *loose))) and lasts[-1] > length and len(lasts) <= AROUND:
        lasts.append(lasts[-1] - length)
    yield from ((first, last) for last in reversed(lasts) for first in reversed(firsts) if first < last)


def _whole(fit: _PatternMatch, first: int, last: int, words: list[str], spoken: Language) -> _PatternMatch:
    """The match with positions in the whole utterance; "now" and its like at the end belong to a statement."""
    start, end = fit.span[0] + first, fit.span[1] + first
    if fit.slot == "text" and end == last:
        end = len(words)
        while (length := _edge(words[:end][::-1], _edges(spoken.tag)[1])) and end - length > start:
            end -= length
    return replace(fit, span=(start, end))


def _edge(words: list[str], phrases: tuple[list[str], ...]) -> int:
    """The length, in words, of the longest phrase that the words begin with."""
    return next((len(phrase) for phrase in phrases if words[: len(phrase)] == phrase), 0)


@lru_cache(maxsize=64)
def _edges(tag: str) -> tuple[tuple[list[str], ...], tuple[list[str], ...], tuple[list[str], ...]]:
    """Phrases before a request, polite ones after it, and others after it; the latter two with the last word first."""
    spoken = languages.for_language(tag)
    files = ("polite_start.voc", "polite_end.voc", "loose_end.voc")
    starts, ends, loose = (sorted(map(fold, spoken.phrases(name)), key=len, reverse=True) for name in files)
    return tuple(starts), tuple(end[::-1] for end in ends), tuple(end[::-1] for end in loose)


def _of_two_clauses(words: list[str], spoken: Language, intents: tuple[str, ...]) -> MatchedIntent | None:
    """The intent of one of two clauses, where the other gives the reason or asks for the same."""
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
    """Whether it is a clause that begins with "because" and goes on, and none of what was said: "eso que te dije"."""
    if not telling_words(spoken.tag).isdisjoint(words):
        return False
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
    """Whether the slot fits the intent, and no exclusion applies."""
    said = f" {' '.join(words)} "
    if any(f" {' '.join(fold(phrase))} " in said for phrase in _exclusions(fit.intent, spoken)):
        return False
    start, end = fit.span
    slot = words[start:end]
    if fit.slot == "text":  # "my car is red, remember that", but not "I cannot remember that"
        return len(slot) > 1 if start > 0 else len(slot) > SHORTEST and spoken.is_statement(" ".join(slot))
    if fit.slot in TIMES:
        is_date = any(word[:1].isdecimal() for word in slot)  # a month may be a stop word: "the 3rd of may"
        apart = fold(time_expressions.with_parts_apart(" ".join(slot), spoken))
        return is_date or any(phrase.issubset(apart) for phrase in _time_phrases(spoken.tag))
    return fit.slot is None or not all(word in spoken.stop_words for word in slot)


@lru_cache(maxsize=64)
def _time_phrases(tag: str) -> frozenset[frozenset[str]]:
    """The content words of each phrase for a time, folded; every time expression holds those of one."""
    spoken = languages.for_language(tag)
    files = ("weekdays.list", "months.list", "relative_days.list", "time_words.list")
    lines = (line.partition(":")[0] for name in files for line in spoken.phrases(name))
    named = [*map(fold, lines), *(words.split() for words in spoken.table("ends.list"))]
    small = spoken.stop_words | prepositions(tag)  # "vom" of "vom wochenende" is no time by itself
    units = {frozenset(words.split()) for words in spoken.table("units.list")}
    return frozenset({frozenset(words) - small for words in named} | units) - {frozenset()}


@lru_cache(maxsize=64)
def _time_words(tag: str) -> frozenset[str]:
    """Every word of a phrase for a time."""
    return frozenset(word for phrase in _time_phrases(tag) for word in phrase)


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
    """Folded single words that may stand anywhere without a meaning."""
    lines = (fold(line) for line in languages.for_language(tag).phrases("fillers.voc"))
    return frozenset(words[0] for words in lines if len(words) == 1)


@lru_cache(maxsize=64)
def _filler_phrases(tag: str) -> list[list[str]]:
    """Phrases of several folded words that may stand anywhere without a meaning."""
    return [words for line in languages.for_language(tag).phrases("fillers.voc") if len(words := fold(line)) > 1]


def _patterns(tag: str, intents: tuple[str, ...]) -> Iterator[tuple[str, re.Pattern[str]]]:
    return ((intent, one) for intent in intents for one in _patterns_of(tag, intent))


@lru_cache(maxsize=1024)
def _patterns_of(tag: str, intent: str) -> tuple[re.Pattern[str], ...]:
    """A pattern for each line of the files of an intent, over folded words with a blank after each.

    Filler words are optional in it: they are removed from an utterance, too.
    """
    spoken = languages.for_language(tag)
    lines = (line for kind in ("intent", "patterns") for line in spoken.lines(f"{intent}.{kind}"))
    return tuple(re.compile(pattern(line, _fillers(tag))) for line in lines)


def pattern(line: str, fillers: frozenset[str] = frozenset()) -> str:
    """The regular expression of a line with (a | b), [a] and {slot}; OVOS-INTENT-1, section 3.

    ``fillers``: words that are optional behind the first word.
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
