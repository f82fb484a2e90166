"""Ask: what is known, where a thing is, what was told, why, how much, who."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ovos_persona_memory.fact import Fact
from ovos_persona_memory.records import GUEST, HOUSEHOLD, Entry, Hit
from ovos_persona_memory.skill.moments import Item
from ovos_persona_memory.skill.speech import own_words, speakable, turned, whole_topic
from ovos_persona_memory.skill.talk import Talk
from ovos_persona_memory.skill.tell import PRIVATE
from ovos_persona_memory.times import Span, span

LOOKED_AT = 50
"""Memories at most that one question looks at."""


def about_me(talk: Talk) -> None:
    """Read what was asked to be remembered, the newest first, then what was learned."""
    entries = [entry for entry in talk.client.list(limit=LOOKED_AT) if not _is_hushed(talk, entry)]
    learned = talk.client.facts.list(limit=LOOKED_AT)
    facts = [Item(one.text, one.last_seen_at, one.id, one.speaker) for one in learned if not _is_hushed(talk, one)]
    _tell(talk, _once(talk, [*map(_item, entries), *facts]), "nothing_known_of_you")


def about(talk: Talk) -> None:
    """Read what is known of something of theirs."""
    topic = whole_topic(talk.slot("topic"), talk.said.text, talk.spoken)
    _tell(talk, found(talk, talk.said.text, topic), "nothing_known_about", topic=topic)


def where(talk: Talk) -> None:
    """Say where they put something: the one answer, in their words."""
    thing = whole_topic(talk.slot("thing"), talk.said.text, talk.spoken)
    hits = [hit for hit in _sure(talk, talk.said.text) if hit.answers]
    _tell(talk, _items(talk, hits)[:1], "nothing_known_about", topic=thing)


def told(talk: Talk) -> None:
    """Read what they said of something."""
    topic = talk.slot("topic")
    _tell(talk, found(talk, talk.said.text, topic), "nothing_known_about", topic=topic)


def told_when(talk: Talk) -> None:
    """Read what they said at a time."""
    _of_time(talk, "nothing_told_then")


def happened(talk: Talk) -> None:
    """Read what was kept and said at a time, today where none is named."""
    _of_time(talk, "nothing_happened")


def _of_time(talk: Talk, nothing: str) -> None:
    named = span(talk.said.text, talk.spoken, talk.now) or span(
        talk.spoken.phrases("today.dialog")[0], talk.spoken, talk.now
    )
    items = [] if named is None else _told_in(talk, named)
    _tell(talk, items, nothing)


def _told_in(talk: Talk, named: Span) -> list[Item]:
    kept = [e for e in talk.client.list(limit=LOOKED_AT) if named.since <= e.updated_at < named.until]
    said = [hit for hit in _sure(talk, talk.said.text) if named.since <= hit.at < named.until]
    items = [*[_item(entry) for entry in kept if not _is_hushed(talk, entry)], *_items(talk, said)]
    return sorted(_once(talk, items), key=lambda item: item.at)


def why(talk: Talk) -> None:
    """Say when and in whose words the last thing spoken of was told."""
    if not talk.moment.items:
        talk.say("why_what")
        return
    item = talk.moment.items[0]
    slots = {"when": talk.when(item.at), "text": own_words(item.text, talk.spoken)}
    if item.speaker:
        talk.say("because_somebody", speaker=speakable(item.speaker), **slots)
    else:
        talk.say("because", **slots)


def how_much(talk: Talk) -> None:
    """Say how much is remembered."""
    counts = talk.client.status()["counts"]
    talk.say("how_much", memories=counts["entries"], turns=counts["turns"])


def who_am_i(talk: Talk) -> None:
    """Say as whom the speaker is known."""
    person = talk.client.users.which()
    if person.user_id == HOUSEHOLD:
        talk.say("you_are_nobody")
    elif person.user_id == GUEST:
        talk.say("you_are_guest")
    else:
        talk.say("you_are", name=speakable(person.user_id))


# finding


def found(talk: Talk, question: str, topic: str) -> list[Item]:
    """What people told of a topic, each thing once, best first."""
    wanted = set(talk.spoken.content_words(topic))
    hits = [hit for hit in talk.client.recall(question, k=LOOKED_AT, lang=talk.spoken.tag) if _is_told(talk, hit)]
    return _items(talk, [hit for hit in hits if wanted <= set(talk.spoken.words(hit.text))])


def _sure(talk: Talk, question: str) -> list[Hit]:
    hits = talk.client.recall(question, k=LOOKED_AT, lang=talk.spoken.tag)
    return [hit for hit in hits if hit.sure and _is_told(talk, hit)]


def _is_told(talk: Talk, hit: Hit) -> bool:
    """Whether it is something that a person told: neither a question nor the assistant's own words."""
    told_by_person = hit.kind != "turn" or (hit.role == "user" and talk.spoken.is_statement(hit.text))
    return told_by_person and not (talk.is_overheard and hit.user_id != HOUSEHOLD)


def _is_hushed(talk: Talk, kept: Entry | Fact) -> bool:
    """Whether it is not to be said in this room."""
    private = kept.private if isinstance(kept, Fact) else kept.metadata.get(PRIVATE)
    return talk.is_overheard and bool(private or kept.user_id != HOUSEHOLD)


def _items(talk: Talk, hits: Iterable[Hit]) -> list[Item]:
    hushed = _hushed_keys(talk)
    items = [Item(h.text, h.at, h.key, h.speaker) for h in hits if h.key is None or h.key not in hushed]
    return _once(talk, items)


def _hushed_keys(talk: Talk) -> frozenset[str]:
    if not talk.is_overheard:
        return frozenset()
    return frozenset(entry.key for entry in talk.client.list(limit=LOOKED_AT) if _is_hushed(talk, entry))


def _once(talk: Talk, items: Iterable[Item]) -> list[Item]:
    """Each thing once, a lasting memory rather than the turn that asked for it."""
    seen: dict[str, Item] = {}
    for item in items:
        words = " ".join(talk.spoken.words(own_words(item.text, talk.spoken)))
        if words and (words not in seen or seen[words].key is None):
            seen[words] = item if words not in seen or item.key is not None else seen[words]
    return list(seen.values())


def _item(entry: Entry) -> Item:
    return Item(entry.text, entry.updated_at, entry.key)


# speaking


def _tell(talk: Talk, items: Sequence[Item], nothing: str, **slots: str) -> None:
    talk.spoke_of(items)
    if items:
        talk.read([_quoted(talk, item) for item in items], "told_me")
    elif not talk.client.capture().read:
        talk.say("guest_is_on")
    else:
        talk.say(nothing, **{name: turned(speakable(text), talk.spoken) for name, text in slots.items()})


def _quoted(talk: Talk, item: Item) -> str:
    when, text = talk.when(item.at), own_words(item.text, talk.spoken)
    if item.speaker:
        return talk.spoken.say("somebody_told_me", speaker=speakable(item.speaker), when=when, text=text)
    return talk.spoken.say("told_me", when=when, text=text)


INTENTS = {
    "about_me": about_me,
    "about": about,
    "where": where,
    "told": told,
    "told_when": told_when,
    "happened": happened,
    "why": why,
    "how_much": how_much,
    "who_am_i": who_am_i,
}
FAILED = "memory_away"
