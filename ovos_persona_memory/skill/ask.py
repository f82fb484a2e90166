"""Handlers of questions: what is known, where a thing is, what was told, why, how much, who."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from dataclasses import replace
from itertools import takewhile
from typing import TypeVar

from ovos_persona_memory.errors import StoreUnavailable
from ovos_persona_memory.records import (
    ACCEPTED,
    GUEST,
    HOUSEHOLD,
    OUTDATED,
    Entry,
    Episode,
    Fact,
    Hit,
    Origin,
    Scope,
    answers_to_tell,
    unsure_answers,
)
from ovos_persona_memory.skill.intent_matching import understood
from ovos_persona_memory.skill.phrasing import own_words, speakable, turned, whole_topic
from ovos_persona_memory.skill.session_state import SpokenItem
from ovos_persona_memory.skill.tell import HUSHED, without_courtesy
from ovos_persona_memory.skill.turn_context import AT_A_TIME, SKILL, TurnContext
from ovos_persona_memory.text import (
    Language,
    continues,
    fold,
    holds_question_word,
    is_small_talk,
    is_worth_checking,
    says_another_word,
    telling_words,
    time_expressions,
)

AT_MOST = 5
"""Statements of a time that are read in one go."""
LOOKED_AT = 50
"""Memories at most that one question reads."""
LIKELIEST_AMONG = 10
"""Hits among which the one is looked for that was told as an answer."""
FEW = 3
"""Statements about a topic of several words that are too few: others may say the same with other words."""
MOST_FACTS = 200
"""Facts at most that one question reads, the newest."""
BEGIN = 4
"""Words among which a question word is looked for."""
NAMING = frozenset({"family", "pet", "name", "detail"})
"""Slots of facts whose value is a name."""
MOST_KEPT = 1000
"""Memories at most that are checked for texts that are not said aloud."""


def about_me(talk: TurnContext) -> None:
    """Read the memories, the newest first, then the learned facts."""
    learned = talk.client.facts.list(limit=LOOKED_AT)
    facts = map(item_of_fact, aloud(talk, learned))
    kept = map(_item, aloud(talk, _kept(talk)))
    tell(talk, _once(talk, [*kept, *facts]), "nothing_known_of_you")


def about(talk: TurnContext) -> None:
    """Read everything that is known about a topic, the newest first; about the person where none is named."""
    if not talk.slot("topic"):
        about_me(talk)
        return
    topic = whole_topic(talk.slot("topic"), talk.said.text, talk.spoken)
    tell(talk, everything_about(talk, topic), "nothing_known_about", topic=topic)


def where(talk: TurnContext) -> None:
    """Say where the person put something: the best answer, in their words."""
    thing = whole_topic(talk.slot("thing"), talk.said.text, talk.spoken)
    sure, may_answer = _answers_or_likeliest(talk, (talk.said.text, talk.sentence("where_is", thing=thing)))
    if may_answer and not sure:
        tell_unsure(talk, may_answer[0])
    else:
        tell(talk, sure, "nothing_known_about", topic=thing)


def _answers_or_likeliest(talk: TurnContext, questions: Sequence[str]) -> tuple[list[SpokenItem], list[SpokenItem]]:
    """The best answer to the first of these that has one, and where none has, the likeliest of what may answer.

    Whichever verb was said, "where did I tuck away my glasses": the plain question may find it, too.
    """
    seen: list[Hit] = []
    for question in questions:
        hits = told_hits(talk, question)
        if answers := [hit for hit in hits if hit.answers]:
            return items_of(talk, answers)[:1], []
        seen += hits
    return [], items_of(talk, unsure_answers(seen))[:1]


def question(talk: TurnContext) -> None:
    """Answer what is asked behind a word that another skill listens for: "say where is my drill"."""
    tell_answers(talk, answering(talk))


def tell_answers(talk: TurnContext, found: Sequence[Hit]) -> None:
    """Read what ``answering`` found, in people's words: what answers, what may, or that nothing is known."""
    if found and not found[0].answers:
        tell_unsure(talk, items_of(talk, found)[0])
        return
    parts = (items_of(talk, [hit for hit in found if hit.answers is told]) for told in (True, False))
    tell(talk, next(parts), "nothing_known", perhaps=next(parts))


def answering(talk: TurnContext) -> list[Hit]:
    """What is told in answer to a question."""
    return answers_to_tell(told_hits(talk, _without_begin(talk)))


def _without_begin(talk: TurnContext) -> str:
    """What was said from its question word on, where it is among the first words."""
    words = talk.said.text.split()
    first = next((at for at in range(BEGIN) if holds_question_word(" ".join(words[at : at + 1]), talk.spoken)), 0)
    return " ".join(words[first:])


def told(talk: TurnContext) -> None:
    """Read the person's statements about a topic, or of a time: "what did i say on friday night" names one in the place
    of a topic."""
    topic = talk.slot("topic")
    if time_expressions.parse_time_span(topic, talk.spoken, talk.now) is not None:
        told_when(talk)
        return
    tell(talk, _stated_about(talk, topic), "nothing_known_about", topic=topic)


def told_when(talk: TurnContext) -> None:
    """Read the person's statements of a time, or those of whoever is named; where there are none, their questions."""
    named = named_time(talk)
    every = [] if named is None else told_in(talk, named)
    is_of_some = bool(topic_words(talk, every)) or _names_relation(talk)
    if found := [hit for hit in answering(talk) if hit.answers] if is_of_some else []:
        tell(talk, items_of(talk, found), "nothing_told_then", at_a_time=AT_MOST)
        return
    told = _of_who_asks(talk, told_by_named(talk, every) or every)
    if told:
        tell(talk, _of_consequence_first(talk, told), "nothing_told_then", at_a_time=AT_MOST)
    else:
        tell(talk, [] if named is None else asked_in(talk, named), "nothing_told_then")


def told_by_named(talk: TurnContext, told: Sequence[SpokenItem]) -> list[SpokenItem]:
    """Of these statements those of the first speaker whom the utterance names, "what did ruby tell you", else of
    anybody; of these, those that share a content word with it, where it has others than names, times and verbs of
    telling.

    None where it names no speaker, and something that was not told.
    """
    person, topic = _speaker_named(talk, told), topic_words(talk, told)
    of_person = [item for item in told if person in (None, first_name(item))]
    about_it = [item for item in of_person if not topic.isdisjoint(talk.spoken.words(item.text))]
    if about_it or (topic and person is None):
        return about_it
    if person is None and _names_relation(talk):  # "what did dad just tell you": whoever that is, it is not who asks
        return [item for item in of_person if item.speaker not in (None, talk.asker)]
    return of_person if person is not None else _of_who_asks(talk, of_person)


def topic_words(talk: TurnContext, told: Sequence[SpokenItem]) -> set[str]:
    """The stems of what the utterance names of what was told: no names of those who told it, times, verbs of telling
    and words that only ask."""
    spoken, person = talk.spoken, _speaker_named(talk, told)
    asking = {word for line in spoken.lines("asking.list") for word in fold(line)}
    others = {stem for word in telling_words(spoken.tag) | asking for stem in spoken.words(word)}
    named = {word for word in spoken.content_words(talk.said.text) if not _names_time(talk, word)}
    relations = {stem for word in _relations(spoken) for stem in spoken.words(word)}
    return named - spoken.time_words - others - relations - set(spoken.words(person or ""))


def _relations(spoken: Language) -> set[str]:
    """Words for what somebody is to somebody: "dad", "sister"."""
    listed = dict(spoken.pairs("people.list"))
    rows = (one for row in ("one", "many") for one in listed.get(row, "").split(","))
    return {word.strip() for row in rows for word in row.split("=")}


def _names_relation(talk: TurnContext) -> bool:
    return not _relations(talk.spoken).isdisjoint(talk.said.text.casefold().split())


def _speaker_named(talk: TurnContext, told: Sequence[SpokenItem]) -> str | None:
    speakers = {first_name(item) for item in told}
    return next((word for word in fold(talk.said.text) if word in speakers), None)


def _names_time(talk: TurnContext, word: str) -> bool:
    return time_expressions.parse_time_span(word, talk.spoken, talk.now) is not None


def first_name(item: SpokenItem) -> str:
    return next(iter(fold(item.speaker or "")), "")


def _of_who_asks(talk: TurnContext, told: Sequence[SpokenItem]) -> list[SpokenItem]:
    """What the asker told, "what did I tell you"; all of it where it is not known who asks, or several do, "we"."""
    shared = {word.strip() for word in dict(talk.spoken.pairs("people.list")).get("shared", "").split(",")}
    if talk.asker is None or not shared.isdisjoint(fold(talk.said.text)):
        return list(told)
    return [item for item in told if item.speaker in (None, talk.asker)] or list(told)


def happened(talk: TurnContext) -> None:
    """Read the questions, memories and statements of a time, today where none is named."""
    named = named_time(talk)
    items = [] if named is None else [*told_in(talk, named), *asked_in(talk, named)]
    tell(talk, sorted(_once(talk, items), key=lambda item: item.at), "nothing_happened")


def _of_consequence_first(talk: TurnContext, told: Sequence[SpokenItem]) -> list[SpokenItem]:
    """Those statements of a time first that matter most, as many as are read in one go; both parts in their order.

    What somebody asked to keep matters most, then what was learned from, then what holds names, numbers or times.
    """
    facts = talk.client.facts.list(limit=MOST_FACTS)
    learned = {_words_of(talk, one.text) for one in facts}
    ranks = {place: _consequence(talk, item, learned) for place, item in enumerate(told)}
    first = sorted(sorted(ranks, key=lambda place: -ranks[place])[:AT_MOST])
    return [*(told[place] for place in first), *(told[place] for place in ranks if place not in first)]


def _consequence(talk: TurnContext, item: SpokenItem, learned: Collection[tuple[str, ...]]) -> int:
    if _precedence(item) == LASTING:
        return 3
    if _is_fact(item) or _words_of(talk, item.text) in learned:
        return 2
    return int(is_worth_checking(item.text, talk.spoken))


def just_told(talk: TurnContext) -> None:
    """Read the last thing that the person stated in this session."""
    tell(talk, last_told(talk), "nothing_told_then")


def last_told(talk: TurnContext) -> list[SpokenItem]:
    """The last thing that the person stated in this session; none where nothing was."""
    told = talk.client.referents(talk.session, said=talk.as_heard()).told
    said = [hit for hit in told if _is_told(talk, hit) and not _is_question(talk, hit.text)]
    whole = [hit for hit, _ in takewhile(_is_joined(talk), zip(said, [None, *said], strict=False))]
    return _joined(talk, items_of(talk, reversed(whole)))


def _is_joined(talk: TurnContext) -> Callable[[tuple[Hit, Hit | None]], bool]:
    """Whether a statement is the last one, or the next one only goes on with it."""
    return lambda pair: pair[1] is None or continues(pair[1].text, pair[1].at - pair[0].at, talk.spoken)


def _joined(talk: TurnContext, told: Iterable[SpokenItem]) -> list[SpokenItem]:
    """The statements of one person, oldest first, each with what only goes on with it."""
    found: list[SpokenItem] = []
    for item in told:
        before = found[-1] if found else None
        last = before.more[-1] if before and before.more else before
        is_same = last is not None and (last.speaker, last.told_as) == (item.speaker, item.told_as)
        if before and last and is_same and continues(item.text, item.at - last.at, talk.spoken):
            found[-1] = replace(before, more=(*before.more, item))
        else:
            found.append(item)
    return found


def named_time(talk: TurnContext) -> time_expressions.TimeSpan | None:
    """The time that the utterance names, today where it names no day."""
    today = talk.spoken.phrases("today.dialog")[0]
    said = (talk.said.text, f"{today} {talk.said.text}", today)
    spans = (time_expressions.parse_time_span(one, talk.spoken, talk.now) for one in said)
    return next((span for span in spans if span is not None), None)


def told_in(talk: TurnContext, named: time_expressions.TimeSpan) -> list[SpokenItem]:
    """What the person stated at a time: to whichever skill or persona, and lasting memories; oldest first."""
    kept = [e for e in _kept(talk) if named.since <= e.updated_at < named.until]
    said = talk.client.recall(talk.said.text, k=LOOKED_AT, lang=talk.spoken.tag, since=named.since, until=named.until)
    told = [hit for hit in said if _may_tell(talk, hit.text) and _is_for_this_room(talk, hit)]
    items = [*map(_item, aloud(talk, kept)), *items_of(talk, told)]
    return _joined(talk, sorted(_once(talk, items), key=lambda item: item.at))


def asked_in(talk: TurnContext, named: time_expressions.TimeSpan, whose: Scope = Scope()) -> list[SpokenItem]:
    """Requests of a person to the assistant at a time, with success or failure, in their words, oldest first."""
    done = talk.client.episodes(whose, {"intent"}, named.since, named.until, LOOKED_AT, words=True)
    found = [one for one in reversed(done) if one.skill_id != SKILL and not _is_not_aloud(talk, one)]
    asked = [_asked(talk, one, one.said) for one in found if one.said and _asks(talk, one, one.said)]
    left = [item for item in asked if not is_hushed_text(talk, item.text)] if talk.is_overheard else asked
    talk.hushed = talk.hushed or len(left) < len(asked)
    return left


def _asks(talk: TurnContext, episode: Episode, said: str) -> bool:
    """Whether the utterance was a request or a statement: a persona answers small talk, too."""
    return not (episode.skill_id or "").startswith("persona") or talk.spoken.sentence_type(said) != "other"


def was_taken_by_others(talk: TurnContext, turn_id: str) -> bool:
    """Whether another skill, and no persona, took an utterance of this session."""
    lately = talk.client.episodes(talk.session, {"intent"}, None, None, LOOKED_AT)
    taken = (one.skill_id or "" for one in lately if one.turn_id == turn_id)
    return any(one != SKILL and not one.startswith("persona") for one in taken)


def _is_not_aloud(talk: TurnContext, episode: Episode) -> bool:
    hushed = talk.is_overheard and episode.user_id != HOUSEHOLD
    talk.hushed = talk.hushed or hushed
    return hushed


def _asked(talk: TurnContext, episode: Episode, said: str) -> SpokenItem:
    failed = "asked_me_in_vain" if episode.outcome == "failed" else "asked_me"
    told_as = "told_me" if talk.spoken.is_statement(said) and not talk.spoken.is_command(said) else failed
    return SpokenItem(said, episode.at, speaker=episode.speaker, id=episode.turn_id, told_as=told_as)


def why(talk: TurnContext) -> None:
    """Say when and in whose words the last thing spoken of was told."""
    origin = _origin(talk)
    if origin is None:
        talk.say("why_what" if talk.client.capture().read else "guest_is_on")
        return
    if talk.is_overheard and (origin.user_id != HOUSEHOLD or is_hushed_text(talk, origin.text)):
        talk.say("not_aloud")
        return
    slots = {"when": talk.when(origin.at), "text": own_words(_whose_words(talk, origin), talk.spoken)}
    if origin.role == "assistant":
        talk.say("because_mine", **slots)
    elif origin.speaker and origin.speaker != talk.asker:
        talk.say("because_somebody", speaker=speakable(origin.speaker), **slots)
    else:
        talk.say("because", **slots)


def _origin(talk: TurnContext) -> Origin | None:
    """The provenance of the last thing spoken of: by the skill, or in another's later answer."""
    question, item = last_said(talk), next(iter(talk.moment.items), None)
    if item is not None and question in (None, talk.moment.utterance) and (item.id or item.key):
        talk.spoke_of_the_same()
        return talk.client.why(item.scope, id=item.id, key=None if item.id else item.key)
    hits = talk.client.recall(question, k=LIKELIEST_AMONG, lang=talk.spoken.tag) if question else []
    answers = [hit for hit in hits if hit.answers and hit.role == "user"]
    answer = next(iter(answers or unsure_answers(hits)), None)
    return talk.client.why(talk.session) if answer is None else talk.client.why(id=answer.id)


def last_said(talk: TurnContext) -> str | None:
    """The utterance before this one in the session, small talk aside; None where its text is gone."""
    last = talk.client.history(talk.session, max_history=6, hanging=True)
    said = [message.text for message in last if message.role == "user" and message.text]
    if said and said[-1] in (talk.as_heard(), talk.said.text):
        said.pop()
    said = [text for text in said if not is_small_talk(text, talk.spoken)]
    return said[-1] if said else None


def _whose_words(talk: TurnContext, origin: Origin) -> str:
    """The text of the turn, where it says what the memory says: the memory may have been corrected since."""
    known = set(talk.spoken.words(origin.text))
    return origin.said if origin.said and known <= set(talk.spoken.words(origin.said)) else origin.text


def how_much(talk: TurnContext) -> None:
    """Say how many memories and facts there are, and how much of the conversations is kept."""
    counts = talk.client.status()["counts"]
    told = counts["entries"] + counts["facts"]
    if told <= LOOKED_AT:  # a memory may have been learned as a fact as well
        kept = [one.text for one in _kept(talk)]
        learned = [one.text for one in talk.client.facts.list(limit=LOOKED_AT)]
        told = len({_words_of(talk, text) for text in (*kept, *learned)})
    talk.say({0: "how_much_none", 1: "how_much_one"}.get(told, "how_much"), memories=told)
    if counts["turns"] > 1:
        talk.say("how_much_said", turns=counts["turns"])


def who_am_i(talk: TurnContext) -> None:
    """Say as which user the speaker is known."""
    person = talk.client.users.which()
    if person.user_id == HOUSEHOLD:
        talk.say("you_are_nobody")
    elif person.user_id == GUEST:
        talk.say("you_are_guest")
    else:
        talk.say("you_are", name=speakable(person.user_id))


def help_with_memory(talk: TurnContext) -> None:
    """Say in one sentence what can be asked for."""
    talk.say("help")


# finding


def _kept(talk: TurnContext) -> list[Entry]:
    """The accepted memories, the last changed first."""
    return talk.client.list(limit=LOOKED_AT, status=ACCEPTED)


def statements_about(talk: TurnContext, question: str, topic: str) -> list[SpokenItem]:
    """Statements about a topic, each once, best first."""
    wanted, spoken = set(talk.spoken.content_words(topic)), talk.spoken
    hits = [hit for hit in told_hits(talk, question) if not hit.outdated]
    about = [hit for hit in hits if wanted <= set(spoken.words(hit.text))]
    return items_of(talk, [hit for hit in about if not says_another_word(hit.text, topic, spoken)])


def _stated_about(talk: TurnContext, topic: str) -> list[SpokenItem]:
    """What people stated about a topic, and went on to say of it, each once, the newest first."""
    hits = talk.client.recall(topic, k=LOOKED_AT, lang=talk.spoken.tag, about=True)
    return sorted(items_of(talk, [hit for hit in hits if _is_told(talk, hit)]), key=lambda item: -item.at)


def anything_about(talk: TurnContext, topic: str) -> bool:
    """Whether ``everything_about`` finds anything: in one request where somebody stated it, as others wait for this."""
    return bool(_stated_about(talk, topic) or everything_about(talk, topic))


def everything_about(talk: TurnContext, topic: str) -> list[SpokenItem]:
    """Statements and facts about somebody or something, by name and by relation, the newest first.

    A fact is left out beside a statement that says as much.
    """
    learned = talk.client.facts.list(limit=MOST_FACTS)
    named = [*_named_alike(learned, topic, talk.spoken), *_bare_name(topic, talk.spoken)]
    said = [item for one in (topic, *named) for item in _stated_about(talk, one)]
    if len(said) < FEW and len(talk.spoken.content_words(topic)) > 1:
        said += items_of(talk, [hit for hit in told_hits(talk, talk.said.text, FEW) if hit.answers])
    about = [one for one in aloud(talk, learned) if _is_about(one, (topic, *named), talk.spoken)]
    facts = [item_of_fact(one) for one in about if not _is_question(talk, one.text)]
    found = {item.id: item for item in (*said, *facts)}.values()
    words = {item.id: frozenset(_words_of(talk, item.text)) for item in found}
    told = [words[item.id] for item in found if not _is_fact(item)]
    every = (item for item in found if not (_is_fact(item) and any(words[item.id] <= one for one in told)))
    return sorted(_once(talk, every), key=lambda item: -item.at)


def _named_alike(facts: Sequence[Fact], topic: str, spoken: Language) -> list[str]:
    """Whoever has the topic's name by a relation, "daughter" for "Emma", and whose relation the topic is, where only
    one has it; and a name that the topic holds beside what it is, "oslo" for "that dog oslo"."""
    wanted = set(spoken.content_words(topic))
    named = [(_relation(fact, spoken), fact.value or "") for fact in facts if not fact.subject and fact.slot in NAMING]
    pairs = [(thing, name) for thing, name in named if name and len([1 for one, _ in named if one == thing]) == 1]
    found = [thing for thing, name in pairs if wanted == set(spoken.content_words(name))]
    held = {name for thing, name in named if name and _is_named_so(thing, name, wanted, spoken)}
    return [*found, *sorted(held), *(name for thing, name in pairs if wanted == set(spoken.content_words(thing)))]


def _is_named_so(thing: str, name: str, wanted: Set[str], spoken: Language) -> bool:
    """Whether a topic's words hold a name, and what the named is."""
    own = set(spoken.content_words(name))
    return bool(own) and own < wanted and not set(thing.split()).isdisjoint(wanted - own)


def _bare_name(topic: str, spoken: Language) -> list[str]:
    """The name behind a relation, "carol" of "my aunt carol": who speaks of her may say the name alone."""
    *before, relation, name = ["", *topic.split()] if " " in topic else ["", "", topic]
    is_alone = all(word in spoken.swaps or not spoken.content_words(word) for word in before)
    return [name] if is_alone and relation.casefold() in _relations(spoken) and spoken.content_words(name) else []


def _relation(fact: Fact, spoken: Language) -> str:
    """The stems of what somebody is to the speaker: things of which there are several hold the name as well."""
    name = spoken.words(fact.value or "")
    return " ".join(word for word in fact.thing.split() if word not in name)


def _is_about(fact: Fact, topics: Sequence[str], spoken: Language) -> bool:
    words, subject = set(spoken.words(fact.text)), set(spoken.words(fact.subject))
    named = [set(spoken.content_words(topic)) for topic in topics]
    if any(one <= subject for one in named):
        return True
    if not subject and fact.speaker and fold(fact.speaker)[:1] in [fold(topic) for topic in topics]:
        return True  # what they told of themselves
    return any(
        one <= words and not says_another_word(fact.text, topic, spoken)
        for topic, one in zip(topics, named, strict=True)
    )


def told_hits(talk: TurnContext, question: str, number: int = LOOKED_AT, by_words: bool = False) -> list[Hit]:
    """What people stated among the hits for a question, or for a list of words, best first."""
    hits = talk.client.recall(question, k=number, lang=talk.spoken.tag, by_words=by_words)
    return [hit for hit in hits if _is_told(talk, hit)]


def _is_told(talk: TurnContext, hit: Hit) -> bool:
    """Whether it is a person's statement: neither a question nor the assistant's own words."""
    told_by_person = hit.kind != "turn" or (hit.role == "user" and _tells(talk, hit.text))
    return told_by_person and _is_for_this_room(talk, hit)


def _is_for_this_room(talk: TurnContext, hit: Hit) -> bool:
    return not (hit.user_id != HOUSEHOLD and _is_overheard_now(talk))


def _tells(talk: TurnContext, said: str) -> bool:
    """Whether an utterance is a statement, and no request to keep it private: "this is private"."""
    return _may_tell(talk, said) and not (talk.spoken.is_question(said) and _is_question(talk, said))


def _may_tell(talk: TurnContext, said: str) -> bool:
    """As ``_tells``, of what is known to be no question though it may begin as one: "que sepáis que no como carne"."""
    if not (talk.spoken.is_question(said) or talk.spoken.is_statement(said)):
        return False
    asked = understood(said, talk.spoken, ("remember", "private"))
    return asked is None or asked.intent != "private"


def _is_question(talk: TurnContext, said: str) -> bool:
    """Whether an utterance certainly asks, with a mark or without: what only may be a question is told."""
    return talk.client.surely_asks(said, talk.spoken.tag)


def _is_overheard_now(talk: TurnContext) -> bool:
    """Whether others may hear; notes that something is left out."""
    talk.hushed = talk.hushed or talk.is_overheard
    return talk.is_overheard


# in a room where others may hear

Kept = TypeVar("Kept", Entry, Fact)


def aloud(talk: TurnContext, kept: Iterable[Kept]) -> list[Kept]:
    """Those memories that may be said in this room."""
    if not talk.is_overheard:
        return [one for one in kept if not _is_called_off(one)]
    hushed = _hushed_words(talk)
    found = [one for one in kept if not _is_called_off(one)]
    left = [one for one in found if one.user_id == HOUSEHOLD and _words_of(talk, one.text) not in hushed]
    left = [one for one in left if not (isinstance(one, Fact) and one.private)]
    talk.hushed = talk.hushed or len(left) < len(found)
    return left


def _is_called_off(kept: Entry | Fact) -> bool:
    """Whether a memory was retracted or denied since."""
    return isinstance(kept, Entry) and bool(kept.metadata.get(OUTDATED))


def is_hushed_text(talk: TurnContext, text: str) -> bool:
    """Whether this text is not to be said in this room."""
    return talk.is_overheard and _words_of(talk, text) in _hushed_words(talk)


def items_of(talk: TurnContext, hits: Iterable[Hit]) -> list[SpokenItem]:
    """The hits that may be said in this room, each thing once."""
    hushed = _hushed_words(talk)
    found = _once(talk, [SpokenItem(hit.text, hit.at, hit.key, hit.speaker, hit.id, hit.persona_id) for hit in hits])
    left = [item for item in found if _words_of(talk, item.text) not in hushed]
    talk.hushed = talk.hushed or len(left) < len(found)
    return left


def _hushed_words(talk: TurnContext) -> frozenset[tuple[str, ...]]:
    """The texts that are not to be said in this room, as sets of words: a turn and a fact may hold the same."""
    if not talk.is_overheard:
        return frozenset()
    kept = talk.client.list(limit=MOST_KEPT)
    return frozenset(_words_of(talk, one.text) for one in kept if one.metadata.get(HUSHED) or one.user_id != HOUSEHOLD)


def _words_of(talk: TurnContext, text: str) -> tuple[str, ...]:
    return tuple(talk.spoken.words(without_courtesy(own_words(text, talk.spoken), talk.spoken)))


def _once(talk: TurnContext, items: Iterable[SpokenItem]) -> list[SpokenItem]:
    """The items without repetitions, a lasting memory rather than the turn that asked for it, and either rather than a
    fact, which may not be spelled as it was said."""
    seen: dict[str, SpokenItem] = {}
    for item in items:
        words = " ".join(_words_of(talk, item.text))
        if words and (words not in seen or _precedence(item) > _precedence(seen[words])):
            seen[words] = item
    kept = [words for words, item in seen.items() if _precedence(item) == LASTING]
    return [item for words, item in seen.items() if not any(_asked_to_keep(words, one) for one in kept)]


def _asked_to_keep(words: str, kept: str) -> bool:
    """Whether an utterance has but a few words before those of a lasting memory: "even that the key is in the tin"."""
    return words.endswith(f" {kept}") and words.count(" ") - kept.count(" ") <= LEADING


LASTING = 2
"""The precedence of a lasting memory."""
LEADING = 2
"""Index terms at most that a request to keep something has before what is to be kept."""


def _precedence(item: SpokenItem) -> int:
    return 0 if _is_fact(item) else 1 if item.key is None else LASTING


def _is_fact(item: SpokenItem) -> bool:
    return item.key is not None and item.key == item.id


def _item(entry: Entry) -> SpokenItem:
    return SpokenItem(entry.text, entry.updated_at, entry.key, entry.speaker, entry.id, entry.persona_id)


def item_of_fact(fact: Fact) -> SpokenItem:
    """The fact as it is spoken of."""
    return SpokenItem(fact.text, fact.last_seen_at, fact.id, fact.speaker, fact.id)


# speaking


def tell(
    talk: TurnContext,
    items: Sequence[SpokenItem],
    nothing: str,
    at_a_time: int = AT_A_TIME,
    perhaps: Sequence[SpokenItem] = (),
    **slots: str,
) -> None:
    """Read the items, a few at a time; where there are none, say so, or why nothing may be said.

    ``perhaps``: what may belong to them, which is offered behind them.
    """
    items, may_belong = own_unnamed(talk, items), own_unnamed(talk, perhaps[:AT_A_TIME])
    talk.spoke_of([*items, *may_belong] if items else [], at_a_time)
    if items:
        unsure = " ".join(_quoted(talk, item) for item in may_belong)
        sentences = [_told_along(talk, items, place, at_a_time) for place in range(len(items))]
        talk.read(sentences, "told_me", at_a_time, talk.sentence("not_sure", text=unsure) if unsure else "")
        return
    quiet = "guest_is_on" if not talk.client.capture().read else "not_aloud" if talk.hushed else None
    if quiet is None and talk.client.degraded:
        raise StoreUnavailable("nothing is known on this device, and the store is away")
    told = {} if quiet else {name: turned(speakable(text), talk.spoken) for name, text in slots.items()}
    talk.say(quiet or nothing, **told)


def tell_unsure(talk: TurnContext, item: SpokenItem) -> None:
    """Read what may answer, and say that it is not sure."""
    (named,) = own_unnamed(talk, [item])
    talk.spoke_of([named])
    talk.say("not_sure", text=_quoted(talk, named))


def own_unnamed(talk: TurnContext, items: Sequence[SpokenItem]) -> list[SpokenItem]:
    """The items; what the asker said has no name of a speaker: "you told me"."""
    is_named = any(item.speaker for item in items)
    return [replace(item, speaker=None) if is_named and item.speaker == talk.asker else item for item in items]


def _told_along(talk: TurnContext, items: Sequence[SpokenItem], place: int, first: int) -> str:
    """An item as it is read behind others: the day is said once, and again where the reading goes on after a while."""
    item, before = items[place], items[place - 1]
    begins = place == 0 or (place >= first and (place - first) % AT_A_TIME == 0)
    differs = {item.told_as, before.told_as} != {"told_me"} or item.speaker or before.speaker
    opens = begins or differs
    if opens or talk.when(item.at) != talk.when(before.at):
        return _quoted(talk, item)
    return talk.sentence("also_told_me", text=_whole_text(talk, item))


def _whole_text(talk: TurnContext, item: SpokenItem) -> str:
    return ", ".join(own_words(one.text, talk.spoken) for one in (item, *item.more))


def _quoted(talk: TurnContext, item: SpokenItem) -> str:
    slots = {"when": talk.when(item.at), "text": _whole_text(talk, item)}
    if item.speaker:
        return talk.sentence(f"somebody_{item.told_as}", speaker=speakable(item.speaker), **slots)
    return talk.sentence(item.told_as, **slots)


INTENTS = {
    "about_me": about_me,
    "about": about,
    "where": where,
    "question": question,
    "told": told,
    "told_when": told_when,
    "just_told": just_told,
    "happened": happened,
    "why": why,
    "how_much": how_much,
    "who_am_i": who_am_i,
    "help": help_with_memory,
}
FAILED = PERHAPS = "memory_away"
