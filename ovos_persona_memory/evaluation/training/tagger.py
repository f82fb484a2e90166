"""Training samples from marked talk, and the CRF trained on them: for ``training/train_crf``."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any

from ovos_persona_memory.config import FactsConfig, MemoryConfig
from ovos_persona_memory.evaluation.talk_markup import ENDING, TEACHES, FactMark, MarkedTalk, read_marked
from ovos_persona_memory.evaluation.training.crf_pruning import lighten
from ovos_persona_memory.extraction import DialogueContext, ExtractionContext, LanguageResources, extract
from ovos_persona_memory.extraction.fusion.template_spans import hints_of, refusal_reason
from ovos_persona_memory.extraction.tagger import features
from ovos_persona_memory.extraction.tagger.features import TemplateSpan, models_folder
from ovos_persona_memory.extraction.tagger.tagger import NOTHING, spans_of
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import GUEST, Scope, Turn
from ovos_persona_memory.text import Tokens

ROUNDS = 60
"""Training iterations: more fit the talk better, and people who are not in it worse."""
SETTINGS = {"c1": 2.0, "c2": 0.02, "max_iterations": ROUNDS, "feature.possible_transitions": True}
"""L1 and L2 penalties, and more, as CRFsuite names them."""
WEAKEST = 0.02
"""Weights < this are pruned: a third of all, which change no score and take three megabytes."""
VARIANTS = 1
"""Variants of each utterance with other words of the same kinds."""
VARIED = 0.7
"""Probability that a word of a kind is replaced in a variant."""
SHORTEST = 3
"""Letters at least of a word that is replaced."""
SEED = 5
READ = "read"
"""The folder of talk by which the templates were written: their matches in it say nothing about other people."""
TIMES = {"everyday": 2, READ: 2, "scenes": 2, "stated": 2, "varied": 1}
"""Weight of each folder's talk: frequent kinds of statements count more."""
BESIDE = ("who", "thing", "asked")
"""Labels whose spans are not swapped: the rest of an utterance depends on them."""
LONGEST = 30
"""Words at most of two utterances joined in one."""
_Label = list[str]

KINDS: Mapping[str, Sequence[str]] = {
    "pet": ("pet_name", "breed", "animal"),
    "family": ("given_name", "family_name"),
    "name": ("given_name",),
    "home": ("town", "country"),
    "origin": ("town", "country", "nationality"),
    "who": ("relation", "given_name"),
    "allergy": ("allergen", "food"),
    "health": ("illness", "medicine"),
    "likes": ("food", "hobby", "music", "film"),
    "favourite": ("food", "colour", "music", "film"),
}
"""The kinds from which a slot's replacement words come; a word with one kind uses that."""
NEVER = ("number", "month_day", "size", "frequency", "verb_like", "verb_dislike", "verb_do", "feeling", "adjective")
"""Kinds whose words are not replaced, since they would change the meaning."""


@dataclass(frozen=True)
class Sample:
    """One utterance of a person whose facts are learned."""

    words: Tokens
    before: DialogueContext
    hints: tuple[TemplateSpan, ...]
    refused: str
    labels: tuple[str, ...]
    """The label of each word: O, or B-slot at the beginning of a value and I-slot inside it."""


def samples_in(folder: Path, without: Collection[str] = ()) -> list[Sample]:
    """The utterances of all talk in a folder of ``training``, as often as each counts; ``without``: files left out."""
    told: list[Sample] = []
    for path in sorted(folder.rglob(f"*{ENDING}")):
        kind = path.parent.name
        if path.stem not in without and kind in TIMES:
            told += list(samples(read_marked(path), hinted=kind != READ)) * TIMES[kind]
    return told


def samples(marked: MarkedTalk, hinted: bool = True) -> Iterator[Sample]:
    """The utterances of a talk, as the learner sees them when the talk is recorded.

    ``hinted``: with the spans of template matches; not for talk by which the templates were written.
    """
    now = 0.0
    config = MemoryConfig(backend="inmemory", facts=FactsConfig(guess=False))
    with closing(PersonaMemory.open(config=config, clock=lambda: now)) as memory:
        learner = memory.transcript.learner
        for said in marked.talk.turns:
            now = float(said.at or now)
            person = GUEST if said.person is None else said.person
            turn = Turn(said.role, said.text, at=now, lang=marked.talk.language)
            heard = replace(turn, session_id=said.session, user_id=person)
            if said.role == "user" and person != GUEST:
                before = learner.around.before(heard)
                yield from _sample(heard, before, marked.marks.get(said.id, ()), hinted)
            memory.record([turn], Scope(session_id=said.session, user_id=person))


def _sample(turn: Turn, before: DialogueContext, marks: Sequence[FactMark], hinted: bool) -> Iterator[Sample]:
    spoken = LanguageResources.of(turn)
    words = spoken.templates.words_of(turn.text or "")
    told = extract(turn, ExtractionContext(before=before, guess=False)) if hinted else []
    if words.folded:
        hints = tuple(hints_of(spoken, words, told))
        yield Sample(words, before, hints, refusal_reason(told), tuple(_labels(words, marks)))


def _labels(words: Tokens, marks: Sequence[FactMark]) -> _Label:
    labels = [NOTHING] * len(words.folded)
    for mark in (one for one in marks if one.saying in TEACHES):
        inside = [n for n, (first, last) in enumerate(words.spans) if first < mark.last and last > mark.first]
        for place in inside:
            labels[place] = f"{'I' if place > inside[0] else 'B'}-{mark.kinds[0]}"
    return labels


def varied(sample: Sample, kinds: WordKinds, chance: random.Random) -> Sample | None:
    """A variant with other words of the same kinds; None where no word was replaced."""
    folded: list[str] = []
    labels: _Label = []
    moved: list[int] = []
    held, place = sample.words.folded, 0
    while place < len(held):
        size, other = kinds.instead(held, sample.labels, place, chance)
        moved += [len(folded)] * size
        folded += other
        first = sample.labels[place]
        labels += [first] + [f"I-{first[2:]}" if first != NOTHING else NOTHING] * (len(other) - 1)
        place += size
    if tuple(folded) == held:
        return None
    moved.append(len(folded))
    hints = tuple(replace(one, first=moved[one.first], last=moved[one.last]) for one in sample.hints)
    return replace(sample, words=_words(folded), labels=tuple(labels), hints=hints)


def _words(folded: Sequence[str]) -> Tokens:
    ends = list(accumulate(len(word) + 1 for word in folded))
    spans = tuple((end - len(word) - 1, end - 1) for word, end in zip(folded, ends, strict=True))
    return Tokens(" ".join(folded), tuple(folded), spans)


Values = Mapping[str, Sequence[tuple[str, ...]]]
"""The words of every value of each slot."""


def values_of(told: Sequence[Sample]) -> Values:
    """The values that some talk states, of slots alone."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for sample in told:
        for kind, first, last in spans_of(sample.labels):
            if kind not in BESIDE:
                found.setdefault(kind, []).append(sample.words.folded[first:last])
    return found


def swapped(sample: Sample, values: Values, chance: random.Random) -> Sample:
    """The sample with another value of one slot; unchanged where it has none, or a template matched only a part of
    it."""
    told = [span for span in spans_of(sample.labels) if span[0] in values and _is_apart(span, sample.hints)]
    if not told:
        return sample
    kind, first, last = chance.choice(told)
    other = chance.choice(values[kind])
    labels = (*sample.labels[:first], f"B-{kind}", *[f"I-{kind}"] * (len(other) - 1), *sample.labels[last:])
    longer = len(other) - (last - first)
    hints = tuple(
        replace(hint, first=hint.first + longer * (hint.first >= last), last=hint.last + longer * (hint.last >= last))
        for hint in sample.hints
    )
    words = _words((*sample.words.folded[:first], *other, *sample.words.folded[last:]))
    return replace(sample, words=words, labels=labels, hints=hints)


def _is_apart(span: tuple[str, int, int], hints: Sequence[TemplateSpan]) -> bool:
    _, first, last = span
    return all(hint.last <= first or hint.first >= last or (hint.first, hint.last) == (first, last) for hint in hints)


def joined_samples(sample: Sample, other: Sample) -> Sample:
    """Both samples in one utterance; the first alone where that is too long."""
    size = len(sample.labels)
    if size + len(other.labels) >= LONGEST:
        return sample
    behind = tuple(replace(hint, first=hint.first + size, last=hint.last + size) for hint in other.hints)
    words = _words((*sample.words.folded, *other.words.folded))
    return replace(sample, words=words, labels=(*sample.labels, *other.labels), hints=(*sample.hints, *behind))


@dataclass(frozen=True)
class WordKinds:
    """The words of each kind, and the kinds of each word."""

    words: Mapping[str, Sequence[tuple[str, ...]]]
    of: Mapping[tuple[str, ...], frozenset[str]]

    @classmethod
    def in_file(cls, path: Path) -> WordKinds:
        """The kinds of a language's ``facts.kinds``."""
        of = features.kinds_in(path.read_text(encoding="utf-8").splitlines())
        words: dict[str, list[tuple[str, ...]]] = {}
        for phrase, kinds in sorted(of.items()):
            for kind in kinds:
                words.setdefault(kind, []).append(tuple(phrase.split()))
        return cls(words, {tuple(phrase.split()): frozenset(kinds) - set(NEVER) for phrase, kinds in of.items()})

    def instead(
        self, held: tuple[str, ...], labels: Sequence[str], place: int, chance: random.Random
    ) -> tuple[int, tuple[str, ...]]:
        """How many words from a position on are replaced, and by which; one word by itself where none is."""
        for size in (3, 2, 1):
            named = held[place : place + size]
            tells = {label[2:] for label in labels[place : place + size]}
            if len(named) < size or len(tells) > 1 or len(named[0]) < SHORTEST:
                continue
            kinds = self._fitting(self.of.get(named, frozenset()), next(iter(tells)))
            if kinds and chance.random() < VARIED:
                return size, chance.choice(self.words[chance.choice(kinds)])
        return 1, held[place : place + 1]

    def _fitting(self, kinds: frozenset[str], tells: str) -> list[str]:
        usual = [kind for kind in KINDS.get(tells, ()) if kind in kinds]
        return usual or (sorted(kinds) if len(kinds) == 1 else [])


def train(told: Sequence[Sample], tag: str, path: Path, say: Callable[[str], None]) -> None:
    """Write the model of a language trained on these samples and variants of them."""
    library: Any = import_module("pycrfsuite")
    seen = features.for_language(tag)
    kinds = WordKinds.in_file(models_folder() / tag / features.FILE)
    chance = random.Random(SEED)
    trainer = library.Trainer(verbose=False, params=SETTINGS)
    count = 0
    for sample in told:
        others = (varied(sample, kinds, chance) for _ in range(VARIANTS))
        for one in (sample, *(other for other in others if other is not None)):
            looked = seen.extract(one.words, one.before, one.hints, one.refused)
            trainer.append([look.features for look in looked], one.labels)
            count += 1
    say(f"{tag}: {len(told)} utterances, {count} with their variants")
    trainer.train(str(path))
    lighten(path, WEAKEST)
    say(f"{tag}: {path}, {path.stat().st_size:,} bytes")
