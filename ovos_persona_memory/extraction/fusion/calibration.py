"""A second look at what was understood of an utterance: how likely it is right, by all that is known of it together.

Templates and models look at words one by one, and each rule at one thing. What both make of the words, where these
stand, what else the utterance tells and what was asked before are signs of a logistic regression (Berkson, 1944), which
was fitted to talk that the models had not been trained on, so that it knows where they err. It is kept as a conditional
random field of one place, which is the same; ``training/train_calibration`` makes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np

from ovos_persona_memory.extraction.fusion.tagged_utterance import MARKED, TaggedUtterance
from ovos_persona_memory.extraction.fusion.template_spans import hint_of, place_of
from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.extraction.schema.slots import SLOTS
from ovos_persona_memory.extraction.segmentation.sentences import bounds_of
from ovos_persona_memory.extraction.tagger import features
from ovos_persona_memory.extraction.tagger.features import TemplateSpan, models_folder
from ovos_persona_memory.extraction.tagger.tagger import LabelProbabilities
from ovos_persona_memory.text import languages

FILE = "facts.belief"
RIGHT, WRONG = "right", "wrong"
"""The labels."""
LEAST = 0.005
"""What is less likely, or surer than one less this, counts as this."""
SIZES = (1, 2, 3, 5, 8, 14)
"""Words of an utterance, up to which it counts as long as these."""
LONG_VALUE = 5
"""Words of a value from which on they count no more."""
LISTS = (
    *("supposed", "quoted", "past", "played", "unsure", "today", "passing", "no", "correcting", "repair", "asking"),
    *("joking", "own", "speaker", "he_she", "first_my", "me", "since_today", "relation", "kin", "pet", "given_name"),
    *("dictating", "whether", "perhaps", "hearer", "your", "outsider", "acquaintance", "preposition", "article"),
    *("determiner", "number", "finite", "third", "pretending", "instead_of", "most_of_all", "part_of_day", "each_day"),
    *("by_now", "from_now_on", "once", "binding", "joint", "title"),
)
"""Lists of the language of which it is a sign that an utterance holds one."""

_BETWEEN = ("joint", "fronting", "skip", "lead", "trail")
"""Lists of words that tell nothing by themselves."""
Signs = Mapping[str, float]

INTRODUCING = ("name", "home")
"""Slots of what people say of themselves first."""


@dataclass(frozen=True)
class UtteranceAnalysis:
    """What was understood of an utterance, and by whom."""

    heard: TaggedUtterance
    shares: LabelProbabilities | None
    """How likely the models find what; None where they were not asked."""
    told: Sequence[Candidate]
    """What templates took."""
    added: Sequence[tuple[Candidate, float]]
    """What the models guess, each with how sure it is."""
    both: Sequence[Candidate]
    """What is left of all that."""
    doubted: frozenset[TemplateSpan] = frozenset()
    """What templates took and the models do not believe."""

    def place(self, one: Candidate) -> tuple[int, int] | None:
        """Where the value of a verdict stands."""
        return place_of(self.heard.known, self.heard.words, one)

    def guessed(self, one: Candidate) -> float:
        """How sure the models guess it, 0 to 1; 0 where they do not."""
        return max((sure for other, sure in self.added if self.alike(other, one)), default=0.0)

    def by_template(self, one: Candidate) -> bool:
        """Whether a template took it, or a part of it."""
        return any(self.alike(other, one) for other in self.told)

    def is_doubted(self, one: Candidate) -> bool:
        """Whether the models do not believe what a template took."""
        return bool(self.doubted) and hint_of(self.heard.known, self.heard.words, one) in self.doubted

    def all_taken(self, one: Candidate) -> bool:
        """Whether templates know all that is said in its sentence."""
        known, (begin, over) = self.heard.known, bounds_of(self.heard.spoken, self.heard.words.text, one.span)
        words = self.heard.words.within(begin, over)
        taken = [one.span for one in self.told if one.outcome == "learned"]
        left = (
            word
            for word, (start, end) in zip(words.folded, words.spans, strict=True)
            if not any(first <= start and end <= last for first, last in taken)
        )
        return all(known.has_word(_BETWEEN, word) for word in left)

    def is_plain(self, one: Candidate) -> bool:
        """Whether templates know all that is said in its sentence, and the models do not doubt it, or nobody told their
        name yet: "hello i'm tom and i live in boston"."""
        stated = self.heard.says_i or not self.heard.known.third.keys().isdisjoint(self.heard.words.folded)
        named = any(not who.subject for who in self.heard.before.names.values())
        trusted = not self.is_doubted(one) or (one.slot in INTRODUCING and not named)
        return stated and trusted and self.by_template(one) and self.all_taken(one)

    def sure(self, one: Candidate) -> float:
        """How sure whoever found it is, 0 to 1: templates are."""
        return 1.0 if self.by_template(one) else self.guessed(one)

    def alike(self, one: Candidate, other: Candidate) -> bool:
        """Whether both are of the same slot and share a word."""
        here, there = self.place(one), self.place(other)
        same = (one.slot, one.value, one.span) == (other.slot, other.value, other.span)
        shared = here is not None and there is not None and here[0] < there[1] and there[0] < here[1]
        return same or (one.slot == other.slot and shared)


class Judge(Protocol):
    """Who takes the second look."""

    def likely(self, understood: UtteranceAnalysis, one: Candidate) -> float:
        """How likely a verdict is right, 0 to 1."""
        ...


@dataclass(frozen=True)
class Calibrator:
    """One language's second look. Thread-safe."""

    crf: Any
    _lock: Lock = field(default_factory=Lock, compare=False)

    def likely(self, understood: UtteranceAnalysis, one: Candidate) -> float:
        """How likely a verdict is right, 0 to 1."""
        signs = signs_of(understood, one)
        with self._lock:
            self.crf.set([signs])
            return float(self.crf.marginal(RIGHT, 0))


_USED: dict[str, Judge] = {}


def override_for_tests(tag: str, judge: Judge) -> None:
    """From now on this one looks again in a language: for whoever trains or measures."""
    _USED[languages.for_language(tag).tag] = judge


def for_language(tag: str | None) -> Judge | None:
    """Who looks again in a language, BCP-47 tag; None where nobody does, or where python-crfsuite is not installed."""
    known = languages.for_language(tag).tag
    return _USED.get(known) or _in_folder(known)


@lru_cache(maxsize=32)
def _in_folder(tag: str) -> Calibrator | None:
    path = models_folder() / tag / FILE
    return opened(path) if path.is_file() else None


def opened(path: Path) -> Calibrator | None:
    """The second look in a file; None where python-crfsuite is not installed."""
    try:
        library: Any = import_module("pycrfsuite")
    except ImportError:
        return None
    crf = library.Tagger()
    crf.open(str(path))
    return Calibrator(crf)


# signs


def signs_of(understood: UtteranceAnalysis, one: Candidate) -> dict[str, float]:
    """All that speaks for or against a verdict, by name."""
    signs = dict.fromkeys(_of_utterance(understood, one), 1.0)
    signs |= _numbers(understood, one)
    place = understood.place(one)
    if place is None:
        return {**signs, "nowhere": 1.0}
    signs |= dict.fromkeys(_around(understood.heard, one, *place), 1.0)
    return signs | _shares(understood, one, *place)


def _of_utterance(understood: UtteranceAnalysis, one: Candidate) -> Iterator[str]:
    """What is so or is not, whatever the value is."""
    heard, before = understood.heard, understood.heard.before
    slot, size = one.slot, len(heard.words.folded)
    by_template = understood.by_template(one)
    yield f"slot={slot}"
    yield f"size={next((most for most in SIZES if size <= most), 'more')}"
    yield f"refused={heard.refused}"
    yield from (f"has={name}" for name in LISTS if heard.known.has(heard.words, name))
    so = {
        "template": by_template,
        f"template:{slot}": by_template,
        "by template alone": by_template
        and any((other.value, other.subject) == (one.value, one.subject) for other in understood.told),
        "all of it": understood.all_taken(one),
        "of speaker": heard.says_i,
        "of nobody": not heard.says_i and not heard.of_kind("who"),
        f"of nobody:{slot}": not heard.says_i and not heard.of_kind("who"),
        "subject": bool(one.subject),
        "thing": bool(one.thing),
        "question": before.question,
        "asked": before.asked[:1] == (slot,),
        "something asked": before.asked != (),
        "told": before.told == slot,
        "something told": before.told != "",
        "doubted": understood.is_doubted(one),
        f"doubted:{slot}": understood.is_doubted(one),
        "marked": not MARKED.isdisjoint(heard.words.text),
    }
    yield from (name for name, holds in so.items() if holds)


def _numbers(understood: UtteranceAnalysis, one: Candidate) -> dict[str, float]:
    """How much else an utterance tells, and how sure its parts are."""
    heard = understood.heard
    rivals = [
        other
        for other in understood.both
        if other is not one and (other.slot, other.subject) == (one.slot, one.subject) and other.value != one.value
    ]
    found = {
        "words": math.log(len(heard.words.folded)),
        "told at once": float(len(understood.both)),
        "told of slot": float(sum(other.slot == one.slot for other in understood.both)),
        "values": float(sum(guess.kind in SLOTS for guess in heard.guesses)),
        "guessed": understood.guessed(one),
        "who": max((guess.sure for guess in heard.of_kind("who")), default=0.0),
        "thing guessed": max((guess.sure for guess in heard.of_kind("thing")), default=0.0),
    }
    here = _least(understood, one)
    for name, others in (("rival", [r for r in rivals if r.thing == one.thing]), ("beside", rivals)):
        if others:
            best = max(_least(understood, other) for other in others)
            found |= {name: best, f"{name} surer": best - here}
    return found


def _least(understood: UtteranceAnalysis, one: Candidate) -> float:
    """How likely the least likely word of a value is one of its slot."""
    place = understood.place(one)
    if place is None or understood.shares is None or one.slot is None:
        return 0.0
    return float(understood.shares.of(one.slot)[place[0] : place[1]].min())


def _around(heard: TaggedUtterance, one: Candidate, first: int, last: int) -> Iterator[str]:
    """Which words stand beside a value, and of which kinds its own are."""
    held = heard.words.folded
    kinds = features.for_language(heard.spoken.language.tag).kinds_of(held[first:last])
    yield f"before={held[first - 1] if first else '<'}"
    yield f"behind={held[last] if last < len(held) else '>'}"
    yield f"first={held[0]}"
    yield f"two={' '.join(held[:2])}"
    yield f"length={min(last - first, LONG_VALUE)}"
    yield from (f"kind:{one.slot}={kind}" for kind in kinds)
    if kinds:
        yield "of a kind"
    if not first:
        yield "at the beginning"
    if last == len(held):
        yield "at the end"


def _shares(understood: UtteranceAnalysis, one: Candidate, first: int, last: int) -> dict[str, float]:
    """How likely the models find the slot, and nothing, where the value stands."""
    shares, slot = understood.shares, one.slot
    if shares is None or slot is None:
        return {"not asked": 1.0}
    found: dict[str, float] = {}
    for name, of_slot, nothing in shares.each(slot):
        inside, none = of_slot[first:last], nothing[first:last]
        found |= {
            f"{name} least": _odds(inside.min()),
            f"{name} most": _odds(inside.max()),
            f"{name} mean": _odds(inside.mean()),
            f"{name} nothing": _odds(none.max()),
            f"{name} nothing least": _odds(none.min()),
        }
    of_slot, nothing = shares.of(slot), shares.of(None)
    outside = np.delete(nothing, range(first, last))
    edges = [float(of_slot[place]) for place in (first - 1, last) if 0 <= place < len(of_slot)]
    found[f"least:{slot}"] = found["mean least"]
    found["edge"] = _odds(max(edges, default=0.0))
    found["elsewhere nothing"] = float(outside.mean()) if len(outside) else 1.0
    return found


def _odds(share: float) -> float:
    """Half the logarithm of the odds."""
    share = min(max(float(share), LEAST), 1.0 - LEAST)
    return math.log(share / (1.0 - share)) / 2
