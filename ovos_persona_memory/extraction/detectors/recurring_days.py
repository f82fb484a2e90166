"""The days on which somebody does something, week after week: "i do pilates, it's thursdays now"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ovos_persona_memory.extraction.assertion.assertion import refusal_in
from ovos_persona_memory.extraction.fusion.template_spans import place_of
from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.extraction.schema.slots import refused_value
from ovos_persona_memory.extraction.segmentation.clauses import strip_function_words
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources
from ovos_persona_memory.extraction.templates.template import SHORT_IS, PatternMatch
from ovos_persona_memory.text import Lexicon, Tokens, languages

SLOT = "activity"
DENIED = 2
"""Words at most between a day that is over and what denies it: "not on mondays any more"."""
BETWEEN = 2
"""Words at most between what is done and its day, that belong to both: "choir (on) mondays"."""
AROUND = 5
"""Words at most between a day and what says that it holds for good."""
NAMED = 3
"""Words at most of what has moved to another day."""
_NOT_DONE = (
    *("speaker", "he_she", "pronoun", "whose", "own", "preposition"),
    *("outsider", "relation", "kin", "given_name", "once"),
)
"""Lists of words for nothing that somebody does every week."""


@dataclass(frozen=True)
class _Days:
    """Where in an utterance days are named on which something is done every week."""

    first: int
    last: int
    """The number of the first word behind them."""
    over: bool
    """Said to be so no more."""
    plain: bool = False
    """One day is named, of something that is done every week: "am montag hab ich chor"."""


def with_days(spoken: LanguageResources, sentence: str, told: Sequence[Candidate]) -> list[Candidate]:
    """The same, each activity with the days that are said of it: those behind it, else those before; and what has
    moved to another day where nothing else tells of it."""
    words = spoken.templates.words_of(sentence)
    days = list(_days(spoken, words))
    if not days:
        return [one for one in told if one.slot != SLOT] if _planned(spoken, words) else [*told]
    told = [_as_activity(spoken, words, one, days) for one in told if not _is_day(spoken.templates, words, one, days)]
    every = [one for one in days if not one.plain]
    if every and not any(one.slot == SLOT and one.outcome != "waiting" for one in told):
        others = [one for one in told if one.slot != SLOT]
        moved = [] if _tells_of(spoken.templates, words, others, days) else list(_moved(spoken, words, every))
        told = [*others, *moved] if moved else told
    return [_on_its_days(spoken, words, one, told, days) for one in told]


def on_other_days(spoken: LanguageResources, done: Sequence[str], days: Tokens) -> str | None:
    """What is done, with other days: "choir, mondays" as "choir, tuesdays"; None where the words name no days.

    ``done``: folded, with the days so far.
    """
    named = [one for one in _days(spoken, days) if one == _Days(0, len(days.folded), False)]
    known = spoken.templates.words_of(" ".join(done))
    so_far = next((known.part(0, one.first) for one in _days(spoken, known)), known.part(0, 0))
    what = " ".join(_unbound(spoken.templates, so_far).folded)
    return f"{what}, {days.spelled}" if named and what else None


def _is_day(known: Lexicon, words: Tokens, told: Candidate, days: Sequence[_Days]) -> bool:
    """Whether nothing but a day was taken for what is done."""
    place = place_of(known, words, told)
    return told.slot == SLOT and place is not None and any(place == (one.first, one.last) for one in days)


def _as_activity(spoken: LanguageResources, words: Tokens, told: Candidate, days: Sequence[_Days]) -> Candidate:
    """ "practice: mondays" as what is done on mondays."""
    place = place_of(spoken.templates, words, told)
    if told.slot != "detail" or place is None or not any(place == (one.first, one.last) for one in days):
        return told
    parts = (words.part(n, n + size) for size in range(1, NAMED + 1) for n in range(len(words.folded) - size + 1))
    named = next((one for one in parts if " ".join(spoken.language.words(one.spelled)) == told.thing), None)
    if named is None or not _may_be_done(spoken, named):
        return told
    return replace(told, slot=SLOT, value=f"{named.spelled}, {told.value}")


def _tells_of(known: Lexicon, words: Tokens, told: Sequence[Candidate], days: Sequence[_Days]) -> bool:
    """Whether something was taken from an utterance that holds one of its days."""
    places = [place for one in told if (place := place_of(known, words, one)) is not None]
    return any(first < day.last and day.first < last for first, last in places for day in days)


def _on_its_days(
    spoken: LanguageResources, words: Tokens, told: Candidate, every: Sequence[Candidate], days: Sequence[_Days]
) -> Candidate:
    place = place_of(spoken.templates, words, told)
    if told.slot != SLOT or told.outcome not in ("learned", "waiting") or place is None:
        return told
    inside = next((one for one in days if place[0] <= one.first < place[1]), None)
    if inside is not None:
        sides = words.part(place[0], inside.first), words.part(inside.last, place[1])
        return replace(told, thing=_thing(spoken, *sides) or told.thing)
    others = (place_of(spoken.templates, words, one) for one in every if one is not told and one.slot == SLOT)
    until = min((one[0] for one in others if one and one[0] >= place[1]), default=len(words.folded))
    behind = [one for one in days if not one.over and place[1] <= one.first < until]
    before = [one for one in days if not one.over and one.last <= place[0]]
    found = behind[0] if behind else before[-1] if before else None
    if found is None:
        return told
    text = _up_to(words, told, found)
    thing = _thing(spoken, words.part(*place)) or told.thing
    return replace(told, value=_together(spoken.templates, words, place, found), text=text, thing=thing)


def _up_to(words: Tokens, told: Candidate, days: _Days) -> str:
    """What an activity is told with, up to its days."""
    named = words.part(days.first, days.last)
    said, (start, end) = words.text[slice(*told.span)], told.span
    if named.spelled in told.text or not said or said not in told.text:
        return told.text
    whole = words.text[min(start, named.spans[0][0]) : max(end, named.spans[-1][1])]
    return told.text.replace(said, whole)


def _thing(spoken: LanguageResources, *parts: Tokens) -> str:
    """The thing of an activity that has days, so that others take their place: "zum chor" and "chor" are one."""
    known = spoken.templates
    verbs = {word for verb in spoken.language.asked_with.get(SLOT, ()) for word in languages.fold(verb)}
    leading = _to(known) | known.opening("determiner") | known.opening("article") | verbs
    named = [word for part in parts for word in _unbound(known, part).folded]
    first = next((n for n, word in enumerate(named) if word not in leading), len(named))
    return " ".join(spoken.language.words(" ".join(named[first:])))


def _unbound(known: Lexicon, words: Tokens) -> Tokens:
    """The words without those that bind a day to them: "chess (on)"."""
    size = len(words.folded)
    while size and words.folded[size - 1] in _binding(known):
        size -= 1
    return words.part(0, size)


def _together(known: Lexicon, words: Tokens, place: tuple[int, int], days: _Days) -> str:
    """What is done and when, as it was said where both stand side by side."""
    between = words.folded[place[1] : days.first]
    if days.first >= place[1] and len(between) <= BETWEEN and _binding(known).issuperset(between):
        return words.part(place[0], days.last).spelled
    return f"{words.part(*place).spelled}, {words.part(days.first, days.last).spelled}"


def _binding(known: Lexicon) -> frozenset[str]:
    return known.opening("preposition") | known.opening("skip") | {*known.lists.get("from_now_on", ())}


# what has moved


def _moved(spoken: LanguageResources, words: Tokens, days: Sequence[_Days]) -> Iterator[Candidate]:
    """ "band night's not mondays any more it's wednesdays": what a sentence begins with that says of a day that it is
    over, or of another that it holds from now on."""
    new = [one for one in days if not one.over]
    named = _named(spoken, words, days) if new else None
    if named is None or not _may_be_done(spoken, named):
        return
    value = f"{named.spelled}, {words.part(new[0].first, new[0].last).spelled}"
    span = (words.spans[0][0], words.spans[-1][1])
    if refusal_in(spoken, words.text, (named.spans[0][0], span[1])) is None:
        thing = " ".join(spoken.language.words(named.spelled))
        yield Candidate("learned", "stated", words.text, SLOT, "", thing, value, span)


def _named(spoken: LanguageResources, words: Tokens, days: Sequence[_Days]) -> Tokens | None:
    """What has other days from now on, or is one of the things that people do every week; None where nothing is."""
    known = spoken.templates
    moved = next((start + size for start, size in known.places(words, "moved") if start + size <= days[0].first), None)
    verbs = known.opening("is") | {SHORT_IS}
    if moved is not None:
        behind = words.part(moved, days[0].first)
        ends = _to(known) | verbs
        until = next((n for n, word in enumerate(behind.folded) if n and word in ends), len(behind.folded))
        return _without_owner(known, behind.part(0, until))
    if any(one.over for one in days) or known.has(words, "from_now_on") or known.has(words, "by_now"):
        said = strip_function_words(known, words)
        verb = next((n for n, word in enumerate(said.folded) if word in known.third or word in verbs), 0)
        return _without_owner(known, said.part(0, verb))
    places = (place for name in ("outing", "every_week") for place in known.places(words, name))
    done = max(places, key=lambda one: one[1], default=None)
    return words.part(done[0], sum(done)) if done is not None else None


def _to(known: Lexicon) -> frozenset[str]:
    return known.opening("preposition") | known.opening("whom_for")


def _without_owner(known: Lexicon, named: Tokens) -> Tokens:
    own = known.opening("own") | known.opening("determiner")
    return named.part(1, len(named.folded)) if named.folded and named.folded[0] in own else named


def _may_be_done(spoken: LanguageResources, named: Tokens) -> bool:
    """Whether words can name what somebody does: nobody, no pronoun, no place."""
    known = spoken.templates
    if not 0 < len(named.folded) <= NAMED or any(known.has_word(_NOT_DONE, word) for word in named.folded):
        return False
    if any(True for _ in _days(spoken, named)):
        return False
    return refused_value(known, PatternMatch(SLOT, False, named, None, "", None), False) is None


def _planned(spoken: LanguageResources, words: Tokens) -> bool:
    """Whether somebody speaks of one time: "on wednesday we're going swimming", "next week", "in august"; not "it's
    wednesday i'm off to my swim", "since august"."""
    known, held, link = spoken.templates, words.folded, spoken.templates.opening("is")
    lasting = known.has(words, "from_now_on") or known.has(words, "each_day")
    own = known.has(words, "first_my") or known.has(words, "by_now")
    once = (place for place, _ in known.places(words, "some_day") if not (own and place and held[place - 1] in link))
    since = known.opening("since")
    month = (place for place, _ in known.places(words, "month") if not (place and held[place - 1] in since))
    return not lasting and (next(once, None) is not None or next(month, None) is not None)


# days of the week


def _days(spoken: LanguageResources, words: Tokens) -> Iterator[_Days]:
    """The days, in the order in which they are said; several together are one: "mondays and fridays"."""
    known, held = spoken.templates, words.folded
    place = 0
    while place < len(held):
        size = _size(spoken, words, place)
        while size and place + size < len(held) and held[place + size] in known.opening("listing"):
            more = _size(spoken, words, place + size + 1)
            if not more:
                break
            size += 1 + more
        if size:
            yield _Days(place, place + size, _over(known, held, place))
        elif held[place] in _weekdays(spoken.language.tag) and known.has(words, "every_week"):
            yield _Days(place, place + 1, _over(known, held, place), plain=True)
        place += size or 1


def _size(spoken: LanguageResources, words: Tokens, place: int) -> int:
    """How many words from a place on name days on which something is done every week; 0: none."""
    known, held = spoken.templates, words.folded
    each = known.starts_at(held, place, "each_day")
    day = place + each
    if day >= len(held):
        return 0
    plain, regular = held[day] in _weekdays(spoken.language.tag), _regular(spoken, held[day])
    part = known.starts_at(held, day + 1, "part_of_day") if plain or regular else 0
    several = plain and known.starts_at(held, day + 1, "parts_of_days") > 0
    if regular or several or (plain and (each or _for_good(known, words, day))):
        return each + 1 + max(part, int(several))
    return 0


def _for_good(known: Lexicon, words: Tokens, day: int) -> bool:
    """Whether words around a day say that it holds from now on: "am montag immer", "not on tuesday any more"."""
    around = words.part(max(day - AROUND, 0), day + 1 + AROUND)
    return known.has(around, "from_now_on")


def _regular(spoken: LanguageResources, word: str) -> bool:
    """ "mondays", "montags", "montagabends"."""
    day = next((one for one in _weekdays(spoken.language.tag) if word.startswith(one)), "")
    return bool(day) and (word == f"{day}s" or word[len(day) :] in spoken.templates.opening("parts_of_days"))


def _over(known: Lexicon, held: tuple[str, ...], place: int) -> bool:
    """Whether what stands before a day denies it: "not on mondays", "from mondays to fridays"."""
    denied = not known.opening("no").isdisjoint(held[max(place - DENIED, 0) : place])
    return denied or (place > 0 and held[place - 1] in known.opening("away_from"))


@lru_cache(maxsize=32)
def _weekdays(tag: str) -> frozenset[str]:
    lines = languages.for_language(tag).phrases("weekdays.list")
    return frozenset(word for line in lines for name in line.split(",") for word in languages.fold(name))
