"""What somebody said, cut into clauses as templates compare them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise

from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources, said
from ovos_persona_memory.extraction.segmentation.word_order import resumes
from ovos_persona_memory.text import Lexicon, Tokens

_COMMA = re.compile(r",\s+|:\s+")
TWICE = 4
"""Letters above which a word said twice ends a clause and begins one: "... waffles waffles are my favourite"."""
SHORT_END = 2
"""Words of a verb and its subject, that tell nothing alone."""
BACK = 6
"""Words at most back to the verb of a clause that is over."""
SUBJECT = 5
"""Words at most, with its verb, of what opens a clause: "my older brother is"."""

PAIR = 2
"""Words of a subject and its verb."""
STUTTERED = 3
"""Words at most that somebody says twice before going on."""
LEAST = 3
"""Words of a clause before more can be said about it."""
_MORE = ("preposition", "pronoun", "determiner", "joint", "more", "finite", "repair")
"""Lists of words that more about a clause begins with ..."""
_SUBJECTS = ("elided_subject", "speaker", "own", "kin", "given_name", "he_she", "taken_up", "mine")
"""Lists of words that a clause begins with."""
_HELD = ("preposition", "determiner", "listing")
"""Lists of words behind which no new clause begins."""


def between_commas(sentence: str) -> list[str]:
    """What stands between the commas of a sentence."""
    return _COMMA.split(sentence)


def clauses(spoken: LanguageResources, part: Tokens) -> Iterator[Tokens]:
    """The clauses of a sentence, or of what stands between its commas, without what opens and closes them."""
    subject = False
    words = _said_once(spoken.templates, _without_trail(spoken.templates, part))
    for piece in _at_joints(spoken.templates, words):
        clause = strip_function_words(spoken.templates, piece)
        if clause.folded:
            clause = _with_subject(spoken.templates, clause) if subject else clause
            subject = clause.folded[0] in spoken.templates.lists.get("elided_subject", ())
            yield clause


def _said_once(known: Lexicon, words: Tokens) -> Tokens:
    """Words without small ones that somebody begins with twice: "she's um she's called", "my my favourite"."""
    words = known.without(words, "skip") if "more" in known.lists else words
    place = 0
    while place < len(words.folded):
        for size in range(STUTTERED, 0, -1):
            if _again(known, words.folded[place : place + size], words.folded[place + size : place + 2 * size]):
                behind = words.part(place + size, len(words.folded))
                words = Tokens(words.text, words.folded[:place] + behind.folded, words.spans[:place] + behind.spans)
                break
        else:
            place += 1
    return words


def _again(known: Lexicon, said: tuple[str, ...], again: tuple[str, ...]) -> bool:
    """Whether small words are said twice, or a subject is begun anew: "he is he has"."""
    if len(said) == PAIR == len(again) and said[0] == again[0] and said[0] in known.opening("pronoun"):
        return said[1] in known.third and again[1] in known.third
    return bool(said) and said == again and _small(known, said)


def _small(known: Lexicon, held: Sequence[str]) -> bool:
    return all(known.has_word(("pronoun", "finite", "determiner", "joint"), word) for word in held)


def split_run_on(known: Lexicon, clause: Tokens) -> list[Tokens]:
    """A clause cut where another begins though nothing is said between them: "... is blue it's a nice colour"."""
    cuts = [0]
    ordered = known.starts(clause, "dictating" if "dictating" in known.lists else "ordering") > 0
    for place in range(1, len(clause.folded) - 1):
        if ordered and not _refers(known, clause.folded[place:]):
            continue
        if _begins(known, clause, place) and not resumes(known, clause.folded[cuts[-1] :], place - cuts[-1]):
            cuts.append(_with_object(known, clause.folded, place))
    parts = [clause.part(first, last) for first, last in zip(cuts, [*cuts[1:], len(clause.folded)], strict=True)]
    return [piece for piece in (strip_function_words(known, part) for part in parts) if piece.folded]


def shortened(known: Lexicon, clause: Tokens, names: Container[str] = ()) -> Iterator[Tokens]:
    """The parts of a clause that may be one: from where a subject may begin to where more is said about it.

    "i have eczema (on my arms)"; those that begin first come first, of these the longest.
    """
    held = clause.folded
    if known.starts(clause, "ordering"):
        return
    ends = [place for place in range(len(held) - 1, LEAST - 1, -1) if _more(known, clause, place, names)]
    for first in range(len(held) - LEAST):
        if first and not _opens_subject(known, clause, first, names):
            continue
        for end in [len(held), *ends] if first else ends:
            if end - first >= LEAST:
                yield clause.part(first, end)


def _more(known: Lexicon, clause: Tokens, place: int, names: Container[str]) -> bool:
    """Whether more about what is said may begin at a word, or somebody is addressed: "... in the drawer ben"."""
    held = clause.folded
    if held[place] in names or held[place] in known.lists.get("addressed", ()):
        return True
    if any(held[place - 1] in known.lists.get(name, ()) for name in _HELD):
        return False
    opens = any(held[place] in known.lists.get(name, ()) for name in _MORE)
    return opens or known.starts_at(held, place, "break") > 0 or known.starts_at(held, place, "order") > 0


def _opens_subject(known: Lexicon, clause: Tokens, place: int, names: Container[str]) -> bool:
    """Whether the subject of a clause may stand at a word: nothing before it makes it part of something else."""
    held = clause.folded
    if held[place - 1] == "s":  # "tims dad"
        return False
    led = known.ends(clause.part(0, place), "lead") > 1  # "you know"
    if not led and (held[place - 1] in known.opening("binding") or held[place - 1] in known.opening("determiner")):
        return False
    return known.has_word(_SUBJECTS, held[place]) or held[place] in names


def _is_free(known: Lexicon, word: str, prior: str) -> bool:
    """Whether a pronoun is no part of what stands before: where speakers have words of their own ("ich"), seldom."""
    if word in known.opening("speaker") and "subordinating" in known.lists:
        return prior not in known.opening("subordinating") and prior not in known.own_verbs
    return prior not in known.opening("binding")


def _with_object(known: Lexicon, held: tuple[str, ...], place: int) -> int:
    """Where a clause begins whose verb has too little behind it: its object stands before: "achtundsiebzig bin ich"."""
    if len(held) - place > SHORT_END or held[place + 1] not in known.opening("speaker"):
        return place
    return max(place - (2 if held[place - 2] in known.opening("determiner") else 1), 1)


def _verb_first(known: Lexicon, before: tuple[str, ...], word: str, following: str) -> bool:
    """Whether a clause begins with its verb: "(mein lieblingsbuch ist krabat) habe ich ..."."""
    if "verb_second" not in known.lists or following not in known.opening("speaker") or word not in known.own_verbs:
        return False
    said = before[-BACK:]
    return any(one in known.third or one in known.own_verbs for one in said) and before[-1] not in known.own_verbs


def _refers(known: Lexicon, held: tuple[str, ...]) -> bool:
    """Whether words say something of what an order names: "(such mir eins raus) das lieb ich", "das ist mein ..."."""
    if "verb_second" not in known.lists or held[0] not in known.opening("resumed"):
        return False
    speakers, own, called = known.opening("speaker"), known.opening("first_my"), known.opening("called")
    return held[1] in called or any(word in speakers or word in own for word in held[2:4])


def _begins(known: Lexicon, clause: Tokens, place: int) -> bool:
    """Whether a clause begins at a word: a pronoun and a verb (<pronoun>, <finite>), "my ... is", an order (<order>).

    A word before (<binding>) can make it part of what stands there; behind one of <break> nothing does.
    """
    held, finite = clause.folded, known.opening("finite")
    word, prior = held[place], held[place - 1]
    if known.starts_at(held, place, "break") or (word == prior and len(word) > TWICE):
        return True
    if _verb_first(known, held[:place], word, held[place + 1]):
        return True
    verb = held[place + 1] in finite or held[place + 1] in known.third or _agrees(known, word, held[place + 1])
    own = "verb_second" in known.lists and word in known.opening("speaker")
    verb = verb or (own and held[place + 1] in known.own_verbs)
    if verb and (word in known.opening("pronoun") or word in known.opening("asking")):
        return _is_free(known, word, prior)
    if prior in known.opening("binding"):
        return False
    named = held[place + 1] in known.third and known.starts_at(held, place, "given_name")
    if named and prior not in known.opening("article"):
        return any(one in known.third or one in known.own_verbs for one in held[max(place - BACK, 0) : place])
    if prior in finite or prior in known.opening("preposition") or prior in known.opening("determiner"):
        return False
    if known.starts_at(held, place, "order"):
        return prior not in known.opening("speaker")
    if word in known.opening("article") and prior in known.introduced:
        return False  # "mein bruder der cem ..."
    if word in known.opening("own") or word in known.opening("article"):
        return any(one in known.third for one in held[place + 2 : place + SUBJECT])
    return False


def _agrees(known: Lexicon, word: str, following: str) -> bool:
    """Whether a word is a verb by its ending: "he (sleeps)"."""
    person = word in known.opening("of_man") or word in known.opening("of_woman")
    return person and len(following) > TWICE and following.endswith(known.lists.get("third_ending", ("?",)))


def _with_subject(known: Lexicon, clause: Tokens) -> Tokens:
    """A clause behind a joint that leaves out who it is about, with it: "... and work as a nurse"."""
    subject = known.lists.get("elided_subject", ())
    if not subject or clause.folded[0] not in known.lists.get("elided", ()):
        return clause
    start = clause.spans[0][0]
    return Tokens(clause.text, (subject[0], *clause.folded), ((start, start), *clause.spans))


def lists_things(known: Lexicon, sentence: str) -> bool:
    """Whether no comma stands before a new clause: then it divides the things of a list."""
    opened = [known.words_of(part) for part in between_commas(sentence)]
    return not any(_opens(known, words) for words in opened[1:]) and bool(strip_function_words(known, opened[0]).folded)


def _opens(known: Lexicon, words: Tokens) -> bool:
    rest = words.part(known.starts(words, "joint"), len(words.folded))
    joined = 0 < len(rest.folded) < len(words.folded)
    pronoun, verb = rest.folded[:1], rest.folded[1:2]
    if pronoun and verb and pronoun[0] in known.opening("pronoun") and verb[0] in known.opening("finite"):
        return True
    left_out = joined and (known.starts(rest, "elided") or rest.folded[0] in known.third)
    return bool(known.starts(rest, "clause") or left_out or (joined and _turns(known, rest.folded)))


def _turns(known: Lexicon, held: tuple[str, ...]) -> bool:
    """Whether a verb stands before its speaker: "(und) mittwochs gehe ich"."""
    speakers = known.opening("speaker") if "verb_second" in known.lists else ()
    return any(two in speakers and one in known.own_verbs for one, two in pairwise(held[: SUBJECT + 1]))


def _at_joints(known: Lexicon, words: Tokens) -> list[Tokens]:
    """The words cut before each joint that a new clause follows."""
    cuts = [0]
    for place in range(1, len(words.folded) - 1):
        rest = words.part(place, len(words.folded))
        said_of = words.folded[place - 1] in known.opening("pronoun")  # "we also have"
        if not said_of and known.starts(rest, "joint") and _opens(known, rest):
            cuts.append(place)
    return [words.part(first, last) for first, last in zip(cuts, [*cuts[1:], len(words.folded)], strict=True)]


def strip_function_words(known: Lexicon, words: Tokens) -> Tokens:
    """A clause without small words, and without what opens and closes it."""
    words = known.without(stripped(known, words), "skip")
    while number := max(known.starts(words, "lead"), known.starts(words, "unsure")):
        words = words.part(number, len(words.folded))
    return _without_trail(known, words)


def without_discourse_markers(known: Lexicon, text: str) -> str:
    """A text without the small words that open it: "oh and by the way"."""
    words = whole = known.words_of(text)
    while number := known.starts(words, "lead"):
        words = words.part(number, len(words.folded))
    return text if len(words.folded) == len(whole.folded) else text[words.spans[0][0] :] if words.folded else text


def stripped(known: Lexicon, words: Tokens) -> Tokens:
    """Words without what opens and closes a statement, and means nothing else: "just in case", "i would say"."""
    words = _without_trail(known, words)
    while number := known.starts(words, "lead"):
        words = words.part(number, len(words.folded))
    return words


def _without_trail(known: Lexicon, words: Tokens) -> Tokens:
    while (number := known.ends(words, "trail")) and number < len(words.folded):
        words = words.part(0, len(words.folded) - number)
    return words


def all_clauses(spoken: LanguageResources, texts: Sequence[str]) -> list[Tokens]:
    """The clauses of several texts, one behind the other."""
    each = (spoken.templates.words_of(sentence) for text in texts for sentence in said(spoken, text))
    return [clause for sentence in each for clause in clauses(spoken, sentence)]
