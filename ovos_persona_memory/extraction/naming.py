"""How people and things are named in facts: "my big sister" is "sister", "mum" is "mother"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ovos_persona_memory.text import languages
from ovos_persona_memory.text.languages import SPELLED, Language

LIST = "people.list"
LONGEST_RELATION = 3
"""Words of a relation at most: "mother in law"."""


@dataclass(frozen=True)
class NamingWords:
    """The words of a language by which people and things are named; empty where it has no list."""

    speaker: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    """Of ``speaker``, those that mean others as well: "we"."""
    other: frozenset[str] = frozenset()
    """Pronouns for somebody or something spoken of before."""
    hearer: frozenset[str] = frozenset()
    small: frozenset[str] = frozenset()
    """Articles, possessives and adjectives that are left out of names."""
    of: frozenset[str] = frozenset()
    """What stands between a relation and whose it is."""
    near: frozenset[str] = frozenset()
    """What stands before a place that is no home: "near the station"."""
    at: frozenset[str] = frozenset()
    """What stands before a place of work."""
    names_subject: bool = False
    """Whether every sentence names who it is about, were it by a pronoun: not so in Spanish."""
    own_subject: frozenset[str] = frozenset()
    """"I", and its short form: "je", "j"."""
    jokes: tuple[tuple[str, ...], ...] = ()
    """What takes back what was just said."""
    relations: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    """Each relation, in its words, to its usual name: "mum" to "mother"."""
    single: frozenset[str] = frozenset()
    """Relations of which a person has one at a time."""
    pets: frozenset[str] = frozenset()
    """Words for animals at home."""

    def relation_in(self, words: Sequence[str]) -> tuple[str, int, int] | None:
        """The longest relation among words by its usual name, and where it stands; None where there is none."""
        spans = (
            (first, first + size) for size in range(LONGEST_RELATION, 0, -1) for first in range(len(words) - size + 1)
        )
        return next(
            (
                (self.relations[tuple(words[first:last])], first, last)
                for first, last in spans
                if tuple(words[first:last]) in self.relations
            ),
            None,
        )


@lru_cache(maxsize=32)
def naming_words(tag: str) -> NamingWords:
    """The naming words of a language."""
    lines = dict(languages.for_language(tag).pairs(LIST))

    def words(name: str) -> frozenset[str]:
        return frozenset(word for phrase in _phrases(lines.get(name, "")) for word in phrase)

    relations: dict[tuple[str, ...], str] = {}
    single: set[str] = set()
    for name in ("one", "many"):
        for group in filter(None, (part.strip() for part in lines.get(name, "").split(","))):
            usual = " ".join(languages.fold(group.partition("=")[0]))
            relations |= {tuple(languages.fold(other)): usual for other in group.split("=")}
            if name == "one":
                single.add(usual)
    return NamingWords(
        speaker=words("self"),
        shared=words("shared"),
        other=words("other"),
        hearer=words("you"),
        small=words("small"),
        of=words("of"),
        near=words("near"),
        at=words("at"),
        names_subject="subject" in lines,
        own_subject=_own_subject(lines),
        jokes=tuple(sorted(_phrases(lines.get("joke", "")), key=len, reverse=True)),
        relations=relations,
        single=frozenset(single),
        pets=words("pet"),
    )


def _own_subject(lines: Mapping[str, str]) -> frozenset[str]:
    first = "".join(languages.fold(lines.get("self", "").partition(",")[0]))
    return frozenset({first, first.removesuffix("e")}) - {""}


def _phrases(line: str) -> list[tuple[str, ...]]:
    return [tuple(languages.fold(one)) for one in line.split(",") if one.strip()]


UNKNOWN = None
"""The subject where nobody can tell whom the words mean."""


def whole_name(text: str, span: tuple[int, int], language: Language) -> str:
    """The words in a span that name somebody, with the relation behind them where they are small words alone ("my"),
    and whose relative that is."""
    known, named = naming_words(language.tag), text[slice(*span)]
    if all(word in known.small or word in known.speaker for word in languages.fold(named)):
        behind = list(SPELLED.finditer(text, span[1]))[:LONGEST_RELATION]
        found = known.relation_in([" ".join(languages.fold(word[0])) for word in behind])
        span = span if found is None or found[1] > 1 else (span[0], behind[found[2] - 1].end())
    owner = owner_behind(text, span, language)
    return text[slice(*span)] if owner is None else text[span[0] : owner[1]]


def owner_behind(text: str, span: tuple[int, int], language: Language) -> tuple[int, int] | None:
    """Whose relative, or pet, words in a span name: "my brother" behind "the wife of"; None where no relative is."""
    known = naming_words(language.tag)
    words = list(SPELLED.finditer(text, span[0]))
    folded = [" ".join(languages.fold(word[0])) for word in words]
    last = max((n for n, word in enumerate(words) if word.start() < span[1]), default=0)
    place = next((n for n in (last, last + 1) if n < len(words) and folded[n] in known.of), None)
    if place is None:
        return None
    first = next((n for n in range(place + 1, len(words)) if folded[n] not in known.small), len(words))
    found = known.relation_in(folded[first : first + LONGEST_RELATION])
    return None if found is None or found[1] > 0 else (words[place + 1].start(), words[first + found[2] - 1].end())


def has_content(value: str, language: Language) -> bool:
    """Whether a value has a word beside articles, possessives and prepositions."""
    known = naming_words(language.tag)
    small = known.small | known.at | known.of
    return any(word not in small for word in languages.fold(value))


def subject_of(  # more than five: these are what is known of a talk
    text: str, language: Language, names: Mapping[str, str], spoken_of: str | None, hearer: str | None = None
) -> str | None:
    """The subject of facts about whom words name: "" for the speaker, a relation, a name; UNKNOWN where unclear.

    ``names``: names known, folded, to the subjects of those who have them. ``spoken_of``: whom a pronoun means;
    ``hearer``: whom "you" means.
    """
    known, words = naming_words(language.tag), list(languages.fold(text))
    if not words or all(word in known.speaker or names.get(word) == "" for word in words):
        return "" if words else UNKNOWN
    place = next((n for n, word in enumerate(words) if word in known.of and 0 < n < len(words) - 1), None)
    if place is not None:
        owner = subject_of(" ".join(words[place + 1 :]), language, names, spoken_of)
        return UNKNOWN if owner is None else _joined(owner, _bare(words[:place], known, names))
    if all(word in known.other for word in words):
        return spoken_of
    if all(word in known.hearer for word in words):
        return hearer
    if any(word in known.hearer for word in words) and known.relation_in(words) is None:
        return UNKNOWN
    if words[0] in known.other and words[0] not in known.small and len(words) > 1:
        return UNKNOWN if spoken_of is None else _joined(spoken_of, _bare(words[1:], known, names))
    return _bare(words, known, names) or UNKNOWN


def _joined(owner: str, relation: str) -> str:
    return f"{owner} {relation}".strip()


def _bare(words: Sequence[str], known: NamingWords, names: Mapping[str, str]) -> str:
    """Words without the small ones; a relation by its usual name, a known name by the subject of who has it."""
    kept = [word for word in words if word not in known.small and word not in known.speaker]
    found = known.relation_in(kept)
    if found is None:
        return " ".join(dict.fromkeys(part for word in kept for part in names.get(word, word).split()))
    relation, first, last = found
    before = " ".join(names.get(word, word) for word in kept[:first])
    name = next((names[word] for word in kept[last:] if word in names), None)
    if name is not None and relation in name.split():  # "my sister lena", who is known
        return _joined(before, name)
    following = known.relation_in(kept[last:])
    if following is not None:  # "my sister's husband"
        return _joined(_joined(before, relation), following[0])
    return _joined(before, relation)


def thing_of(text: str, language: Language) -> str:
    """What a value belongs to, as facts are told apart by it: stems without small words, relations by usual name."""
    known, words = naming_words(language.tag), list(languages.fold(text))
    kept = [word for word in words if word not in known.small and word not in known.speaker] or words
    found = known.relation_in(kept)
    named = " ".join(kept) if found is None else " ".join((*kept[: found[1]], found[0]))
    return " ".join(language.words(named))


def relation_in_stems(stems: str, language: Language) -> str:
    """The usual name of the relation with which the stems of a thing begin; empty where it is none."""
    for usual in set(naming_words(language.tag).relations.values()):
        relation = " ".join(language.words(usual))
        if stems == relation or stems.startswith(f"{relation} "):
            return usual
    return ""


def bare_stems(text: str, lang: str | None) -> frozenset[str]:
    """The stems of a value or thing without small words, relations by their usual name."""
    return frozenset(thing_of(text, languages.for_text(lang, text)).split()) if text else frozenset()
