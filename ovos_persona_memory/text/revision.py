"""Corrections and retractions of earlier statements: pure functions over texts of any language.

A correction is aligned with the statement as two strings of words (Wagner and Fischer 1974, The String-to-String
Correction Problem): it replaces the stretch of the statement with the lowest cost. Words of one kind, two weekdays or
two numbers, are nearly alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ovos_persona_memory.text import languages
from ovos_persona_memory.text.forget_requests import forget_clause
from ovos_persona_memory.text.index_terms import fold, pieces, plain
from ovos_persona_memory.text.languages import Language

LIST = "memory_words.list"
KINDS = ("weekdays.list", "months.list", "numbers.list", "relative_days.list", "time_words.list")
SAME_KIND = 0.35
"""Cost of replacing a word by another of its kind; 1 for words of no common kind."""
WORTH = 0.75
"""A stretch matches a correction if aligning them costs <= this for each word."""
REQUESTS = ("forget", "erase", "drop")
"""Lines of the language's list with what asks for something to be deleted."""
ASKING = (*REQUESTS, "that", "with")
"""These, and the lines with words that name nothing."""
LEADING = 3
"""Words, at most, before an "it is" that add nothing to the correction."""
BEHIND_VERB = 5
"""A correction that shares no word with the statement replaces what follows the verb, if it has at most this many
words."""
RETRACTING = 2
"""Words that a negation and an earlier statement must share, where no word says that a plan is off."""


@dataclass(frozen=True)
class Correction:
    """The corrected part of a statement."""

    text: str
    is_plain: bool = True
    """Whether more than a "no" introduces it: "that's wrong", "it is"."""
    may_deny: bool = False
    """Whether its "no" may be the "not" of a new sentence: "no me gusta el pescado"."""


@dataclass(frozen=True)
class Revision:
    """A corrected statement."""

    text: str
    cost: float
    """Cost of the alignment for each word of the correction; less is better."""
    shared: int
    """Content words that the statement and the correction share."""
    is_sentence: bool = False
    """Whether the correction names its subject, rather than continuing the last statement: "on friday"."""


@lru_cache(maxsize=64)
def _phrases(tag: str, name: str) -> tuple[tuple[str, ...], ...]:
    """The phrases of one line of the language's list, folded, the longest first."""
    lines = (right for left, right in languages.for_language(tag).pairs(LIST) if left == name)
    found = {tuple(fold(one)) for line in lines for one in line.split(",")}
    return tuple(sorted(found, key=len, reverse=True))


@lru_cache(maxsize=64)
def value_kinds(tag: str) -> dict[str, str]:
    """Folded words of the lists of days, months, numbers and times, each with the name of its kind."""
    spoken = languages.for_language(tag)
    found: dict[str, str] = {}
    for name in reversed(KINDS):
        for line in spoken.phrases(name):
            for one in line.partition(":")[0].replace("/", ",").split(","):
                found.update(dict.fromkeys(fold(one), name))
    return {word: kind for word, kind in found.items() if word not in spoken.stop_words}


# corrections


def correction_in(text: str, spoken: Language) -> Correction | None:
    """The correction behind a phrase that says that something was wrong: "no hang on it's tuesday"; else None.

    None too where nothing follows the phrase. A request to forget at its end is no part of it.
    """
    request = forget_clause(text, spoken)
    text = request.before if request is not None else text
    tokens = text.split()
    words = [(word, place) for place, token in enumerate(tokens) for word in fold(token)]
    low = [word for word, _ in words]
    end = 0
    while (length := _lead(low[end:], spoken, end == 0)) > 0:
        end += length
    if not end or end >= len(low) or _calls_off(low, spoken) or spoken.is_question(text):
        return None
    rest = " ".join(tokens[words[end][1] :]).strip(" ,.;:!-")
    right = _without_it_is(rest, spoken)
    said = tuple(low[:end])
    noes = {tuple(fold(line)) for line in spoken.phrases("contradiction.voc")}
    return Correction(right, said not in noes or right != rest, said in _phrases(spoken.tag, "not")) if right else None


def _lead(words: Sequence[str], spoken: Language, is_first: bool) -> int:
    """How many words at the beginning say that something was wrong, filler words before them included.

    Before a "no" stand only words of courtesy: it may be the "not" of a sentence.
    """
    noes = {tuple(fold(line)) for line in spoken.phrases("contradiction.voc")}
    small, polite = _small(spoken.tag), _polite(spoken.tag)
    subjects = {word for phrase in _phrases(spoken.tag, "self") for word in phrase}
    is_polite = True
    for start in range(len(words)):
        found = next(
            (one for one in _phrases(spoken.tag, "wrong") if tuple(words[start : start + len(one)]) == one), ()
        )
        if found and found[0] in spoken.swaps and not (start and words[start - 1] in subjects):
            found = ()  # "ich meine" says that something was wrong, "meine Katze" does not
        if found and (is_polite or found not in noes):
            return start + len(found)
        is_polite = is_polite and words[start] in polite
        if words[start] not in small or (not is_first and start > 1):
            return 0
    return 0


@lru_cache(maxsize=64)
def _polite(tag: str) -> frozenset[str]:
    """Single words that may open any utterance without a meaning, and that open no longer phrase."""
    spoken = languages.for_language(tag)
    lines = [fold(line) for name in ("polite_start.voc", "fillers.voc") for line in spoken.lines(name)]
    return frozenset(line[0] for line in lines if len(line) == 1)


@lru_cache(maxsize=64)
def _small(tag: str) -> frozenset[str]:
    named = {word for name in ("with", "that") for phrase in _phrases(tag, name) for word in phrase}
    return _stop(tag) | named


def _without_it_is(text: str, spoken: Language) -> str:
    """The text without "it is" and its like before it."""
    bare = text
    leads = sorted((fold(line) for line in spoken.phrases("it_is.voc")), key=len, reverse=True)
    while (left := _cut(bare, leads)) != bare:
        bare = left
    words = text.split()
    if bare == text:  # "again it's in the car"
        later = (" ".join(words[n:]) for n in range(1, min(LEADING, len(words) - 1)))
        return next((cut for one in later if (cut := _cut(one, leads)) != one), bare)
    return bare


def _cut(text: str, leads: Iterable[list[str]]) -> str:
    tokens = text.split()
    words = [(word, place) for place, token in enumerate(tokens) for word in fold(token)]
    for lead in leads:
        if lead and [word for word, _ in words[: len(lead)]] == lead and len(words) > len(lead):
            return " ".join(tokens[words[len(lead)][1] :])
    return text


def revised(statement: str, right: Correction, spoken: Language) -> Revision | None:
    """The statement with the correction in it; None where the two share nothing, or the statement says so already.

    "The bins go out on Tuesday" and "on Wednesday" give "The bins go out on Wednesday".
    """
    old = spoken.without_lead(statement).split()
    said = right.text.split()
    swapped = _swapped(old, said, spoken)
    if swapped is not None:
        return Revision(swapped, 0.0, len(_content(statement, spoken) & _content(right.text, spoken)), True)
    new = _without_pronoun(_without_wrong(said, old, spoken), old, spoken)
    if not old or not new or (right.may_deny and (_denies_itself(new, old, spoken) or _denied(statement, right))):
        return None
    shared = len(_content(statement, spoken) & _content(" ".join(new), spoken))
    if _is_sentence(new, spoken) and not shared:
        return None
    text, cost = _laid_in(old, new, spoken, right.is_plain, shared)
    return (
        None
        if text is None or fold(text) == fold(" ".join(old))
        else Revision(text, cost, shared, _names_its_own(new, spoken))
    )


def _without_pronoun(new: list[str], old: Sequence[str], spoken: Language) -> list[str]:
    """The correction without a pronoun for its subject: "er wohnt in Augsburg", "es wird am Freitag geholt"."""
    if len(new) < 2 or _one(new[0]) in map(_one, old):
        return new
    first, is_said = (_one(new[0]),), _one(new[1]) in map(_one, old)
    is_person = first in _phrases(spoken.tag, "self")
    return new[1:] if is_person or (is_said and first in _phrases(spoken.tag, "that")) else new


def _swapped(old: Sequence[str], said: Sequence[str], spoken: Language) -> str | None:
    """The statement with one value replaced by another, where the correction names both: "not to Venice but to
    Porto"."""
    but = {word for phrase in _phrases(spoken.tag, "but") for word in phrase}
    place = next((n for n in range(len(said)) if _is_not(said, n, spoken)), None)
    turn = next((n for n, word in enumerate(said) if place is not None and n > place + 1 and _one(word) in but), None)
    if place is None or turn is None or turn + 1 >= len(said):
        return None
    wrong, low = [_one(word) for word in said[place + 1 : turn]], [_one(word) for word in old]
    at = next((n for n in range(len(low) - len(wrong) + 1) if low[n : n + len(wrong)] == wrong), None)
    return None if at is None else " ".join([*old[:at], *said[turn + 1 :], *old[at + len(wrong) :]])


def _laid_in(
    old: Sequence[str], new: Sequence[str], spoken: Language, is_plain: bool, shared: int
) -> tuple[str | None, float]:
    """The statement with the correction in place of the stretch with the lowest cost, else of what follows the verb."""
    cost, start, end = min(_windows(old, new, spoken), default=(9.0, 0, 0))
    if cost <= WORTH and not _content(" ".join(new), spoken) & _content(" ".join([*old[:start], *old[end:]]), spoken):
        return " ".join([*old[:start], *new, *old[end:]]), cost
    verb = _verb(old, spoken)
    if verb is None or shared or not is_plain or len(new) > BEHIND_VERB:
        return (" ".join(new) if shared >= RETRACTING and _is_sentence(new, spoken) else None), 1.0
    return " ".join([*old[: verb + 1], *new]), 1.0


def _denied(statement: str, right: Correction) -> bool:
    """Whether the "no" as a "not" denies the end of the statement: "no vamos a salamanca vamos a cáceres"."""
    old, new = fold(statement), fold(right.text)
    ends = (old[-size:] for size in range(2, min(len(old), len(new)) + 1))
    return any(new[: len(end)] == end for end in ends)


def _denies_itself(new: Sequence[str], old: Sequence[str], spoken: Language) -> bool:
    """Whether the word behind a "no" begins a new denied sentence: it is no filler word and not in the statement."""
    first = _one(new[0])
    joined = {word for phrase in _phrases(spoken.tag, "clitics") for word in phrase}
    articles = {word for phrase in _phrases(spoken.tag, "that") for word in phrase}
    if first in joined and first not in articles:
        return True
    known = {_one(word) for word in old}
    return first not in known and first not in spoken.stop_words and first not in value_kinds(spoken.tag)


def _windows(old: Sequence[str], new: Sequence[str], spoken: Language) -> Iterable[tuple[float, int, int]]:
    """Each stretch of the statement that may be replaced: cost of the alignment, begin and end."""
    kinds, size = value_kinds(spoken.tag), len(new)
    left, right = [_one(word) for word in old], [_one(word) for word in new]
    for start in range(len(old)):
        for end in range(start + 1, min(start + size + 2, len(old)) + 1):
            if not _alike(left[start:end], right, kinds, spoken) or _cuts(left, end, right, spoken):
                continue
            of_size = 0.02 * abs(end - start - size) - 0.001 * start  # of equal costs the later stretch of this length
            yield _distance(left[start:end], right, kinds) / size + of_size, start, end


def _cuts(left: Sequence[str], end: int, right: Sequence[str], spoken: Language) -> bool:
    """Whether a stretch ends inside a name of several words that the correction replaces: "in the kitchen | drawer"."""
    if end >= len(left) or left[end - 1] == right[-1]:
        return False
    return _names(left[end], spoken) and not {left[end - 1], left[end]} & value_kinds(spoken.tag).keys()


def _alike(left: Sequence[str], right: Sequence[str], kinds: dict[str, str], spoken: Language) -> bool:
    """Whether a stretch begins or ends with a word that is the same in both, or of the same kind."""
    pairs = ((left[0], right[0]), (left[-1], right[-1]))
    same = set(left) & set(right) - _stop(spoken.tag)
    return bool(same) or any(one == other or (one in kinds and kinds[one] == kinds.get(other)) for one, other in pairs)


def _distance(left: Sequence[str], right: Sequence[str], kinds: dict[str, str]) -> float:
    row = [float(n) for n in range(len(right) + 1)]
    for one in left:
        before, row[0] = row[0], row[0] + 1
        for place, other in enumerate(right, 1):
            same_kind = one in kinds and kinds[one] == kinds.get(other)
            change = 0.0 if one == other else SAME_KIND if same_kind else 1.0
            before, row[place] = row[place], min(before + change, row[place] + 1, row[place - 1] + 1)
    return row[-1]


def _one(token: str) -> str:
    return " ".join(fold(token))


def _content(text: str, spoken: Language) -> set[str]:
    """The content words of a text, stemmed, without days, numbers and times."""
    kinds = value_kinds(spoken.tag)
    bare = [word for word in spoken.bare_words(text) if word not in kinds and word not in spoken.stop_words]
    return {stem for word in bare for stem in spoken.words(word)}


def _verb(words: Sequence[str], spoken: Language) -> int | None:
    """The position of the first verb that has a subject; None where there is none."""
    verbs = {tuple(fold(line)) for line in spoken.phrases("is_words.voc")}
    return next((place for place, word in enumerate(words[:-1]) if place and tuple(fold(word)) in verbs), None)


def _is_sentence(words: Sequence[str], spoken: Language) -> bool:
    """Whether the words hold a verb with a noun before it: "the meeting is on friday", not "on friday"."""
    verb = _verb(words, spoken)
    return verb is not None and bool(_content(" ".join(words[:verb]), spoken) - spoken.stop_words)


def _names_its_own(new: Sequence[str], spoken: Language) -> bool:
    """Whether the words are a sentence, or begin with a noun."""
    first = fold(new[0])[:1]
    begins = bool(first) and first[0] not in _stop(spoken.tag) and first[0] not in value_kinds(spoken.tag)
    return _is_sentence(new, spoken) or (begins and len(new) > 1)


def _without_wrong(new: list[str], old: Sequence[str], spoken: Language) -> list[str]:
    """The correction without the value that it names as wrong: "allergic to eggs not soy", "not on monday but on
    friday"."""
    known = _content(" ".join(old), spoken) | _typed(old, spoken)
    but = {word for phrase in _phrases(spoken.tag, "but") for word in phrase}
    nots = [place for place in range(len(new)) if _is_not(new, place, spoken)]
    for place in reversed(nots):
        behind = new[place + 1 :]
        turn = next((n for n, word in enumerate(behind) if _one(word) in but), None)
        if turn is not None:
            return [*new[:place], *behind[turn + 1 :]]
        names = _content(" ".join(behind), spoken) | _typed(behind, spoken)
        if place and names and names <= known:
            return new[:place]
        if place and not behind:  # "al marisco no"
            first = place
            while first and (_content(new[first - 1], spoken) | _typed([new[first - 1]], spoken)) <= known:
                first -= 1
            if 0 < first < place:
                return new[:first]
    return new


def _typed(words: Sequence[str], spoken: Language) -> set[str]:
    kinds = value_kinds(spoken.tag)
    return {one for word in words if (one := _one(word)) in kinds}


def _is_not(words: Sequence[str], place: int, spoken: Language) -> bool:
    return any((one,) == (_one(words[place]),) for one, *more in _phrases(spoken.tag, "not") if not more)


# retractions


@dataclass(frozen=True)
class Retraction:
    """An earlier statement that a new one ends."""

    words: tuple[frozenset[str], ...]
    """Content words that the earlier statement must all hold, each in every form; empty: the last thing spoken of."""


def retraction_in(text: str, spoken: Language) -> Retraction | None:
    """The retraction in a statement that calls off, postpones or denies something: "the meeting is cancelled"; else
    None."""
    low, kinds = fold(text), value_kinds(spoken.tag)
    off = next((one for one in _phrases(spoken.tag, "over") if _place(low, one) is not None), None)
    if off is None and any(word in kinds for word in low):
        off = next((one for one in _phrases(spoken.tag, "moved") if _place(low, one) is not None), None)
    if off is not None:
        left = [word for word in low if word not in off and _names(word, spoken) and word not in _small(spoken.tag)]
        return _retraction([word for word in left if word not in kinds], spoken)
    place = next((n for n, word in enumerate(low) if (word,) in _phrases(spoken.tag, "not")), None)
    if place is None:
        return None
    verb = place - 1 if low[place] == "t" else place  # "don't" is two words here
    subjects = {word for phrase in _phrases(spoken.tag, "self") for word in phrase}
    end = next((n for n in range(place + 1, len(low)) if low[n] in subjects), len(low))
    before = [word for word in low[:verb] if _names(word, spoken)][-1:]
    behind = [word for word in low[place + 1 : end] if _names(word, spoken)][: 1 if before else RETRACTING]
    words = [*before, *behind]
    return _retraction(words, spoken) if len(words) >= RETRACTING and not all(one in kinds for one in words) else None


def subject_of(text: str, spoken: Language) -> tuple[frozenset[str], ...]:
    """The content words of a text without days, numbers and times, each in every form."""
    kinds = value_kinds(spoken.tag)
    left = [word for word in fold(text) if _names(word, spoken) and word not in kinds]
    return _retraction([word for word in left if word not in _small(spoken.tag)], spoken).words


def _names(word: str, spoken: Language) -> bool:
    return len(word) > 1 and word not in _stop(spoken.tag) and (word,) not in _phrases(spoken.tag, "not")


@lru_cache(maxsize=64)
def _stop(tag: str) -> frozenset[str]:
    return frozenset(word for one in languages.for_language(tag).stop_words for word in fold(one))


def _retraction(words: Sequence[str], spoken: Language) -> Retraction:
    return Retraction(tuple(languages.forms(word, spoken, languages.known()) for word in dict.fromkeys(words)))


def _calls_off(low: Sequence[str], spoken: Language) -> bool:
    return any(_place(low, one) is not None for one in _phrases(spoken.tag, "over"))


def denies(text: str, spoken: Language) -> bool:
    """Whether a statement says that something is not so, or is off."""
    low = fold(text)
    return any(_place(low, one) is not None for name in ("over", "not") for one in _phrases(spoken.tag, name))


DENIED = 4
"""Words behind a "not" at most that it denies."""


def moved_at(text: str, spoken: Language) -> int | None:
    """Which folded word of a statement says that something is off, or at another time; None where none does."""
    low = fold(text)
    places = (_place(low, one) for name in ("over", "moved") for one in _phrases(spoken.tag, name))
    return min((place for place in places if place is not None), default=None)


def denied_in(text: str, spoken: Language) -> frozenset[str]:
    """The folded words of a statement that name what is not so: thursday of "they can't do thursday"."""
    low = fold(text)
    places = [n for n, word in enumerate(low) if (word,) in _phrases(spoken.tag, "not")]
    behind = (word for place in places for word in low[place + 1 : place + 1 + DENIED])
    return frozenset(word for word in behind if _names(word, spoken))


def asks_to_delete(text: str, spoken: Language) -> tuple[frozenset[str], ...]:
    """What a text asks to have forgotten, each word in every form; empty where it asks for nothing that it names."""
    low = fold(text)
    is_off = denies(text, spoken) or any(_place(low, one) is not None for one in _phrases(spoken.tag, "never"))
    if is_off or not any(_place(low, one) is not None for one in _requests(spoken.tag)):
        return ()
    if any(paired for _, paired in pieces(plain(text))):
        return _retraction(_named_in_pairs(text, spoken), spoken).words
    asking = {word for name in ASKING for one in _phrases(spoken.tag, name) for word in one}
    return _retraction([word for word in low if word not in asking and _names(word, spoken)], spoken).words


def _named_in_pairs(text: str, spoken: Language) -> list[str]:
    """What is named beside the words of a request, where a script has no blanks, or glues endings to its words.

    The words of the request are cut out as they stand: a bigram across their edge would be of neither.
    """
    rest = plain(text)
    for wording in _wordings(spoken.tag):
        rest = rest.replace(wording, " ")
    return [word for word in spoken.bare_words(rest) if word not in _stop(spoken.tag)] if rest.strip() else []


@lru_cache(maxsize=64)
def _wordings(tag: str) -> tuple[str, ...]:
    """The words of requests of a language as they are written, the longest first."""
    lines = (right for left, right in languages.for_language(tag).pairs(LIST) if left in ASKING)
    found = {plain(one.strip()) for line in lines for one in line.split(",")}
    return tuple(sorted(found, key=lambda one: (-len(one), one)))


@lru_cache(maxsize=64)
def _requests(tag: str) -> tuple[tuple[str, ...], ...]:
    return tuple(one for name in REQUESTS for one in _phrases(tag, name))


def _place(words: Sequence[str], phrase: tuple[str, ...]) -> int | None:
    size = len(phrase)
    return next((n for n in range(len(words) - size + 1) if tuple(words[n : n + size]) == phrase), None)
