"""Whether words of a sentence are a statement: what stands before, in and behind them can take that away.

"if i was rich i would live in rome" tells no home; "i live in rome if you need it for the weather" does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ovos_persona_memory.extraction.segmentation.clauses import stripped, without_discourse_markers
from ovos_persona_memory.extraction.segmentation.sentences import MARKS, SINGLE, LanguageResources, Span, around
from ovos_persona_memory.text import Lexicon, Tokens, is_put_in_doubt, languages

CLOSE = 2
"""Words at most between a statement and what takes it back: "..., she says"."""
SHORT_END = 3
"""Words at most of such an end."""
UNSURE_BEFORE = 4
"""Words at most from "i think" to the statement."""

SEEKING = 9
"""Words at most of "in case you are looking for it"."""

_JOKING = ("joking", "absurd")
"""Lists of what is a joke wherever it stands."""

_QUOTED = re.compile(rf"[{MARKS}]([^{MARKS}]*)[{MARKS}]|(?<!\w)[{SINGLE}]([^{SINGLE}]*)[{SINGLE}](?!\w)")


def refusal_in(spoken: LanguageResources, text: str, span: Span, named: bool = False) -> str | None:
    """Like ``refusal``, of a place in a text of one sentence or several."""
    sentence, place = around(spoken, text, span)
    reason = refusal(spoken, sentence, place, named)
    if reason is not None:
        return reason
    words = spoken.templates.words_of(text)
    if is_put_in_doubt(spoken.templates, words, *_places(words, span)):
        return "question"
    return "joke" if sentence != text and _is_joke(spoken.templates, words) else None


def refusal(spoken: LanguageResources, sentence: str, span: Span, named: bool = False) -> str | None:
    """Why what stands at a place of a sentence says nothing about its speaker, though its words could; or None.

    ``named``: it tells a name, which others may say: "everybody says bob to me".
    """
    known = spoken.templates
    whole = known.words_of(sentence)
    if _asks(spoken, sentence, span):
        return "quotation" if known.starts(whole, "read_out") else "question"
    if any(len((one[1] or one[2] or "").split()) > 2 for one in _QUOTED.finditer(sentence)):
        return "quotation"
    words = stripped(known, whole)
    first, last = _places(words, span)
    if known.starts(whole, "mocking") or known.ends(whole, "undone") or _is_joke(known, words):
        return "joke"
    for name, reason, takes_away in _RULES:
        for start, size in known.all_places(words, name):
            if named and name == "quoted" and first <= start < last:
                continue
            if _was_so(known, words.part(start, start + size)):
                continue
            spares = _SPARED.get(name)
            if not (spares and spares(known, words, start, size, first)) and takes_away(
                start, size, first, last, len(words.folded)
            ):
                return reason
    return None


def _was_so(known: Lexicon, words: Tokens) -> bool:
    """Whether words are of the past, and only without their accents like one that supposes: "war" and "wär"."""
    if not known.starts(words, "was_so"):
        return False
    said = words.text[words.spans[0][0] : words.spans[-1][1]].lower()
    return " ".join(languages.fold(said)) == said


def _is_joke(known: Lexicon, words: Tokens) -> bool:
    jokes = any(known.has(words, name) for name in _JOKING) or known.ends(words, "joking_end") > 0
    return jokes or pretends(known, words)


def _offered(known: Lexicon, words: Tokens, start: int, size: int, first: int) -> bool:
    """Whether a supposition only says for whom or when a statement is of use, or is over before it begins."""
    held = words.folded
    if any(word in known.opening("seeking") for word in held[start + 1 : min(first + 1, start + SEEKING)]):
        return True  # "falls einer den schirm sucht der hängt im flur"
    if known.has(words.part(start, max(first, start)), "broken_off"):
        return True  # "when i'm big | anyway i collect stones"
    if known.has(words.part(start, max(first, start)), "ordered"):
        return True  # "if ann calls put her through | she's my sister"
    if start + size + CLOSE <= first and known.starts(words.part(start, start + size), "perhaps"):
        return True  # "hopefully without lard | i don't eat pork"
    if known.starts(words.part(start, len(words.folded)), "by_courtesy"):
        return True
    return first - start > CLOSE and _of_hearer(known, words, start) and not _follows(known, held[start:first])


def _of_hearer(known: Lexicon, words: Tokens, start: int) -> bool:
    """Whether a condition is one of whoever listens, and nothing in its sentence is imagined: "if you want a mug"."""
    condition = words.part(start, start + 1)
    heard = words.part(start + 1, len(words.folded))
    return (
        known.starts(condition, "whether") > 0 and known.starts(heard, "hearer") > 0 and not known.has(words, "unreal")
    )


def _follows(known: Lexicon, held: tuple[str, ...]) -> bool:
    """Whether what stands behind a condition follows from it, as the order of words says: "wenn du rufst komme ich"."""
    if "verb_second" not in known.lists:
        return False
    subjects = ("speaker", "own", "article", "he_she")
    verbs = (one in known.third or one in known.own_verbs for one in held[2:])
    return any(verb and known.has_word(subjects, two) for verb, two in zip(verbs, held[3:], strict=False))


def _passed_on(known: Lexicon, words: Tokens, start: int, size: int, first: int) -> bool:
    """Whether somebody says it themselves: "mum says to tell you i've got asthma", "if mum asks it's ...", "what am i
    saying"."""
    if _part_of(known, words, start, size, first) or _contradicted(known, words, start, first):
        return True
    asked = any(known.starts(words.part(n, n + 1), "whether") for n in range(max(start - SEEKING, 0), start))
    return asked or known.starts(words.part(start + size, len(words.folded)), "passing_on") > 0


def _contradicted(known: Lexicon, words: Tokens, start: int, first: int) -> bool:
    """Whether the speaker's own words are set against what others say: "it says pryce on that form but i go by ..."."""
    held = words.folded[start : first + 1]
    speaker = known.opening("speaker") | known.opening("first_my")
    return any(one in known.opening("contrast") and two in speaker for one, two in pairwise(held))


def _part_of(known: Lexicon, words: Tokens, start: int, size: int, first: int) -> bool:
    """Whether it is part of what means something else: "you should probably know", "she goes to"."""
    phrases = (*known.places(words, "repair"), *known.places(words, "passing_on"))
    return any(one <= start < one + many for one, many in phrases)


def _by_doctor(known: Lexicon, words: Tokens, start: int, size: int, first: int) -> bool:
    """ "i'm allergic to celery says the doctor"."""
    return known.starts_at(words.folded, start + size, "at_service") > 0


_SPARED = {"narrated": _by_doctor, "supposed": _offered, "quoted": _passed_on, "unsure": _part_of}


def _places(words: Tokens, span: Span) -> tuple[int, int]:
    """The numbers of the first word of a span, and of the first one behind it."""
    first = sum(end <= span[0] for _, end in words.spans)
    return first, sum(start < span[1] for start, _ in words.spans)


def _quoted(start: int, size: int, first: int, last: int, of: int) -> bool:
    return start < last or (start - last < CLOSE and of - start <= SHORT_END)


def _narrated(start: int, size: int, first: int, last: int, of: int) -> bool:
    return start >= last and of - start - size <= CLOSE  # "i take three pills a day says the bear"


def _supposed(start: int, size: int, first: int, last: int, of: int) -> bool:
    return start < last or start + size == of


def _anywhere(start: int, size: int, first: int, last: int, of: int) -> bool:
    return True


def _past(start: int, size: int, first: int, last: int, of: int) -> bool:
    return start < last + SHORT_END


def _unsure(start: int, size: int, first: int, last: int, of: int) -> bool:
    behind = last <= start < last + CLOSE and of - start - size < SHORT_END
    return behind or first - UNSURE_BEFORE <= start + size - 1 < last


_RULES = (
    ("quoted", "quotation", _quoted),
    ("read_out", "quotation", _quoted),
    ("narrated", "quotation", _narrated),
    ("hearsay", "quotation", _anywhere),
    ("supposed", "supposed", _supposed),
    ("played", "supposed", _anywhere),
    ("acted", "supposed", _anywhere),
    ("past", "past", _past),
    ("unsure", "unsure", _unsure),
)


_BINDING = ("binding", "pronoun", "telling")
"""Lists of words behind which a clause is part of the one before."""


def _asks(spoken: LanguageResources, sentence: str, span: Span) -> bool:
    """Whether it is part of a question: one that was over before it is none of its business."""
    if not spoken.language.is_question(sentence):
        return False
    bare = without_discourse_markers(spoken.templates, sentence)
    if bare != sentence and not spoken.language.is_question(bare):
        return False
    if sentence.rstrip().endswith("?"):
        return True
    before = spoken.templates.words_of(sentence[: span[0]]).folded
    if _opens_statement(spoken, sentence, bare, span):
        return False
    over = len(before) > 1 and "binding" in spoken.templates.lists
    if over and before[-1] in spoken.templates.opening("apart"):
        return False
    return not over or any(before[-1] in spoken.templates.opening(name) for name in _BINDING)


def _opens_statement(spoken: LanguageResources, sentence: str, bare: str, span: Span) -> bool:
    """Whether a sentence only opens like a question: "what i hate is ...", "did you know i'm ...", or asks for a favour
    for a reason: "can you order mac and cheese it's my favourite food"."""
    known, whole = spoken.templates, spoken.templates.words_of(bare)
    opened = known.starts(whole, "not_asked")
    before = len(known.words_of(sentence[: span[0]]).folded) - (
        len(known.words_of(sentence).folded) - len(whole.folded)
    )
    if opened and (before < opened or not _says_more(spoken, sentence[: span[0]])):
        return True
    reason = known.words_of(sentence[span[0] : span[1]]).folded
    return known.starts(whole, "requesting") > 0 and any(
        one in known.opening("is") and two in known.opening("first_my") for one, two in pairwise(reason)
    )


def _says_more(spoken: LanguageResources, text: str) -> bool:
    """Whether a text says more than what opens a statement."""
    return bool(stripped(spoken.templates, spoken.templates.words_of(text)).folded)


def pretends(known: Lexicon, words: Tokens) -> bool:
    """Whether somebody says that they are a cow, or plays: "(i am) a cow and i live in ohio", "let's pretend"."""
    if known.has(words, "pretending"):
        return True
    if known.opening("creature").isdisjoint(words.folded):
        return False
    words = known.without(words, "skip")
    return any(_plays(known, words, start, start + size) for start, size in known.places(words, "creature"))


def _plays(known: Lexicon, words: Tokens, start: int, end: int) -> bool:
    opening, following = words.folded[max(start - 4, 0) : start], words.part(end, len(words.folded))
    if following.folded and not any(known.starts(following, name) for name in ("joint", "pronoun", "break", "order")):
        return False  # "i am a dog person"
    own, being = known.lists.get("elided_subject", ()), known.lists.get("being", ())
    said = any(one in own and two in being for one, two in pairwise(opening))
    return said or (start == 1 and opening[0] in known.lists.get("one", ()))


def today(known: Lexicon, sentence: str, span: Span) -> bool:
    """Whether what stands at a place of a sentence is said of today alone."""
    if "today" not in known.lists:
        return False
    words = known.words_of(sentence)
    if known.has(words, "as_ever"):
        return False  # "i'm off to judo tonight like every friday"
    first, last = _places(words, span)
    since = {place + size for place, size in known.places(words, "since_today")}
    return any(
        first - CLOSE <= place < last and place + size not in since for place, size in known.places(words, "today")
    )


def opinion(spoken: LanguageResources, sentence: str, span: Span) -> bool:
    """Whether a statement is about a thing and not about its speaker: "olives are gross"."""
    first = spoken.templates.words_of(sentence[span[0] : span[1]]).folded[:1]
    return not any(first and first[0] in spoken.templates.opening(name) for name in ("elided_subject", "first_my"))


def bounds(words: Tokens, until: int) -> Span:
    """From where to where the first ``until`` words of a clause reach."""
    spans = words.spans[:until] or words.spans
    return min(start for start, _ in spans), max(end for _, end in spans)


def behind(words: Tokens, end: int) -> Tokens:
    """What stands behind a place of the text."""
    return words.part(sum(start < end for start, _ in words.spans), len(words.folded))


def offsets(sentence: str, parts: Sequence[str]) -> Iterator[int]:
    """Where each part of a sentence begins in it."""
    place = 0
    for part in parts:
        place = sentence.find(part, place)
        yield place
        place += len(part)


def things_listed(known: Lexicon, value: Tokens) -> Iterator[Tokens]:
    """The things of a list, one by one: "nuts, eggs and milk"; "a safe, quiet place" is one."""
    first = 0
    joints = set(known.lists.get("listing", ()))
    for place, word in enumerate(value.folded):
        comma = place > first and "," in value.text[value.spans[place - 1][1] : value.spans[place][0]]
        comma = comma and not (place > 1 and value.folded[place - 2] in known.lists.get("article", ()))
        if place > first and (word in joints or comma):
            yield value.part(first, place)
            first = place + (word in joints)
    if first < len(value.folded):
        yield value.part(first, len(value.folded))


def cut_off(known: Lexicon, value: str) -> bool:
    """Whether a value needs the noun behind the comma: "a safe, inviting place"."""
    words = known.words_of(value).folded
    return len(words) > 1 and words[-2] in known.lists.get("article", ())
