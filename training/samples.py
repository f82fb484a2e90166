"""Labelled talk as what the reader learns from: words, and what each of them is."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ovos_persona_memory.evaluation.labelled_talk import LabelledFact, LabelledTalk, TalkTurn, read_talks
from ovos_persona_memory.evaluation.talk_markup import FactMark, MarkedTalk, read_marked
from ovos_persona_memory.extraction.reader.labels import SAYINGS, SLOT_NAMES
from ovos_persona_memory.extraction.reader.words import words_of
from ovos_persona_memory.records import GUEST

UNKNOWN = -100
"""The label of what is not said by whoever labelled it."""
NOBODY = -1
"""The place of whom or what a value belongs to where that is not said."""
LONGEST = 60
"""Words of a turn at most."""
CONTEXT_S, CONTEXT_TURN, CONTEXT_WORDS = 90.0, 9, 16
"""What was said right before helps to read a turn of at most 9 words, up to 90 s later; its last 16 words are taken."""
NAMED = ("name", "family", "pet")
HARD_NEGATIVES, EASY_NEGATIVES = 1.0, 0.35
"""Turns without a fact in months, for each turn with one: of those that speak of somebody, and of the others."""


@dataclass(frozen=True)
class Sample:
    """A turn."""

    words: tuple[str, ...]
    language: str
    style: int
    """0: months, whose labels are lists of values; 1: marked talk without sayings; 2: marked talk with sayings."""
    context: tuple[str, ...] = ()
    by_assistant: bool = False
    """Whether the assistant said the context."""
    known: frozenset[int] = frozenset()
    """Places of words that are names known before."""
    slots: tuple[int, ...] = ()
    sayings: tuple[int, ...] = ()
    who: tuple[int, ...] = ()
    thing: tuple[int, ...] = ()
    links: tuple[tuple[int, int, int], ...] = ()
    """First word of a value, first word of whom it is about, first word of what it belongs to."""
    kind: int = UNKNOWN

    @property
    def tells(self) -> bool:
        """Whether a value is marked."""
        return any(label > 0 for label in self.slots)


@dataclass
class _Labels:
    """The labels of a turn while they are put together."""

    size: int
    slots: list[int] = field(init=False)
    sayings: list[int] = field(init=False)
    who: list[int] = field(init=False)
    thing: list[int] = field(init=False)
    links: list[tuple[int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.slots, self.who, self.thing = ([0] * self.size for _ in range(3))
        self.sayings = [UNKNOWN] * self.size

    def value(self, slot: str, saying: str, first: int, last: int) -> None:
        number = 1 + 2 * SLOT_NAMES.index(slot)
        for place in range(first, last):
            self.slots[place] = number + (place > first)
            self.sayings[place] = SAYINGS.index(saying)

    @staticmethod
    def span(labels: list[int], first: int, last: int) -> None:
        for place in range(first, last):
            labels[place] = 1 + (place > first)

    def unknown(self, labels: list[int], first: int = 0, last: int | None = None) -> None:
        """What nobody labelled there is not learned as nothing."""
        for place in range(first, self.size if last is None else last):
            labels[place] = labels[place] or UNKNOWN


def of_marked(path: Path, style: int) -> Iterator[Sample]:
    """The samples of a file of marked talk."""
    marked = read_marked(path)
    names = {turn.person for turn in marked.talk.turns if turn.person not in (None, GUEST)}
    known = {name for person in names for name in (person or "").split()}
    for before, turn in _with_context(marked.talk.turns):
        if _counts(turn) and (sample := _of_marks(marked, turn, before, style, known)) is not None:
            yield sample
        for mark in marked.marks.get(turn.id, ()):
            if mark.kinds[0] in NAMED:
                known |= {word.lower for word in words_of(turn.text[mark.first : mark.last])}


def _of_marks(
    marked: MarkedTalk, turn: TalkTurn, before: TalkTurn | None, style: int, known: set[str]
) -> Sample | None:
    words = words_of(turn.text)
    if not words or len(words) > LONGEST:
        return None
    labels = _Labels(len(words))
    values, whom, things = [], [], []
    for mark in marked.marks.get(turn.id, ()):
        inside = [place for place, word in enumerate(words) if word.first < mark.last and word.last > mark.first]
        if not inside:
            continue
        first, last = inside[0], inside[-1] + 1
        if mark.kinds[0] == "who":
            labels.span(labels.who, first, last)
            whom.append(first)
        elif mark.kinds[0] == "thing":
            labels.span(labels.thing, first, last)
            things.append(first)
        else:
            labels.value(_slot(mark), _saying(mark), first, last)
            values.append(first)
    for value in values:
        labels.links.append((value, _link(value, whom, values), _link(value, things, values)))
    kind = 1 if values else 2 if turn.id in marked.questions else 0 if style == 2 else UNKNOWN
    return _sample(words, marked.talk, turn, before, style, known, labels, kind)


def _slot(mark: FactMark) -> str:
    return "note" if mark.kinds[0] == "asked" else mark.kinds[0]


def _saying(mark: FactMark) -> str:
    return "asked" if mark.kinds[0] == "asked" else mark.saying


def _link(value: int, others: Sequence[int], values: Sequence[int]) -> int:
    """To which of these a value points: its own, where each value has one; else the only one between the value before
    and this one; else unknown."""
    if not others:
        return NOBODY
    if len(others) == len(values):
        return sorted(others)[sorted(values).index(value)]
    begin = max((place for place in values if place < value), default=-1)
    between = [place for place in others if begin <= place < value]
    return between[0] if len(between) == 1 else UNKNOWN


def _sample(
    words: Sequence[tuple[str, int, int]],
    talk: LabelledTalk,
    turn: TalkTurn,
    before: TalkTurn | None,
    style: int,
    known: set[str],
    labels: _Labels,
    kind: int,
) -> Sample:
    own = tuple(word[0] for word in words)
    return Sample(
        own,
        talk.language[:2],
        style,
        tuple(word.lower for word in words_of(before.text)[-CONTEXT_WORDS:]) if before is not None else (),
        before is not None and before.role == "assistant",
        frozenset(place for place, word in enumerate(own) if word in known),
        tuple(labels.slots),
        tuple(labels.sayings),
        tuple(labels.who),
        tuple(labels.thing),
        tuple(labels.links),
        kind,
    )


def _counts(turn: TalkTurn) -> bool:
    return turn.role == "user" and turn.person not in (None, GUEST) and bool(turn.text.strip())


def _with_context(turns: Iterable[TalkTurn]) -> Iterator[tuple[TalkTurn | None, TalkTurn]]:
    """Each turn, with what was said in its room right before, where that may help to read it."""
    last: dict[str | None, TalkTurn] = {}
    for turn in turns:
        before = last.get(turn.session)
        last[turn.session] = turn
        late = before is not None and float(turn.at or 0) - float(before.at or 0) > CONTEXT_S
        yield (None if late or len(turn.text.split()) > CONTEXT_TURN else before), turn


# months, whose labels name values and not places


def of_months(path: Path, chance: random.Random) -> Iterator[Sample]:
    """The samples of a file of months; of the turns that tell nothing some."""
    for talk in read_talks(path):
        every = list(_of_month(talk))
        telling = [sample for sample in every if sample.tells or UNKNOWN in sample.slots]
        hard = [sample for sample in every if not sample.tells and sample.who and _speaks_of_somebody(sample)]
        easy = [sample for sample in every if not sample.tells and not _speaks_of_somebody(sample)]
        for some, share in ((hard, HARD_NEGATIVES), (easy, EASY_NEGATIVES)):
            yield from chance.sample(some, min(len(some), int(share * len(telling))))
        yield from telling


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SOMEBODY = _set(
    "i me my mine we our us im ich mich mir mein meine meinen meinem meiner wir uns unser unsere is ist called "
    "heißt has hat loves mag likes liebt works arbeitet lives wohnt allergic allergisch hates favourite favorite"
)


def _speaks_of_somebody(sample: Sample) -> bool:
    return not _SOMEBODY.isdisjoint(sample.words)


def _of_month(talk: LabelledTalk) -> Iterator[Sample]:
    facts: dict[str, list[LabelledFact]] = defaultdict(list)
    implied: dict[str, list[LabelledFact]] = defaultdict(list)
    for some, by_turn in ((talk.facts, facts), (talk.implied, implied)):
        for fact in some:
            by_turn[fact.turn].append(fact)
    known = {name for turn in talk.turns if turn.person not in (None, GUEST) for name in (turn.person or "").split()}
    for before, turn in _with_context(talk.turns):
        if _counts(turn):
            sample = _of_values(talk, turn, before, known, facts[turn.id], implied[turn.id])
            if sample is not None:
                yield sample
        for fact in facts[turn.id]:
            if fact.slots[0] in NAMED:
                known |= {word.lower for word in words_of(fact.value or "")}


def _of_values(
    talk: LabelledTalk,
    turn: TalkTurn,
    before: TalkTurn | None,
    known: set[str],
    facts: Sequence[LabelledFact],
    implied: Sequence[LabelledFact],
) -> Sample | None:
    words = words_of(turn.text)
    if not words or len(words) > LONGEST:
        return None
    own, labels = [word.lower for word in words], _Labels(len(words))
    taken: set[int] = set()
    for fact in sorted(facts, key=lambda one: -len((one.value or "").split())):
        span = place_of(own, [word.lower for word in words_of(fact.value or "")], taken)
        if span is None:
            return None
        taken |= set(range(*span))
        if fact.slots[0] not in SLOT_NAMES:
            labels.value("note", "asked", *span)
            labels.links.append((span[0], NOBODY, NOBODY))
            continue
        labels.value(fact.slots[0], "stated", *span)
        who = _labelled(own, labels, labels.who, _called(fact.subject, own, taken, span[0]), fact.subject)
        thing = _labelled(own, labels, labels.thing, _named(fact.thing, own), fact.thing)
        labels.links.append((span[0], who, thing))
    for fact in implied:
        span = place_of(own, [word.lower for word in words_of(fact.value or "")], ())
        labels.unknown(labels.slots, *(span or ()))
    return _sample(words, talk, turn, before, 0, known, labels, 1 if facts else UNKNOWN)


def _labelled(
    own: Sequence[str], labels: _Labels, span_labels: list[int], span: tuple[int, int] | None, wanted: str | None
) -> int:
    """Mark whom or what a value belongs to; the place of its first word, UNKNOWN where it was not found."""
    if not wanted:
        return NOBODY
    if span is None:
        labels.unknown(span_labels)
        return UNKNOWN
    labels.span(span_labels, *span)
    return span[0]


_PRONOUNS = _set(
    "she he her his him they their them er sie ihr ihre ihren ihrem ihrer sein seine seinen seinem seiner ihm ihn "
    "die der den dem dessen deren denen es it its"
)
_ARTICLES = _set(
    "the a an der die das den dem des ein eine einen einem einer my mein meine meinen meinem meiner our unser"
)


def _called(subject: str | None, own: Sequence[str], taken: set[int], value: int) -> tuple[int, int] | None:
    """The words that name somebody: the relation or name, its last or first word, or the nearest pronoun before."""
    named = [word.lower for word in words_of(subject or "")]
    if not named:
        return None
    ways = [named, named[-1:], named[:1]] if len(named) > 1 else [named]
    found = next((span for way in ways if (span := place_of(own, way, taken, loose=False)) is not None), None)
    if found is not None:
        return found
    places = [place for place, word in enumerate(own) if word in _PRONOUNS and place not in taken]
    before = [place for place in places if place < value]
    place = before[-1] if before else places[0] if places else None
    return None if place is None else (place, place + 1)


def _named(thing: str | None, own: Sequence[str]) -> tuple[int, int] | None:
    named = [word.lower for word in words_of(thing or "")]
    if not named:
        return None
    found = place_of(own, named, (), loose=False) or place_of(own, named[-1:], (), loose=False)
    if found is None and len(named[-1]) > 2:
        found = next(((at, at + 1) for at, word in enumerate(own) if word.endswith(named[-1])), None)
    return found


def place_of(
    words: Sequence[str], part: Sequence[str], taken: Iterable[int], loose: bool = True
) -> tuple[int, int] | None:
    """The words in which all of a part stand, in order, or (``loose``) near each other; None where they do not."""
    size, held = len(part), set(taken)
    if not size:
        return None
    for same in (str.__eq__, _alike):
        for first in range(len(words) - size + 1):
            fits = all(same(words[first + n], part[n]) for n in range(size))
            if fits and held.isdisjoint(range(first, first + size)):
                return first, first + size
    short = [word for word in part if word not in _ARTICLES] or list(part)
    if len(short) < size and (found := place_of(words, short, held, False)) is not None:
        return found
    return _scattered(words, short, size, held) if loose and size > 1 else None


def _scattered(words: Sequence[str], part: Sequence[str], size: int, held: set[int]) -> tuple[int, int] | None:
    fits = [
        (first, last)
        for first in range(len(words))
        for last in range(first + 2, min(len(words), first + size + 4) + 1)
        if held.isdisjoint(range(first, last))
        and all(any(_alike(word, wanted) for word in words[first:last]) for wanted in part)
    ]
    return min(fits, key=lambda span: span[1] - span[0], default=None)


def _alike(word: str, other: str) -> bool:
    """Whether two words are the same but for an ending of up to three letters."""
    shared = max(4, min(len(word), len(other)) - 3)
    return word == other or (min(len(word), len(other)) >= 4 and word[:shared] == other[:shared])


# changed a little, so that names and places are not learned by heart


SWAPPED = tuple(name for name in SLOT_NAMES if name not in ("mood", "age", "birthday", "note", "diet", "location"))


@dataclass(frozen=True)
class Values:
    """Values by language and slot, as they were said."""

    every: dict[tuple[str, int], list[tuple[str, ...]]]

    @classmethod
    def of(cls, samples: Iterable[Sample]) -> Values:
        every: dict[tuple[str, int], list[tuple[str, ...]]] = defaultdict(list)
        for sample in samples:
            for first, last, slot in spans(sample.slots):
                every[sample.language, slot].append(sample.words[first:last])
        return cls(every)

    def swapped(self, sample: Sample, chance: random.Random) -> Sample:
        """The same turn with another value of a kind in the place of one."""
        places = [span for span in spans(sample.slots) if SLOT_NAMES[span[2]] in SWAPPED]
        if not places:
            return sample
        first, last, slot = chance.choice(places)
        other = chance.choice(self.every[sample.language, slot])
        linked = {place for link in sample.links for place in link if first < place < last}
        whom = {place for _, who, thing in sample.links for place in (who, thing) if place == first}
        if len(other) > 4 or last - first > 4 or linked or whom:
            return sample
        moved = len(other) - (last - first)

        def at(place: int) -> int:
            return place + moved if place >= last else place

        number = 1 + 2 * slot
        return replace(
            sample,
            words=(*sample.words[:first], *other, *sample.words[last:]),
            slots=(*sample.slots[:first], number, *[number + 1] * (len(other) - 1), *sample.slots[last:]),
            sayings=(*sample.sayings[:first], *[sample.sayings[first]] * len(other), *sample.sayings[last:]),
            who=(*sample.who[:first], *[0] * len(other), *sample.who[last:]),
            thing=(*sample.thing[:first], *[0] * len(other), *sample.thing[last:]),
            links=tuple((at(value), at(who), at(thing)) for value, who, thing in sample.links),
            known=frozenset(at(place) for place in sample.known if not first <= place < last),
        )


def spans(labels: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """First word, word behind the last, and number of the slot of each labelled value."""
    first = 0
    while first < len(labels):
        label = labels[first]
        if label <= 0 or label % 2 == 0:
            first += 1
            continue
        last = first + 1
        while last < len(labels) and labels[last] == label + 1:
            last += 1
        yield first, last, (label - 1) // 2
        first = last


def joined(one: Sample, other: Sample) -> Sample:
    """Two turns said in one breath."""
    size = len(one.words)
    if size + len(other.words) > LONGEST or one.language != other.language:
        return one

    def behind(place: int) -> int:
        return place + size if place >= 0 else place

    kind = 1 if 1 in (one.kind, other.kind) else other.kind if one.kind == other.kind else UNKNOWN
    return replace(
        one,
        words=one.words + other.words,
        slots=one.slots + other.slots,
        sayings=one.sayings + other.sayings,
        who=one.who + other.who,
        thing=one.thing + other.thing,
        links=one.links + tuple((value + size, behind(who), behind(thing)) for value, who, thing in other.links),
        known=one.known | frozenset(place + size for place in other.known),
        kind=kind,
    )
