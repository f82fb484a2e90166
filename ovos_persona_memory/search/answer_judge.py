"""Which of the best hits answer a question, as a trained judge sees it beside what their words tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice
from types import MappingProxyType
from typing import Protocol

from ovos_persona_memory.records import HOUSEHOLD, Hit
from ovos_persona_memory.search import several_answers
from ovos_persona_memory.search.hits import is_of_speaker
from ovos_persona_memory.search.newest import numbers_in, replaced_by
from ovos_persona_memory.search.ownership import PRO_DROP, Ownership, possession
from ovos_persona_memory.search.query import Question, first_name, named_speakers
from ovos_persona_memory.search.recall import CALLED_OFF, SHORT_QUESTION, TIER, asks_of_asker, tells_of_another
from ovos_persona_memory.search.several_answers import NO_DAY, AskedDay
from ovos_persona_memory.text import holds_question_word, languages

JUDGED, LEAD, MARGIN, BIAS = 0.56, 0.94, 0.60, -0.62
"""The weights of what tells whether a hit answers: the logit of what the judge says, how far its score is above those
of the others, and how far that logit is (``training/fit_answers.py``)."""
ANSWERS_FROM = 0.85
"""A hit answers with such a probability, >=. Of what is less likely it is said that it is not sure: who is told
otherwise is misled."""
AGREED_FROM = 0.6
"""What answers by its words, too, does so with such a probability, >=."""
MAY_ANSWER_FROM, MAY_ANSWER_JUDGED = 0.6, 0.85
"""What does not answer surely enough may with such a probability, >=, if the judge itself gives as much as the second:
of what the judge gave less three in four were no answers (40 questions of 24 weeks, 2026-11-30)."""
DOUBTED_BELOW = 0.5
"""What the judge itself gives a lower probability does not answer, however far it is above the others."""
SURE_FROM = 0.95
"""What answers by the judge alone is sure, so that a persona is handed it unasked, with such a probability, >=; and of
several that are about as good one answers, as likely as that, where the surest alone would."""
REFUSED_BELOW = 0.1
"""What is surely known is refused with a lower probability than this; what calls off what is asked for never is."""
NEARLY, POSSIBLE = 0.7, 0.3
"""Where one answers, so do those that the judge finds about as good: its probability is >= this share of what it gives
the surest, and >= this."""
ELLIPTIC = 2
"""A remark of so many content words at most may leave out what it is about."""
LEAD_MOST = 0.5
"""A remark leads by this at most: where little is known, others are far behind whatever is asked."""
LEAST = 1e-4
"""The judge is taken to be no surer than this, either way."""
MARGIN_MOST, MARGIN_ALONE = 4.0, 2.0
"""A logit is at most so far from that of another hit, either way; and so far where there is no other."""


LATER_FROM, LATER_AMONG = 0.5, 4
"""What was said later goes on about a remark if that would answer it with such a probability, >=, were it a question:
so the judge finds what changes a remark in households in 95 of 100 pairs before what does not (680 pairs of 180
households, 2026-12-01). So many are looked at, most."""


@dataclass(frozen=True)
class Breadth:
    """How many answers a question wants, and so how many hits are judged."""

    among: int
    """Best hits among which those are looked for that may answer at all."""
    at_most: int
    """Of these, the first so many are judged."""
    several: bool = False
    """Whether it asks for several things."""
    perhaps: bool = False
    """Whether it does where several are known."""


ONE = Breadth(10, 5)
PERHAPS = Breadth(20, 10, perhaps=True)
SEVERAL = Breadth(40, 20, several=True)
"""For "who cannot eat what", and for "how many", where what was told bit by bit counts together."""


def breadth_of(question: Question, judge: AnswerJudge) -> Breadth:
    """How many answers a question wants."""
    if question.spoken.asks_how_many(question.text) or judge.asks_several(question.text, question.lang):
        return SEVERAL
    return PERHAPS if judge.may_ask_several(question.text, question.lang) else ONE


@dataclass(frozen=True)
class _Seen:
    """What tells whether a hit answers."""

    share: float
    """The probability that it does, rather than the others."""
    judgement: float
    """That of the judge alone."""
    part: float | None
    """The probability that it is a part of the answer, where several things are asked for; None: one is."""
    is_part: bool
    """Whether it is told as one."""

    @property
    def confidence(self) -> float:
        """How likely it answers: where several do, none is less likely for the others."""
        return self.share if self.part is None else self.part


class AnswerJudge(Protocol):
    """Judges questions and remarks. Thread-safe."""

    def has_learned(self, text: str, lang: str | None) -> bool:
        """Whether it has learned the language of a text; in others its answers are not to be trusted."""
        ...

    def asks(self, text: str, lang: str | None) -> bool:
        """Whether a text is a question."""
        ...

    def looks_for(self, text: str, lang: str | None) -> bool:
        """Whether a text may look for something that was told: it asks for it, or wants it forgotten."""
        ...

    def asked_in(self, text: str, lang: str | None) -> str:
        """What a text asks behind a clause; the text itself where it asks as a whole, or nothing."""
        ...

    def to_forget(self, text: str, lang: str | None) -> str | None:
        """What a text wants forgotten, empty where it only points at it; None where it wants nothing forgotten."""
        ...

    def asks_several(self, text: str, lang: str | None) -> bool:
        """Whether a question asks for several things."""
        ...

    def asks_what_was_said(self, text: str, lang: str | None) -> bool:
        """Whether a text asks what somebody told the assistant."""
        ...

    def may_ask_several(self, text: str, lang: str | None) -> bool:
        """Whether it does where several are known."""
        ...

    def surely_asks(self, text: str, lang: str | None) -> bool:
        """Whether a text is certainly a question, so that nothing is lost where it is left out."""
        ...

    def answering(self, question: str, remarks: Sequence[tuple[str, str | None]]) -> Sequence[float]:
        """The probability that each remark answers the question; a remark with the name of who said it, None where that
        is who asks."""
        ...


def judged(
    hits: Sequence[Hit],
    question: Question,
    judge: AnswerJudge,
    certain: Collection[str] = (),
    before: Mapping[str, str] = MappingProxyType({}),
) -> list[Hit]:
    """The hits, those that answer first. What only asks, though nothing but a reader sees it, and what tells the
    assistant to do something, neither answers nor is sure.

    Of the best hits those answer that probably do, by what the judge says and by their scores, and those that the judge
    finds about as good as the surest; of these the newest comes first that is about the same. What answers almost
    surely is sure.

    ``certain``: the ids of turns that are facts, word by word, or called off what was asked for. They are found by
    what asks for just that, and facts are refused only where the judge hardly doubts that they do not answer.
    ``before``: by id, what a turn only goes on with, "he comes on friday": the two are judged as one, too.
    """
    hits = [hit if hit.id in certain else _unless_it_tells_nothing(hit, judge) for hit in hits]
    asked, is_wanted = (question.text, question.lang), judge.asks if question.by_persona else judge.looks_for
    if not hits or not judge.has_learned(*asked) or not is_wanted(*asked):
        return hits
    breadth = breadth_of(question, judge)
    found = looked_at(hits, question, judge, before, breadth)
    seen = _signs_seen(found, question, breadth)
    good = _about_as_good(seen)
    surest = max((seen[one].share for one in good), default=0.0)
    if (together := _together(found, good)) >= SURE_FROM:
        surest = together
    of_good = dict.fromkeys(good, surest)
    decided = [_decided(hit, seen.get(_key(hit)), of_good.get(_key(hit), 0.0), hit.id in certain) for hit in hits]
    best = [hit for hit in decided if _key(hit) in good]
    others = [hit for hit in decided if _key(hit) not in good]
    if all(one.part is None for one in seen.values()):
        _sort_newest_first(best, seen, question, hits)
        best, others = _with_later(best, others, decided[: breadth.among], judge)
    else:  # the surest first, as all of them are asked for, and what may be one of them before the rest
        for some in (best, others):
            some.sort(key=lambda hit: -seen[_key(hit)].confidence if _key(hit) in seen else 0.0)
    return [*best, *(hit for hit in others if hit.answers), *(hit for hit in others if not hit.answers)]


def _with_later(
    best: list[Hit], others: list[Hit], among: Sequence[Hit], judge: AnswerJudge
) -> tuple[list[Hit], list[Hit]]:
    """The same with what was said later of the best, and may have changed it, before that: "i gave sully his money"
    after "i owe sully forty bucks"."""
    told = next((hit for hit in best if hit.answers or hit.may_answer), None)
    if told is None:
        return best, others
    later = (hit for hit in among if hit.at > told.at and _may_go_on(hit, told, judge))
    shares = {
        one: judge.answering(languages.beginning(one.text), [(told.text, said_by(told, one.speaker))])[0]
        for one in islice(later, LATER_AMONG)
    }
    likeliest = max(shares, key=lambda one: shares[one], default=None)
    if likeliest is None or shares[likeliest] < LATER_FROM:
        return best, others
    first = replace(
        likeliest,
        answers=told.answers,
        may_answer=told.may_answer,
        sure=told.sure,
        confidence=told.confidence,
        goes_on=True,
        reason="was said later of what answers",
    )
    best, others = ([hit for hit in some if _key(hit) not in (_key(told), _key(first))] for some in (best, others))
    return [first, told, *best], others


def _may_go_on(hit: Hit, told: Hit, judge: AnswerJudge) -> bool:
    """Whether a person states something in a hit that shares a content word with what is told, and is not the same."""
    if hit.role != "user" or hit.outdated or hit.secret or (hit.kind == "turn" and _only_asks(hit, judge)):
        return False
    terms, of_told = set(_terms(hit)), set(_terms(told))
    return not terms.isdisjoint(of_told) and not (terms <= of_told or of_told <= terms)


def _sort_newest_first(
    best: list[Hit], seen: Mapping[tuple[str, str], _Seen], question: Question, hits: Sequence[Hit]
) -> None:
    """Those first that are of whom it is asked about, then those about the same as the surest, the newest of them
    first."""
    ones = _those_asked_about(question, hits)
    subject = _subject(max(best, key=lambda hit: seen[_key(hit)].share, default=None), question)
    best.sort(key=lambda hit: (not ones(hit), _is_of_another_subject(hit, subject), -hit.at))


def _signs_seen(
    found: Sequence[tuple[Hit, float]], question: Question, breadth: Breadth
) -> dict[tuple[str, str], _Seen]:
    """Of each hit that was judged what tells whether it answers."""
    parts = several_answers.probabilities(found, question) if breadth.several or breadth.perhaps else []
    if breadth.perhaps and not several_answers.are_several(parts):
        found, parts = found[: ONE.at_most], []
    shares = probabilities(signs(found))
    told_from = several_answers.told_from(parts)
    if parts and told_from > 1.0:  # none is: each is as likely as it is the answer alone
        parts = [min(one) for one in zip(parts, shares, strict=True)]
    seen = {}
    for place, ((hit, judgement), likely) in enumerate(zip(found, shares, strict=True)):
        share = likely if judgement >= DOUBTED_BELOW else min(likely, judgement)
        part = parts[place] if parts else None
        seen[_key(hit)] = _Seen(share, judgement, part, part is not None and part >= told_from)
    return seen


def _is_what_is_asked(hit: Hit, question: Question) -> bool:
    """Whether it states, in the very words, what a question without a question word asks: "bram eats no nuts"."""
    if not hit.answers or holds_question_word(question.text, question.spoken):
        return False
    spoken = languages.for_text(hit.lang, hit.text)
    return set(spoken.content_words(spoken.without_lead(hit.text))) == set(question.content_words)


def _subject(surest: Hit | None, question: Question) -> set[str]:
    """Content words of what a newer answer must be about to come first: of the question, and of the surest answer."""
    return {*question.content_words, *(_terms(surest) if surest is not None else ())}


def _is_of_another_subject(hit: Hit, subject: set[str]) -> bool:
    """Whether a remark shares no content word with the subject; one of few, "now it's at ann's", may be of any."""
    terms = _terms(hit)
    return len(terms) > ELLIPTIC and subject.isdisjoint(terms)


def _terms(hit: Hit) -> list[str]:
    return languages.for_text(hit.lang, hit.text).content_words(hit.text)


def _key(hit: Hit) -> tuple[str, str]:
    return hit.kind, hit.id


def _about_as_good(seen: Mapping[tuple[str, str], _Seen]) -> set[tuple[str, str]]:
    """The surest that may answer, and those that the judge finds about as good; where all are wanted, all to which it
    gives enough."""
    if any(other.part is not None for other in seen.values()):
        return {one for one, other in seen.items() if other.is_part}
    surest = max(seen, key=lambda one: seen[one].share, default=None)
    if surest is None or seen[surest].share < MAY_ANSWER_FROM:
        return set()
    from_here = max(NEARLY * seen[surest].judgement, POSSIBLE)
    return {surest, *(one for one, other in seen.items() if other.judgement >= from_here)}


def _together(found: Sequence[tuple[Hit, float]], good: Set[tuple[str, str]]) -> float:
    """The probability that one of those about as good answers, the surest as if it stood alone: what was told twice is
    not less sure."""
    those = [one for one in found if _key(one[0]) in good]
    if len(those) < 2:
        return 0.0
    rest = [one for one in found if _key(one[0]) not in good]
    return probabilities(signs([max(those, key=lambda one: one[1]), *rest]))[0]


def looked_at(
    hits: Sequence[Hit],
    question: Question,
    judge: AnswerJudge,
    before: Mapping[str, str] = MappingProxyType({}),
    breadth: Breadth = ONE,
) -> list[tuple[Hit, float]]:
    """The best hits that may answer, as many as the breadth says, each with the judge's probability of it.

    Where several are asked for that are on a coming day, what names it comes first, and nothing that names another.
    """
    alike = {word: [f" {other} " for other in question.spoken.alike(word)] for word in question.content_words}
    ownership = Ownership(question.text, question.spoken, alike)
    among = hits[: breadth.among]
    asked_of = [hit for hit in among if not (question.asks_hearer and is_of_speaker(hit))]
    day = AskedDay.of(question) if breadth.several else NO_DAY
    asked_of = sorted((hit for hit in asked_of if not day.is_another(hit)), key=lambda hit: not day.is_named_in(hit))
    best = list(islice((hit for hit in asked_of if _may_answer(hit, question, ownership, judge)), breadth.at_most))
    # what took the place of an answer is one: "the fitter comes on thursday" after "the boiler fitter comes on monday"
    replaced = replaced_by(among, question.content_words)
    said = [[hit, *replaced.get(hit.id, ())] for hit in best]
    remarks = [(languages.beginning(one.text), said_by(one, question.asker)) for every in said for one in every]
    begun = [(hit, before[hit.id]) for hit in best if hit.id in before]
    parts = [(text, said_by(hit, question.asker)) for hit, first in begun for text in (first, f"{first} {hit.text}")]
    judged_as = iter(judge.answering(question.text, [*remarks, *parts]) if remarks else ())
    found = [(every[0], max([next(judged_as) for _ in every])) for every in said]
    as_one = {hit.id: (next(judged_as), next(judged_as)) for hit, _ in begun}
    # where the first alone answers, it is what is told
    joined = {one: both for one, (first, both) in as_one.items() if first < DOUBTED_BELOW}
    either = [(hit, max(judgement, joined.get(hit.id, 0.0))) for hit, judgement in found]
    return [(hit, 1.0 if _is_what_is_asked(hit, question) else judgement) for hit, judgement in either]


def said_by(hit: Hit, asker: str | None) -> str | None:
    """The name of who said it where several speak as one user; None where they ask, or nobody knows who asks."""
    return hit.speaker if _is_named(hit, asker) and hit.speaker != asker else None


def _is_named(hit: Hit, asker: str | None) -> bool:
    """Whether it is known who of several that speak as one user said it, and who of them asks."""
    return None not in (hit.speaker, asker) and hit.user_id == HOUSEHOLD


def _those_asked_about(question: Question, hits: Sequence[Hit]) -> Callable[[Hit], bool]:
    """Tells of a hit whether it may be about the person whom the question asks about: who asks, or the only speaker
    whom it names.

    Not what another said of themselves, and what names another speaker and not that person.
    """
    speakers = {name for hit in hits if hit.user_id == HOUSEHOLD and (name := first_name(hit.speaker))}
    named = set(named_speakers(question, speakers).values())
    person = next(iter(named)) if len(named) == 1 else None
    if not named and asks_of_asker(question):
        person = first_name(question.asker)

    def is_one(hit: Hit) -> bool:
        words = set(languages.fold(hit.text))
        if person is None or first_name(hit.speaker) == person or person in words:
            return person is not None
        return words.isdisjoint(speakers) and not _may_tell_of_teller(hit)

    return is_one


def _may_tell_of_teller(hit: Hit) -> bool:
    """Whether a remark may tell of whoever said it: it says "I", or its language drops the word."""
    spoken = languages.for_text(hit.lang, hit.text)
    words = possession(spoken.tag)
    own = (words.subjects | words.possessives) - words.shared
    return spoken.primary in PRO_DROP or not own.isdisjoint(languages.fold(hit.text))


def leads(hits: Sequence[Hit]) -> list[float]:
    """How far the score of each hit, without its tiers, is above the best of those that say something else,
    ``LEAD_MOST`` at most; below 0 where it is not, and 0 where there are none."""
    scores = [hit.score % TIER for hit in hits]
    best = (max((scores[other] for other in others), default=None) for others in _saying_else(hits))
    return [0.0 if one is None else min(score - one, LEAD_MOST) for score, one in zip(scores, best, strict=True)]


def signs(found: Sequence[tuple[Hit, float]]) -> list[tuple[float, float, float]]:
    """Of each hit that was looked at what tells whether it answers: the logit of the judge, how far its score is above
    the best of those that say something else, and how far that logit is."""
    bounded = [min(max(judgement, LEAST), 1.0 - LEAST) for _, judgement in found]
    logits, hits = [math.log(share / (1.0 - share)) for share in bounded], [hit for hit, _ in found]
    return list(zip(logits, leads(hits), _margins(logits, _saying_else(hits)), strict=True))


def _saying_else(hits: Sequence[Hit]) -> list[list[int]]:
    """Of each hit the places of those that do not say just the same: a fact says what the turn did that told it."""
    words = [frozenset(languages.fold(hit.text)) for hit in hits]
    return [[at for at, other in enumerate(words) if not (other <= own or own <= other)] for own in words]


def _margins(logits: Sequence[float], others: Sequence[Sequence[int]]) -> list[float]:
    """How far each is above the highest of these others, ``MARGIN_MOST`` at most, below 0 where it is not."""
    best = (max((logits[other] for other in some), default=None) for some in others)
    ahead = (MARGIN_ALONE if one is None else logit - one for logit, one in zip(logits, best, strict=True))
    return [min(max(one, -MARGIN_MOST), MARGIN_MOST) for one in ahead]


def probabilities(seen: Sequence[tuple[float, float, float]]) -> list[float]:
    """The probability that each hit answers, by its ``signs``."""
    sums = (JUDGED * logit + LEAD * lead + MARGIN * margin + BIAS for logit, lead, margin in seen)
    return [1.0 / (1.0 + math.exp(-one)) for one in sums]


def _decided(hit: Hit, seen: _Seen | None, surest: float, is_certain: bool) -> Hit:
    """A hit with how likely it answers, and whether that is enough; as it is where it was not judged.

    ``surest``: how likely the surest does, where it is about as good as that; else 0.
    """
    if seen is None:
        return hit
    share, confidence = max(seen.share, surest), round(max(seen.confidence, surest), 3)
    is_enough = share >= (AGREED_FROM if hit.answers else ANSWERS_FROM)
    if seen.is_part or (seen.part is None and is_enough):
        reason = hit.reason if hit.answers else f"answers what is asked ({confidence:.2f})"
        is_sure = hit.sure or seen.share >= SURE_FROM
        return replace(hit, answers=True, sure=is_sure, reason=reason, confidence=confidence, part=seen.is_part)
    is_kept = is_certain and (seen.share >= REFUSED_BELOW or hit.reason == CALLED_OFF)
    answers = hit.answers and (hit.kind != "turn" or is_kept)
    may_answer = not answers and confidence >= MAY_ANSWER_FROM and seen.judgement >= MAY_ANSWER_JUDGED
    return replace(hit, answers=answers, confidence=confidence, may_answer=may_answer)


def _unless_it_tells_nothing(hit: Hit, judge: AnswerJudge) -> Hit:
    """The hit; neither sure nor an answer where it only asks, or tells the assistant to do something."""
    if hit.kind != "turn" or hit.role != "user" or not hit.sure:
        return hit
    if hit.text.count(" ") >= SHORT_QUESTION:  # a longer one may ask and tell
        return hit
    is_command = languages.for_text(hit.lang, hit.text).is_command(hit.text)
    asks = judge.has_learned(hit.text, hit.lang) and _only_asks(hit, judge)
    return replace(hit, answers=False, sure=False) if is_command or asks else hit


def _only_asks(hit: Hit, judge: AnswerJudge) -> bool:
    """Whether a turn asks, be it behind a clause, or asks to have something forgotten."""
    asks = judge.surely_asks(hit.text, hit.lang) or judge.asked_in(hit.text, hit.lang) != hit.text
    return asks or judge.to_forget(hit.text, hit.lang) is not None


def _may_answer(hit: Hit, question: Question, ownership: Ownership, judge: AnswerJudge) -> bool:
    """Whether a person states something in it that holds, not of somebody else where the speaker is asked about.

    Where it is known who asks and who said it, the judge is told, and tells better than the words whose it is.
    """
    text, spoken = languages.beginning(hit.text), languages.for_text(hit.lang, hit.text)
    if hit.role != "user" or hit.outdated or hit.secret:
        return False
    if hit.kind == "turn" and judge.has_learned(hit.text, hit.lang):  # "put milk on the list" tells what is on it
        if _only_asks(hit, judge):
            return False
    elif spoken.only_asks(text) or spoken.is_command(text):
        return False
    if _has_only_other_numbers(hit, question):
        return False
    return _is_named(hit, question.asker) or not tells_of_another(hit, question, ownership)


def _has_only_other_numbers(hit: Hit, question: Question) -> bool:
    """Whether a remark names numbers, but not those that a question names: "who takes a forty five", "i take a forty".

    Not where a question has no question word: "is it still at two" is answered by "it starts at one now".
    """
    if not holds_question_word(question.text, question.spoken):
        return False
    asked = numbers_in(question.text, question.spoken)
    told = numbers_in(hit.text, languages.for_text(hit.lang, hit.text)) if asked else set()
    return bool(told) and not asked <= told
