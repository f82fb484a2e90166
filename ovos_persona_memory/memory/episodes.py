"""The log of what happened: exchanges, intents, tools that were used, memories that were handed out."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from ovos_persona_memory.conversation import estimate_tokens
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.memory import completed_turns
from ovos_persona_memory.memory.transcript import RECENT, MemoryParts
from ovos_persona_memory.records import (
    HOUSEHOLD,
    NO_PERSONA,
    Episode,
    EpisodeKind,
    EpisodesWanted,
    Heard,
    Scope,
    Turn,
)
from ovos_persona_memory.text import languages, tells_secret, time_expressions

OPEN = 256
"""Intents, tool calls and recalls at most that are kept in mind until their end is heard."""
RECALLS_KEPT, KEPT_STEP = 10_000, 250
"""So many recalls are kept at most, and more are let go of so many at a time."""
NEAR = 8
"""Of a session, the newest turns among which those of an utterance are looked for."""
OUT_OF_ORDER_S = 60.0
"""Turns that are handed in together may name times that are so much out of order, seconds."""


@dataclass
class _Open:
    """An utterance on its way."""

    asked: Turn | None = None
    answers: list[Turn] = field(default_factory=list)
    intent: Episode | None = None
    failed: bool = False
    error: Mapping[str, Any] = field(default_factory=dict)
    tools: list[str] = field(default_factory=list)


class Episodes:
    """Notes episodes while events are taken in, and gives them. Not thread-safe by itself: the store's
    transactions are.

    Nothing is noted of an utterance of which nothing is kept.
    """

    def __init__(self, workings: MemoryParts) -> None:
        self._workings = workings
        self._store = workings.store.episode_store
        self._open: dict[tuple[str, str | None], _Open] = {}
        self._calls: dict[tuple[str, str | None], Episode] = {}
        self._used: list[Episode] = []
        self._written = 0

    # noting

    def hear(self, heard: Heard | None, added: Sequence[Turn] = ()) -> None:
        """Take in one event, after the transcript has, and the turns that it added; None: nothing may be kept."""
        self.write_recalls()
        if heard is None or self._workings.transcript.ledger.knows(heard.utterance_id):
            return  # or it belongs to what was forgotten, and comes late or again
        if heard.what == "utterance" and heard.utterance_id is None:
            self._open.pop((heard.session_id, None), None)  # on the stable line what was open is over
        elif heard.what == "speech":
            self._going(heard).answers.extend(added)
        note = self._noted_by.get(heard.what)
        if note is not None:
            note(heard)

    @cached_property
    def _noted_by(self) -> Mapping[str, Callable[[Heard], None]]:
        return {
            **dict.fromkeys(("matched", "unmatched", "failed"), self._chosen),
            **dict.fromkeys(("tool_call", "tool_result"), self._tool),
            "handled": self._handled,
            "cancelled": self._cancelled,
        }

    def _chosen(self, heard: Heard) -> None:
        going = self._going(heard)
        if heard.what != "matched":
            going.failed = heard.what == "failed"
            going.error = heard.detail
        elif going.intent is None:
            spoken_of = going.asked = self._asked(heard)
            slots = dict(heard.detail) if spoken_of is not None and self._may_repeat(spoken_of, heard) else {}
            made = self._made(heard, "intent", name=heard.intent, detail=slots)
            made = replace(made, turn_id=spoken_of.id if spoken_of else None)
            if spoken_of is not None:
                going.intent = self._add(made, heard.lang)

    def _may_repeat(self, asked: Turn, heard: Heard) -> bool:
        """Whether the words that an event took of an utterance may be kept: they tell no secret."""
        words = (heard.text, *_texts(heard.detail))
        return self._workings.transcript.may_repeat(asked) and not any(tells_secret(one, heard.lang) for one in words)

    def _handled(self, heard: Heard) -> None:
        going = self._open.pop((heard.session_id, heard.utterance_id), _Open())
        asked = going.asked or self._asked(heard)
        if asked is None:
            return
        outcome = "failed" if going.failed else "handled" if going.intent or going.answers else "unmatched"
        if going.intent is not None:
            took_ms = round((heard.at - going.intent.at) * 1000, 1)
            self._store.finish(replace(going.intent, outcome=outcome, latency_ms=took_ms))
        self._add(self._exchange(heard, asked, going, outcome), heard.lang)

    def _exchange(self, heard: Heard, asked: Turn, going: _Open, outcome: str) -> Episode:
        answers = going.answers
        first_at = min((turn.at or heard.at for turn in answers), default=heard.at)
        at = asked.at or heard.at
        tokens = sum(estimate_tokens(turn.text) for turn in answers)
        return replace(
            self._made(heard, "exchange", detail={"tokens": tokens, "tools": list(going.tools)}),
            at=at,
            turn_id=asked.id,
            persona_id=asked.persona_id,
            skill_id=answers[0].skill_id if answers else None,
            outcome=outcome,
            latency_ms=round((first_at - at) * 1000, 1),
        )

    def _cancelled(self, heard: Heard) -> None:
        going = self._open.pop((heard.session_id, heard.utterance_id), None)
        if going is not None and going.intent is not None:
            self._workings.purge_if(self._store.delete([going.intent.id]) > 0)

    def _tool(self, heard: Heard) -> None:
        place = (heard.session_id, heard.detail.get("toolbox"))
        if heard.what == "tool_call":
            asked = self._asked(heard)
            arguments = heard.detail["arguments"] if asked is not None and self._may_repeat(asked, heard) else {}
            made = self._made(heard, "tool_call", name=heard.detail["tool"], detail={"arguments": arguments})
            self._keep(self._calls, place, replace(made, turn_id=asked.id if asked else None))
            return
        call = self._calls.pop(place, None)
        if call is None:
            return
        error = heard.detail.get("error")
        took_ms = round((heard.at - call.at) * 1000, 1)
        detail = {**call.detail, "error": error} if error else call.detail
        ended = replace(call, outcome="error" if error else "ok", latency_ms=took_ms, detail=detail)
        self._going(heard).tools.append(call.name or "")
        self._add(ended, heard.lang)

    def note_tools(self, turn_ids: Sequence[str]) -> None:
        """Note the tool calls of turns that were handed in, each once, and how they ended, as their results tell.

        How long they took is not known. A result may come later than its call.
        """
        turns = [turn for one in dict.fromkeys(turn_ids) if (turn := self._workings.store.turn(one)) is not None]
        for turn in turns:
            if turn.tool_calls and not self._store.ids_of_turns([turn.id]):
                for number in range(len(turn.tool_calls)):
                    self._add(_of_call(turn, number), turn.lang)
        for result in turns:
            if result.role == "tool" and result.tool_call_id is not None:
                self._end_call(result)

    def _end_call(self, result: Turn) -> None:
        """Note the outcome of the newest call that a result can belong to; nothing where there is none any more."""
        outcome = "error" if result.is_error else "ok"
        for turn in reversed(self._before(result)):
            called = [number for number, call in enumerate(turn.tool_calls) if call.id == result.tool_call_id]
            for number in called:
                self._store.finish(replace(_of_call(turn, number), outcome=outcome))
            if called:
                return

    def _before(self, turn: Turn) -> list[Turn]:
        """The turns before one in its session, oldest first, of its persona or of none; in no session those that were
        handed in with it."""
        here = Scope(turn.session_id, turn.user_id, persona_id=turn.persona_id or NO_PERSONA)
        near = self._workings.store.turns(here, limit=RECENT, until=(turn.at or 0.0) + OUT_OF_ORDER_S)
        before = [one for one in near if one.seq < turn.seq]
        if turn.session_id is not None:
            return before
        return [one for one in before if one.batch is not None and one.batch == turn.batch]

    def note_completed(self, turn_ids: Sequence[str], metadata: Mapping[str, Any]) -> None:
        """Note what a program says of a turn that it has recorded, once; its words only where the turn's are kept."""
        turns = [turn for turn_id in turn_ids if (turn := self._workings.store.turn(turn_id)) is not None]
        if not turns:
            return
        asked = next((turn for turn in turns if turn.role == "user"), turns[0])
        told = completed_turns.episode_of(asked, metadata)
        words = [tells_secret(one, asked.lang) for one in _texts(told.detail)]
        if not self._workings.transcript.may_repeat(asked) or any(words):
            told = replace(told, detail=completed_turns.numbers_of(told.detail))
        here = Scope(session_id=asked.session_id, user_id=asked.user_id)
        before = self._store.episodes(EpisodesWanted(here, frozenset({"turn_completed"}), limit=NEAR))
        if told.id not in [one.id for one in before]:
            self._add(told, asked.lang)

    def note_recall(self, scope: Scope, used: Sequence[str], utterance_id: str | None) -> None:
        """Records were handed to a persona, or quoted: kept in mind, and written with the next change."""
        if used and len(self._used) < OPEN:
            made = Episode(
                kind="recall",
                at=self._workings.clock(),
                id=uuid.uuid4().hex,
                user_id=scope.user_id or HOUSEHOLD,
                session_id=scope.session_id,
                persona_id=scope.owner,
                site_id=scope.site_id,
                utterance_id=utterance_id,
                used=tuple(used),
            )
            self._used.append(made)

    def write_recalls(self) -> None:
        """Write what was kept in mind."""
        while self._used:
            made = self._used.pop(0)
            here = Scope(session_id=made.session_id, user_id=made.user_id)
            asked = [one for one in self._workings.transcript.of_request(here, made.utterance_id) if one.role == "user"]
            wanted = self._workings.captures.may_write(here, made.at) and not (asked and asked[0].redacted)
            if wanted:
                self._bound()
                self._store.add(replace(made, turn_id=asked[0].id if asked else None))

    def _bound(self) -> None:
        """Let go of the oldest recalls now and then: they say what was used, and that matters for a while."""
        self._written += 1
        if self._written % KEPT_STEP == 0:
            kept = EpisodesWanted(Scope.everyone(), frozenset({"recall"}), limit=RECALLS_KEPT + 2 * KEPT_STEP)
            self._store.delete([one.id for one in self._store.episodes(kept)[RECALLS_KEPT:]])

    # asking

    def episodes(self, wanted: EpisodesWanted) -> list[Episode]:
        """See PersonaMemory.episodes."""
        self.write_recalls_now()
        return self._store.episodes(wanted) if self._workings.captures.may_read(wanted.scope) else []

    def add_words(self, episode: Episode) -> Episode:
        """The episode with the words of the person that it belongs to, where those are still there."""
        turn = self._workings.store.turn(episode.turn_id) if episode.turn_id is not None else None
        if turn is not None and turn.role != "user":
            turn = next((one for one in reversed(self._before(turn)) if one.role == "user"), None)
        return episode if turn is None or turn.redacted else replace(episode, said=turn.text, speaker=turn.speaker)

    def write_recalls_now(self) -> None:
        """Write what was kept in mind, in a transaction of its own."""
        if self._used:
            with self._workings.store.transaction():
                self.write_recalls()

    # helpers

    def _turns(self, heard: Heard) -> list[Turn]:
        here = Scope(session_id=heard.session_id, user_id=heard.scope.user_id)
        turns = self._workings.store.turns(here, limit=NEAR)
        if heard.utterance_id is not None:
            return [turn for turn in turns if turn.utterance_id == heard.utterance_id]
        # the stable line: what followed the newest question
        last = max((place for place, turn in enumerate(turns) if turn.role == "user"), default=len(turns))
        return turns[last:]

    def _asked(self, heard: Heard) -> Turn | None:
        return next((turn for turn in self._turns(heard) if turn.role == "user"), None)

    def _made(self, heard: Heard, kind: EpisodeKind, **fields: Any) -> Episode:
        return Episode(
            kind=kind,
            at=heard.at,
            id=uuid.uuid4().hex,
            user_id=heard.scope.user_id or HOUSEHOLD,
            session_id=heard.session_id,
            persona_id=heard.persona_id,
            site_id=heard.scope.site_id,
            utterance_id=heard.utterance_id,
            skill_id=heard.skill_id,
            **fields,
        )

    def _add(self, episode: Episode, lang: str | None) -> Episode:
        words = index_words(episode, lang)
        if words and self._workings.transcript.ledger.sweeps.takes_episode(episode, words):
            episode, words = replace(episode, detail={}), ""
        return self._store.add(episode, words)

    def _going(self, heard: Heard) -> _Open:
        place = (heard.session_id, heard.utterance_id)
        if place not in self._open:
            self._keep(self._open, place, _Open())
        return self._open[place]

    @staticmethod
    def _keep(kept: dict[Any, Any], key: object, value: object) -> None:
        kept[key] = value
        while len(kept) > OPEN:
            del kept[next(iter(kept))]


def named_time(question: str, lang: str | None, zone: str | None, now: float) -> tuple[float, float]:
    """The time that a question is about, [since, until), in this time zone; InvalidRequest where it names none."""
    asked_at = datetime.fromtimestamp(now, time_expressions.zone(zone))
    found = time_expressions.happened_at(question, languages.for_text(lang, question), asked_at)
    if found is None:
        raise InvalidRequest("question", "names no time")
    return found.since, found.until


def index_words(episode: Episode, lang: str | None) -> str:
    """The words by which an episode is forgotten: those of its slots, arguments and error."""
    text = " ".join(_texts(episode.detail)) if episode.kind != "exchange" else ""
    return " ".join(languages.for_text(lang, text).words(text)) if text else ""


def _of_call(turn: Turn, number: int) -> Episode:
    """The episode of one of the calls of a turn; the same call has the same episode, whenever it is asked for."""
    call = turn.tool_calls[number]
    return Episode(
        kind="tool_call",
        at=turn.at or 0.0,
        id=uuid.uuid5(uuid.NAMESPACE_OID, f"tool_call\n{turn.id}\n{number}").hex,
        user_id=turn.user_id,
        session_id=turn.session_id,
        persona_id=turn.persona_id,
        site_id=turn.site_id,
        utterance_id=turn.utterance_id,
        turn_id=turn.id,
        name=call.name,
        detail={"arguments": call.arguments} if call.arguments else {},
    )


def _texts(detail: Mapping[str, Any]) -> list[str]:
    return completed_turns.texts_of(detail)
