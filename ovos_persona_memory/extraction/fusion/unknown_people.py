"""Who is spoken of in a household and is none of it: those nobody introduced, and those whom people only meet."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext
from ovos_persona_memory.extraction.fusion.tagged_utterance import TaggedUtterance
from ovos_persona_memory.extraction.fusion.template_spans import place_of
from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.extraction.templates.template import SHORT_IS
from ovos_persona_memory.text import Lexicon


def as_another(known: Lexicon, told: Sequence[Candidate], before: DialogueContext) -> bool:
    """Whether somebody who told their name says that they are called quite otherwise: most likely they play."""
    names = [one for one in told if (one.slot, one.subject, one.thing) == ("name", "", "") and _is_given(one)]
    own = {word for who in before.names.values() if names and not who.subject for word in who.called.split()}
    return bool(own) and any(_renames(known, one.text, one.value or "", own) for one in names)


def _is_given(told: Candidate) -> bool:
    return bool(told.value) and told.outcome in ("learned", "waiting")


def _renames(known: Lexicon, text: str, name: str, own: Collection[str]) -> bool:
    """Whether it is "i am ..." or "my name is ..." with no other name of theirs, and nothing that explains it."""
    before, found, behind = text.partition(name)
    said = known.words_of(text).folded
    head, rest = known.without(known.words_of(before), "skip").folded, known.words_of(behind)
    head = head[:-1] if head[-1:] and head[-1] in known.lists.get("article", ()) else head
    plain = any(head[-len(one) :] == one for one in _heads(known) if one)
    joint = known.lists.get("joint", ())  # behind it, or behind the rest of it: "i'm samuel pepys and ..."
    alone = len(rest.folded) <= 1 or any(word in joint for word in rest.folded[:2])
    return bool(found) and plain and alone and not any(word.startswith(one) for word in said for one in own)


def _heads(known: Lexicon) -> Iterator[tuple[str, ...]]:
    """The words in front of a name: "i am", "my name is"."""
    yield known.lists.get("self_named", ())
    for one in known.lists.get("elided_subject", ()):
        yield from ((one, being) for being in known.lists.get("being", ()))
    yield from (known.words_of(said).folded for said in known.lists.get("self_called", ()))


NAMING = ("family", "pet", "name", "detail")
"""Slots that tell who somebody is."""
ADJECTIVES = 2
"""Words at most before who somebody is: "the (other new) mechanic"."""
_RELATED = ("relation", "kin", "pet")
_OWNED = ("own", "first_my", "whose", "article")
_OPENING = ("joint", "skip", "lead", "by_now")
"""Lists of the words before somebody whom a clause begins with."""
_SPEAKER = ("speaker", "first_my", "me", "mine")


def of_strangers(heard: TaggedUtterance, told: Sequence[Candidate]) -> list[Candidate]:
    """The same; what is told of somebody whom nobody introduced waits for review, also where they are but somebody's
    mother."""
    named = {word for one in told if one.slot in NAMING for word in heard.known.words_of(one.value or "").folded}
    return [one.waiting("unsure") if _is_strange(heard, one, named) else one for one in told]


def is_about_unnamed_person(known: Lexicon, told: Candidate, before: DialogueContext) -> bool:
    """Whether it is told of somebody known by name alone who is not named in it: who writes to them means another by
    "she"."""
    known_by = ((name, who) for name, who in before.names.items() if not who.relation and not who.pet)
    others = {one for name, who in known_by for one in (name, who.subject)} - {""}
    if (told.outcome, told.subject in others) != ("learned", True):
        return False
    stands_for, mark, said = told.text.partition(": ")
    return (
        told.subject not in known.words_of(said if mark and stands_for.casefold() == told.subject else told.text).folded
    )


def is_told_of_others(heard: TaggedUtterance, one: Candidate) -> bool:
    """Whether it is told of a colleague or a caretaker, of whom but the name is learned, or is no value: "i live in um
    hang on"."""
    place = place_of(heard.known, heard.words, one)
    if (one.outcome, one.reason) != ("learned", "stated") or place is None:
        return False
    if heard.known.opening("called").issuperset(heard.words.folded[slice(*place)]):
        return True  # "my doctor's called um ..."
    return _falters(heard, *place) or any(_tells_of(heard, one, end, place[0]) for end in _distant(heard))


def _is_strange(heard: TaggedUtterance, one: Candidate, named: set[str]) -> bool:
    if (one.outcome, one.reason) != ("learned", "stated") or one.slot == "location":
        return False
    if _somebodys(heard, one):
        return True
    words, known = heard.known.words_of(one.subject).folded, heard.known
    of_whom = {who.subject for who in heard.before.names.values()}
    if not words or one.subject in of_whom or any(word in heard.before.names or word in named for word in words):
        return False
    related = [known.has_word(_RELATED, word) or word in known.same for word in words]
    somebodys = not related[0] and _is_unknown(heard, words[0])  # "emilia brother"
    return somebodys or not any(related)


def _somebodys(heard: TaggedUtterance, one: Candidate) -> bool:
    """ "mias mama", "die mutter von (der) mia", of whom nobody knows who she is."""
    held, place = heard.words.folded, place_of(heard.known, heard.words, one)
    if place is None or any(heard.known.has_word(_SPEAKER, word) for word in held):
        return False
    return any(_owns(heard, held, first) for first in range(place[0]))


def _owns(heard: TaggedUtterance, held: tuple[str, ...], place: int) -> bool:
    """Whether a name stands there that nobody knows, and that owns something."""
    known, word = heard.known, held[place]
    if not _is_unknown(heard, word):
        return word.endswith("s") and _is_unknown(heard, word[:-1])
    if known.has_word(("they_have",), "".join(held[place + 1 : place + 2])):
        return True  # "emilia has a sister called paula"
    if place < 2:
        return False
    before = held[place - 2 if held[place - 1] in known.opening("article") else place - 1]
    return before in known.opening("of_whom") and before not in known.opening("own")


def _is_unknown(heard: TaggedUtterance, word: str) -> bool:
    """Whether it is a name that people bear, and nobody's whom the household knows."""
    return word in heard.known.opening("given_name") and word not in heard.before.names


def _distant(heard: TaggedUtterance) -> Iterator[int]:
    """Numbers of the words behind those a clause begins with who are of no family: "my yoga instructor (has) a pug", "a
    boy in my class (has) one, too"."""
    known, held = heard.known, heard.words.folded
    opening = [n for n in range(len(held)) if not n or known.has_word(_OPENING, held[n - 1])]
    yield from (n + size for n in opening if (size := known.starts_at(held, n, "outsider")))
    for first in opening:
        if not known.has_word(_OWNED, held[first]):
            continue
        for place in range(first + 1, min(first + 2 + ADJECTIVES, len(held))):
            size = known.starts_at(held, place, "no_family")
            if size and not known.has_word(_RELATED, held[place + size - 1]):
                yield place + size
                break


def _tells_of(heard: TaggedUtterance, one: Candidate, end: int, first: int) -> bool:
    """Whether a value that begins behind somebody tells more of them than who they are."""
    known, between = heard.known, heard.words.folded[end:first]
    if first < end or any(known.has_word((*_SPEAKER, "he_she"), word) for word in between):
        return False
    verb = between[0] if between else ""
    if verb != SHORT_IS and verb not in known.third and verb not in known.opening("finite"):
        return False  # "my boss frank", "my hairdresser on elm street"
    if one.slot not in NAMING or any(known.has_word(("called",), word) for word in between):
        return one.slot not in NAMING
    linking = (known.opening(name) for name in ("is", "title", "skip"))
    return not frozenset((SHORT_IS,)).union(*linking).issuperset(between)


def _falters(heard: TaggedUtterance, first: int, last: int) -> bool:
    """Whether somebody breaks off where the value should stand."""
    return any(start < last and first < start + size for start, size in heard.known.places(heard.words, "faltering"))
