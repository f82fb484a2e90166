"""Corrections and retractions of earlier statements: pure functions over texts of any language.

A correction is aligned with the statement as two strings of words (Wagner and Fischer 1974, The String-to-String
Correction Problem): it replaces the stretch of the statement with the lowest cost. Words of one kind, two weekdays or
two numbers, are nearly alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache

from ovos_persona_memory.text import languages, lexicon
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
DENIED = 0.5
"""What part of the denied words an earlier statement has at least, for what is denied to be that statement."""
ENDS = (",", ";", ".", ":")
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
    whole: str = field(default="", compare=False)
    """The utterance as it was said: a "not" in it, also the first word, may deny what is wrong."""
    only_denies: bool = False
    """Whether nothing else tells that it corrects: "we don't go to Venice, we go to Porto"."""


@dataclass(frozen=True)
class Revision:
    """A corrected statement."""

    text: str
    cost: float
    """Cost of the alignment for each word of the correction; less is better, and 1 is none at all."""
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
def _as_said(tag: str, name: str) -> frozenset[str]:
    """The words of one line of the language's list with their accents: in Spanish "él" is he, "el" an article."""
    lines = (right for left, right in languages.for_language(tag).pairs(LIST) if left == name)
    return frozenset(word.strip().casefold() for line in lines for word in line.split(","))


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
    may_deny = said in _phrases(spoken.tag, "not")
    return Correction(right, said not in noes or right != rest, may_deny, text) if right else None


def denial_in(text: str, spoken: Language) -> Correction | None:
    """A statement that may put another right by denying what that says: "we don't go to Venice, we go to Porto"; else
    None. Whether it does so, the other statement tells."""
    words = _said(text)
    places = [n for n in range(1, len(words) - 1) if _denies_at(words, n, spoken)]
    if not places and not (len(words) > 1 and _denies_at(words, 0, spoken)):
        return None
    if _calls_off([word.folded for word in words], spoken) or spoken.is_question(text):
        return None
    return Correction(text, False, True, text, True)


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
    exchanged = _exchanged(old, right.whole or right.text, spoken)
    if exchanged is not None:
        return Revision(exchanged, 0.0, len(_content(statement, spoken) & _content(right.text, spoken)), True)
    new, wrong = _without_wrong(right.text.split(), old, spoken)
    new = _without_pronoun(new, old, spoken)
    if not old or not new or (right.only_denies and not wrong):
        return None
    if right.may_deny and not right.only_denies and (_denies_itself(new, old, spoken) or _denied(statement, right)):
        return None
    shared = len(_content(statement, spoken) & _content(" ".join(new), spoken))
    if (right.only_denies or _is_sentence(new, spoken)) and not shared:
        return None
    stretches = _stretches(old, new, _places_of(wrong, old, spoken), spoken)
    text, cost = _laid_in(old, new, stretches, spoken, right.is_plain, shared)
    if text is None or fold(text) == fold(" ".join(old)):
        return None
    return Revision(text, cost, shared, right.only_denies or _names_its_own(new, spoken))


def _without_pronoun(new: list[str], old: Sequence[str], spoken: Language) -> list[str]:
    """The correction without a pronoun for its subject: "er wohnt in Augsburg", "es wird am Freitag geholt"."""
    if len(new) < 2 or _one(new[0]) in map(_one, old):
        return new
    first, is_said = (_one(new[0]),), _one(new[1]) in map(_one, old)
    is_person = first in _phrases(spoken.tag, "self")
    return new[1:] if is_person or (is_said and first in _phrases(spoken.tag, "that")) else new


@dataclass(frozen=True)
class _Word:
    """A folded word, and the number of the token in which it stands."""

    folded: str
    token: int


def _said(text: str | Sequence[str]) -> list[_Word]:
    tokens = text.split() if isinstance(text, str) else text
    return [_Word(word, place) for place, token in enumerate(tokens) for word in fold(token)]


def _denies_at(words: Sequence[_Word], place: int, spoken: Language) -> bool:
    """Whether a word is a "not"."""
    return (words[place].folded,) in _phrases(spoken.tag, "not")


def _exchanged(old: Sequence[str], text: str, spoken: Language) -> str | None:
    """The statement with one value in the place of another, where a text denies what it says, and goes on with what
    holds: "we don't go to Venice, we go to Porto", "not to Venice but to Porto"; None where it does not.

    What makes the right sentence of the denied one is done to the statement.
    """
    tokens, words = text.split(), _said(text)
    made = (_changed(old, denial, tokens, spoken) for denial in _denials(tokens, words, spoken))
    return next((one for one in made if one is not None), None)


def _denials(tokens: Sequence[str], words: Sequence[_Word], spoken: Language) -> Iterable[_Denial]:
    """Each way to read a text as a denied sentence with the right one behind it."""
    for place in (n for n in range(len(words)) if _denies_at(words, n, spoken)):
        for turn, joins in _turns(tokens, words, place, spoken):
            behind = [word for word in words[place + 1 : turn] if (word.folded,) not in _phrases(spoken.tag, "not")]
            befores = (words[:place], []) if joins else (words[:place],)
            yield from (_Denial([*before, *behind], words[turn + joins :], len(before)) for before in befores)


def _turns(tokens: Sequence[str], words: Sequence[_Word], place: int, spoken: Language) -> Iterable[tuple[int, int]]:
    """Where a text may turn from what it denies to what holds, and the words of the "but" there: behind a comma, at a
    subject, or where the clause begins anew with the word of before ("vamos a ... vamos a ...")."""
    low = [word.folded for word in words]
    begun = {begin for n in (0, place - 1, place + 1) if n >= 0 and (begin := _begin(words, n, spoken))}
    for turn in range(place + 2, len(words)):
        but = next((one for one in _phrases(spoken.tag, "but") if tuple(low[turn : turn + len(one)]) == one), ())
        if but or _begins_clause(tokens, words, turn, begun, spoken):
            yield turn, len(but)


def _begins_clause(
    tokens: Sequence[str], words: Sequence[_Word], turn: int, begun: Set[tuple[str, ...]], spoken: Language
) -> bool:
    """Whether a clause that denies nothing begins at a word. ``begun``: the beginnings of the clause before it."""
    word, before = words[turn], words[turn - 1]
    near = range(turn - 1, min(turn + 2, len(words)))
    if word.token == before.token or any(_denies_at(words, n, spoken) for n in near):
        return False
    said = tokens[word.token].strip(",;.:").casefold()
    again = {_begin(words, n, spoken) for n in range(turn, len(words)) if words[n].token == word.token}
    is_subject = said in _as_said(spoken.tag, "self")
    return tokens[before.token].endswith(ENDS) or is_subject or not begun.isdisjoint(again)


def _begin(words: Sequence[_Word], place: int, spoken: Language) -> tuple[str, ...]:
    """The words at a position by which a clause is known again: one, or two where the first is an article."""
    known = lexicon.for_language(spoken.tag)
    size = 2 if place < len(words) and known.has_word(("determiner",), words[place].folded) else 1
    return tuple(word.folded for word in words[place : place + size])


@dataclass(frozen=True)
class _Denial:
    """What a text denies, and what it says in place of that."""

    wrong: Sequence[_Word]
    right: Sequence[_Word]
    before: int
    """The denied words that stand before the "not"."""

    def changes(self, spoken: Language) -> list[tuple[Sequence[_Word], Sequence[_Word], bool]]:
        """What differs: the denied words, the right ones, and whether those stand before the "not"."""
        wrong, right = ([_stem(word.folded, spoken) for word in words] for words in (self.wrong, self.right))
        found = SequenceMatcher(None, wrong, right, autojunk=False).get_opcodes()
        return [(self.wrong[a:b], self.right[c:d], b <= self.before) for what, a, b, c, d in found if what == "replace"]


def _stem(word: str, spoken: Language) -> str:
    return next(iter(spoken.words(word)), word)


def _changed(old: Sequence[str], denial: _Denial, tokens: Sequence[str], spoken: Language) -> str | None:
    """The statement with what differs between the denied words and the right ones; None where the denied words are not
    those of the statement, or nothing of it changes.

    None too where the right ones are said of something else: "the dog is not here, the cat is there".
    """
    held = _said(old)
    known = {_stem(word.folded, spoken) for word in held}
    if not denial.right or sum(_stem(one.folded, spoken) in known for one in denial.wrong) < DENIED * len(denial.wrong):
        return None
    made, has_value = list(old), False
    for wrong, new, is_subject in denial.changes(spoken):
        if is_subject and all(_tells(" ".join(word.folded for word in words), spoken) for words in (wrong, new)):
            return None
        if is_subject:  # "tom ... he"
            continue
        span = _span(held, [word.folded for word in wrong])
        if span is not None and made[span[0] : span[1]] == list(old[span[0] : span[1]]):
            said = " ".join(tokens[new[0].token : new[-1].token + 1]).strip(" ,;.:")
            made[span[0] : span[1]] = [said, *[""] * (span[1] - span[0] - 1)]
            has_value = has_value or _tells(" ".join(word.folded for word in wrong), spoken)
    text = " ".join(one for one in made if one)
    return text if has_value and fold(text) != fold(" ".join(old)) else None


def _tells(text: str, spoken: Language) -> bool:
    """Whether a text has more than small words."""
    return bool(_content(text, spoken) - spoken.stop_words or _typed(text.split(), spoken))


def _span(held: Sequence[_Word], wrong: Sequence[str]) -> tuple[int, int] | None:
    """The tokens of a statement that are these words; None where it has them not, or as a part of a token alone."""
    for n in range(len(held) - len(wrong) + 1):
        last = n + len(wrong)
        cuts = (n and held[n - 1].token == held[n].token) or (
            last < len(held) and held[last].token == held[last - 1].token
        )
        if not cuts and [word.folded for word in held[n:last]] == list(wrong):
            return held[n].token, held[last - 1].token + 1
    return None


def _places_of(wrong: Sequence[str], old: Sequence[str], spoken: Language) -> range:
    """The stretch of the statement with what is named as wrong; empty where nothing is."""
    names = _content(" ".join(wrong), spoken) | _typed(wrong, spoken) if wrong else set()
    places = [n for n, word in enumerate(old) if (_content(word, spoken) | _typed([word], spoken)) & names]
    return range(places[0], places[-1] + 1) if places else range(0)


_Stretch = tuple[float, int, int]
"""The cost of an alignment, and the begin and end of the stretch."""


def _stretches(old: Sequence[str], new: Sequence[str], wrong: range, spoken: Language) -> list[_Stretch]:
    """The stretches that may be replaced: those that hold all that is named as wrong, else those that are much like
    the correction."""
    found = _windows(old, new, spoken)
    if not wrong:
        return [one for one in found if one[0] <= WORTH]
    return [one for one in found if one[1] <= wrong.start and wrong.stop <= one[2]]


def _laid_in(  # more than five: both texts, and what is known of the correction
    old: Sequence[str], new: Sequence[str], stretches: Sequence[_Stretch], spoken: Language, is_plain: bool, shared: int
) -> tuple[str | None, float]:
    """The statement with the correction in place of the stretch with the lowest cost, else of what follows the verb."""
    cost, start, end = min(stretches, default=(9.0, 0, 0))
    if stretches and not _content(" ".join(new), spoken) & _content(" ".join([*old[:start], *old[end:]]), spoken):
        return " ".join([*old[:start], *new, *old[end:]]), cost
    verb = _verb(old, spoken)
    if verb is not None and _typed(new, spoken) and not _typed(old[verb + 1 :], spoken):
        return None, 1.0  # "the weather is lovely": a day takes the place of a day, or of a time
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


def _windows(old: Sequence[str], new: Sequence[str], spoken: Language) -> Iterable[_Stretch]:
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


def _without_wrong(new: list[str], old: Sequence[str], spoken: Language) -> tuple[list[str], list[str]]:
    """The correction without the value that it names as wrong, and that: "allergic to eggs not soy"."""
    known = _content(" ".join(old), spoken) | _typed(old, spoken)
    nots = [place for place in range(len(new)) if _is_not(new, place, spoken)]
    for place in reversed(nots):
        behind = new[place + 1 :]
        names = _content(" ".join(behind), spoken) | _typed(behind, spoken) if behind else set()
        if place and names and names <= known:
            return new[:place], behind
        if place and not behind:  # "al marisco no"
            first = place
            while first and (_content(new[first - 1], spoken) | _typed([new[first - 1]], spoken)) <= known:
                first -= 1
            if 0 < first < place:
                return new[:first], new[first:place]
    return new, []


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


DENIED_BEHIND = 4
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
    behind = (word for place in places for word in low[place + 1 : place + 1 + DENIED_BEHIND])
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
