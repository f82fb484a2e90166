"""Scores of fact learning: labelled talk is recorded turn by turn, and the learned facts are compared with the
labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.evaluation.labelled_talk import LabelledFact, LabelledTalk, TalkTurn
from ovos_persona_memory.extraction import NamingWords, naming_words
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import GUEST, HOUSEHOLD, Fact, Scope, Turn
from ovos_persona_memory.text import languages

MOOD = "mood"
STEP_S = 60.0
"""Time between two turns where a file gives no times, seconds."""


@dataclass(frozen=True)
class LearnedFact:
    """One fact that was learned from a turn."""

    turn: str
    person: str
    slot: str | None
    subject: str
    value: str | None
    text: str
    thing: str = ""
    said: str = ""
    """The text of the turn."""
    right: bool = False
    why: str = ""
    """Reason why it is wrong: nothing (its turn must teach nothing), unlabelled (no label is of its turn), or
    differs."""


@dataclass(frozen=True)
class Ratio:
    """A number of right or found facts among all."""

    number: int
    of: int

    @property
    def share(self) -> float | None:
        """0 to 1; None where there are none."""
        return self.number / self.of if self.of else None


@dataclass(frozen=True)
class LearningScores:
    """The scores on one file."""

    turns: int
    precision: Ratio
    """Of all learned facts, those that a label of their turn names."""
    recall_typed: Ratio
    """Of all labels with a slot, those that were learned."""
    recall_asked: Ratio
    """Of all labels without a slot, those that were kept."""
    from_nothing: int
    """Facts learned from turns that must teach nothing."""
    slots: dict[str, dict[str, Ratio]]
    """Precision and recall by slot."""
    learned: list[LearnedFact]
    missed: list[LabelledFact]


def measure_learning(talks: Sequence[LabelledTalk], speakers: bool = False) -> LearningScores:
    """The scores, each talk in a memory of its own. ``speakers``: a named speaker counts as a person, whatever the
    role."""
    learned: list[LearnedFact] = []
    labels: list[LabelledFact] = []
    missed: list[LabelledFact] = []
    for talk in talks:
        found = (_judged(one, talk) for one in _learned_from(talk, speakers))
        judged = [one for one in found if _is_counted(one, talk)]
        learned += judged
        labels += talk.facts
        missed += [label for label in talk.facts if not any(_fits(one, label, talk) for one in judged)]
    typed, asked = ([one for one in labels if bool(one.slot) is slotted] for slotted in (True, False))
    return LearningScores(
        turns=sum(len(talk.turns) for talk in talks),
        precision=_right(learned),
        recall_typed=_found(typed, missed),
        recall_asked=_found(asked, missed),
        from_nothing=sum(one.why == "nothing" for one in learned),
        slots=_by_slot(learned, labels, missed),
        learned=learned,
        missed=missed,
    )


def _right(learned: Sequence[LearnedFact]) -> Ratio:
    return Ratio(sum(one.right for one in learned), len(learned))


def _found(labels: Sequence[LabelledFact], missed: Sequence[LabelledFact]) -> Ratio:
    return Ratio(sum(not any(one is other for other in missed) for one in labels), len(labels))


def _by_slot(
    learned: Sequence[LearnedFact], labels: Sequence[LabelledFact], missed: Sequence[LabelledFact]
) -> dict[str, dict[str, Ratio]]:
    names = {one.slot or "" for one in learned} | {one.slots[0] for one in labels}
    return {
        name or "asked": {
            "precision": _right([one for one in learned if (one.slot or "") == name]),
            "recall": _found([one for one in labels if one.slots[0] == name], missed),
        }
        for name in sorted(names)
    }


def _learned_from(talk: LabelledTalk, speakers: bool) -> Iterator[LearnedFact]:
    now = 0.0
    with closing(PersonaMemory.open(config=MemoryConfig(backend="inmemory"), clock=lambda: now)) as memory:
        spoke: dict[str | None, str] = {}
        for turn in talk.turns:
            at = now + STEP_S if turn.at is None else float(turn.at)
            now = max(now, at)
            answers = turn.role == "assistant" and turn.person is None
            person = spoke.get(turn.session, GUEST) if answers else GUEST if turn.person is None else turn.person
            spoke[turn.session] = person
            memory.record([_turn(turn, talk, at, speakers)], Scope(session_id=turn.session, user_id=person))
            just_learned = [fact_id for ids in memory.facts.take_learned_late().values() for fact_id in ids]
            known = (memory.facts.get(fact_id, Scope(user_id=person)) for fact_id in just_learned)
            yield from (_learned(turn, fact) for fact in known if fact is not None)


def _turn(turn: TalkTurn, talk: LabelledTalk, at: float, speakers: bool) -> Turn:
    named = speakers and turn.speaker is not None
    role = "user" if named and turn.role == "assistant" else turn.role
    return Turn(role, turn.text, at=at, speaker=turn.speaker, lang=turn.language or talk.language)


def _learned(turn: TalkTurn, fact: Fact) -> LearnedFact:
    return LearnedFact(turn.id, fact.user_id, fact.slot, fact.subject, fact.value, fact.text, fact.thing, turn.text)


def _is_counted(one: LearnedFact, talk: LabelledTalk) -> bool:
    """Whether the annotator looked for such facts: some took no moods for facts, and left some open."""
    if not one.right and one.why != "nothing" and any(_fits(one, label, talk) for label in talk.implied):
        return False
    return one.slot != MOOD or one.turn in talk.nothing or any(MOOD in label.slots for label in talk.facts)


def _judged(one: LearnedFact, talk: LabelledTalk) -> LearnedFact:
    if one.turn in talk.nothing:
        return replace(one, why="nothing")
    labels = [label for label in talk.facts if label.turn == one.turn]
    if any(_fits(one, label, talk) for label in labels):
        return replace(one, right=True)
    return replace(one, why="differs" if labels else "unlabelled")


def _fits(one: LearnedFact, label: LabelledFact, talk: LabelledTalk) -> bool:
    """Whether a label matches a learned fact: its turn, person and slot, and all words of the shorter value."""
    if one.turn != label.turn:
        return False
    said_by = next(turn.person for turn in talk.turns if turn.id == label.turn)
    if one.person != (label.person or said_by or HOUSEHOLD):
        return False
    kind = one.slot == "detail" and one.thing == "kind"  # the animal that a pet is
    if label.slot and one.slot not in label.slots and not (kind and "pet" in label.slots):
        return False
    of_owner = one.slot == "location" and not (label.subject and one.subject)  # "(ivy's) present", of ivy
    if label.subject is not None and not of_owner and not _about(one, label.subject, talk):
        return False
    wanted = _words(label.value or "", label, talk)
    told = _words(one.text if one.value is None or not label.slot else one.value, label, talk)
    named = told.union(languages.for_language(talk.language).words(one.thing))  # "size eleven": eleven, of a size
    done = (
        set(languages.for_language(talk.language).words(one.thing)) if one.slot == "activity" else told
    )  # without its days
    return wanted <= named or (bool(one.value) and done <= wanted)


def _words(text: str, label: LabelledFact, talk: LabelledTalk) -> set[str]:
    """The stems of a value that count: for a place "in" and "under" do, too."""
    spoken, known = languages.for_language(talk.language), naming_words(talk.language)
    words = set(spoken.words(text))
    if "location" in label.slots:
        return words
    small = known.small | known.at | known.near | known.of
    return words.difference(*(spoken.words(word) for word in small)) or words


def _about(one: LearnedFact, subject: str, talk: LabelledTalk) -> bool:
    """Whether a fact is about the person whom a label names: by the relation, whatever it is called, or by a name that
    other labels of the talk give them. Where a fact states an identity, that person is its thing."""
    known = naming_words(talk.language)
    wanted = _relation(known, subject)
    if wanted == _relation(known, one.subject):
        return True
    if not wanted:  # a pet's facts belong to the speaker
        return _is_animal(known, one.subject) or _is_pet(one.subject, talk)
    if _is_kind_of(one.subject, subject, talk):
        return True
    if not one.subject:
        pet = one.slot == "pet" and (_is_animal(known, subject) or _is_pet(subject, talk))
        stems = set(languages.for_language(talk.language).words(subject))
        things = set(one.thing.split())
        return pet or stems <= things or set(languages.for_language(talk.language).words(wanted)) <= things
    fold = languages.fold
    either = {wanted: one.subject, _relation(known, one.subject): subject}  # one by the relation, the other by the name
    named = [label for label in talk.facts + talk.implied if "family" in label.slots and _whose(label)]
    return any(
        relation == _relation(known, _whose(label)) and name and set(fold(name)) <= set(fold(label.value or ""))
        for label in named
        for relation, name in either.items()
    )


def _relation(known: NamingWords, text: str) -> str:
    """A relation in the form of facts: an "elder sister" is a sister, and so is a "sister nora"."""
    held = languages.fold(text)
    found = [
        known.relations.get(tuple(held[first:last]))
        for first in range(len(held))
        for last in range(first + 1, len(held) + 1)
    ]
    several = list(dict.fromkeys(one for one in found if one))
    return " ".join(several) if several else " ".join(word for word in held if word not in known.small)


def _is_animal(known: NamingWords, text: str) -> bool:
    return not known.pets.isdisjoint(languages.fold(text))


def _is_pet(name: str, talk: LabelledTalk) -> bool:
    """Whether a label says that a pet has this name."""
    pets = (label.value or "" for label in talk.facts if "pet" in label.slots)
    return any(languages.fold(value) == languages.fold(name) for value in pets)


def _is_kind_of(kind: str, name: str, talk: LabelledTalk) -> bool:
    """Whether a label says that the pet of this name is of a kind: "the cat" is Tattie."""
    fold = languages.fold
    pets = (label for label in talk.facts + talk.implied if "pet" in label.slots and _whose(label) and label.value)
    return any(fold(_whose(label)) == fold(kind) and fold(label.value or "") == fold(name) for label in pets)


def _whose(label: LabelledFact) -> str:
    """The owner of the name that a label states."""
    return label.subject or label.thing or ""
