"""What an utterance cannot tell of its speaker and theirs, whoever found it there."""

from __future__ import annotations

from itertools import pairwise

from ovos_persona_memory.extraction.coreference.person_mentions import person_at
from ovos_persona_memory.extraction.fusion.tagged_utterance import TaggedUtterance, clause_around
from ovos_persona_memory.extraction.fusion.template_spans import place_of
from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.extraction.segmentation.sentences import bounds_of
from ovos_persona_memory.extraction.tagger import features
from ovos_persona_memory.extraction.templates.template import SHORT_IS
from ovos_persona_memory.text import Tokens

OF_ITS_SUBJECT = ("activity", "age", "allergy", "birthday", "diet", "health", "home", "name", "origin", "work")
"""Slots of which a clause tells for whom or what it speaks of."""
NEAR = 3
"""Words at most from "not" to "allergic"."""

_OWN = ("speaker", "first_my", "own", "own_one", "mine", "me")
"""Lists of the words by which people speak of themselves."""


def cannot_be(heard: TaggedUtterance, one: Candidate) -> bool:
    """Whether something was learned that tells of somebody else, or of something else."""
    if (one.outcome, one.reason) != ("learned", "stated") or not one.slot:
        return False
    if one.slot == "activity" and one.value and heard.known.has(heard.known.words_of(one.value), "most_of_all"):
        return True  # "jazz i like best to hear" is a favourite
    if one.slot in ("family", "pet") and _is_likened(heard, one):
        return True
    if one.slot in OF_ITS_SUBJECT and not one.subject and _of_another(heard, one):
        return True
    of_nobody = (_of_lady, _of_all, {"age": _is_compared, "work": _is_mock, "name": _of_them}.get(one.slot))
    if any(found is not None and found(heard, one) for found in of_nobody):
        return True
    of_others = {"pet": _of_their_pet, "allergy": _no_allergy, "family": _is_addressed}.get(one.slot)
    return _of_a_trade(heard, one) or _of_hearer(heard, one) or (of_others is not None and of_others(heard, one))


def _of_a_trade(heard: TaggedUtterance, one: Candidate) -> bool:
    """ "the new apprentice plays chess": who is known by a trade alone is nobody's."""
    relative = heard.known.has_word(("relation", "kin"), one.subject.rpartition(" ")[-1])  # "schwester" is both
    known_as = one.subject in heard.before.names
    return (
        bool(one.subject)
        and not (relative or known_as)
        and "job" in features.for_language(heard.spoken.language.tag).kinds_of([one.subject])
    )


def _of_another(heard: TaggedUtterance, one: Candidate) -> bool:
    """ "the mayor is a londoner", "die physiotherapeutin raucht", where nobody says "i" or "my"; "(my doll) works as a
    baker": what others do is said with another ending."""
    known, place = heard.known, place_of(heard.known, heard.words, one)
    if place is None:
        return False
    held = clause_around(heard, *place).folded
    of_others = held[0] in known.third and held[0] not in known.third[held[0]]
    if of_others and not any(known.has_word(_OWN, word) for word in held):
        return True
    alone = not any(known.has_word(_OWN, word) for word in heard.words.folded)
    return alone and len(held) > 2 and held[0] in known.opening("article") and held[2] in known.third


def _of_lady(heard: TaggedUtterance, one: Candidate) -> bool:
    """ "die frau meixner mag kein obst": not of the wife, who is "meine frau"."""
    known, held = heard.known, heard.words.folded
    titled = known.opening("title") & known.opening("relation")
    places = [n for n, word in enumerate(held[:-1]) if n and word == one.subject and word in titled]
    others = known.opening("article") - known.opening("own")
    return any(held[n - 1] in others and held[n + 1] not in known.third for n in places)


def _of_all(heard: TaggedUtterance, one: Candidate) -> bool:
    """ "as a teacher you earn more in bern", where nobody says "i" or "my"."""
    known, place = heard.known, place_of(heard.known, heard.words, one)
    if place is None or any(known.has_word(_OWN, word) for word in heard.words.folded):
        return False
    return known.has(clause_around(heard, *place), "in_general")


def _is_mock(heard: TaggedUtterance, one: Candidate) -> bool:
    """ "i'm the queen of naps": no trade."""
    return heard.known.has(heard.known.words_of(one.value or ""), "mock_job")


def _of_them(heard: TaggedUtterance, one: Candidate) -> bool:
    """ "my dad's name is babatunde but everyone calls him baba": not of the speaker."""
    place = place_of(heard.known, heard.words, one)
    if one.subject or place is None:
        return False
    before, behind = heard.words.part(max(place[0] - NEAR, 0), place[0]), heard.words.folded[place[1] :]
    rest = heard.words.part(place[1], place[1] + min(NEAR, len(behind)))
    return any(heard.known.has(words, "them") for words in (before, rest) if words.folded)


def _is_compared(heard: TaggedUtterance, one: Candidate) -> bool:
    """ "i'm four months older than jo"."""
    place = place_of(heard.known, heard.words, one)
    return place is not None and heard.known.has_word(("compared",), "".join(heard.words.folded[place[1] :][:1]))


def _of_hearer(heard: TaggedUtterance, one: Candidate) -> bool:
    """ "then i say you were born on the first of april": of whoever listens."""
    place = place_of(heard.known, heard.words, one)
    if place is None or one.subject or one.slot not in OF_ITS_SUBJECT:
        return False
    held, known = heard.words.folded[: place[0]], heard.known
    you, are = known.opening("you"), known.opening("you_are")
    said = [n for n, (one, two) in enumerate(pairwise(held)) if one in you and two in are]
    return bool(said) and not any(known.has_word(_OWN, word) for word in held[said[-1] :])


def _is_likened(heard: TaggedUtterance, one: Candidate) -> bool:
    """ "my brother's a monkey", "meine schwester ist eine hexe": no name, and nothing that they keep."""
    known, held, place = heard.known, heard.words.folded, place_of(heard.known, heard.words, one)
    if place is None or place[0] < 2 or (one.slot == "pet" and not one.subject):
        return False
    article = held[place[0] - 1] in known.opening("introducing") - known.opening("own")
    return article and held[place[0] - 2] in {*known.opening("is"), SHORT_IS}


def _of_their_pet(heard: TaggedUtterance, one: Candidate) -> bool:
    """ "mrs clausen has a dog he is called balu", where the sentence says neither "i" nor "my"."""
    known, before = heard.known, _sentence_up_to(heard, one)
    has = next((n for n, word in enumerate(before.folded) if known.has_word(("they_have",), word)), 0)
    she = known.opening("he_she") - known.opening("article")
    if one.subject or not has:
        return False
    if known.has(before.part(0, has), "known_from"):
        return True  # "lennox from my class has a husky"
    if any(known.has_word(_OWN, word) or word in she for word in before.folded):
        return False
    if known.has_word(("article",), before.folded[has - 1]):
        return False  # "die hat eine katze"
    return all(person_at(known, before, place, heard.before.names) is None for place in range(has))


def _is_addressed(heard: TaggedUtterance, one: Candidate) -> bool:
    """ "yeah, caroline": a name between marks, of nobody who is said to be in the family."""
    text, place = heard.words.text, place_of(heard.known, heard.words, one)
    if place is None or one.thing != " ".join(heard.spoken.language.words(one.value or "")):
        return False
    before, behind = text[: heard.words.spans[place[0]][0]].rstrip(), text[heard.words.spans[place[1] - 1][1] :]
    return before.endswith(",") and (not behind.strip() or behind.startswith((",", ".", "!", "?")))


def _no_allergy(heard: TaggedUtterance, one: Candidate) -> bool:
    """ "that with the apples is over i'm not allergic to them"."""
    known, held = heard.known, heard.words.folded
    ends = tuple(known.opening("illness"))
    ill = [n for n, word in enumerate(held) if ends and (word.endswith(ends) or word.startswith("allerg"))]
    return any(known.has_word(("denying",), word) for n in ill for word in held[max(n - NEAR, 0) : n])


def _sentence_up_to(heard: TaggedUtterance, one: Candidate) -> Tokens:
    """What stands before a value in its sentence."""
    place = place_of(heard.known, heard.words, one)
    first, _ = bounds_of(heard.spoken, heard.words.text, one.span)
    end = heard.words.spans[place[0]][0] if place is not None else one.span[1]
    return heard.words.within(first, end)
