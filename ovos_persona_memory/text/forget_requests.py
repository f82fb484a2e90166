"""A request to forget that is a clause of its own behind something else: "no that's his old place | forget his number".

A request begins with an imperative. Where the same form states something ("i forget", "elle oublie"), the word before
tells: behind a subject, an auxiliary, a negation or a relative pronoun (``bound`` in ``memory_words.list``) a verb is
no imperative; behind a word that opens a request, an exclamation or a whole clause it is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ovos_persona_memory.text import languages
from ovos_persona_memory.text.index_terms import fold
from ovos_persona_memory.text.languages import Language

LIST = "memory_words.list"
OPENING = ("polite_start.voc", "fillers.voc", "contradiction.voc", "joint.voc")
"""Lists of what may stand right before a request."""
EXCLAMATION = 3
"""Words at most of an exclamation: "holy cow". A clause has as many at least."""
NAME = 3
"""Words at most of a name behind its article or possessive, which is a subject and no clause: "mon mari"."""
BEHIND = 2
"""Words behind a verb among which a "not" negates it."""
VOWELS = frozenset("aeiou")
"""Letters of which a pronoun at the end of a verb has one: "oblidat" is a participle."""
SAME_WHEN_DENIED = frozenset({"pt"})
"""Languages in which "no" before the imperative is "do not" in some places: "não esquece" in Brazil."""


@dataclass(frozen=True)
class ForgetClause:
    """A request to forget with what was said before it."""

    before: str
    """What was said before it, without the words that open the request; empty where nothing else was."""
    request: str
    text: str
    """The whole, as it was said."""
    exclaims: bool
    """Whether the words before it may be an exclamation, and state nothing."""


@dataclass(frozen=True)
class _ClauseWords:
    """The words of one language that tell where a request begins, folded."""

    imperatives: frozenset[str]
    as_said: frozenset[str]
    """The imperatives with their accents: "oublié" is none."""
    openings: tuple[tuple[str, ...], ...]
    """Phrases that open a request, the longest first."""
    bound: frozenset[str]
    often: tuple[tuple[str, ...], ...]
    """Adverbs that tell how often something is done."""
    subjects: frozenset[str]
    determiners: frozenset[str]
    small: frozenset[str]
    """Stop words."""
    never: frozenset[str]
    nots: frozenset[str]
    noes: frozenset[str]
    """Words that are a "no" by themselves."""
    clitics: tuple[str, ...]
    """Pronouns that are joined to the end of a verb, the longest first."""
    ends: tuple[tuple[str, ...], ...]
    """Phrases of courtesy behind a request, the longest first."""


@lru_cache(maxsize=64)
def _clause_words(tag: str) -> _ClauseWords:
    spoken = languages.for_language(tag)
    lists = {name: [tuple(fold(one)) for one in right.split(",")] for name, right in spoken.pairs(LIST)}

    def single(name: str) -> frozenset[str]:
        return frozenset(one[0] for one in lists.get(name, ()) if len(one) == 1)

    named = single("forget") | single("erase")
    starts = {words[0] for line in spoken.lines("forget_start.voc") if (words := fold(line))}
    lines = {tuple(fold(line)) for name in OPENING for line in spoken.lines(name)}
    noes = frozenset(words[0] for line in spoken.lines("contradiction.voc") if len(words := fold(line)) == 1)
    articles = {words[0] for line in spoken.lines("articles.list") if (words := fold(line.partition(":")[0]))}
    possessives = {word for one in spoken.swaps for word in fold(one)}
    subjects = single("self") | single("others")
    return _ClauseWords(
        imperatives=frozenset(starts & named),
        as_said=frozenset(line.split()[0].casefold() for line in spoken.lines("forget_start.voc")),
        openings=tuple(sorted(filter(None, {*lines, *lists.get("wrong", ())}), key=len, reverse=True)),
        bound=single("bound"),
        often=tuple(lists.get("often", ())),
        subjects=subjects,
        determiners=frozenset(articles | possessives) - subjects,
        small=frozenset(word for one in spoken.stop_words for word in fold(one)),
        never=single("never"),
        nots=single("not"),
        noes=noes,
        clitics=tuple(sorted((one for one in single("clitics") if VOWELS.intersection(one)), key=len, reverse=True)),
        ends=tuple(sorted((tuple(fold(line)) for line in spoken.lines("polite_end.voc")), key=len, reverse=True)),
    )


def forget_clause(text: str, spoken: Language) -> ForgetClause | None:
    """The first clause of a text that asks to forget; None where there is none."""
    known, tokens = _clause_words(spoken.tag), languages.beginning(text).split()
    said = [(word, place) for place, token in enumerate(tokens) for word in fold(token)]
    words = [word for word, _ in said]
    for place, word in enumerate(words):
        if not _is_imperative(word, tokens[said[place][1]], known) or _is_denied(words, place, known):
            continue
        end = _without_openings(words[:place], spoken, known)
        before = words[:end]
        if end is None or not _may_end(before, words[place + 1 :], known) or _is_subject(words[:place], known):
            continue
        if before and spoken.is_question(text):  # "did theo forget the kayak"
            return None
        exclaims = len(before) <= EXCLAMATION and known.subjects.isdisjoint(before)
        return ForgetClause(
            _joined(tokens[: said[end][1]]), _joined(tokens[said[place][1] :]), _joined(tokens), exclaims
        )
    return None


def forbids_forgetting(text: str, spoken: Language) -> bool:
    """Whether a "not" behind the verb makes it the contrary: "vergiss meine Tabletten bloß nicht"."""
    known = _clause_words(spoken.tag)
    said = [(word, token) for token in languages.beginning(text).split() for word in fold(token)]
    words = [word for word, _ in said]
    verbs = [place for place, (word, token) in enumerate(said) if _is_imperative(word, token, known)]
    return any(_is_denied(words, place, known) for place in verbs)


def states_forgetting(text: str, spoken: Language) -> bool:
    """Whether its verb stands behind a pronoun that is no part of a request: "a mi tía se le olvida todo"."""
    words, known = fold(languages.beginning(text)), _clause_words(spoken.tag)
    places = [place for place, word in enumerate(words) if word in known.imperatives]
    ends = [_without_openings(words[:place], spoken, known) or 0 for place in places]
    return bool(ends) and all(end > 0 and words[end - 1] in known.bound for end in ends)


def _joined(tokens: Sequence[str]) -> str:
    return " ".join(tokens).strip(" ,.;:!-")


def _is_imperative(word: str, token: str, known: _ClauseWords) -> bool:
    """Whether a folded word of a token is an imperative, or one with a pronoun at its end: "bórralo"."""
    if word in known.imperatives:
        return word in token.casefold() or any(one in token.casefold() for one in known.as_said if fold(one) == [word])
    ends = (end for end in known.clitics if word.endswith(end))
    return any(word[: -len(end)] in known.imperatives for end in ends)


def _is_denied(words: Sequence[str], place: int, known: _ClauseWords) -> bool:
    """Whether a "not" behind the verb negates it, right behind or at the end: "vergiss die Schlüssel bloß nicht"."""
    behind = list(words[place + 1 :])
    if any(word in known.nots for word in behind[:1]) or any(word in known.never for word in behind[:BEHIND]):
        return True
    while size := next((len(one) for one in known.ends if one and tuple(behind[-len(one) :]) == one), 0):
        if size == len(behind):
            break
        del behind[-size:]
    return bool(behind) and behind[-1] in known.never - known.noes


def _without_openings(before: Sequence[str], spoken: Language, known: _ClauseWords) -> int | None:
    """The number of words before a request without those that open it; None where a "not" belongs to its verb."""
    end = len(before)
    denies = spoken.primary in SAME_WHEN_DENIED and end > 0 and before[-1] in known.never
    if denies and tuple(before[-2:-1]) != tuple(before[-1:]):  # "não não" is no "not"
        return None
    while size := next((len(one) for one in known.openings if tuple(before[max(end - len(one), 0) : end]) == one), 0):
        end -= size
    return end


def _may_end(before: Sequence[str], behind: Sequence[str], known: _ClauseWords) -> bool:
    """Whether what stands before a verb is over there: nothing, an exclamation or a whole clause, and no subject."""
    if not before:
        return True
    if before[-1] in known.bound or any(word in known.subjects & known.bound for word in behind[:1]):
        return False
    if any(tuple(before[-len(one) :]) == one or tuple(behind[: len(one)]) == one for one in known.often):
        return False
    return known.subjects.isdisjoint(before) or len(before) >= EXCLAMATION


def _is_subject(before: Sequence[str], known: _ClauseWords) -> bool:
    """Whether it is a name behind its article or possessive, of which the verb states something: "mon mari"."""
    if not before or before[0] not in known.determiners or len(before) > NAME:
        return False
    return all(word in known.determiners or word not in known.small for word in before)  # "la han cancelado"
