"""Whether words have content of their own: small talk, a yes or a no, and what only points at something have none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ovos_persona_memory.text import languages, lexicon
from ovos_persona_memory.text.index_terms import fold
from ovos_persona_memory.text.languages import Language

LIST = "memory_words.list"
COURTESY = ("polite_start.voc", "polite_end.voc", "loose_end.voc", "fillers.voc", "contradiction.voc")
OPENING = ("small_talk.list", "yes.voc", "cancel.voc")
"""Lists of what small talk, and the answer to a question, begins with."""
SENTENCE = 3
"""Words at least of a sentence that does not begin with its subject: two are an exclamation as well, "holy cow"."""
CHATTY = 2
"""Content words at least behind the beginning of small talk that tell something: "thanks for the help" has one."""


@dataclass(frozen=True)
class _SmallWords:
    """The words without content of one language, folded."""

    requests: frozenset[str]
    """Those that may stand beside the verb of a request: stop words, "later", "mind"."""
    openings: tuple[tuple[str, ...], ...]
    """What small talk begins with, the longest first."""
    phrases: tuple[tuple[str, ...], ...]
    """The openings, and what else is said for courtesy or as an answer, the longest first."""
    subjects: frozenset[str]
    holds_subjects: bool
    """Whether a verb needs no subject beside it, which is so where pronouns are joined to verbs."""
    denying: frozenset[str]
    """Words for "no" that are a "not" as well: in Spanish "no" begins "no fumo"."""
    roles: tuple[tuple[str, ...], ...]
    """What opens a phrase that tells as what something is kept: "as"."""
    prepositions: tuple[tuple[str, ...], ...]
    """What opens a phrase that tells how or where something is kept: "as", "in", "for"."""


@lru_cache(maxsize=64)
def telling_words(tag: str) -> frozenset[str]:
    """Folded verbs of what was said: "told"; none where the language has no such list."""
    listed = dict(languages.for_language(tag).pairs(LIST)).get("telling", "")
    return frozenset(word for one in listed.split(",") for word in fold(one))


@lru_cache(maxsize=64)
def _small_words(tag: str) -> _SmallWords:
    spoken = languages.for_language(tag)
    lists = {name: [tuple(fold(one)) for one in right.split(",")] for name, right in spoken.pairs(LIST)}
    courtesy = _phrases(spoken, COURTESY)
    openings = _phrases(spoken, OPENING)
    small = {word for name in ("that", "with", "never") for phrase in lists.get(name, ()) for word in phrase}
    small |= {word for phrase in courtesy for word in phrase}
    small |= {word for one in spoken.stop_words for word in fold(one)}
    small |= {phrase[0] for phrase in _phrases(spoken, ("yes.voc",)) if len(phrase) == 1}
    places = [tuple(fold(one)) for one in lexicon.for_language(tag).lists.get("preposition", ())]
    return _SmallWords(
        requests=frozenset(small),
        openings=openings,
        phrases=_longest_first([*courtesy, *openings, *_phrases(spoken, ("no.voc",))]),
        subjects=frozenset(one[0] for name in ("self", "others") for one in lists.get(name, ()) if len(one) == 1),
        holds_subjects="clitics" in lists,
        denying=frozenset(one[0] for name in ("not", "never") for one in lists.get(name, ()) if len(one) == 1),
        roles=_longest_first(lists.get("as", ())),
        prepositions=_longest_first([*places, *lists.get("as", ()), *lists.get("prepositions", ())]),
    )


def _phrases(spoken: Language, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return _longest_first([tuple(fold(line)) for name in names for line in spoken.lines(name)])


def _longest_first(phrases: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(sorted(filter(None, set(phrases)), key=lambda one: (-len(one), one)))


def request_words_without_content(tag: str) -> frozenset[str]:
    """The folded words of a language that name nothing in a request."""
    return _small_words(tag).requests


def prepositions(tag: str) -> frozenset[str]:
    """The folded words of a language that are a preposition by themselves."""
    return frozenset(one[0] for one in _small_words(tag).prepositions if len(one) == 1)


def is_small_talk(text: str, spoken: Language) -> bool:
    """Whether it is thanks, a greeting, a yes or a no, or another remark that tells nothing: "okay great", "no thanks".

    What begins as small talk does tells something from ``CHATTY`` content words on.
    """
    known, words = _small_words(spoken.tag), fold(languages.beginning(text))
    opens = known.openings and _length_of(words, 0, known.openings)
    may_deny = bool(words) and words[0] in known.denying
    return len(_content(words, known)) < (CHATTY if opens and not may_deny else 1)


def is_sentence(text: str, spoken: Language) -> bool:
    """Whether it has the words of a sentence: three at least, or a subject and its verb, "ich schnarche".

    Where pronouns are joined to verbs, a verb holds its subject: "soy celíaco".
    """
    known, words = _small_words(spoken.tag), fold(languages.beginning(text))
    if spoken.uses_bigrams or len(words) >= SENTENCE:
        return True
    return len(words) == SENTENCE - 1 and (words[0] in known.subjects or known.holds_subjects)


def _content(words: Sequence[str], known: _SmallWords) -> list[str]:
    """The words outside phrases of small talk that name something."""
    left: list[str] = []
    place = 0
    while place < len(words):
        length = _length_of(words, place, known.phrases)
        if not length and words[place] not in known.requests:
            left.append(words[place])
        place += length or 1
    return left


def _length_of(words: Sequence[str], place: int, phrases: Sequence[tuple[str, ...]]) -> int:
    return next((len(one) for one in phrases if tuple(words[place : place + len(one)]) == one), 0)


def is_pointing(text: str, spoken: Language) -> bool:
    """Whether a text has no content word: "that last bit", "this one too please"."""
    known, words = _small_words(spoken.tag), fold(text)
    return bool(words) and all(word in known.requests for word in words)


def names_nothing_to_keep(text: str, spoken: Language) -> bool:
    """Whether what is to be kept is not named but pointed at: "this", "as a memory", "under recipes".

    A phrase with a preposition and one content word at most only tells how or where something is kept.
    """
    return is_pointing(text, spoken) or _is_adverbial(text, spoken, _small_words(spoken.tag).prepositions)


def names_role(text: str, spoken: Language) -> bool:
    """Whether a text tells nothing but as what something is to be kept: "as a reminder"."""
    return _is_adverbial(text, spoken, _small_words(spoken.tag).roles)


def _is_adverbial(text: str, spoken: Language, openings: Sequence[tuple[str, ...]]) -> bool:
    known, words = _small_words(spoken.tag), fold(text)
    return _length_of(words, 0, openings) > 0 and sum(word not in known.requests for word in words) <= 1
