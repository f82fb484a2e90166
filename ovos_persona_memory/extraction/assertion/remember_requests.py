"""What somebody asks to have remembered: "remember that ...", "... don't forget that"."""

from __future__ import annotations

from dataclasses import dataclass

from ovos_persona_memory.extraction.segmentation.clauses import without_discourse_markers
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources
from ovos_persona_memory.text import Lexicon, Tokens, contains_secret, languages

ASKED = 25
"""Words at most that somebody asks to remember in one go."""
BROKEN_OFF = 6
"""Words at most of what somebody breaks off."""
LEAST = 3
"""Words at least before "... don't forget that"."""


@dataclass(frozen=True)
class RememberRequest:
    """What somebody asks to remember."""

    text: str
    whole: bool = False
    """A "that" stands before it, so that what follows tells something: "remember that you have to jiggle the plug"."""


def requested(spoken: LanguageResources, text: str, letter: bool) -> RememberRequest | None:
    """What somebody asks to remember; None where nobody does."""
    asked = _without_lead(spoken, text, letter)
    return _without_request(spoken.templates, text) if asked is None and not letter else asked


def _without_request(known: Lexicon, text: str) -> RememberRequest | None:
    """What stands before "... don't forget that"; None where the text closes otherwise."""
    words = known.words_of(text)
    size = known.ends(words, "remember_last")
    rest = words.part(0, len(words.folded) - size)
    if not size or len(rest.folded) < LEAST or known.ends(rest, "unasked"):
        return None
    return RememberRequest(rest.spelled)


def _without_lead(spoken: LanguageResources, text: str, letter: bool) -> RememberRequest | None:
    """What follows "remember that"; None where the text opens otherwise. Written, a comma may stand in it.

    In a letter one word ("Remember, ...") reminds its reader of something.
    """
    opened = without_discourse_markers(spoken.templates, text)
    for said in dict.fromkeys((text, text.replace(",", "", 1), opened)):
        bare = spoken.language.without_lead(said)
        words = len(languages.fold(said)) - len(languages.fold(bare))
        if words and not (letter and words == 1):
            lead = spoken.templates.words_of(said[: said.rindex(bare)])
            return RememberRequest(bare, spoken.templates.ends(lead, "telling_that") > 0)
    return None


def _unaddressed(known: Lexicon, words: Tokens) -> Tokens:
    """Words without whom they are said to: "(Jon,) just do it"."""
    comma = len(words.folded) > 1 and words.text[words.spans[0][1] :].startswith(",")
    return words.part(1, len(words.folded)) if comma and words.folded[0] in known.opening("given_name") else words


def no_request(spoken: LanguageResources, asked: RememberRequest) -> str | None:
    """Why nothing of this is kept though somebody asks for it; None where it is."""
    text = asked.text
    words = spoken.templates.words_of(text)
    if contains_secret(text, spoken.language.tag):
        return "secret"
    if spoken.language.is_question(text) and (text.endswith("?") or not asked.whole):
        return "question"  # "remember that when it rains the gutter drips" is none
    none = "no_request_that" if asked.whole else "no_request"
    if spoken.templates.starts(_unaddressed(spoken.templates, words), none):
        return "command"
    if len(words.folded) < 2 or (len(words.folded) <= BROKEN_OFF and spoken.templates.ends(words, "faltering")):
        return "too_short"  # "remember that um no i lost it"
    return "too_long" if len(words.folded) > ASKED else None
