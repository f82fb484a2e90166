"""Handlers of questions that any skill may be asked, taken only where the memory has an answer: what is known about
somebody, what was just said, what somebody else said, how many there are, what is planned.

An intent engine is given none of their wordings: other skills come first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import chain

from ovos_persona_memory.records import Fact, Hit, belonging_perhaps
from ovos_persona_memory.skill.acts import listed_as_said, request_words
from ovos_persona_memory.skill.ask import (
    AT_MOST,
    MOST_FACTS,
    NAMING,
    about,
    aloud,
    answering,
    anything_about,
    first_name,
    items_of,
    just_told,
    last_told,
    tell,
    tell_answers,
    told_by_named,
    told_hits,
    told_in,
)
from ovos_persona_memory.skill.intent_matching import MatchedIntent, understood
from ovos_persona_memory.skill.phrasing import is_said, own_words, whole_topic
from ovos_persona_memory.skill.session_state import SpokenItem
from ovos_persona_memory.skill.turn_context import AT_A_TIME, TurnContext
from ovos_persona_memory.text import (
    ComingDays,
    Language,
    coming_days,
    fold,
    holds_question_word,
    languages,
    prepositions,
    telling_words,
    time_expressions,
    words_naming,
)

BETWEEN = 2
"""Words with content at most between a number and what it counts: "four lovely goldfish"."""
MOST_PLANS = 100
"""Statements at most among which a planned day is looked for."""


def meant(talk: TurnContext) -> MatchedIntent | None:
    """The question, where the memory can answer it, or could if nobody else heard; None otherwise."""
    likeliest = None
    for one in _asked(talk, _in_listed_words(talk)):  # as needed: each may ask the memory, and other skills wait
        if ANSWERED[one.intent](talk, next(iter(one.slots.values()), "")):
            return one
        likeliest = likeliest or one
    return likeliest if talk.hushed else _taken_for_stop(talk)


def worded(talk: TurnContext) -> MatchedIntent | None:
    """The question by its words alone, where nobody can tell yet whether the memory has an answer, and others hardly
    have one: what was told, or is planned, but not what is known about Napoleon."""
    listed = _in_listed_words(talk)
    if listed is not None and listed.intent in OWN:
        return listed
    return next(_asked_by_its_words(talk), None) or _taken_for_stop(talk)


def _taken_for_stop(talk: TurnContext) -> MatchedIntent | None:
    """The question, where ovos-core would take it for a request to stop before anybody else is asked, "para cuándo es
    el trabajo": it is answered whatever is known. Not what asks the assistant, "why don't you stop"."""
    asks = _holds_word_for_stop(talk) and holds_question_word(talk.said.text, talk.spoken)
    hearer = dict(talk.spoken.pairs("people.list")).get("you", "")
    is_to_hearer = not {word.strip() for word in hearer.split(",")}.isdisjoint(fold(talk.said.text))
    return MatchedIntent("question") if asks and not is_to_hearer else None


def _holds_word_for_stop(talk: TurnContext) -> bool:
    """Whether ovos-core takes it for a request to stop, wherever the word stands."""
    return is_said(talk.spoken.phrases("stops.voc"), talk.said.text)


def _in_listed_words(talk: TurnContext) -> MatchedIntent | None:
    found = (understood(form, talk.spoken, WORDED) for form in talk.forms())
    return next((one for one in found if one), None)


def _asked(talk: TurnContext, worded: MatchedIntent | None) -> Iterator[MatchedIntent]:
    """What it may ask, the likeliest first: by the kind of question that the memory finds rather than by a wording with
    a slot, into which much fits, "what did {rui tell you today}"."""
    is_just_said = worded is not None and worded.intent == "just_said"
    if is_just_said or asks_what_was_just_told(talk.said.text, talk.spoken):
        yield MatchedIntent("just_said")
    kind = talk.means.kinds.of(talk)
    if kind.asks_what_was_said:
        yield MatchedIntent("told_by")
    if kind.asks_about:
        yield MatchedIntent("about_anything", {"topic": kind.asks_about})
    if worded is not None and not is_just_said:
        yield worded
    yield from _asked_by_its_words(talk)
    if _holds_word_for_stop(talk):
        yield MatchedIntent("question")


def _asked_by_its_words(talk: TurnContext) -> Iterator[MatchedIntent]:
    """What it asks for that holds certain words, in whatever wording."""
    said = (talk.said.text, talk.spoken, talk.now)
    if asks_what_was_told(*said):
        yield MatchedIntent("told_by")
    others = words_beside_plans(*said)
    if others is not None and len(others) <= 1:
        yield MatchedIntent("planned_of", {"whom": others[0]}) if others else MatchedIntent("planned")


# how many


@dataclass(frozen=True)
class Counted:
    """What a question counts."""

    words: frozenset[str]
    """Index terms of each word for it, of which a text needs one."""
    members: frozenset[str]
    """Index terms of what is one of them: "son" for "kids"."""
    others: frozenset[str]
    """Index terms of the question's other content words, "guinea" of "guinea pigs": a text needs them all."""
    is_own: bool
    """Whether it asks for what the asker has, or names nobody."""


def how_many(talk: TurnContext) -> None:
    """Say how many of something there are: as it was told, the newest first, else how many are known by name.

    What was told one by one is told so: "I saw four seals", and later "two more seals".
    """
    counted = _counted(talk, talk.slot("thing") or _thing(talk))
    told = _told_counts(talk, counted) if counted else []
    if counted and told:
        tell(talk, told, "nothing_known", perhaps=_may_count(talk, counted, told))
        return
    names = _known_names(talk, counted) if counted else []
    talk.spoke_of([])
    if not names:
        tell(talk, [], "nothing_known")
    elif len(names) == 1:
        talk.say("count_known_one", text=names[0])
    else:
        talk.say("count_known", count=len(names), text=", ".join(names))


def _may_count(talk: TurnContext, counted: Counted, told: Sequence[SpokenItem]) -> list[SpokenItem]:
    """Statements that may count with those that are told."""
    ids = {item.id for item in told}
    others = (hit for hit in belonging_perhaps(told_hits(talk, talk.said.text)) if hit.id not in ids)
    return items_of(talk, [hit for hit in others if not _counts_for_another(hit.text, counted, talk.spoken)])


def _thing(talk: TurnContext) -> str:
    """What the utterance counts, where an engine matched it as a whole."""
    found = (understood(form, talk.spoken, ("how_many",)) for form in talk.forms())
    return next((one.slots["thing"] for one in found if one), "")


def _has_count(talk: TurnContext, thing: str) -> bool:
    """Whether such things are counted, or known by name; those of somebody else, too: they answer nothing."""
    counted = _counted(talk, thing)
    return counted is not None and bool(
        any(_counting_hits(talk, counted, replace(counted, is_own=False))) or _known_names(talk, counted)
    )


def _counted(talk: TurnContext, asked: str) -> Counted | None:
    """What is counted: the first words with content behind "how many"; None for times, and where there are none."""
    spoken = talk.spoken
    words = fold(asked)
    start = next((place for place, word in enumerate(words) if word not in spoken.stop_words), len(words))
    end = next((place for place in range(start, len(words)) if words[place] in spoken.stop_words), len(words))
    noun = words[start:end]
    if not noun or not set(noun).isdisjoint(spoken.table("units.list")):
        return None
    kinds = [(names, members) for names, members in _kinds(spoken.tag) if " ".join(noun) in names]
    names = {name for one, _ in kinds for name in one} | {" ".join(noun)}
    last = frozenset(spoken.words(name)[-1] for name in names if spoken.words(name))
    members = frozenset(term for _, some in kinds for one in some for term in spoken.words(one)[-1:])
    small = request_words(spoken.tag).small
    rest = [word for word in words[end:] if word not in spoken.stop_words and word not in small]
    others = frozenset(term for word in (*([] if kinds else noun[:-1]), *rest) for term in spoken.words(word))
    return Counted(last, members | last, others, not rest)


@lru_cache(maxsize=64)
def _kinds(tag: str) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """The words for each kind of thing, and for what is one of it."""
    pairs = languages.for_language(tag).pairs("kinds.list")
    return tuple((_folded(left), _folded(right)) for left, right in pairs)


def _folded(words: str) -> tuple[str, ...]:
    return tuple(" ".join(fold(one)) for one in words.split(","))


def _told_counts(talk: TurnContext, counted: Counted) -> list[SpokenItem]:
    """The statements that say how many the one asked about has, the newest first.

    Without those of which a newer one says all but the number, "we have six goldfish" before "so we have four goldfish
    now", and facts beside the statement that told them.
    """
    numbers = _numbers(talk.spoken.tag)
    items = sorted(items_of(talk, _counting_hits(talk, counted, counted)), key=lambda item: (-item.at, -len(item.text)))
    words = [frozenset(fold(item.text)) for item in items]
    bare = [frozenset(word for word in own if not (word in numbers or word.isdecimal())) for own in words]
    return [item for place, item in enumerate(items) if not any(bare[place] <= newer for newer in words[:place])]


def _counting_hits(talk: TurnContext, counted: Counted, of: Counted) -> Iterator[Hit]:
    """The hits that say how many ``of`` there are, and where none does the parts of the answer; it asks for one wording
    after the other, as they are needed."""
    spoken, is_said = talk.spoken, False
    asked = [hit for hit in told_hits(talk, talk.said.text) if not hit.outdated]
    listed = (told_hits(talk, " ".join([*counted.others, word]), by_words=True) for word in counted.words)
    for hit in chain(asked, chain.from_iterable(listed)):
        is_named = not hit.outdated and counted.others <= set(spoken.words(hit.text))
        if is_named and _says_count(hit.text, of, spoken):
            is_said = True
            yield hit
    if not is_said:
        answers = (hit for hit in asked if hit.part or (hit.answers and not counted.is_own))
        yield from (hit for hit in answers if not _counts_for_another(hit.text, counted, spoken))


def _says_count(text: str, counted: Counted, spoken: Language) -> bool:
    """Whether a text has a number before what is counted, of things that the asker has, if that is asked."""
    tokens = spoken.without_lead(text).split()
    said = [(word, token.casefold().strip(".,;:!?")) for token in tokens for word in fold(token)]
    words = [word for word, _ in said]
    for place, word in enumerate(words):
        if counted.words.isdisjoint(spoken.words(word)):
            continue
        number = _number_before(words, place, spoken)
        if number is not None and (not counted.is_own or _is_own(said[:number], counted, spoken)):
            return True
    return False


def _counts_for_another(text: str, counted: Counted, spoken: Language) -> bool:
    """Whether a text says how many somebody else has, where the asker's are counted."""
    return _says_count(text, replace(counted, is_own=False), spoken) and not _says_count(text, counted, spoken)


def _number_before(words: Sequence[str], place: int, spoken: Language) -> int | None:
    """Where the number of the thing at a place stands; None where there is none."""
    numbers = _numbers(spoken.tag)
    for start in range(place - 1, max(place - BETWEEN - 2, -1), -1):
        if words[start].isdecimal() or words[start] in numbers:
            return start
        if words[start] in _ends_of_count(spoken.tag):
            return None
    return None


@lru_cache(maxsize=64)
def _ends_of_count(tag: str) -> frozenset[str]:
    """Folded small words that stand between no number and what it counts: articles, pronouns, prepositions, "and".
    Others may: "two more seals"."""
    spoken = languages.for_language(tag)
    articles = (word for line in spoken.lines("articles.list") for word in fold(line))
    return frozenset({*articles, *spoken.swaps, *prepositions(tag), *_joining(tag), *request_words(tag).subjects})


@lru_cache(maxsize=64)
def _numbers(tag: str) -> frozenset[str]:
    """Folded words for whole numbers over one: "a" and "one" count nothing."""
    table = languages.for_language(tag).table("numbers.list")
    return frozenset(words for words, value in table.items() if value > 1 and value == int(value))


def _is_own(before: Sequence[tuple[str, str]], counted: Counted, spoken: Language) -> bool:
    """Whether the words before a number, folded and as they were said, name nobody but the speaker: "we have", but not
    "my sister has"."""
    known, others = request_words(spoken.tag), listed_as_said(spoken.tag, "others")
    own = {*spoken.swaps, *listed_as_said(spoken.tag, "self"), *_joining(spoken.tag)} - others
    for word, said in reversed(before):
        if said in own:
            return True
        is_small = word in spoken.stop_words or word in known.small
        if said in others or (not is_small and counted.words.isdisjoint(spoken.words(word))):
            return False
    return True


@lru_cache(maxsize=64)
def _joining(tag: str) -> frozenset[str]:
    """Folded words behind which a clause begins: "and"."""
    return frozenset(word for line in languages.for_language(tag).lines("joining.list") for word in fold(line))


def _known_names(talk: TurnContext, counted: Counted) -> list[str]:
    """The different names of such things, in the order in which they were told."""
    learned = sorted(talk.client.facts.list(limit=MOST_FACTS), key=lambda one: one.created_at)
    naming = [fact for fact in learned if _names_one(fact, counted, talk.spoken)]
    found: dict[tuple[str, ...], str] = {}
    for fact in aloud(talk, naming):
        found.setdefault(tuple(fold(fact.value or "")), own_words(fact.value or "", talk.spoken))
    return list(found.values())


def _names_one(fact: Fact, counted: Counted, spoken: Language) -> bool:
    """Whether a fact gives the name of something that is counted, of whoever is asked of."""
    subject = set(spoken.words(fact.subject))
    is_theirs = not subject if counted.is_own else counted.others <= subject
    if fact.slot not in NAMING or not fact.value or not is_theirs or _is_number(fact.value, spoken):
        return False
    is_name = counted.members.isdisjoint(spoken.words(fact.value))
    return is_name and not counted.members.isdisjoint(spoken.words(fact.thing))


def _is_number(text: str, spoken: Language) -> bool:
    return all(word.isdecimal() or word in spoken.table("numbers.list") for word in fold(text))


# what is planned


def planned(talk: TurnContext) -> None:
    """Read what was said about a coming day, seen from when it was said: what was "tomorrow" a month ago is over.

    What names the day comes before what names a week of which it is one.
    """
    tell(talk, _planned(talk), "nothing_planned")


def planned_of(talk: TurnContext) -> None:
    """As ``planned``, of what somebody named said, or what names them: "what has mirja got tomorrow"."""
    _tell_or_answer(talk, _planned_of(talk, talk.slot("whom")), "nothing_planned")


def words_beside_plans(text: str, spoken: Language, now: datetime) -> list[str] | None:
    """The folded words of a question about a coming day that neither name the day nor stand in the wordings of "what is
    planned", in any order: none in "was hab ich heut für einen termin". None where no day is asked for."""
    asked = coming_days(text, spoken, now) if spoken.is_question(text) else None
    if not asked:
        return None
    named = fold(" ".join(words_naming(asked, spoken)))
    known = spoken.stop_words | {*named, *_words_of(spoken.tag, "planned")}
    return [word for word in fold(text) if word not in known]


def _planned(talk: TurnContext) -> list[SpokenItem]:
    asked = coming_days(talk.said.text, talk.spoken, talk.now)
    plans = [(days.width_for(asked), item.at, item) for item, days in _plans(talk, asked) if days.meets(asked)]
    return [item for *_, item in sorted(plans, key=lambda plan: plan[:2])]


def _planned_of(talk: TurnContext, whom: str) -> list[SpokenItem]:
    """The plans of a speaker; none where nobody of that name told any: of a thing recall knows what changed since."""
    asked = coming_days(talk.said.text, talk.spoken, talk.now)
    if whom not in {first_name(item) for item, _ in _plans(talk, asked)}:
        return []
    names = set(talk.spoken.words(whom))
    return [
        item
        for item in _planned(talk)
        if first_name(item) == whom or not names.isdisjoint(talk.spoken.words(item.text))
    ]


@lru_cache(maxsize=64)
def _words_of(tag: str, intent: str) -> frozenset[str]:
    """Folded words of the wordings of an intent."""
    lines = languages.for_language(tag).lines(f"{intent}.patterns")
    return frozenset(word for line in lines for word in fold(re.sub(r"{\w+}", " ", line)))


def _plans(talk: TurnContext, asked: ComingDays) -> Iterator[tuple[SpokenItem, ComingDays]]:
    """Statements that name such a day, each with the days that it meant when it was said."""
    question = " ".join(words_naming(asked, talk.spoken))
    hits = told_hits(talk, question, MOST_PLANS, by_words=True) if asked else []
    for item in items_of(talk, [hit for hit in hits if not hit.outdated]):
        said = datetime.fromtimestamp(item.at, talk.now.tzinfo)
        if days := coming_days(item.text, talk.spoken, said):
            yield item, days


def _names_plan(talk: TurnContext, _day: str) -> bool:
    """Whether a coming day is asked for, and statements name days in the same words."""
    asked = coming_days(talk.said.text, talk.spoken, talk.now)
    return bool(asked) and next(_plans(talk, asked), None) is not None


# what somebody else said


def told_by(talk: TurnContext) -> None:
    """Read what somebody else told at a time, or what was told then about something."""
    _tell_or_answer(talk, _told_by(talk), "nothing_told_then", AT_MOST)


def _tell_or_answer(talk: TurnContext, told: Sequence[SpokenItem], nothing: str, at_a_time: int = AT_A_TIME) -> None:
    """Read what was told; where nothing was, what answers the question: by its words alone it may have been taken for
    one about a time, "what must i bring tonight"."""
    if not told and (found := answering(talk)):
        tell_answers(talk, found)
    else:
        tell(talk, told, nothing, at_a_time=at_a_time)


def asks_what_was_told(text: str, spoken: Language, now: datetime) -> bool:
    """Whether a question holds a verb of telling and a past time: "what did ruby tell you last night"."""
    if telling_words(spoken.tag).isdisjoint(fold(text)) or not spoken.is_question(text):
        return False
    return time_expressions.parse_time_span(text, spoken, now) is not None


def asks_what_was_just_told(text: str, spoken: Language) -> bool:
    """Whether the speaker asks in the words of "what did I just tell you" and no others, in any order:
    "hvad var det jeg lige fortalte dig"."""
    words, telling = set(fold(text)), telling_words(spoken.tag)
    own = request_words(spoken.tag).subjects - listed_as_said(spoken.tag, "others")
    listed = _words_of(spoken.tag, "just_said")
    if words.isdisjoint(own) or words.isdisjoint(telling | (listed - spoken.stop_words)):
        return False
    return words <= {*listed, *telling, *own, *spoken.stop_words, *spoken.swaps} and (
        spoken.is_question(text) or holds_question_word(text, spoken)
    )


def _told_by(talk: TurnContext) -> list[SpokenItem]:
    """What was said as the memory finds it, else what was said at the time that is named by whom the words name."""
    if found := [hit for hit in answering(talk) if hit.answers]:
        return items_of(talk, found)
    named = time_expressions.parse_time_span(talk.said.text, talk.spoken, talk.now)
    return [] if named is None else told_by_named(talk, told_in(talk, named))


INTENTS: dict[str, Callable[[TurnContext], None]] = {"count_own": how_many}
"""What nobody but the memory can know, in wordings without a slot: another skill's "how many {kind} do I have" would
take it."""
WORDED: dict[str, Callable[[TurnContext], None]] = {
    "about_anything": about,
    "just_said": just_told,
    "how_many": how_many,
    "planned": planned,
}
"""Handlers of the questions that are taken only where the memory has an answer."""
OPEN: dict[str, Callable[[TurnContext], None]] = {**WORDED, "planned_of": planned_of, "told_by": told_by}
"""As ``WORDED``, with what is known by the words that it holds."""
OWN = frozenset({"just_said", "planned", "planned_of", "told_by"})
"""Of these, what is asked of nobody but the memory."""
ANSWERED: dict[str, Callable[[TurnContext, str], bool]] = {
    "about_anything": lambda talk, topic: anything_about(talk, whole_topic(topic, talk.said.text, talk.spoken)),
    "just_said": lambda talk, _: bool(last_told(talk)),
    "how_many": _has_count,
    "planned": _names_plan,
    "planned_of": lambda talk, whom: bool(_planned_of(talk, whom)),
    "told_by": lambda talk, _: bool(_told_by(talk)),
    "question": lambda talk, _: talk.client.asks(talk.said.text, talk.spoken.tag) and bool(answering(talk)),
}
"""Whether the memory has an answer to the question, by its slot."""
FAILED = PERHAPS = "memory_away"
