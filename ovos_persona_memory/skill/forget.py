"""Handlers of deletions: the records are read back first, and deleted after a yes alone."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from ovos_persona_memory.errors import NoAnswer, PersonaMemoryError, Unanswered
from ovos_persona_memory.records import HOUSEHOLD, Foreseen, Forgotten, Hit, Scope
from ovos_persona_memory.skill.acts import (
    listed_as_said,
    request_words,
    requested,
    says_delete,
    says_forget,
    topic_of,
)
from ovos_persona_memory.skill.ask import is_hushed_text, statements_about, told_hits
from ovos_persona_memory.skill.phrasing import (
    agrees,
    behind_yes,
    is_said,
    own_words,
    speakable,
    time_words,
    turned,
    whole_topic,
)
from ovos_persona_memory.skill.spoken_numbers import number_in_words
from ovos_persona_memory.skill.turn_context import QuestionEndings, TurnContext
from ovos_persona_memory.text import (
    Language,
    fold,
    forbids_forgetting,
    forget_clause,
    is_pointing,
    prepositions,
    says_another_word,
    telling_words,
    time_expressions,
)

# every dialog of this module begins with "forget": what is said under these names is logged without its words
RECALLED = 5
"""Hits at most among which what a topic means is looked for, where it is named by other words."""
MEANT_FROM = 0.6
"""What a request looks for is a statement with such a probability, >=, where no word tells: it is read back first."""
PLAIN_REPLIES = ("yes.voc", "no.voc", "cancel.voc")
PART, REST = 5, 4
"""Letters at least of a part of a compound, and of the rest of it: "gardener" is none of "garden"."""
NAME = 3
"""Words at most of what is a name of a thing: of a longer one, "the number i gave you for the clinic", the statement is
said to be forgotten."""
NAMED = 2
"""Words with content by which a remark is named, at least, where no word without content stands behind them."""
SOON_S = 1.0
"""Time without a result after which the person is told that it takes a moment, seconds."""


@dataclass(frozen=True)
class DeletionRequest:
    """The conditions of a deletion that waits for a yes, and the dialog that confirms it."""

    done: str
    what: dict[str, Any]
    """The conditions of ``MemoryClient.forget``."""
    slots: dict[str, str] = field(default_factory=dict)
    scope: Scope = Scope()


def forget_about(talk: TurnContext) -> None:
    """Forget the records about a topic, however it is named."""
    if not talk.slot("topic"):  # an engine took it for a request to forget, which has no object
        talk.say("forget_that_nothing")
    elif forbids_forgetting(talk.said.text, talk.spoken):  # an engine knows no "not" behind a topic
        talk.say("forget_kept")
    elif is_pointing(talk.slot("topic"), talk.spoken):
        forget_that(talk)
    else:
        topic, spoken = talk.slot("topic"), talk.spoken
        if not telling_words(spoken.tag).isdisjoint(fold(topic)):  # "that thing i told you about the pill"
            topic = topic_of(topic, spoken) or topic
        _ask_about(talk, whole_topic(topic, talk.said.text, spoken))


def _ask_about(talk: TurnContext, topic: str) -> None:
    shown = turned(speakable(topic), talk.spoken)
    named = topic_of(topic, talk.spoken) or topic
    client, lang = talk.means.counting, talk.spoken.tag
    going = client.would_forget(topic=topic, lang=lang)
    if not going.told and named != topic:
        going = client.would_forget(topic=named, lang=lang)
    if not going.told and (answers := [hit.id for hit in statements_about(talk, topic, named) if hit.id]):
        going = client.would_forget(ids=answers)
    if not going.told:
        for shorter in _beginnings(named, talk.spoken):
            going = client.would_forget(topic=shorter, lang=lang)
            if going.told:
                topic, shown = shorter, turned(speakable(shorter), talk.spoken)
                break
    if not going.told and (hit := _meant_by(talk, named)):
        # it is named by other words than it was told with: this one thing goes, and nothing else about the topic
        alone = client.would_forget(ids=[hit.id])
        if alone.told:
            _ask_back(talk, alone, DeletionRequest("forget_that_done", {"ids": [hit.id]}))
            return
    is_statement = _is_statement(topic, [hit.text for hit in going.told], talk.spoken)
    if not going.told:
        talk.say("forget_that_nothing" if is_statement else "forget_about_nothing", topic=shown)
    elif is_statement:
        _ask_back(talk, going, DeletionRequest("forget_that_done", {"ids": going.ids}))
    else:
        _ask_back(talk, going, DeletionRequest("forget_about_done", {"ids": going.ids}, {"topic": shown}))


def _meant_by(talk: TurnContext, topic: str) -> Hit | None:
    """The best statement of recall about a topic; else the one that most likely is what the whole request looks for.
    None where there is none."""
    return _best_about(talk, topic) or _looked_for(talk)


def _best_about(talk: TurnContext, topic: str) -> Hit | None:
    """The best statement of recall that shares a name or a word with content with a topic, or surely is about it; None
    where there is none."""
    told = (hit for hit in told_hits(talk, topic, RECALLED) if not _is_itself(talk, hit.text))
    return next((hit for hit in told if _is_about(hit, topic, talk.spoken)), None)


def _looked_for(talk: TurnContext) -> Hit | None:
    """The statement that most likely is what the utterance looks for; None where none likely is."""
    told = [hit for hit in told_hits(talk, talk.said.text, RECALLED) if not _is_itself(talk, hit.text)]
    likeliest = max(told, key=lambda hit: hit.confidence or 0.0, default=None)
    return likeliest if likeliest is not None and (likeliest.confidence or 0.0) >= MEANT_FROM else None


def _is_about(hit: Hit, topic: str, spoken: Language) -> bool:
    """Whether a hit holds a word of the topic, and not only another word of its stem, or is sure."""
    held = set(spoken.words(hit.text))
    words = [word for word in spoken.bare_words(topic) if len(word) > 1]  # a dialect's "i" names nothing
    # "that application this morning" is no alarm for tomorrow morning
    words = [word for word in words if spoken.time_words.isdisjoint(spoken.words(word))] or words
    same = [word for word in words if not held.isdisjoint(spoken.content_words(word))]
    if any(not says_another_word(hit.text, word, spoken) for word in same):
        return True
    if any(_holds_part(hit.text, word) for word in spoken.bare_words(topic)):
        return True
    return hit.sure and not says_another_word(hit.text, topic, spoken)


def _holds_part(text: str, word: str) -> bool:
    """Whether a text has the first or the last part of a compound, "wiskunde" of "wiskundecijfer", or a compound of
    which it is one, "lieblingstasse" of "tasse"."""
    pairs = (sorted((said, word), key=len) for said in fold(text))
    compounds = ((part, whole) for part, whole in pairs if PART <= len(part) <= len(whole) - REST)
    return any(whole.startswith(part) or whole.endswith(part) for part, whole in compounds)


def _beginnings(topic: str, spoken: Language) -> Iterator[str]:
    """A topic without its last words, the longest first: behind it may stand why it is to be forgotten, "the present
    she is listening", "what i offered smith nobody needs to know".

    It ends before a word without content, or is of two words with content at least and leaves out as many. What stands
    behind a preposition is no reason: "going out (with travis)".
    """
    words, small = topic.split(), request_words(spoken.tag).small
    joining = prepositions(spoken.tag)
    with_content = [not all(word in small for word in fold(one)) for one in words]
    ends = [
        end
        for end in range(len(words) - 1, 0, -1)
        if joining.isdisjoint(_before_content(words[end:], with_content[end:]))
        and (not with_content[end] or min(sum(with_content[:end]), sum(with_content[end:])) >= NAMED)
    ]
    yield from dict.fromkeys(filter(None, (topic_of(" ".join(words[:end]), spoken) for end in ends)))


def _before_content(words: Sequence[str], with_content: Sequence[bool]) -> set[str]:
    """The folded words before the first with content."""
    some = takewhile(lambda pair: not pair[1], zip(words, with_content, strict=True))
    return {one for word, _ in some for one in fold(word)}


def _is_statement(topic: str, told: Sequence[str], spoken: Language) -> bool:
    """Whether a topic is a whole statement, "i like tea", and no name of anything: it says what was told, or begins
    with who is meant."""
    words = topic.casefold().split()
    if len(words) < 2:
        return False
    said = set(spoken.content_words(topic))
    whole = (set(spoken.content_words(own_words(text, spoken))) for text in told if text)
    subjects = listed_as_said(spoken.tag, "self")
    begins = words[0] in subjects or (words[0] in request_words(spoken.tag).that and words[1] in subjects)
    return begins or any(one <= said for one in whole)


def forget_that(talk: TurnContext) -> None:
    """Forget the last thing spoken of: what the last answer quoted, else the person's last statement in this
    session."""
    named = requested(talk.as_heard(), talk.spoken)  # "I don't need the dentist's number any more, forget it"
    topic = named.slots.get("topic", "") if named is not None else ""
    before = "" if topic else _named_before(talk)
    topic = topic or before
    going = talk.means.counting.would_forget(topic=topic, lang=talk.spoken.tag) if topic else _NOTHING
    if not going.told and before and (hit := _meant_by(talk, before)):
        going = talk.means.counting.would_forget(ids=[hit.id])
    last = [] if going.told else talk.referents().meant
    if last and (asked := _asked_before(talk, last[0])):
        _ask_about(talk, asked)
        return
    meant = [hit.id for hit in last]
    going = talk.means.counting.would_forget(ids=meant) if meant else going
    if not going.told:
        talk.say("forget_that_nothing")
        return
    _ask_back(talk, going, DeletionRequest("forget_that_done", {"ids": going.ids}))


def _asked_before(talk: TurnContext, last: Hit) -> str:
    """What the last statement names that it wants forgotten, where nobody took it for a request; else empty."""
    return (last.kind == "turn" and talk.client.question_kind(last.text, talk.spoken.tag).to_forget) or ""


def _named_before(talk: TurnContext) -> str:
    """What is named before a request that only points at it, "that shelf for ann, forget that"; empty where nothing
    is."""
    clause = forget_clause(talk.as_heard(), talk.spoken)
    before = clause.before if clause is not None else ""
    return (topic_of(before, talk.spoken) or before) if talk.spoken.content_words(before) else ""


def is_meant(talk: TurnContext, topic: str) -> bool:
    """Whether there is a statement about a topic, told in the same words or in others, or a secret."""
    return is_known(talk, topic, or_secret=True) or _best_about(talk, topic_of(topic, talk.spoken) or topic) is not None


def is_known(talk: TurnContext, topic: str, or_beginning: bool = False, or_secret: bool = False) -> bool:
    """Whether there is a statement about a topic that is no secret; ``or_beginning``: or about the beginning of it, as
    why it is to be forgotten may stand behind, "what i offered smith nobody needs to know"; ``or_secret``: or a secret,
    which is not read back."""
    named = topic_of(topic, talk.spoken) or topic
    for one in (named, *(_beginnings(named, talk.spoken) if or_beginning else ())):
        going = talk.client.would_forget(topic=one, lang=talk.spoken.tag)
        if any((or_secret or not hit.secret) and not _is_itself(talk, hit.text) for hit in going.told):
            return True
    return False


def _is_itself(talk: TurnContext, text: str) -> bool:
    """Whether a text is this utterance: it is recorded before anybody knows that it is a request."""
    return fold(text) in [fold(form) for form in talk.forms()]


_NOTHING = Foreseen(Forgotten(), [], [])


def _ask_back(talk: TurnContext, going: Foreseen, deletion: DeletionRequest) -> None:
    """Read back what would be deleted, the first two texts and the number of the others; after a yes exactly that is
    deleted."""
    texts = [own_words(hit.text, talk.spoken) for hit in going.told]
    is_about = bool(deletion.slots)
    secret = any(hit.secret for hit in going.told)  # its words are not read back
    if secret and is_about:
        question = "forget_about_ask_one" if len(texts) == 1 else "forget_about_ask"
        _ask(talk, question, deletion, count=len(texts), topic=deletion.slots["topic"])
    elif secret or (talk.is_overheard and any(_is_hushed(talk, hit.text) for hit in going.told)):
        _ask(talk, "forget_quietly_ask", replace(deletion, done="forget_quietly_done", slots={}))
    elif len(texts) == 1:
        is_named = is_about and len(deletion.slots["topic"].split()) <= NAME
        done = deletion if is_named else replace(deletion, done="forget_that_done", slots={"text": texts[0]})
        _ask(talk, "forget_that_ask", done, text=texts[0])
    else:
        counted = {"count": number_in_words(len(texts), talk.spoken.tag)}
        done = deletion if is_about else replace(deletion, done="forget_these_done", slots=counted)
        question = "forget_two_ask" if len(texts) == 2 else "forget_more_ask"
        more = {} if len(texts) == 2 else {"count": len(texts) - 2}
        _ask(talk, question, done, text=texts[0], other=texts[1], **more)


def _is_hushed(talk: TurnContext, text: str) -> bool:
    """Whether a text is not to be read back in this room, where others may hear it."""
    return talk.client.users.which().user_id != HOUSEHOLD or is_hushed_text(talk, text)


def _number(talk: TurnContext, what: dict[str, Any]) -> int:
    """Number of records that would be deleted."""
    return talk.means.counting.forget_by_kind(preview=True, **what).total


def forget_time(talk: TurnContext) -> None:
    """Forget what was said and kept in a span of time, in every session of the person; where a thing is named, too, and
    something was said of it then, nothing but that."""
    named = time_expressions.parse_time_span(talk.said.text, talk.spoken, talk.now)
    if named is None:
        talk.say("forget_time_what")
        return
    if (going := _told_of_it_then(talk, named)).told:
        _ask_back(talk, going, DeletionRequest("forget_that_done", {"ids": going.ids}))
        return
    period = speakable(time_words(talk.said.text, talk.spoken, talk.now))
    what = {"since": named.since, "until": named.until}
    count = _number(talk, what)
    if not count:
        talk.say("forget_time_nothing", period=period)
        return
    deletion = DeletionRequest("forget_time_done", what, {"period": period})
    question = "forget_time_ask_one" if count == 1 else "forget_time_ask"
    _ask(talk, question, deletion, count=count, period=period)


def _told_of_it_then(talk: TurnContext, named: time_expressions.TimeSpan) -> Foreseen:
    """What was told in a span of time of what the request names beside it, "what i told you last night about that job";
    nothing where it names nothing else."""
    lists = (f"forget_time.{kind}" for kind in ("intent", "patterns"))
    asking = {word for name in lists for line in talk.spoken.lines(name) for word in fold(re.sub(r"{\w+}", " ", line))}
    times = set(fold(time_words(talk.said.text, talk.spoken, talk.now)))
    known = {*asking, *times, *telling_words(talk.spoken.tag), *request_words(talk.spoken.tag).small}
    topic = " ".join(word for word in fold(talk.said.text) if word not in known)
    if not talk.spoken.content_words(topic):
        return _NOTHING
    client, lang = talk.means.counting, talk.spoken.tag
    return client.would_forget(topic=topic, lang=lang, since=named.since, until=named.until)


def forget_me(talk: TurnContext) -> None:
    """Forget all records of the speaker."""
    _ask_for_everything(talk, "forget_me")


def forget_all(talk: TurnContext) -> None:
    """Forget everything that this person may reach."""
    _ask_for_everything(talk, "forget_all")


def _ask_for_everything(talk: TurnContext, dialog: str) -> None:
    what = {"everything": True}
    count = _number(talk, what)
    if count:
        _ask(talk, f"{dialog}_ask", DeletionRequest(f"{dialog}_done", what), count=count)
    else:
        talk.say("forget_all_nothing")


def _ask(talk: TurnContext, question: str, deletion: DeletionRequest, **slots: object) -> None:
    ends = QuestionEndings("forget_silence", "forget_kept", "forget_unclear", _is_reply)
    talk.moment.items = []
    talk.ask(question, lambda reply: _answered(reply, deletion), ends, **slots)


def _agreed(reply: TurnContext) -> bool | None:
    """Whether the reply is a yes or a no, as the memory finds; by its words where they are no more than that, and where
    the memory does not say so in time, or has not learned the language.

    "Forget that" alone is neither, as it may cancel the question; behind a yes it is a request.
    """
    said, spoken = reply.said.text, reply.spoken
    if fold(said) in [fold(one) for name in PLAIN_REPLIES for one in spoken.phrases(name)]:
        return agrees(said, spoken)
    if _repeats_the_request(said, spoken):
        return True
    try:
        found = reply.means.kinds.of(reply).reply
    except NoAnswer:
        found = None
    if found is None:
        return _agreed_by_its_words(said, spoken)
    if found == "neither" and _tells_to_delete(said, spoken):
        return True
    asked = requested(said, spoken) if found == "yes" else None
    only_forgets = asked is not None and asked.intent == "forget_that" and says_forget(said, spoken)
    return None if only_forgets else {"yes": True, "no": False}.get(found)


def _tells_to_delete(said: str, spoken: Language) -> bool:
    """Whether a few words hold a verb of deleting, and none that refuses or cancels: "venga sí quítalo"."""
    refuses = any(is_said(spoken.phrases(name), said) for name in ("no.voc", "cancel.voc"))
    return says_delete(said, spoken) and not says_forget(said, spoken) and not refuses


def _repeats_the_request(said: str, spoken: Language) -> bool:
    """Whether a request to forget stands behind a yes: "yes forget it", which else would cancel the question."""
    rest = behind_yes(said, spoken)
    if not rest or is_said(spoken.phrases("no.voc"), rest):
        return False
    asked = requested(rest, spoken)
    points = asked is not None and asked.intent == "forget_that"
    return points or says_delete(rest, spoken) or is_said(spoken.phrases("cancel.voc"), rest)


def _agreed_by_its_words(said: str, spoken: Language) -> bool | None:
    """A request to delete or to keep it counts, too: "away with it"."""
    agreed = agrees(said, spoken)
    asked = requested(said, spoken) if agreed is None else None
    if asked is None or (asked.intent == "forget_that" and says_forget(said, spoken)):
        return agreed
    return {"forget_that": True, "remember_this": False}.get(asked.intent)


def _is_reply(reply: TurnContext) -> bool:
    """Whether it is a yes or a no, or at least no new question, command or statement."""
    if _agreed(reply) is not None:
        return True
    said, spoken = reply.said.text, reply.spoken
    return not (spoken.is_question(said) or spoken.is_command(said) or spoken.is_statement(said))


def _answered(reply: TurnContext, deletion: DeletionRequest) -> None:
    agreed = _agreed(reply)
    if agreed:
        _delete(reply, deletion)
    else:
        reply.say("forget_unclear" if agreed is None else "forget_kept")


def _delete(reply: TurnContext, deletion: DeletionRequest) -> None:
    """Delete, for as long as that takes, and report the outcome; a handler waits for a second only."""
    work = threading.Thread(target=lambda: reply.forwarded(lambda _: _delete_and_say(reply, deletion)), daemon=True)
    work.start()
    work.join(SOON_S)
    if work.is_alive():
        reply.say("forget_slowly")


def _delete_and_say(reply: TurnContext, deletion: DeletionRequest) -> None:
    try:
        reply.means.patient.forget(deletion.scope, **deletion.what)
    except Unanswered:
        reply.say(PERHAPS)
        return
    except PersonaMemoryError as error:
        reply.say("forget_closed" if error.code == "not_allowed" else FAILED)
        return
    reply.moment.items, reply.moment.left, reply.moment.perhaps = [], [], ""
    reply.say(deletion.done, **deletion.slots)


INTENTS: dict[str, Callable[[TurnContext], None]] = {
    "forget_that": forget_that,
    "forget_time": forget_time,
    "forget_about": forget_about,
    "forget_me": forget_me,
    "forget_all": forget_all,
}
FAILED, PERHAPS = "forget_failed", "forget_perhaps"
