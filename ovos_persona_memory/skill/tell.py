"""Tell: remember that, that is wrong, this is private."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Callable

from ovos_bus_client.message import Message

from ovos_persona_memory.errors import (
    NeedsApproval,
    NoAnswer,
    PersonaMemoryError,
    SecretRefused,
    StoreError,
    Unanswered,
    UnknownEntry,
)
from ovos_persona_memory.language import Language, fold
from ovos_persona_memory.records import HOUSEHOLD, Entry
from ovos_persona_memory.skill.moments import Item
from ovos_persona_memory.skill.speech import agrees, own_words
from ovos_persona_memory.skill.talk import Ends, Talk
from ovos_persona_memory.skill.understanding import Understood, understood

MOST_LEARNED = 1000
"""Facts at most that are looked at for one that is corrected."""
JUST_S = 10.0
"""A fact that was said so shortly ago may be of the very words that are being answered, seconds."""
LATER = "told later"
"""What the threads are called that nobody waits for."""
HUSHED = "hushed"
"""In the metadata of a memory that is not to be said aloud where others may hear. Whoever it belongs to is still
given it elsewhere: ``records.PRIVATE`` would ask for a person who is surely known, which a voice alone seldom is."""


def remember(talk: Talk) -> None:
    """Keep what was said, and say it back once it is on disk."""
    text = _to_keep(talk)
    if not text:
        talk.say("remember_what")
        return
    key = uuid.uuid4().hex[:12]
    try:
        kept = talk.client.remember(text, key=key, lang=talk.spoken.tag)
    except Unanswered:
        talk.say(PERHAPS)
        _later(talk, lambda: _say_what_became_of(talk, text, key))
        return
    except NoAnswer:
        _later(talk, lambda: _take_back(talk, key))
        raise
    except (SecretRefused, NeedsApproval, StoreError) as error:
        talk.say(_NOT_KEPT.get(type(error), "not_stored"))
        return
    _confirm(talk, text, kept)


def _confirm(talk: Talk, text: str, kept: Entry) -> None:
    talk.spoke_of([Item(text, kept.created_at, kept.key, None, kept.id)])
    talk.say("remembered", text=own_words(text, talk.spoken))


_NOT_KEPT: dict[type[PersonaMemoryError], str] = {SecretRefused: "not_kept_secret", NeedsApproval: "needs_approval"}


def _later(talk: Talk, work: Callable[[], None]) -> None:
    """Do something for this utterance that nobody waits for."""

    def do(_: Message) -> None:
        with contextlib.suppress(PersonaMemoryError):
            work()

    threading.Thread(target=lambda: talk.forwarded(do), name=LATER, daemon=True).start()


def _say_what_became_of(talk: Talk, text: str, key: str) -> None:
    """Say whether something was kept, once that is known: requests are carried out in their order."""
    kept = talk.means.patient.get(key)
    if kept is None:
        talk.say("not_stored")
    else:
        _confirm(talk, text, kept)


def _take_back(talk: Talk, key: str) -> None:
    """A request that reached nobody may still be carried out: it is said not to be kept, so it is not."""
    talk.client.forget(key=key)


def _to_keep(talk: Talk) -> str:
    meant = understood(talk.as_heard(), talk.spoken, ["remember"])
    if meant is not None:
        return without_courtesy(meant.slots.get("text", ""), talk.spoken)
    heard = _without_start(talk.as_heard(), talk.spoken)
    whole = talk.spoken.without_lead(heard)
    return without_courtesy(talk.slot("text") if whole == heard else whole, talk.spoken)


def _without_start(text: str, spoken: Language) -> str:
    """The text without "can you please" and its like before it."""
    low = text.casefold()
    starts = [words for words in spoken.phrases("polite_start.voc") if low.startswith(words + " ")]
    return text[max(map(len, starts)) :].strip() if starts else text


def without_courtesy(text: str, spoken: Language) -> str:
    """The text without "please" and its like at its end."""
    bare = text.strip(" .!,")
    for words in spoken.phrases("polite_end.voc"):
        if bare.casefold().endswith(" " + words):
            return bare[: -len(words)].strip(" .!,")
    return bare


def contradicted(talk: Talk) -> Understood | None:
    """A correction that begins with "no" alone, as the next thing after something was spoken of: "no, it is on Monday".

    Later on a "no" answers somebody else.
    """
    words = talk.as_heard().split()
    starts = [len(fold(line)) for line in talk.spoken.phrases("contradiction.voc") if _begins(words, fold(line))]
    text = " ".join(words[max(starts, default=0) :])
    is_next = bool(talk.moment.items) and talk.moment.count == talk.moment.count_then + 1
    told = starts and is_next and talk.spoken.is_statement(text)
    return Understood("correct", {"text": text}) if told and not talk.spoken.is_command(text) else None


def _begins(words: list[str], phrase: list[str]) -> bool:
    return fold(" ".join(words[: len(phrase)])) == phrase


def correct(talk: Talk) -> None:
    """Put what is right in the place of what was last spoken of."""
    if not talk.moment.items:
        _correct_what_was_told(talk)
        return
    right = _what_is_right(talk.slot("text"), talk.spoken)
    wrong = talk.moment.items[0]
    whole = corrected(talk.spoken, wrong.text, right) if right else None
    if whole is not None:
        _replace(talk, wrong, whole)
        return
    talk.ask("correct_how", lambda reply: _replace_by_reply(reply, wrong), _CORRECTING)


def _correct_what_was_told(talk: Talk) -> None:
    """Say what the daemon put right with these very words, where something was told just before and not spoken of."""
    newest = talk.client.facts.list(limit=1)
    words = set(talk.spoken.words(talk.said.text))
    put_right = [
        one
        for one in newest
        if one.last_seen_at > talk.means.clock() - JUST_S and words.issuperset(talk.spoken.words(one.value or one.text))
    ]
    if not put_right:
        talk.say("correct_what")
    elif talk.is_overheard and put_right[0].user_id != HOUSEHOLD:
        talk.say("corrected_quietly")
    else:
        talk.say("corrected", text=own_words(put_right[0].text, talk.spoken))


def _what_is_right(text: str, spoken: Language) -> str:
    """The text without "it is" and its like before it."""
    bare = without_courtesy(text, spoken)
    for words in (*spoken.phrases("it_is.voc"), *spoken.phrases("it_is.voc")):
        if bare.casefold().startswith(words + " "):
            bare = bare[len(words) :].strip(" ,")
    return bare


def _is_no_question(reply: Talk) -> bool:
    return not reply.spoken.is_question(reply.said.text)


_CORRECTING = Ends("correct_not", "correct_not", "correct_not", _is_no_question)


def _replace_by_reply(reply: Talk, wrong: Item) -> None:
    if agrees(reply.said.text, reply.spoken) is False and len(reply.said.text.split()) <= 3:
        reply.say("correct_not")
    else:
        _replace(reply, wrong, without_courtesy(reply.spoken.without_lead(reply.said.text), reply.spoken))


def corrected(spoken: Language, wrong: str, right: str) -> str | None:
    """The corrected sentence; None where it cannot be told what of it is wrong.

    A right sentence of its own stands as it is. A day, a month or a number takes the place of the only
    one in the sentence; anything else the place of what follows its verb.
    """
    old, new = spoken.without_lead(wrong).split(), right.split()
    verbs = spoken.phrases("is_words.voc")
    if any(word.casefold() in verbs for word in new[1:]):
        return right
    for kind in ("weekdays.list", "months.list", "numbers.list"):
        old_places, new_places = _places(spoken, kind, old), _places(spoken, kind, new)
        if len(old_places) == 1 and new_places == [len(new) - 1]:
            return " ".join([*old[: old_places[0]], new[-1], *old[old_places[0] + 1 :]])
    place = next((i for i, word in enumerate(old[:-1]) if word.casefold() in verbs), None)
    return None if place is None else " ".join([*old[: place + 1], *new])


def _places(spoken: Language, kind: str, words: list[str]) -> list[int]:
    lines = (line.partition(":")[0].replace("/", ",") for line in spoken.phrases(kind))
    names = {name.strip().casefold() for line in lines for name in line.split(",")}
    is_number = kind == "numbers.list"
    return [i for i, word in enumerate(words) if word.casefold() in names or (is_number and word.isdecimal())]


def _replace(talk: Talk, wrong: Item, right: str) -> None:
    client, spoken = talk.client, talk.spoken
    _correct_learned(talk, wrong, right)
    if wrong.key is not None:
        try:
            kept = client.update(wrong.key, text=right)
        except UnknownEntry:
            kept = client.remember(right, lang=spoken.tag)
    else:
        kept = client.remember(right, lang=spoken.tag)
    talk.spoke_of([Item(right, kept.updated_at, kept.key, None, kept.id)])
    hushed = talk.is_overheard and (kept.metadata.get(HUSHED) or kept.user_id != HOUSEHOLD)
    if hushed:
        talk.say("corrected_quietly")
    else:
        talk.say("corrected", text=own_words(right, spoken))


def _correct_learned(talk: Talk, wrong: Item, right: str) -> None:
    """What was learned from the same words is corrected with them: else it would be told again."""
    words = talk.spoken.words(own_words(wrong.text, talk.spoken))
    for fact in talk.client.facts.list(limit=MOST_LEARNED):
        if fact.id != wrong.key and talk.spoken.words(fact.text) == words:
            talk.client.update(fact.id, text=right)


def private(talk: Talk) -> None:
    """What was last spoken of is not said aloud where others may hear."""
    if not talk.moment.items:
        talk.say("private_what")
        return
    for item in talk.moment.items:
        try:
            talk.client.update(item.key or "", metadata={HUSHED: True})
        except UnknownEntry:  # what was only said, or learned of it: a memory with the same words stands for both
            talk.client.remember(item.text, metadata={HUSHED: True}, lang=talk.spoken.tag)
    talk.say("kept_private")


INTENTS = {"remember": remember, "correct": correct, "private": private}
FAILED = "not_kept"
PERHAPS = "kept_perhaps"
"""The dialog for where nobody can tell whether it was kept."""
