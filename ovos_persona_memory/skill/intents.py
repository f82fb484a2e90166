"""Every intent of the skill with its handler, and the choice of the intent for an utterance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from ovos_persona_memory.errors import NoAnswer, PersonaMemoryError
from ovos_persona_memory.skill import ask, care, forget, guest_mode, open_questions, tell
from ovos_persona_memory.skill.acts import asks_to_forget_it, requested, says_forget
from ovos_persona_memory.skill.intent_matching import NOT, MatchedIntent, understood
from ovos_persona_memory.skill.phrasing import is_said
from ovos_persona_memory.skill.turn_context import TurnContext
from ovos_persona_memory.text import ForgetClause, fold, forget_clause, is_pointing

TOPIC = 3
"""Content words at most of a topic that is taken for the memory's even where nothing is known about it."""
WORDED = 3
"""Words at least of a listed wording that is a request whatever stands before it: "forget what i said about"."""
ROOMS: tuple[ModuleType, ...] = (tell, ask, forget, guest_mode, care, open_questions)
INTENTS: dict[str, tuple[Callable[[TurnContext], None], ModuleType]] = {
    name: (handler, room) for room in ROOMS for name, handler in room.INTENTS.items()
}
"""Name mapped to its handler, and to the module with the dialogs for its failure."""
HANDLERS = {**INTENTS, **{name: (handler, open_questions) for name, handler in open_questions.OPEN.items()}}
"""As ``INTENTS``, with those that are taken only where the memory has an answer."""


def meant(talk: TurnContext) -> MatchedIntent | None:
    """The intent of an utterance: by its wording, by its words alone, or as a correction; None where there is none."""
    return _meant(talk, requested_unseen)


def possibly_meant(talk: TurnContext) -> MatchedIntent | None:
    """As ``meant``; where the memory does not answer in time, what it may be is taken, too, for a patient look."""
    return _meant(talk, unseen)


def unseen(talk: TurnContext) -> MatchedIntent | None:
    """What is the memory's whatever it knows, by the words alone: a request to forget, or a question that is asked of
    nobody else."""
    return requested_unseen(talk) or _behind(talk) or open_questions.worded(talk)


def _meant(talk: TurnContext, by_words: Callable[[TurnContext], MatchedIntent | None]) -> MatchedIntent | None:
    found = (understood(form, talk.spoken, INTENTS) for form in talk.forms())
    worded = next((one for one in found if one), None)
    if worded is not None and worded.intent not in ("correct", "forget_that"):
        return worded
    try:
        clear = _requested_behind(talk) or worded  # "no that's wrong forget the number" corrects nothing
        if clear is not None:
            return _with_what_is_named(talk, clear)
        asked = _asked_to_keep(talk) or _wants_forgotten(talk) or _requested(talk)
        asked = asked or tell.contradicted(talk) or open_questions.meant(talk)
        return asked or _requested_of_what_was_told(talk)
    except NoAnswer:  # it is slow or away: what would have been looked up is found out, or said, later
        return worded or by_words(talk)
    except PersonaMemoryError:
        return worded


def _with_what_is_named(talk: TurnContext, found: MatchedIntent) -> MatchedIntent:
    """The same, or the request to forget what is named, where it only points, "that stuff about odette can you get rid
    of it", or names what is no part of that."""
    if found.intent not in ("forget_that", "forget_about"):
        return found
    try:
        wanted = _wants_forgotten(talk)
    except NoAnswer:
        return found
    if wanted is None or wanted.intent != "forget_about":
        return found
    topic = found.slots.get("topic")
    return found if topic and topic in wanted.slots["topic"] else wanted


@dataclass(frozen=True)
class _Behind:
    """A request to forget behind something else, "shoot", "no that's his old place", that is no part of it."""

    clause: ForgetClause
    asked: MatchedIntent
    is_worded: bool
    """Whether it stands in a listed wording."""


def _request_behind(talk: TurnContext) -> _Behind | None:
    clauses = (forget_clause(form, talk.spoken) for form in talk.forms())
    clause = next((one for one in clauses if one is not None and one.request != one.text), None)
    if clause is None:
        return None
    worded = understood(clause.request, talk.spoken, forget.INTENTS)
    asked = worded or requested(clause.request, talk.spoken)
    if asked is None or asked.intent not in forget.INTENTS:
        return None
    return _Behind(clause, asked, worded is not None)


def _behind(talk: TurnContext) -> MatchedIntent | None:
    """A request behind something else that may name what is known."""
    behind = _request_behind(talk)
    return behind.asked if behind is not None and says_forget(behind.clause.request, talk.spoken) else None


def _requested_behind(talk: TurnContext) -> MatchedIntent | None:
    """A request behind something else. As a verb may state something there, it is believed if it names what is known;
    else only behind an exclamation and in a listed wording, or where it names nothing.
    """
    behind = _request_behind(talk)
    if behind is None:
        return None
    clause, asked = behind.clause, behind.asked
    if asked.intent != "forget_about" or is_pointing(asked.slots["topic"], talk.spoken):
        return asked if clause.exclaims else None
    topic = asked.slots["topic"]
    is_spelled_out = behind.is_worded and len(fold(clause.request)) - len(fold(topic)) >= WORDED
    if clause.exclaims and is_spelled_out:
        return asked
    if not says_forget(clause.request, talk.spoken):  # other skills delete things, too
        return asked if not _is_for_others(talk) and forget.is_known(talk, topic) else None
    return asked if forget.is_meant(talk, topic) else None


def _requested_of_what_was_told(talk: TurnContext) -> MatchedIntent | None:
    """ "Forget it" right after something was told to the memory, or read from it.

    Anywhere else it cancels a request: a skill that waits for an answer is given it before this, and what another
    skill took was told to that one.
    """
    if not any(asks_to_forget_it(form, talk.spoken) for form in talk.forms()):
        return None
    known = talk.referents()
    if not (known.quoted or (known.told_last and not ask.was_taken_by_others(talk, known.told[0].id))):
        return None
    return MatchedIntent("forget_that")


def _is_for_others(talk: TurnContext) -> bool:
    """Whether it names what other skills delete: "the alarm"."""
    return is_said(talk.spoken.phrases(f"{NOT['forget_about']}.voc"), talk.said.text)


def _requested(talk: TurnContext) -> MatchedIntent | None:
    """A request in no listed wording; one that may address other skills only where something is known of its object."""
    asked = _in_other_words(talk)
    if asked is None or asked.intent != "forget_about":
        return asked
    is_to_memory = says_forget(talk.said.text, talk.spoken)
    if is_to_memory and _may_be_ours(talk, asked):
        return asked
    return asked if forget.is_known(talk, asked.slots["topic"], or_beginning=is_to_memory) else None


def _asked_to_keep(talk: TurnContext) -> MatchedIntent | None:
    """A request to keep what was said: near one to forget it."""
    asked = _in_other_words(talk)
    return asked if asked is not None and asked.intent == "remember_this" else None


def requested_unseen(talk: TurnContext) -> MatchedIntent | None:
    """As ``_requested``, where nobody can tell yet whether something is known of its object: a request that names
    nothing of another skill's is the memory's to answer."""
    asked = _in_other_words(talk)
    if asked is None or asked.intent != "forget_about":
        return asked
    is_to_memory = says_forget(talk.said.text, talk.spoken) and not _is_for_others(talk)  # however long its object
    return asked if is_to_memory or _may_be_ours(talk, asked) else None


def _wants_forgotten(talk: TurnContext) -> MatchedIntent | None:
    """A request to forget in words of its own, "nobody needs to know the thing with the ring so out with it", as the
    memory finds; what other skills may delete is theirs where nothing is known of it."""
    kind = talk.means.kinds.of(talk)
    topic = kind.to_forget
    if topic is None:
        return None
    is_for_others = _is_for_others(talk)  # "the alarm number i gave you" is the memory's where it knows of it
    if not topic or is_pointing(topic, talk.spoken):
        return MatchedIntent("forget_that") if talk.referents().meant and not is_for_others else None
    try:
        is_sure = kind.surely_to_forget or says_forget(talk.said.text, talk.spoken)
        is_ours = (is_sure and not is_for_others) or forget.is_meant(talk, topic)
    except NoAnswer:  # whoever takes it has time to look it up: nobody else is to be asked to forget
        is_ours = not is_for_others
    return MatchedIntent("forget_about", {"topic": topic}) if is_ours else None


def _in_other_words(talk: TurnContext) -> MatchedIntent | None:
    return next((one for form in talk.forms() if (one := requested(form, talk.spoken))), None)


def _may_be_ours(talk: TurnContext, asked: MatchedIntent) -> bool:
    is_short = len(talk.spoken.bare_words(asked.slots["topic"])) <= TOPIC
    return is_short and not _is_for_others(talk)
