"""Handlers of statements: remember that, that is wrong, this is private."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace

from ovos_bus_client.message import Message

from ovos_persona_memory.errors import (
    InvalidRequest,
    NeedsApproval,
    NoAnswer,
    PersonaMemoryError,
    SecretRefused,
    StoreError,
    Unanswered,
    UnknownEntry,
)
from ovos_persona_memory.records import HOUSEHOLD, Entry, Hit, Referents
from ovos_persona_memory.skill import secrets_kept
from ovos_persona_memory.skill.acts import says_nothing
from ovos_persona_memory.skill.intent_matching import MatchedIntent, understood
from ovos_persona_memory.skill.phrasing import agrees, own_words
from ovos_persona_memory.skill.session_state import SpokenItem
from ovos_persona_memory.skill.turn_context import QuestionEndings, TurnContext
from ovos_persona_memory.text import (
    Correction,
    Language,
    correction_in,
    denial_in,
    fold,
    is_long,
    names_nothing_to_keep,
    revised,
    value_kinds,
)

NOTHING = ("nothing_known", "nothing_known_about", "nothing_known_of_you", "cannot", "all_right")
"""Dialogs without content that anybody would have kept."""
JUST_S = 10.0
"""A fact said within this time, seconds, may come from the very words that are being answered."""
LATER = "told later"
"""The name of the threads that nobody waits for."""
HUSHED = "hushed"
"""Metadata of a memory that is not said aloud where others may hear. Its owner is still given it elsewhere:
``records.PRIVATE`` would need a person who is surely known, which a voice alone seldom is."""


def remember(talk: TurnContext) -> None:
    """Keep the statement, and say it back once it is on disk."""
    text = _to_keep(talk)
    if names_nothing_to_keep(text, talk.spoken) or not text:
        remember_this(talk)
    else:
        _keep(talk, text)


def _keep(talk: TurnContext, text: str) -> None:
    key = uuid.uuid4().hex[:12]
    try:
        kept = talk.client.remember(text, key=key, lang=talk.spoken.tag)
    except SecretRefused:
        secrets_kept.offer(talk, lambda reply: _keep_secret(reply, text, key))
        return
    except Unanswered:
        talk.say(PERHAPS)
        _later(talk, lambda: _say_what_became_of(talk, text, key))
        return
    except NoAnswer:
        _later(talk, lambda: _take_back(talk, key))
        raise
    except (NeedsApproval, StoreError) as error:
        talk.say("needs_approval" if isinstance(error, NeedsApproval) else "not_stored")
        return
    _confirm(talk, text, kept)


def _keep_secret(reply: TurnContext, text: str, key: str) -> None:
    try:
        reply.client.remember(text, key=key, lang=reply.spoken.tag, secret=True)
    except NoAnswer as error:
        if not isinstance(error, Unanswered):
            _later(reply, lambda: _take_back(reply, key))
        raise


def _confirm(talk: TurnContext, text: str, kept: Entry) -> None:
    talk.spoke_of([SpokenItem(text, kept.created_at, kept.key, None, kept.id, kept.persona_id)])
    _say_remembered(talk, text)


def _say_remembered(talk: TurnContext, text: str) -> None:
    """Say back what is kept; a long one is not echoed."""
    shown = own_words(text, talk.spoken)
    if is_long(shown):
        talk.say("noted_all")
    else:
        talk.say("remembered", text=shown)


def _later(talk: TurnContext, work: Callable[[], None]) -> None:
    """Do something for this utterance on a thread that nobody waits for."""

    def do(_: Message) -> None:
        with contextlib.suppress(PersonaMemoryError):
            work()

    threading.Thread(target=lambda: talk.forwarded(do), name=LATER, daemon=True).start()


def _say_what_became_of(talk: TurnContext, text: str, key: str) -> None:
    """Say whether the statement was kept, once that is known: requests are carried out in their order."""
    kept = talk.means.patient.get(key)
    if kept is None:
        talk.say("not_stored")
    else:
        _confirm(talk, text, kept)


def _take_back(talk: TurnContext, key: str) -> None:
    """Delete what a timed-out request may still store: the person is told that it was not kept."""
    talk.client.forget(key=key)


def _to_keep(talk: TurnContext) -> str:
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


def remember_this(talk: TurnContext) -> None:
    """Keep the last statement, of the person or in the assistant's last answer, and say it back."""
    just = _just_said(talk)
    if not just:
        talk.ask("remember_what", _remember_reply, _REMEMBERING)
        return
    for hit in just:
        if hit.kind != "memory":
            _keep(talk, own_words(hit.text, talk.spoken))
        else:  # the statement is kept already
            talk.spoke_of([SpokenItem(hit.text, hit.at, hit.key, hit.speaker, hit.id)])
            _say_remembered(talk, hit.text)


def _just_said(talk: TurnContext) -> list[Hit]:
    """The antecedent of "this": what the last answer quoted, the person's last statement, or the last answer itself."""
    known = talk.referents()
    if known.quoted:
        return known.quoted[:1]
    if known.told_last:
        return known.told[:1]
    says_nothing = known.answer is None or known.answer.text in (
        line for dialog in NOTHING for line in talk.spoken.sentences(dialog)
    )
    return [] if known.answer is None or says_nothing else [known.answer]


def _remember_reply(reply: TurnContext) -> None:
    meant = understood(reply.as_heard(), reply.spoken, ["remember"])
    text = meant.slots.get("text", "") if meant is not None else reply.spoken.without_lead(reply.as_heard())
    if (
        agrees(reply.said.text, reply.spoken) is False
        or names_nothing_to_keep(text, reply.spoken)
        or says_nothing(text, reply.spoken)
    ):
        reply.say("remember_nothing")
    else:
        _keep(reply, without_courtesy(text, reply.spoken))


def _is_told(reply: TurnContext) -> bool:
    said = reply.said.text
    return (
        not (reply.spoken.is_question(said) or reply.spoken.is_command(said)) or reply.spoken.without_lead(said) != said
    )


_REMEMBERING = QuestionEndings("remember_nothing", "remember_nothing", "remember_nothing", _is_told)


# corrections


@dataclass(frozen=True)
class CorrectedStatement:
    """A statement with its corrected text."""

    wrong: Hit
    text: str


def contradicted(talk: TurnContext) -> MatchedIntent | None:
    """A correction in no listed wording, "no it is on monday", "oops the grey one"; else None.

    Where nothing but "no" introduces it, it can only correct what the utterance before spoke of: later on a "no"
    answers somebody else.
    """
    right = _correction(talk)
    if (
        right is None
        or (talk.spoken.is_question(right.text) and not right.is_plain)
        or talk.spoken.is_command(right.text)
    ):
        return None
    known = talk.referents()
    was_spoken_of = bool(known.quoted or known.told_last or known.about)
    may_correct = right.is_plain or right.only_denies or was_spoken_of
    is_clear = may_correct and _wrong_one(right, known, talk.spoken) is not None
    is_open = known.about == [] and not right.only_denies and _has_value(right.text, talk.spoken)
    return MatchedIntent("correct", {"text": right.text}) if is_clear or is_open else None


def _correction(talk: TurnContext) -> Correction | None:
    return correction_in(talk.as_heard(), talk.spoken) or denial_in(talk.as_heard(), talk.spoken)


def _has_value(text: str, spoken: Language) -> bool:
    """Whether a text names a day, a number or a time."""
    return not value_kinds(spoken.tag).keys().isdisjoint(fold(text))


def correct(talk: TurnContext) -> None:
    """Replace the wrong part of the last statement, or of the one that the correction names; ask where that is not
    clear."""
    known = talk.referents()
    right = _correction(talk)
    if right is None and (text := _what_is_right(talk.slot("text"), talk.spoken)):
        right = Correction(text)
    found = _wrong_one(right, known, talk.spoken) if right is not None else None
    if found is not None:
        _replace(talk, found)
    elif known.about == []:  # nothing is known of what was asked before: it is no neighbour of that
        talk.ask("correct_how", _keep_reply, _CORRECTING)
    elif not known.meant:
        _correct_what_was_told(talk)
    elif right is not None and set(fold(right.text)) <= set(fold(known.meant[0].text)):  # corrected already
        talk.say("corrected", text=own_words(known.meant[0].text, talk.spoken))
    else:
        wrong = known.meant[0]
        talk.ask("correct_how", lambda reply: _replace_by_reply(reply, wrong), _CORRECTING)


def _wrong_one(right: Correction, known: Referents, spoken: Language) -> CorrectedStatement | None:
    """The statement to correct: the last one spoken of, or an earlier one that shares more with the correction.

    Behind a question it is what that asked about, unless the correction names another by itself.
    """
    about = known.about if known.about is not None else [*known.quoted, *known.told]
    candidates = list({hit.id: hit for hit in (*about, *known.quoted, *known.told)}.values())
    asked, found = {hit.id for hit in about}, list[tuple[float, int, CorrectedStatement]]()
    for place, hit in enumerate(candidates):
        made = revised(own_words(hit.text, spoken), right, spoken)
        if made is None or not (hit.id in asked or made.is_sentence):
            continue
        # a bare "no" corrects only the last thing spoken of, unless it names another
        if made.is_sentence or right.is_plain or not place:
            unlike = len(candidates) if made.cost >= 1.0 else 0
            found.append(
                (-made.shared if made.is_sentence else place + unlike, place, CorrectedStatement(hit, made.text))
            )
    return min(found, key=lambda one: one[:2])[2] if found else None


def _correct_what_was_told(talk: TurnContext) -> None:
    """Report the daemon's own correction by the same words, where something was stated just before and not spoken
    of."""
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


def _is_no_question(reply: TurnContext) -> bool:
    return not reply.spoken.is_question(reply.said.text)


_CORRECTING = QuestionEndings("correct_not", "correct_not", "correct_not", _is_no_question)


def _keep_reply(reply: TurnContext) -> None:
    """Keep the whole sentence as it should be, or put right by it what it names."""
    said = without_courtesy(reply.spoken.without_lead(reply.as_heard()), reply.spoken)
    right = correction_in(said, reply.spoken) or Correction(said)
    found = _wrong_one(right, replace(reply.referents(), about=[]), reply.spoken)
    if found is not None:
        _replace(reply, found)
    elif _is_refused(said, reply.spoken) or not reply.spoken.is_statement(right.text):
        reply.say("correct_not")
    else:
        _keep(reply, right.text)


def _is_refused(said: str, spoken: Language) -> bool:
    return agrees(said, spoken) is False and len(said.split()) <= 3


def _replace_by_reply(reply: TurnContext, wrong: Hit) -> None:
    said = reply.spoken.without_lead(reply.as_heard())
    if _is_refused(said, reply.spoken):
        reply.say("correct_not")
        return
    right = correction_in(said, reply.spoken) or Correction(without_courtesy(said, reply.spoken))
    made = revised(own_words(wrong.text, reply.spoken), right, reply.spoken)
    if made is None and not reply.spoken.is_statement(right.text):
        reply.say("correct_not")
    else:
        _replace(reply, CorrectedStatement(wrong, made.text if made is not None else right.text))


def _replace(talk: TurnContext, found: CorrectedStatement) -> None:
    try:
        kept = talk.client.correct(found.wrong.id, found.text, lang=talk.spoken.tag)
    except UnknownEntry:  # the statement was forgotten elsewhere meanwhile
        talk.say("correct_what")
        return
    talk.spoke_of([SpokenItem(kept.text, kept.updated_at, kept.key, None, kept.id, kept.persona_id)])
    if talk.is_overheard and (kept.metadata.get(HUSHED) or kept.user_id != HOUSEHOLD):
        talk.say("corrected_quietly")
    else:
        talk.say("corrected", text=own_words(kept.text, talk.spoken))


def private(talk: TurnContext) -> None:
    """Mark what was last spoken of as not to be said aloud where others may hear."""
    if not talk.moment.items:
        talk.say("private_what")
        return
    for item in talk.moment.items:
        if not _made_private(talk, item):  # a turn or a fact: a memory with the same words stands for both
            talk.client.remember(item.text, metadata={HUSHED: True}, lang=talk.spoken.tag)
    talk.spoke_of_the_same()
    talk.say("kept_private")


def _made_private(talk: TurnContext, item: SpokenItem) -> bool:
    """Whether the item is a memory, which is private from now on."""
    if not item.key:
        return False
    try:
        talk.client.update(item.key, item.scope, metadata={HUSHED: True})
    except (InvalidRequest, UnknownEntry):  # a fact has no metadata
        return False
    return True


INTENTS = {"remember": remember, "remember_this": remember_this, "correct": correct, "private": private}
FAILED = "not_kept"
PERHAPS = "kept_perhaps"
"""The dialog for an unknown outcome of a request to keep something."""
