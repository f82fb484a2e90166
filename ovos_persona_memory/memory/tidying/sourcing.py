"""Whether a person said what is proposed as a memory: by the words of the language, never by a model's word."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ovos_persona_memory.extraction import is_echo, unstated_reason
from ovos_persona_memory.records import Turn
from ovos_persona_memory.search import is_told_by_person
from ovos_persona_memory.text import asks_to_delete, denies, languages, retraction_in, subject_of

Groups = tuple[frozenset[str], ...]
"""Content words in their order, each in every form."""
Placed = tuple[frozenset[str], tuple[int, int]]
"""A content word in every form, and where it stands: its first character, and the one behind its last."""
HALF = 0.5
"""From this share of its words on, what is proposed is at least partly said."""
MOST_OF_SENTENCE = 0.6
"""What is proposed holds at least so much of the sentence that says it: who leaves out more may turn its meaning."""
RELATED = 1 / 3
"""A new text of a memory has at least so much of the old one's words."""
ALIKE = 0.5
"""Two statements that begin with the same content word, share so much of all their words, and are not the same, may
contradict each other: "my cat is called Bob", "my cat is called Tom"."""


@dataclass(frozen=True)
class Source:
    """How far a person said something."""

    support: Literal["said", "partly", "unsaid"]
    """said: one sentence says it; partly: the words are there, but not so or not surely; unsaid: it is not said."""
    turn: Turn | None = None
    """The turn that says most of it; None where none says any of it."""
    reason: str = "unsaid"
    """Of what is unsaid: unsaid, denied, or why the sentence says nothing ("supposed", "quotation", "joke")."""


def content(text: str, lang: str | None, names: Collection[str] = ()) -> Groups:
    """The content words of a text, without those that only name the person: "the user", "Anna"."""
    spoken = languages.for_text(lang, text)
    naming = (spoken.say("the_user"), *names)
    named = {form for name in naming for group in languages.statement_word_groups(name, lang) for form in group}
    return tuple(group for group in languages.statement_word_groups(text, lang) if group.isdisjoint(named))


def is_own_statement(turn: Turn, before: Sequence[str] = ()) -> bool:
    """Whether the words are the person's own and state something; ``before``: what the assistant said before."""
    is_own = turn.role == "user" and not turn.redacted and bool(turn.text)
    return is_own and is_told_by_person(turn) and not is_echo(turn.text, before)


def source_of(text: str, lang: str | None, cited: Sequence[Turn], names: Collection[str] = ()) -> Source:
    """How far these statements of a person say a text."""
    wanted = content(text, lang, names)
    if not wanted:
        return Source("unsaid")
    is_denial = denies(text, languages.for_text(lang, text))
    found = [one for turn in cited for one in _said_in(turn, wanted, is_denial)]
    for support in ("said", "partly", "unsaid"):
        if (best := next((one for one in found if one.support == support), None)) is not None:
            return best
    together = tuple(group for turn in cited for group in languages.statement_word_groups(turn.text, turn.lang))
    if held(wanted, together) < HALF * len(wanted):
        return Source("unsaid")
    return Source(
        "partly", max(cited, key=lambda turn: held(wanted, languages.statement_word_groups(turn.text, turn.lang)))
    )


def _said_in(turn: Turn, wanted: Groups, is_denial: bool) -> Iterator[Source]:
    """What the sentences of a turn that hold just these words, one behind the other, make of them."""
    for sentence in languages.sentences_of(turn.text) or [turn.text]:
        told = _placed(sentence, turn.lang)
        is_most = len(wanted) >= MOST_OF_SENTENCE * len(told)
        for span in _spans(told, wanted):
            reason = _doubt(sentence, turn.lang, span, is_denial)
            if reason is None or reason == "unsure":
                yield Source("said" if is_most and reason is None else "partly", turn)
            else:
                yield Source("unsaid", turn, reason)


def _doubt(sentence: str, lang: str | None, span: tuple[int, int], is_denial: bool) -> str | None:
    """Why a sentence does not say what stands at a place of it, or not surely; None where it says it."""
    if is_denial != denies(sentence, languages.for_text(lang, sentence)):
        return "denied"
    reason = unstated_reason(sentence, lang, span)
    if is_denial and reason == "taken_back":
        return None  # a denial is proposed, and a denial is said
    return reason


def _spans(told: Sequence[Placed], wanted: Groups) -> Iterator[tuple[int, int]]:
    """Where just the wanted words stand one behind the other, as characters from the first up to the last."""
    for first in range(len(told) - len(wanted) + 1):
        run = told[first : first + len(wanted)]
        if all(not group.isdisjoint(words) for (group, _), words in zip(run, wanted, strict=True)):
            yield run[0][1][0], run[-1][1][1]


def _placed(sentence: str, lang: str | None) -> list[Placed]:
    """The content words of a sentence, each in every form and with its place; of a language without blanks in one."""
    told, place = [], 0
    spoken, low = languages.for_text(lang, sentence), sentence.casefold()
    for word in spoken.bare_words(sentence):
        found = low.find(word, place)
        start = place if found < 0 else found
        place = start if spoken.uses_bigrams or found < 0 else start + len(word)
        told.append((languages.forms(word, spoken, languages.known()), (start, min(start + len(word), len(sentence)))))
    return told


def held(wanted: Groups, told: Groups) -> int:
    """How many of the words are among those that were told."""
    forms = {form for group in told for form in group}
    return sum(not group.isdisjoint(forms) for group in wanted)


def is_same(one: Groups, other: Groups) -> bool:
    """Whether two texts have just the same content words."""
    return bool(one) and held(one, other) == len(one) and held(other, one) == len(other)


def is_related(old: Groups, new: Groups) -> bool:
    """Whether a text may be the new one of a memory: it has a part of its words."""
    return bool(old) and held(old, new) >= RELATED * len(old)


def is_said_otherwise(statement: Turn, later: Turn) -> bool:
    """Whether a later statement may hold in place of one: of the same, but not the same."""
    one, other = (languages.statement_word_groups(turn.text, turn.lang) for turn in (statement, later))
    if not one or not other or is_same(one, other):
        return False
    subjects = [subject_of(turn.text, languages.for_text(turn.lang, turn.text)) for turn in (statement, later)]
    shared = held(one, other)
    is_alike = shared >= ALIKE * (len(one) + len(other) - shared)
    return is_same(*subjects) or (is_alike and not one[0].isdisjoint(other[0]))


def asks_to_set_aside(turn: Turn, memory: str, lang: str | None) -> bool:
    """Whether a sentence of a turn asks to forget a memory, or calls it off, and names nothing but words of it."""
    forms = {form for group in languages.query_word_groups(memory, lang) for form in group}
    for sentence in languages.sentences_of(turn.text) or [turn.text]:
        spoken = languages.for_text(turn.lang, sentence)
        off = retraction_in(sentence, spoken)
        named = asks_to_delete(sentence, spoken) or (off.words if off is not None else ())
        if named and all(not group.isdisjoint(forms) for group in named):
            return True
    return False
