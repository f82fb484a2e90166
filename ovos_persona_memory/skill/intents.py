"""Every intent of the skill with its handler, and the choice of the intent for an utterance."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from ovos_persona_memory.errors import PersonaMemoryError
from ovos_persona_memory.skill import ask, care, forget, guest_mode, open_questions, tell
from ovos_persona_memory.skill.acts import requested, says_forget
from ovos_persona_memory.skill.intent_matching import NOT, MatchedIntent, understood
from ovos_persona_memory.skill.phrasing import is_said
from ovos_persona_memory.skill.turn_context import TurnContext

TOPIC = 3
"""Content words at most of a topic that is taken for the memory's even where nothing is known about it."""
ROOMS: tuple[ModuleType, ...] = (tell, ask, forget, guest_mode, care, open_questions)
INTENTS: dict[str, tuple[Callable[[TurnContext], None], ModuleType]] = {
    name: (handler, room) for room in ROOMS for name, handler in room.INTENTS.items()
}
"""Name mapped to its handler, and to the module with the dialogs for its failure."""
HANDLERS = {**INTENTS, **{name: (handler, open_questions) for name, handler in open_questions.OPEN.items()}}
"""As ``INTENTS``, with those that are taken only where the memory has an answer."""


def meant(talk: TurnContext) -> MatchedIntent | None:
    """The intent of an utterance: by its wording, by its words alone, or as a correction; None where there is none."""
    found = (understood(form, talk.spoken, INTENTS) for form in talk.forms())
    worded = next((one for one in found if one), None)
    if worded is not None:
        return worded
    try:
        return _requested(talk) or tell.contradicted(talk) or open_questions.meant(talk)
    except PersonaMemoryError:  # the memory does not answer: another skill may
        return None


def _requested(talk: TurnContext) -> MatchedIntent | None:
    """A request in no listed wording; one that may address other skills only where something is known of its object."""
    asked = next((one for form in talk.forms() if (one := requested(form, talk.spoken))), None)
    if asked is None or asked.intent != "forget_about":
        return asked
    for_others = is_said(talk.spoken.phrases(f"{NOT['forget_about']}.voc"), talk.said.text)
    is_short = len(talk.spoken.bare_words(asked.slots["topic"])) <= TOPIC
    is_ours = is_short and not for_others and says_forget(talk.said.text, talk.spoken)
    return asked if is_ours or forget.is_known(talk, asked.slots["topic"]) else None
