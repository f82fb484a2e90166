"""Whose the question is, and whose the text is: "where do I live" is not answered by "a mate of mine lives in Bristol".

A word belongs to the speaker, to somebody or something else, or nobody says to whom: by the pronouns, possessives and
names around it. The lists of a language name them: ``swapped.list`` the speaker's words, ``asks_hearer.list`` which of
these are possessives, ``people.list`` the others, relations, and what stands between a thing and whose it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from ovos_persona_memory.text import Language, languages

GENITIVE = "s"
"""What is left of "'s" when a text is folded."""
ADVERBS = 1
"""Words at most between a subject and its verb: "I still live"."""
MODIFIERS_FIRST = frozenset({"en"})
"""Languages that put one noun before another to say what kind of thing it is, as two words: "the car key"."""
PRO_DROP = frozenset({"ca", "es", "gl", "it", "pt"})
"""Languages whose verbs need no subject: the verb's own form says whose deed it is."""
PEOPLE = "people.list"


class Owner(Enum):
    """Whose a thing or a deed is."""

    SPEAKER = "speaker"
    OTHER = "other"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Possession:
    """The words of a language that tell whose something is, folded."""

    subjects: frozenset[str]
    """The speaker's words that are no possessives: "i", "we", "me"."""
    possessives: frozenset[str]
    """"my", "our"."""
    shared: frozenset[str]
    """Of both, those that mean others as well: "we", "our"."""
    others: frozenset[str]
    """"she", "his"."""
    small: frozenset[str]
    """Articles, and other words that belong to a noun."""
    between: frozenset[str]
    """What stands between a thing and whose it is: "of"."""
    relations: frozenset[str]
    """"brother", "neighbour"."""
    verbs: frozenset[str]
    """Verbs after which stands what is said of something: "is"."""


@lru_cache(maxsize=32)
def possession(tag: str) -> Possession:
    """The words of a language that tell whose something is; of a list that it lacks, none."""
    spoken = languages.for_language(tag)
    listed = {name: _single(said) for name, said in spoken.pairs(PEOPLE)}
    swaps = [(word, languages.fold(back)) for left, back in spoken.swaps.items() for word in languages.fold(left)]
    hearers = _single(",".join(spoken.lines("asks_hearer.list")))
    own = frozenset(word for word, _ in swaps) | listed.get("self", frozenset())
    possessives = frozenset(word for word, back in swaps if hearers.issuperset(back))
    possessives |= own & listed.get("small", frozenset())
    elided = {word[0] for word in own if len(word) == 2 and word[1] == "e"}  # "j'habite", "m'appelle"
    small = (listed.get("small", frozenset()) - own) | spoken.stop_words - own
    between = listed.get("of", frozenset())
    return Possession(
        subjects=own - possessives | elided,
        possessives=possessives,
        shared=listed.get("shared", frozenset()),
        others=listed.get("other", frozenset()) - listed.get("small", frozenset()) - listed.get("you", frozenset()),
        small=small - between,
        between=between,
        relations=listed.get("one", frozenset()) | listed.get("many", frozenset()),
        verbs=_single(",".join(spoken.lines("is_words.voc"))),
    )


def _single(said: str) -> frozenset[str]:
    """The phrases of one word, folded."""
    phrases = (languages.fold(one) for part in said.split(",") for one in part.split("="))
    return frozenset(words[0] for words in phrases if len(words) == 1)


class Ownership:
    """The words of a question that belong to its speaker, and whether a text tells them of somebody else."""

    def __init__(self, question: str, spoken: Language, alike: Mapping[str, Sequence[str]]) -> None:
        """``alike``: each content word of the question with the index terms that answer for it, padded with blanks."""
        self._alike = alike
        said = _Said(languages.beginning(question), spoken, {word: frozenset({f" {word} "}) for word in alike})
        self._own = {word: said.mode(place) for word, place in said.first() if said.is_speakers(place)}
        self._forms = {word: said.words[place] for word, place in said.first() if said.drops_subject(place)}
        # with a second word that is held, too, it is the same matter
        first = said.first() if len(spoken.content_words(question)) == 1 else ()
        self._plain = frozenset(word for word, place in first if not said.is_modifier(place))
        self._is_shared = said.is_shared

    @property
    def asks_of_speaker(self) -> bool:
        """Whether the question asks about its speaker alone: "where is my coat", but not "where is our car"."""
        return bool(self._own or self._forms) and not self._is_shared

    def is_of_its_speaker(self, text: str, spoken: Language) -> bool:
        """Whether the text tells of its own speaker alone any of what the question asks about its speaker: said by
        another than who asks, it is another's."""
        said = self._read(text, spoken)
        if not self.asks_of_speaker or said.is_shared:
            return False
        held = [(word, places) for word, places in said.places.items() if places]
        return any(self._is_tellers(word, places, said) for word, places in held)

    def _is_tellers(self, word: str, places: Sequence[int], said: _Said) -> bool:
        if word in self._own:
            return any(said.owner(at, self._own[word]) is Owner.SPEAKER for at in places)
        return any(said.words[at] == self._forms.get(word) for at in places)

    def is_of_another(self, text: str, spoken: Language) -> bool:
        """Whether the text tells of somebody else any of what the question asks about its speaker: "my brother lives in
        Bath" for "where do I live". False where the question does not ask about its speaker."""
        return any(self._of_others(text, spoken))

    def is_all_of_another(self, text: str, spoken: Language) -> bool:
        """Whether the text tells of somebody else everything that it holds of what the question asks about its
        speaker."""
        found = self._of_others(text, spoken)
        return bool(found) and all(found)

    def _of_others(self, text: str, spoken: Language) -> list[bool]:
        """For each word of the speaker that the text holds, whether it is somebody else's there."""
        if not self._own and not self._forms:
            return []
        said = self._read(text, spoken)
        own = self._own.keys() | self._forms.keys()
        held = [(word, places) for word, places in said.places.items() if places and word in own]
        return [self._belongs_to_another(word, places, said) for word, places in held]

    def is_of_another_thing(self, text: str, spoken: Language) -> bool:
        """Whether the text names what is asked about only to say what kind of thing another is, "the car key" for
        "where is the car", or a word that is taken for alike has an object: "I moved the car" for "where did we live".
        """
        said = self._read(text, spoken)
        return any(not self._means(word, places, said) for word, places in said.places.items() if places)

    def _read(self, text: str, spoken: Language) -> _Said:
        return _Said(text, spoken, {word: frozenset(others) for word, others in self._alike.items()})

    def _means(self, word: str, places: Sequence[int], said: _Said) -> bool:
        own = f" {word} "
        left = (at for at in places if word not in self._own or said.stem(at) == own or not said.has_object(at))
        return any(word not in self._plain or not said.is_modifier(at) for at in left)

    def _belongs_to_another(self, word: str, places: Sequence[int], said: _Said) -> bool:
        if word in self._own:
            mode = self._own[word]
            modes = (mode if said.stem(at) == f" {word} " else "subject" for at in places)
            owners = [said.owner(at, one) for at, one in zip(places, modes, strict=True)]
            return all(owner is Owner.OTHER for owner in owners)
        form = self._forms.get(word)
        if form is None:
            return False
        # "vivo" is no "vive"
        return all(said.words[at] != form and said.owner(at, "subject") is Owner.OTHER for at in places)


class _Said:
    """One text, word by word."""

    def __init__(self, text: str, spoken: Language, wanted: Mapping[str, Set[str]]) -> None:
        self._of = possession(spoken.tag)
        self._spoken = spoken
        parts = [languages.fold(part) for part in languages.sentences_of(text)]
        self.words = [word for part in parts for word in (*part, "")]  # "" ends a sentence
        self._stems = [f" {stem} " for stem in spoken.stems(self.words)]
        self.places = {
            word: [at for at, stem in enumerate(self._stems) if stem in others] for word, others in wanted.items()
        }
        self._asked = {at for places in self.places.values() for at in places}

    @property
    def is_shared(self) -> bool:
        """Whether the speaker speaks for others as well: "we", "our"."""
        return not self._of.shared.isdisjoint(self.words)

    def first(self) -> list[tuple[str, int]]:
        """The first place of each wanted word that stands here."""
        return [(word, places[0]) for word, places in self.places.items() if places]

    def stem(self, at: int) -> str:
        """The index term at a place, padded with blanks."""
        return self._stems[at]

    def mode(self, at: int) -> str:
        """How the word belongs to the speaker: as what "i" does, or as "my" thing."""
        if self._at(at + 1) in self._of.subjects:
            return "subject"
        before = (word for word in reversed(self.words[:at]) if word in self._of.subjects | self._of.possessives)
        return "subject" if next(before, None) in self._of.subjects else "possessive"

    def is_speakers(self, at: int) -> bool:
        """Whether the word at a place of a question belongs to the speaker: "my size", "which size do I have"."""
        behind = at + 1
        while self._at(behind) in self._of.small and self._at(behind) not in self._of.between:
            behind += 1
        if self._at(behind) in self._of.subjects:
            return True
        return self.owner(at, self.mode(at)) is Owner.SPEAKER

    def drops_subject(self, at: int) -> bool:
        """Whether the word at a place of a question may be a verb without a subject: "dónde vivo"."""
        return self._spoken.primary in PRO_DROP and self._at(at - 1) not in _articles(self._spoken.tag)

    def owner(self, at: int, mode: str) -> Owner:
        """Whose the word at a place is; ``mode``: as a verb has a "subject", or as a thing has a "possessive"."""
        if mode == "subject" and self._at(at + 1) in self._of.subjects:
            return Owner.SPEAKER
        behind = self._behind(at)
        if behind is not Owner.UNKNOWN:
            return behind
        return self._subject_of(at) if mode == "subject" else self._possessor_of(at)

    def _at(self, place: int) -> str:
        return self.words[place] if 0 <= place < len(self.words) else ""

    def _behind(self, at: int) -> Owner:
        """By an "of" or a genitive behind the word: "the name of my brother", "der Name meines Bruders"."""
        is_noun = self._at(at - 1) in self._of.small
        if is_noun and self._at(at + 1) in self._of.possessives and self._is_content(at + 2):
            return Owner.OTHER
        if self._at(at + 1) not in self._of.between:
            return Owner.UNKNOWN
        place = at + 2
        while self._at(place) in self._of.small:
            place += 1
        word = self._at(place)
        if word in self._of.possessives:
            return Owner.OTHER if self._is_content(place + 1) else Owner.SPEAKER
        if word in self._of.subjects:
            return Owner.SPEAKER
        return Owner.OTHER if is_noun and self._is_content(place) else Owner.UNKNOWN

    def _subject_of(self, at: int) -> Owner:
        """Whose deed a verb is, by what stands before it; what comes first where nothing says so."""
        seen = 0
        for place in range(at - 1, -1, -1):
            if not (word := self.words[place]):
                break
            if word in self._of.subjects:
                if self._at(place - 1) in self._of.between or self._is_behind_noun(place):
                    return Owner.OTHER
                return Owner.SPEAKER if seen <= ADVERBS else Owner.UNKNOWN
            if word in self._of.possessives:
                return Owner.OTHER if seen else Owner.SPEAKER
            if word in self._of.others and not seen:
                return Owner.OTHER
            if word == GENITIVE and place == at - 1 and self._at(place - 1) not in self._of.relations:
                return Owner.UNKNOWN  # "lisbon's home now": the "s" may be "is"
            seen += self._is_content(place)
        return Owner.OTHER if seen else Owner.UNKNOWN

    def _is_behind_noun(self, place: int) -> bool:
        """Whether the speaker's word stands behind a noun that it belongs to: "un amigo mío"."""
        is_noun = self._is_content(place - 1) and self._at(place - 2) in _articles(self._spoken.tag)
        return self._spoken.primary in PRO_DROP and is_noun

    def _possessor_of(self, at: int) -> Owner:
        """Whose thing a noun is, by what stands right before it."""
        run: list[str] = []
        for place in range(at - 1, -1, -1):
            if not (word := self.words[place]):
                break
            if word == GENITIVE and place:
                return Owner.UNKNOWN if self._is_short_verb(place) else Owner.OTHER
            if word in self._of.possessives:
                return Owner.OTHER if self._of.relations.intersection(run) else Owner.SPEAKER
            if word in self._of.others:
                return Owner.OTHER
            if not self._is_content(place) and place not in self._asked:
                return Owner.OTHER if self._of.relations.intersection(run) else Owner.UNKNOWN
            if place not in self._asked:
                run.append(word)
        return Owner.OTHER if run else Owner.UNKNOWN

    def _is_short_verb(self, place: int) -> bool:
        """Whether an "s" is "is": "what's my name", "where's"."""
        return self._at(place - 1) in self._of.small | self._of.others

    def _is_content(self, place: int) -> bool:
        word = self._at(place)
        if not word or word == GENITIVE or word.isdigit() or place in self._asked:
            return False
        of = self._of
        small = word in of.small | of.subjects | of.possessives | of.others | of.between
        return not small and self._stems[place].strip() not in self._spoken.time_words

    def has_object(self, at: int) -> bool:
        """Whether a thing that is not asked for stands behind a word, which then is no name of a state: "moved the
        car"."""
        article, noun = self._at(at + 1), at + 2
        determines = self._of.small - self._of.verbs | self._of.possessives
        return article in determines and article in _articles(self._spoken.tag) and self._is_content(noun)

    def is_modifier(self, at: int) -> bool:
        """Whether the word only says what kind of thing another is: "the car key", "la clé de la voiture"."""
        before = at - 1
        while self._at(before) in self._of.small | self._of.possessives:
            before -= 1
        if self._at(before) in self._of.between and self._is_content(before - 1):
            return True
        if self._spoken.primary not in MODIFIERS_FIRST or not self._is_content(at + 1):
            return False
        return self._at(at + 2) in self._of.verbs or (
            self._at(at - 1) in _articles(self._spoken.tag)
            and self._stems[at + 1].strip() == self._at(at + 1)
            and self._at(at + 2) in self._of.small
        )


@lru_cache(maxsize=32)
def _articles(tag: str) -> frozenset[str]:
    """The words that may stand between a verb and its object: articles and possessives."""
    spoken = languages.for_language(tag)
    listed = {name: _single(said) for name, said in spoken.pairs(PEOPLE)}
    return listed.get("small", frozenset()) & spoken.stop_words | possession(tag).possessives
