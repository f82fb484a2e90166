"""Whether a statement only goes on with what was said right before it: "he has to lose nine pounds"."""

from __future__ import annotations

from functools import lru_cache

from ovos_persona_memory.text import languages
from ovos_persona_memory.text.index_terms import fold
from ovos_persona_memory.text.languages import Language
from ovos_persona_memory.text.revision import value_kinds

PEOPLE, REQUESTS = "people.list", "memory_words.list"
LONGEST_PART = 8
"""Words at most of a part of a sentence that has no subject: "on the third floor number thirty four"."""

GAP_S = 180.0
"""Who goes on with what they said does so within this time, seconds."""


def continues(text: str, after_s: float, spoken: Language) -> bool:
    """Whether a text is said within ``GAP_S`` after another, and names nobody and nothing before a pronoun, which then
    stands for what was just spoken of, or is only a part of a sentence, of a place or a number."""
    if not 0.0 <= after_s <= GAP_S:
        return False
    words = fold(spoken.without_lead(text))
    known = _words_by_role(spoken.tag)
    place = next((n for n, word in enumerate(words) if word not in known.empty), len(words))
    if len(words) < 2 or place == len(words) or words[place] in known.own:
        return False
    if words[place] in known.others or text.split()[0].casefold() in known.subjects_as_said:
        return True
    # a verb may stand before its subject: "next week has he to go back"
    is_verb = known.verb_second and (not place or words[place - 1] not in known.small)
    if is_verb and place + 1 < len(words) and words[place + 1] in known.subjects:
        return True
    is_short = len(words) <= LONGEST_PART and known.own.isdisjoint(words) and known.others.isdisjoint(words)
    return is_short and _opens_part(words, spoken)


def _opens_part(words: list[str], spoken: Language) -> bool:
    """Whether the words open with a preposition of place, or with a number; not with a time."""
    known, kinds = _words_by_role(spoken.tag), value_kinds(spoken.tag)
    if kinds.get(words[0]) == "numbers.list":
        return True
    behind = next((word for word in words[1:] if word not in known.small), "")
    is_time = behind in kinds or any(term in spoken.time_words for term in spoken.words(behind))
    return words[0] in known.places and bool(behind) and not is_time


class _WordsByRole:
    """The words of a language by what they are in a sentence, folded."""

    def __init__(self, tag: str) -> None:
        spoken = languages.for_language(tag)
        listed = {name: frozenset(one for word in said.split(",") for one in fold(word)) for name, said in _people(tag)}
        nobody: frozenset[str] = frozenset()
        articles = listed.get("small", nobody)
        self.own = listed.get("self", nobody)
        self.small = articles | spoken.stop_words
        self.places = (listed.get("at", nobody) | listed.get("near", nobody)) - articles
        requests = dict(spoken.pairs(REQUESTS))
        self.subjects = frozenset(word for one in requests.get("others", "").split(",") for word in fold(one))
        said = (word.strip().casefold() for word in requests.get("others", "").split(","))
        self.subjects_as_said = frozenset(word for word in said if word not in articles)
        """With their accents: "él" is he, "el" an article."""
        pointing = frozenset(word for one in requests.get("that", "").split(",") for word in fold(one))
        pointing |= {word[0] for word in pointing if len(word) == 2}  # "c'est moi"
        spoken_of = listed.get("other", nobody) - articles - listed.get("you", nobody) - self.own
        self.others = (spoken_of - pointing) | (self.subjects & spoken_of)
        self.verb_second = spoken.primary in VERB_SECOND
        joining = {word for line in spoken.lines("joining.list") for word in fold(line)}
        leads = (line for name in ("fillers.voc", "polite_start.voc") for line in spoken.lines(name))
        fillers = {word for line in leads for word in fold(line)}
        values = set(value_kinds(tag)) | {word for line in spoken.lines("time_words.list") for word in fold(line)}
        self.empty = (joining | fillers | values | spoken.stop_words) - self.own - self.others


VERB_SECOND = frozenset({"da", "de", "nl"})
"""Languages whose verb stands before its subject where something else opens the sentence."""


def _people(tag: str) -> tuple[tuple[str, str], ...]:
    return tuple(languages.for_language(tag).pairs(PEOPLE))


@lru_cache(maxsize=32)
def _words_by_role(tag: str) -> _WordsByRole:
    return _WordsByRole(tag)
