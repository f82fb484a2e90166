"""Tag questions: what is asked in the words of a statement: "i play the violin do i", "is it true that i play it"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ovos_persona_memory.text import languages, lexicon
from ovos_persona_memory.text.languages import Language
from ovos_persona_memory.text.lexicon import Lexicon
from ovos_persona_memory.text.tokens import Tokens

_WORD = re.compile(r"\w+")
_JOINED = re.compile(r"\w-(?:t-)?(\w+)\b")
NEAR = 2
"""Words at most from "is it true" to the subject."""


def statement_asked_about(text: str, lang: str | None) -> str | None:
    """The statement that a whole utterance asks about, without the words that ask: "i don't eat pork (do i)"; None
    where the utterance is no such question."""
    spoken = languages.for_text(lang, text)
    if languages.beginning(text) != text or spoken.without_lead(text) != text or spoken.is_command(text):
        return None  # a text of that length has no tag question
    known = lexicon.for_language(spoken.tag)
    words = known.words_of(text)
    size, first = len(words.folded), known.starts(words, "asking_whether")
    if not _is_of_speaker(known, words.folded[first:]):
        first = 0
    anew = (start for start, long in known.places(words, "or_else") if _asks_anew(known, words, start, long))
    last = min(anew, default=size)
    back = _asked_back(known, words)
    # "the shop is on the right" merely ends like a tag question
    if back and (back < size - 1 or known.has_word(("alternative",), words.folded[back])):
        last = min(last, back)
    if (first, last) == (0, size) or first >= last:
        return None
    return text[words.spans[first][0] : words.spans[last - 1][1]]


VERB_SECOND = frozenset({"da", "de", "en", "nl"})
"""Languages in which a question has its verb before its subject, and a clause within a sentence has not."""


def holds_question_word(text: str, spoken: Language) -> bool:
    """Whether one of its words asks by itself, wherever it stands: "il a quel âge", or a verb with its subject joined
    behind it, "passe-t-il".

    Accents count: in Spanish "qué" asks, and "que" seldom does.
    """
    low = languages.beginning(text).casefold()
    is_inverted = not _pronouns(spoken.tag).isdisjoint(_JOINED.findall(low))
    return is_inverted or not _question_words(spoken.tag).isdisjoint(_WORD.findall(low))


def opens_question(words: Sequence[str], spoken: Language) -> bool:
    """Whether a question that is asked of the hearer begins with these words: "what do", "wo habt", "qu'est-ce que".

    In languages with the verb in the second place a question word behind which no subject follows: "what i told you"
    asks nothing. In others a verb with its subject joined behind it: "que" asks seldom.
    """
    first, second = [*(word.casefold() for word in words[:2]), "", ""][:2]
    asks = first in _question_words(spoken.tag)
    if spoken.primary in VERB_SECOND:
        return asks and not begins_with_subject(second, spoken)
    return any("-" in word and holds_question_word(word, spoken) for word in (first, second if asks else ""))


def begins_with_subject(text: str, spoken: Language) -> bool:
    """Whether its verb does not come first: it begins with an article, a possessive or a subject, "el gato come"."""
    return not _subjects(spoken.tag).isdisjoint(_WORD.findall(text.casefold())[:1])


@lru_cache(maxsize=64)
def _subjects(tag: str) -> frozenset[str]:
    """The words of a language, as they are said, with which a noun phrase begins, and the pronouns of subjects."""
    spoken = languages.for_language(tag)
    articles = {line.partition(":")[0].strip().casefold() for line in spoken.lines("articles.list")}
    return frozenset({*articles, *spoken.swaps}) | _pronouns(tag)


@lru_cache(maxsize=64)
def _pronouns(tag: str) -> frozenset[str]:
    """The pronouns of subjects, as they are said."""
    spoken = languages.for_language(tag)
    listed = [right for name, right in spoken.pairs("memory_words.list") if name in ("self", "others")]
    return frozenset(one.strip() for right in listed for one in right.split(","))


@lru_cache(maxsize=64)
def _question_words(tag: str) -> frozenset[str]:
    lines = (line.casefold() for line in languages.for_language(tag).lines("question_start.list"))
    return frozenset(line for line in lines if _WORD.fullmatch(line))


def _asks_anew(known: Lexicon, words: Tokens, start: int, size: int) -> bool:
    """Whether "or is (it)" begins a new question; false in "who left or did the dishes", where no subject follows the
    verb."""
    behind = words.folded[start + 1 : start + size + 1]
    return start > 0 and (start + size == len(words.folded) or any(known.has_word(("subject",), w) for w in behind))


def _is_of_speaker(known: Lexicon, behind: Sequence[str]) -> bool:
    """Whether the speaker is the subject of what is asked; false in "tell me if it rains"."""
    own = (n for n, word in enumerate(behind) if known.has_word(("speaker",), word))
    return next(own, NEAR + 1) <= NEAR


def _asked_back(known: Lexicon, words: Tokens) -> int:
    """The number of the word with which a tag question begins: "... isn't it", "... was meinst du"; 0 where there is
    none. "So do i" agrees, and is none."""
    size = known.ends(words, "asked_back")
    begins = len(words.folded) - size
    return begins if size and begins and words.folded[begins - 1] not in known.opening("agreeing") else 0
