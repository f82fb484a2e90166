"""Handlers for carers: a user's questions, told to the carer; a child's requests to remember, put to an adult."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ovos_persona_memory.records import Fact, Scope
from ovos_persona_memory.skill.ask import asked_in, named_time, told_when
from ovos_persona_memory.skill.phrasing import agrees, own_words, speakable
from ovos_persona_memory.skill.session_state import SpokenItem
from ovos_persona_memory.skill.turn_context import QuestionEndings, TurnContext
from ovos_persona_memory.text import fold

# every dialog here that tells of somebody else begins with "asked_of" or "waiting": it is logged without its words


def asked_of(talk: TurnContext) -> None:
    """Read what somebody asked the assistant to that person's carer and to nobody else."""
    name = talk.slot("person")
    if set(fold(name)) <= _small_words(talk):  # "what did I ask you": no name of anybody
        told_when(talk)
        return
    whose = _meant(talk, name, talk.client.users.relatives().cares_for)
    if whose is None:
        talk.say("asked_of_refused")
    elif talk.is_overheard:
        talk.say("not_aloud")
    else:
        _read(talk, whose)


def _read(talk: TurnContext, whose: str) -> None:
    period, shown = named_time(talk), speakable(whose)
    items = [] if period is None else asked_in(talk, period, Scope(user_id=whose))
    if not items:
        talk.say("asked_of_nothing", name=shown)
        return
    talk.spoke_of([])  # the asker may neither correct nor forget these
    talk.read([_quoted(talk, item, shown) for item in items], "asked_of")


def _quoted(talk: TurnContext, item: SpokenItem, name: str) -> str:
    dialog = "asked_of_in_vain" if item.told_as == "asked_me_in_vain" else "asked_of"
    return talk.sentence(dialog, name=name, when=talk.when(item.at), text=own_words(item.text, talk.spoken))


def _meant(talk: TurnContext, name: str, known: Sequence[str]) -> str | None:
    """The user, among these, whom the name means, "my gran" or "gran"; None where it means none of them."""
    said = [word for word in fold(name) if word not in _small_words(talk)]
    return next((one for one in known if fold(one) in (fold(name), said)), None)


def _small_words(talk: TurnContext) -> frozenset[str]:
    return talk.spoken.stop_words | {word for swap in talk.spoken.swaps for word in fold(swap)}


def waiting(talk: TurnContext) -> None:
    """Put the waiting requests of the asker's children to the asker, one after the other."""
    children = talk.client.users.relatives().approves_for
    if not children:
        talk.say("waiting_refused")
    elif talk.is_overheard:
        talk.say("not_aloud")
    else:
        _ask_next(talk, [fact for child in children for fact in _waiting_of(talk, child)])


def _waiting_of(talk: TurnContext, child: str) -> list[Fact]:
    return talk.client.facts.list(Scope(user_id=child), "waiting")[::-1]


def _ask_next(talk: TurnContext, left: Sequence[Fact]) -> None:
    if not left:
        talk.say("waiting_nothing")
        return
    fact = left[0]
    slots = {"name": speakable(fact.user_id), "text": own_words(fact.text, talk.spoken)}
    talk.ask("waiting_ask", lambda reply: _decide(reply, fact, left[1:]), _DECIDING, **slots)


def _decide(reply: TurnContext, fact: Fact, left: Sequence[Fact]) -> None:
    agreed = agrees(reply.said.text, reply.spoken)
    if agreed is None or _means_stop(reply):
        reply.say("waiting_left")
        return
    reply.client.facts.review(fact.id, agreed, Scope(user_id=fact.user_id))
    reply.say("waiting_kept" if agreed else "waiting_dropped")
    if left:
        _ask_next(reply, left)


def _means_stop(reply: TurnContext) -> bool:
    """Whether it is a "forget it" rather than a no: then nothing is decided."""
    said = fold(reply.said.text)
    return any(said == fold(phrase) for phrase in reply.spoken.phrases("cancel.voc"))


_DECIDING = QuestionEndings(
    "waiting_left", "waiting_left", "waiting_left", lambda reply: agrees(reply.said.text, reply.spoken) is not None
)

INTENTS: dict[str, Callable[[TurnContext], None]] = {"asked_of": asked_of, "waiting": waiting}
FAILED = PERHAPS = "memory_away"
