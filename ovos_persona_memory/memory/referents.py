"""What "that" means now in a session: what the last answer quoted, else what the person told last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.extraction import extract
from ovos_persona_memory.memory.episodes import Episodes
from ovos_persona_memory.memory.transcript import MemoryParts
from ovos_persona_memory.records import HOUSEHOLD, EpisodesWanted, Hit, Referents, Scope, Selection, Turn
from ovos_persona_memory.search import Record, hit_of, is_told_by_person, told_about, topic_of_question
from ovos_persona_memory.text import is_sentence, is_small_talk, languages, names_nothing_to_keep

LOOKED_AT = 40
"""Turns of a session among which that is looked for."""
TOLD = 10
"""Statements of the person that are given, at most."""
STALE_S = 12 * 3600.0
"""What was said longer ago is not what anybody points at, seconds."""


class ReferentResolver:
    """The verb of PersonaMemory about what was just spoken of. Reads alone; thread-safe as the store is."""

    def __init__(self, workings: MemoryParts, episodes: Episodes) -> None:
        self._workings, self._episodes = workings, episodes
        self._store = workings.store

    def referents(self, scope: Scope, utterance_id: str | None, said: str | None) -> Referents:
        """See PersonaMemory.referents."""
        if scope.session_id is None:
            raise InvalidRequest("scope.session_id", "is missing")
        if not self._workings.captures.may_read(scope) or scope.blind:
            return Referents()
        self._episodes.write_recalls_now()
        here = Scope(scope.session_id, scope.user_id or HOUSEHOLD, scope.persona_id)
        recent = self._store.turns(here, limit=LOOKED_AT, since=self._workings.clock() - STALE_S)
        talk = _before_request(recent, utterance_id, said)
        asker = self._workings.transcript.people.name_of(scope.session_id, utterance_id)
        own = [turn for turn in reversed(talk) if asker is None or turn.speaker in (None, asker)]
        told = [turn for turn in own if _is_stated(turn)]
        asked = next((turn for turn in reversed(talk) if turn.role == "user" and not _is_aside(turn)), None)
        answers = [] if asked is None else _answers_to(asked, talk)
        is_question = asked is not None and bool(asked.text) and not _is_stated(asked)
        quoted = self._quoted(here, asked, answers) if asked is not None and is_question else []
        spoken = [one for one in answers if one.text]
        last = spoken[-1] if is_question and spoken and not quoted else None
        return Referents(
            quoted,
            [_hit(one) for one in told[:TOLD]],
            answer=_hit(last) if last is not None else None,
            told_last=bool(told) and asked is not None and told[0].id == asked.id,
            about=self._about(here, asked, quoted) if asked is not None and is_question and _asks(asked) else None,
        )

    def _about(self, here: Scope, asked: Turn, quoted: Sequence[Hit]) -> list[Hit] | None:
        """What was told of what a question names: what its answer quoted of that first, then the newest."""
        if not topic_of_question(asked.text, asked.lang):
            return None
        held = told_about(self._store, replace(here, session_id=None), asked.text, asked.lang)
        hits = [_hit(one) for one in held[:TOLD]]
        ids = {hit.id for hit in quoted}
        return sorted(hits, key=lambda hit: hit.id not in ids)

    def _quoted(self, here: Scope, asked: Turn, answers: Sequence[Turn]) -> list[Hit]:
        """Of the records that were handed out for a question, those whose words are in the answers to it."""
        wanted = EpisodesWanted(here, frozenset({"recall"}), since=asked.at, limit=LOOKED_AT)
        recalls = [one for one in self._store.episode_store.episodes(wanted) if one.turn_id == asked.id]
        ids = list(dict.fromkeys(used for one in reversed(recalls) for used in one.used))
        said = {word for one in answers for word in _words(one.lang, one.text)}
        found = (self._record(one, here) for one in ids)
        held = [one for one in found if one is not None and said.issuperset(_words(one.lang, one.text))]
        longest = [one for one in held if not _is_within(one, held)]
        return [_hit(one) for one in longest]

    def _record(self, record_id: str, here: Scope) -> Record | None:
        of_user = replace(here, session_id=None)
        turns = self._store.select(Selection(of_user, ids=(record_id,), kinds=frozenset({"turn", "memory"})))
        if turns:
            return turns[0]
        fact = self._store.fact_store.fact(record_id)
        return fact if fact is not None and fact.user_id == here.user_id else None


def _before_request(recent: Sequence[Turn], utterance_id: str | None, said: str | None) -> list[Turn]:
    """The turns before the utterance that asks: known by its id, else by its words."""
    talk = [turn for turn in recent if utterance_id is None or turn.utterance_id != utterance_id]
    if said is not None and talk:
        newest = max((place for place, turn in enumerate(talk) if turn.role == "user"), default=None)
        if newest is not None and languages.fold(talk[newest].text) == languages.fold(said):
            return talk[:newest]
    return talk


def _is_aside(turn: Turn) -> bool:
    """Whether it neither states nor asks nor wants anything: "thanks", "holy cow"."""
    if not turn.text or _is_stated(turn):
        return False
    spoken = languages.for_text(turn.lang, turn.text)
    is_short = spoken.sentence_type(turn.text) == "other" and not spoken.is_command(turn.text)
    return is_small_talk(turn.text, spoken) or is_short


def _is_stated(turn: Turn) -> bool:
    """Whether a person states something in a turn: no thanks, no yes or no, and no request to keep something else.

    Two words that are no sentence do where something is learned of them: others are exclamations.
    """
    if not is_told_by_person(turn):
        return False
    spoken = languages.for_text(turn.lang, turn.text)
    told = spoken.without_lead(turn.text)
    if is_small_talk(told, spoken) or (told != turn.text and names_nothing_to_keep(told, spoken)):
        return False
    return is_sentence(told, spoken) or bool(extract(turn))


def _answers_to(asked: Turn, talk: Sequence[Turn]) -> list[Turn]:
    """What the assistant said to a turn: under its id, else behind it until somebody speaks again."""
    later = [turn for turn in talk if turn.seq > asked.seq and not turn.announcement]
    same = [one for one in later if asked.utterance_id is not None and one.utterance_id == asked.utterance_id]
    spoke = next((place for place, turn in enumerate(later) if turn.role == "user"), len(later))
    return [turn for turn in same if turn.role == "assistant"] or [
        turn for turn in later[:spoke] if turn.role == "assistant"
    ]


def _asks(turn: Turn) -> bool:
    """Whether a turn is a question, and no command to somebody: "tell me a joke"."""
    return languages.for_text(turn.lang, turn.text).only_asks(turn.text)


def _words(lang: str | None, text: str) -> list[str]:
    spoken = languages.for_language(lang)
    return languages.fold(spoken.without_lead(text))


def _is_within(one: Record, others: Iterable[Record]) -> bool:
    """Whether another record holds all words of this one and more: who quotes that one says them, too."""
    words = set(_words(one.lang, one.text))
    return any(words < set(_words(other.lang, other.text)) for other in others if other is not one)


def _hit(record: Record) -> Hit:
    return hit_of(record, 0.0, False, "")
