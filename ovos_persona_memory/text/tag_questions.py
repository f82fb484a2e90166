"""Tag questions: what is asked in the words of a statement: "i play the violin do i", "is it true that i play it"."""

from __future__ import annotations

from collections.abc import Sequence

from ovos_persona_memory.text import languages, lexicon
from ovos_persona_memory.text.lexicon import Lexicon
from ovos_persona_memory.text.tokens import Tokens

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
