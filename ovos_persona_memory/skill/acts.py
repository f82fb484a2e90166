"""Requests to forget or to keep that are recognised by their words alone, in any order.

A request has one of the language's verbs (``memory_words.list``). Where everything beside it is a pronoun, a stop word
or a word of courtesy, its object is the last thing spoken of; anything else names the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ovos_persona_memory.skill.intent_matching import LONGEST, MatchedIntent
from ovos_persona_memory.text import (
    Language,
    fold,
    forbids_forgetting,
    languages,
    names_role,
    request_words_without_content,
    states_forgetting,
)

LIST = "memory_words.list"
BEFORE, BEHIND = 2, 3
"""Words before and behind a verb among which a "not" negates it."""
EXCLAMATION = 4
"""Letters at most of a single unknown word before a request that counts as an exclamation."""
ADVERBS = 3
"""Words at most that say how or where something is to be kept."""
DELETES = 3
"""Words at most of a reply that only repeats what is to be done."""
NOTHING = 6
"""Words at most of a reply that there is nothing to keep."""
TO = {"en": "to"}
"""The word behind a verb that makes it a reminder instead: "forget to lock the door"."""


@dataclass(frozen=True)
class RequestWords:
    """The words of one language by which requests are recognised, folded; a verb may have several."""

    forget: tuple[tuple[str, ...], ...]
    erase: tuple[tuple[str, ...], ...]
    """Verbs that ask to forget a named object, and that address other skills, too: "delete"."""
    drop: tuple[tuple[str, ...], ...]
    """Verbs that ask to forget only beside "that", or beside a word for what was said: they ask for other things,
    too."""
    remember: tuple[tuple[str, ...], ...]
    never: frozenset[str]
    that: frozenset[str]
    small: frozenset[str]
    """Words without content."""
    subjects: frozenset[str]
    point: frozenset[str]
    """Pronouns that open no clause of their own: the clause behind them is a reason."""
    noes: frozenset[str]
    """Words that are a "no" by themselves."""
    polite: tuple[tuple[str, ...], ...]
    """Phrases that open a request, the longest first."""
    talk: frozenset[str]
    """Words for what was said: "conversation"."""
    clitics: tuple[str, ...]
    """Pronouns that are joined to the end of a verb, the longest first."""


@lru_cache(maxsize=64)
def request_words(tag: str) -> RequestWords:
    """The request words of a language; empty where it has no such list."""
    spoken = languages.for_language(tag)
    lists = {name: tuple(tuple(fold(one)) for one in right.split(",")) for name, right in spoken.pairs(LIST)}
    clitics = {word for phrase in lists.get("clitics", ()) for word in phrase}
    return RequestWords(
        forget=lists.get("forget", ()),
        erase=lists.get("erase", ()),
        drop=lists.get("drop", ()),
        remember=lists.get("remember", ()),
        never=frozenset(word for phrase in lists.get("never", ()) for word in phrase),
        that=frozenset(word for phrase in lists.get("that", ()) for word in phrase),
        small=request_words_without_content(tag),
        subjects=frozenset(word for phrase in lists.get("self", ()) for word in phrase),
        point=frozenset(word for phrase in lists.get("point", ()) for word in phrase),
        noes=frozenset(word for line in spoken.lines("contradiction.voc") for word in fold(line)),
        talk=frozenset(word for phrase in lists.get("talk", ()) for word in phrase),
        polite=tuple(sorted((tuple(fold(line)) for line in spoken.lines("polite_start.voc")), key=len, reverse=True)),
        clitics=tuple(sorted(clitics, key=len, reverse=True)),
    )


@lru_cache(maxsize=64)
def listed_as_said(tag: str, name: str) -> frozenset[str]:
    """The words of one line of the language's list, with their accents: in Spanish "él" is he, "el" an article."""
    lists = dict(languages.for_language(tag).pairs(LIST))
    return frozenset(word.strip().casefold() for word in lists.get(name, "").split(","))


def requested(text: str, spoken: Language) -> MatchedIntent | None:
    """The intent of an utterance: forget_that, forget_about with its topic, or remember_this; else None."""
    tokens = text.split()
    known = request_words(spoken.tag)
    if not tokens or len(tokens) > LONGEST or not known.forget or _is_for_others(text, spoken):
        return None
    said = [(word, place) for place, token in enumerate(tokens) for word in fold(token)]
    parts = [_parted(word, known) for word, _ in said]
    whole = [word for part in _without_reason(parts, known) for word in part]
    if not _asks(text, spoken, known):
        keeps = _whole(whole, known.remember, known, ADVERBS) or _keeps_as(whole, spoken, known)
        ways = (*known.forget, *known.erase, *known.drop)
        if keeps or _whole(whole, ways, known, ADVERBS if _is_negated(whole, known) else 0):
            verbs = known.remember if keeps else known.forget
            turned = (verb := _verb(whole, verbs)) is not None and _is_turned_anywhere(whole, verb, known)
            if turned and whole[0] in known.subjects:
                return None  # "i'll never forget that"
            return MatchedIntent("remember_this" if keeps != turned else "forget_that")
    plain = [part[0] for part in parts]
    dropped = () if known.talk.isdisjoint(plain) else known.drop
    verb = _verb(plain, (*known.forget, *known.erase, *dropped))
    turned = verb is not None and (_is_turned(plain, verb, known) or forbids_forgetting(text, spoken))
    if verb is None:  # "you don't need to remember the gardener any more"
        verb = _verb(plain, known.remember)
        turned = verb is None or not _is_turned_anywhere(plain[: verb + 1], verb, known)
    if verb is None or turned or states_forgetting(text, spoken) or _asks(text, spoken):
        return None
    return _named(plain, said, tokens, verb, known)


def _is_for_others(text: str, spoken: Language) -> bool:
    """Whether it cancels a request to another skill: "no forget it", "oublie"."""
    words, small = fold(text), request_words(spoken.tag).small
    for phrase in (fold(line) for line in spoken.lines("not_ours.voc")):
        places = (n for n in range(len(words)) if words[n : n + len(phrase)] == phrase)
        if any(_is_all_small([*words[:n], *words[n + len(phrase) :]], small, len(phrase)) for n in places):
            return True
    return False


def asks_to_forget_it(text: str, spoken: Language) -> bool:
    """Whether a phrase that also cancels a request to another skill has the words of "forget that": "dimenticalo"."""
    known = request_words(spoken.tag)
    words = [part for word in fold(text) for part in _parted(word, known)]
    return _is_for_others(text, spoken) and _whole(words, known.forget, known)


def _is_all_small(words: Sequence[str], small: frozenset[str], size: int) -> bool:
    """Whether nothing, or beside a phrase of several words nothing with content, stands beside the phrase."""
    return not words or (size > 1 and all(word in small for word in words))


def _without_reason(parts: Sequence[tuple[str, ...]], known: RequestWords) -> Sequence[tuple[str, ...]]:
    """The words before a clause that only gives the reason: "efface ça | je l'ai vendue"."""
    words = [part[0] for part in parts]
    ends = (n for n in range(1, len(words)) if words[n - 1] in known.point and words[n] in known.subjects)
    return parts[: next(ends, len(parts))]


def says_forget(text: str, spoken: Language) -> bool:
    """Whether it has a verb that only a memory is addressed with."""
    known = request_words(spoken.tag)
    return any((_parted(word, known)[0],) in known.forget for word in fold(text))


def says_delete(text: str, spoken: Language) -> bool:
    """Whether a few words hold a verb that may ask to forget or to delete."""
    known, words = request_words(spoken.tag), fold(text)
    verbs = {*known.forget, *known.erase, *known.drop}
    return len(words) <= DELETES and any((_parted(word, known)[0],) in verbs for word in words)


def says_nothing(text: str, spoken: Language) -> bool:
    """Whether a short reply says that there is nothing: "oh nothing"."""
    words = fold(text)
    lists = dict(spoken.pairs(LIST))
    named = [fold(one) for one in lists.get("nothing", "").split(",")]
    return len(words) <= NOTHING and any(f" {' '.join(one)} " in f" {' '.join(words)} " for one in named if one)


def topic_of(text: str, spoken: Language) -> str:
    """The content words of a text, with what stands between them; empty where there are none."""
    known, tokens = request_words(spoken.tag), text.split()
    naming = [place for place, token in enumerate(tokens) if any(word not in known.small for word in fold(token))]
    return " ".join(tokens[naming[0] : naming[-1] + 1]).strip(" ,.;:!?") if naming else ""


def _asks(text: str, spoken: Language, known: RequestWords | None = None) -> bool:
    """Whether it is a question, and not a request in the form of one: "can you forget that".

    ``known``: of a text without content words. Where pronouns are joined to verbs, "que" opens a wish there.
    """
    if known is not None and known.clitics:
        return text.rstrip().endswith("?")
    low = " ".join(fold(text)) + " "
    starts = [" ".join(fold(line)) + " " for line in spoken.phrases("polite_start.voc")]
    longest = max((start for start in starts if low.startswith(start)), key=len, default="")
    rest = low[len(longest) :]
    return spoken.is_question(rest) if longest else spoken.is_question(text)


def _is_negated(words: Sequence[str], known: RequestWords) -> bool:
    verb = _verb(words, known.forget)
    return verb is not None and _is_turned_anywhere(words, verb, known)


def _whole(words: Sequence[str], verbs: Iterable[tuple[str, ...]], known: RequestWords, adverbs: int = 0) -> bool:
    """Whether there is one of the verbs, and beside it no content word.

    Beside a pronoun that no noun can follow, ``adverbs`` words of another kind may stand: "n'oublie surtout pas ça".
    """
    for verb in verbs:
        if set(verb) <= set(words) and _is_asked(words, verb, known):
            left = [word for word in words if word not in known.small and word not in verb]
            there = {part for one in verbs if set(one) <= set(words) for part in one}
            left = [word for word in left if word not in there and word not in known.clitics]
            if len(left) <= (adverbs if any(word in known.point for word in words) else 0):
                return len(words) > len(verb) or len(verb) > 1
    return False


def _keeps_as(words: Sequence[str], spoken: Language, known: RequestWords) -> bool:
    """Whether "keep that" is followed by nothing but as what it is to be kept: "sla dat op als herinnering"."""
    ends = (end for end in range(2, len(words)) if names_role(" ".join(words[end:]), spoken))
    points = (end for end in ends if not known.that.isdisjoint(words[:end]) or words[1] in known.clitics)
    return any(_whole(words[:end], known.remember, known) for end in points)


def _is_asked(words: Sequence[str], verb: tuple[str, ...], known: RequestWords) -> bool:
    """Whether the verb is a request, and not a statement about the speaker: "i forget that"."""
    place = words.index(verb[0])
    return place == 0 or words[place - 1] not in known.subjects


def _verb(words: Sequence[str], verbs: Iterable[tuple[str, ...]]) -> int | None:
    """The position of the first word of a verb of which all words are there; None where there is none."""
    there = {verb[0] for verb in verbs if set(verb) <= set(words)}
    return next((place for place, word in enumerate(words) if word in there), None)


def _is_turned(words: Sequence[str], verb: int, known: RequestWords) -> bool:
    """Whether a "not" near the verb, or before a polite phrase that leads to it, negates it: "don't forget that", "i
    don't want you to forget"."""
    lead = next((len(one) for one in known.polite if one and tuple(words[max(verb - len(one), 0) : verb]) == one), 0)
    if lead and words[max(verb - lead - 1, 0)] in known.never and verb > lead:
        return True
    near = (*words[max(verb - BEFORE, 0) : verb], *words[verb + 1 : verb + 1 + BEHIND])
    return any(word in known.never for word in near)


def _is_turned_anywhere(words: Sequence[str], verb: int, known: RequestWords) -> bool:
    """As ``_is_turned``, of a request without an object, where the verb may stand last; a "no" at its beginning is an
    answer."""
    opens = words[0] not in known.noes or all(word in known.clitics for word in words[1:verb])  # "não te esqueças"
    return any(word in known.never and (place or opens) for place, word in enumerate(words))


def _named(
    words: Sequence[str], said: Sequence[tuple[str, int]], tokens: Sequence[str], verb: int, known: RequestWords
) -> MatchedIntent | None:
    """A request that names its object; None where the verb stands inside another sentence."""
    before, behind = words[:verb], words[verb + 1 :]
    leads, ends = (all(word in known.small for word in part) for part in (before, behind))
    if not (leads or ends) or _is_own(before, known) or list(behind[:1]) == [TO["en"]]:
        return None
    small = known.small | known.talk
    places = [place for place, word in enumerate(words) if word not in small and place != verb]
    if not places:
        return None
    if len(places) == 1 and places[0] < verb and len(words[places[0]]) <= EXCLAMATION:
        return MatchedIntent("forget_that")  # "mah, forget what I said"
    first, last = said[places[0]][1], said[places[-1]][1]
    return MatchedIntent("forget_about", {"topic": " ".join(tokens[first : last + 1]).strip(" ,.;:!?")})


def _is_own(before: Sequence[str], known: RequestWords) -> bool:
    """Whether the words before a verb make a statement about the speaker, "i always", and no request, "i want you
    to"."""
    left = list(before)
    while (length := next((len(one) for one in known.polite if tuple(left[: len(one)]) == one), 0)) > 0:
        del left[:length]
    return any(word in known.subjects for word in left)


def _parted(word: str, known: RequestWords) -> tuple[str, ...]:
    """A verb and the pronoun that is joined to it: "bórralo" as "borra" and "lo"."""
    verbs = {one for verb in (*known.forget, *known.erase, *known.drop, *known.remember) for one in verb}
    if word in verbs:
        return (word,)
    ends = (end for end in known.clitics if word.endswith(end) and word[: -len(end)] in verbs)
    return next(((word[: -len(end)], end) for end in ends), (word,))
