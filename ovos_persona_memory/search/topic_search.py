"""Topic search: from a phrase ("the dentist", "Ben's shoe size") to the records about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from ovos_persona_memory.records import Entry, Fact, Scope, Selection, Turn
from ovos_persona_memory.search.query_expansion import COMPOUNDING, LOOKED_THROUGH, PART, REST
from ovos_persona_memory.stores import BOTH, Store, words_of
from ovos_persona_memory.text import Language, forget_clause, languages, lexicon, says_another_word

Record = Turn | Entry | Fact
Groups = tuple[frozenset[str], ...]
"""Content words, each as every index term under which it may stand."""
FEWEST = 3
"""A topic of this many content words, or more, also selects records that hold all but one, where none holds all."""
SHORT_PART = 3
"""Letters at least of a part of a compound whose other part is named, too."""
JOINING = 3
"""Letters at most that join two parts of a compound, or end the stem of the first."""
EXACT = 2
"""A statement of this many content words, or more, selects only records that say just that."""


def groups_about(store: Store, scope: Scope, topic: str, lang: str | None) -> Groups:
    """The content words by which records about a topic are selected; empty where it has none.

    Every inflection of a word counts, and in languages with compounds each compound of it: "Zahnarzt" takes
    "Zahnarzttermin", and "tiden hos tandlægen" takes "tandlægetiden". Where no statement holds all words, an unknown
    compound is replaced by its parts, and of three words or more the best all but one are enough.
    """
    spoken = languages.for_text(lang, topic)
    vocabulary = _vocabulary(store, scope) if spoken.primary in COMPOUNDING else frozenset()
    named = languages.query_word_groups(topic, lang)
    groups = tuple(_with_compounds(group, vocabulary) | _joined(group, named, vocabulary) for group in named)
    if _is_told(store, scope, groups):
        return groups
    parts = _in_parts(spoken, topic, groups, vocabulary)
    if parts != groups and _is_told(store, scope, parts):
        return parts
    fewer = combinations(groups, len(groups) - 1) if len(groups) >= FEWEST else ()
    told = Counter({some: len(_told(store, scope, some)) for some in fewer})
    found = [some for some, number in told.items() if number]
    # of several choices the rarest words identify the topic best
    return min(found, key=lambda some: told[some], default=groups)


def topic_of_question(question: str, lang: str | None) -> str:
    """The words with which a question names what it is about: "exam" of "when is the exam"; empty where there are none.

    They stand behind an article or a possessive. Where nothing does, all content words name it but a verb behind the
    question word: "wann kommt Oma".
    """
    spoken = languages.for_text(lang, question)
    words, known = languages.fold(question), lexicon.for_language(spoken.tag)
    has_content = [len(word) > 1 and word not in spoken.stop_words for word in words]
    named, is_open = [], False
    for word, tells in zip(words, has_content, strict=True):
        if tells and is_open:
            named.append(word)
        is_open = known.has_word(("determiner",), word) or (is_open and (tells or len(word) == 1))
    bare = [word for word, tells in zip(words, has_content, strict=True) if tells]
    if not named and len(bare) > 1 and has_content[:2] == [False, True]:
        return " ".join(bare[1:])
    return " ".join(named or bare)


def is_about(record: Record, question: str, lang: str | None) -> bool:
    """Whether a record has all words with which a question names what it is about; true where it names nothing."""
    topic = topic_of_question(question, lang)
    held = set(languages.for_text(record.lang, record.text).words(record.text))
    return not topic or not any(group.isdisjoint(held) for group in languages.query_word_groups(topic, lang))


def told_about(store: Store, scope: Scope, question: str, lang: str | None) -> list[Turn | Entry]:
    """What people told of what a question names, the newest first; empty where nothing holds its words."""
    topic = topic_of_question(question, lang)
    groups = groups_about(store, scope, topic, lang) if topic else ()
    found = [one for one in store.select(Selection(scope, words=groups)) if is_told_by_person(one)] if groups else []
    return sorted(found, key=lambda one: -_told_at(one))


def _told_at(record: Turn | Entry) -> float:
    return (record.at if isinstance(record, Turn) else record.updated_at) or 0.0


def is_told_by_person(record: Record) -> bool:
    """Whether a person stated it: a memory, a fact, or a user turn that is no question, no command and no request to
    forget something."""
    if not isinstance(record, Turn):
        return True
    is_question = languages.for_text(record.lang, record.text or "").only_asks(record.text or "")
    return not is_question and is_told_or_asked(record)


def is_told_or_asked(turn: Turn) -> bool:
    """Whether it is a person's, and neither a command nor a request to forget something."""
    if turn.role != "user" or not turn.text:
        return False
    spoken = languages.for_text(turn.lang, turn.text)
    request = forget_clause(turn.text, spoken)
    if request is not None and request.exclaims:
        return False
    return not (spoken.is_command(turn.text) and spoken.without_lead(turn.text) == turn.text)


def says_the_same(record: Record, groups: Iterable[frozenset[str]]) -> bool:
    """Whether a record, or one sentence of a turn, has exactly these content words."""
    wanted = set(groups)
    parts = languages.sentences_of(record.text) if isinstance(record, Turn) else []
    return any(set(languages.statement_word_groups(part, record.lang)) == wanted for part in (record.text, *parts))


def meant_alone(records: Sequence[Record], topic: str, lang: str | None) -> list[Record]:
    """The records that say exactly the topic, "i like tea", where the topic is a whole statement; else all of them."""
    groups = languages.statement_word_groups(topic, lang)
    same = [one for one in records if says_the_same(one, groups)] if len(set(groups)) >= EXACT else []
    return same or list(records)


def is_near_miss(record: Record, topic: str, lang: str | None) -> bool:
    """Whether a record was found for the stem of a word of the topic, and says another word: "garden" for
    "gardener"."""
    return says_another_word(record.text, topic, languages.for_text(lang, topic))


def _told(store: Store, scope: Scope, groups: Groups) -> list[Record]:
    return [one for one in holding(store, scope, groups) if is_told_by_person(one)]


def holding(store: Store, scope: Scope, groups: Groups) -> list[Record]:
    """The records that hold all of these words."""
    chosen = Selection(scope, words=groups)
    return [*store.select(chosen), *store.fact_store.chosen(chosen)]


def _is_told(store: Store, scope: Scope, groups: Groups) -> bool:
    return bool(groups) and any(map(is_told_by_person, holding(store, scope, groups)))


def _vocabulary(store: Store, scope: Scope) -> frozenset[str]:
    return frozenset(word for text in store.newest_words(scope, BOTH, LOOKED_THROUGH) for word in words_of(text))


def _with_compounds(group: frozenset[str], vocabulary: frozenset[str]) -> frozenset[str]:
    """The index terms of a word and those of compounds that begin or end with it."""
    long = [word for word in group if len(word) >= PART]
    return group | {
        other for other in vocabulary for word in long if len(other) >= len(word) + REST and _holds(other, word)
    }


def _joined(group: frozenset[str], named: Groups, vocabulary: frozenset[str]) -> frozenset[str]:
    """The compounds that a word of a topic makes with another one, however short it is: each stands for both."""
    own, others = (
        tuple(word for word in words if len(word) >= SHORT_PART)
        for words in (group, {word for other in named if other != group for word in other})
    )
    ends = [(one, other) for one in own for other in others]
    near = (word for word in vocabulary if word.startswith(own + others) and word.endswith(own + others))
    return frozenset(word for word in near if any(_is_joined(word, one, other) for one, other in ends))


def _is_joined(compound: str, one: str, other: str) -> bool:
    """Whether it consists of both words, in either order, and some letters that join them: "tandlæge" and "tid"."""
    if not 0 <= len(compound) - len(one) - len(other) <= JOINING:
        return False
    return (compound.startswith(one) and compound.endswith(other)) or (
        compound.startswith(other) and compound.endswith(one)
    )


def _holds(compound: str, word: str) -> bool:
    return compound.startswith(word) or compound.endswith(word)


def _in_parts(spoken: Language, topic: str, groups: Groups, vocabulary: frozenset[str]) -> Groups:
    """The groups, each unknown one replaced by the known words with which its compound begins and ends."""
    found: list[frozenset[str]] = []
    for bare, group in zip(spoken.bare_words(topic), groups, strict=True):
        short = [other for other in vocabulary if PART <= len(other) <= len(bare) - REST]
        ends = [frozenset(filter(end, short)) for end in (bare.startswith, bare.endswith)]
        known = [end for end in ends if end] if vocabulary.isdisjoint(group) else []
        found += known or [group]
    return tuple(found)
