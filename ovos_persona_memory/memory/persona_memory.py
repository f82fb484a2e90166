"""PersonaMemory: the verbs, in this process.

One long file on purpose: it is the list of all verbs with what each promises, and hands each on to where it is done.
"""

from __future__ import annotations

import builtins
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

from ovos_persona_memory import extraction
from ovos_persona_memory.config import MemoryConfig, settled
from ovos_persona_memory.conversation import (
    MessageLike,
    Snapshot,
    Window,
    blocks,
    blocks_by_session,
    history,
)
from ovos_persona_memory.errors import InvalidRequest, PersonaMemoryError, StoreError
from ovos_persona_memory.memory import completed_turns as completed
from ovos_persona_memory.memory.context_builder import Contexts
from ovos_persona_memory.memory.documents import Documents, DocumentScope, Embed
from ovos_persona_memory.memory.entries import Entries, refuse_unknown_status
from ovos_persona_memory.memory.episodes import Episodes
from ovos_persona_memory.memory.facts import Facts
from ovos_persona_memory.memory.forgetting import Forgetting
from ovos_persona_memory.memory.learning.learning_queue import never
from ovos_persona_memory.memory.privacy import capture
from ovos_persona_memory.memory.privacy.backups import Backups
from ovos_persona_memory.memory.provenance import Why
from ovos_persona_memory.memory.referents import ReferentResolver
from ovos_persona_memory.memory.retention import Retention
from ovos_persona_memory.memory.sessions import Sessions
from ovos_persona_memory.memory.tidying import Tidying
from ovos_persona_memory.memory.transcript import MemoryParts, Transcript, delivered_id, handed_in
from ovos_persona_memory.memory.users import Users
from ovos_persona_memory.records import (
    EPISODE_KINDS,
    HOUSEHOLD,
    Activity,
    Capture,
    Context,
    ContextMessage,
    ContextRequest,
    Entry,
    Episode,
    EpisodeKind,
    EpisodesWanted,
    Foreseen,
    ForgetConditions,
    Forgotten,
    Heard,
    Hit,
    HitKind,
    Introspection,
    LastingKind,
    Note,
    Origin,
    QuestionKind,
    Referents,
    Role,
    Scope,
    Selection,
    Session,
    Status,
    Turn,
    checked,
    replace_fast,
)
from ovos_persona_memory.search import Indexer, Prefetch, Question, embedding, open_embedder, record_terms
from ovos_persona_memory.stores import FolderLock, Store, in_scope, open_stores, own, sqlite_folder
from ovos_persona_memory.text import languages
from ovos_persona_memory.version import __version__


class PersonaMemory:
    """One memory, opened in this process.

    Every verb is thread-safe. A verb that changes something has it on disk when it returns, or at
    the end of the outermost ``transaction``; one that fails leaves everything as it was.
    """

    def __init__(
        self, store: Store, config: MemoryConfig, clock: Callable[[], float] = time.time, indexer: Indexer | None = None
    ) -> None:
        """``indexer``: makes vectors and finds by them, and ends with the memory; None: words alone."""
        self._store = store
        self._indexer = indexer
        self._config = config
        self._clock = clock
        self._opened_at = clock()
        self.learns_later = False
        """Whether what was said is learned from by ``tidy`` alone; else right after the commit that keeps it."""
        self.finding = Prefetch(store, clock, indexer, extraction)
        self._depth = 0
        self._lock: FolderLock | None = None
        self.transcript = Transcript(store, config, clock)
        self.captures = self.transcript.captures
        self._workings = MemoryParts(store, self.transcript, clock, self._purge_if)
        self.facts = Facts(self._workings)
        self._entries = Entries(self._workings, self.facts, config.secrets.offer)
        self._sessions = Sessions(self._workings, config.history)
        self.tidying = Tidying(self._workings, self._sessions, self._entries, config)
        self.jobs, self.models, self.model_calls = self.tidying.jobs, self.tidying.models, self.tidying.calls
        self.jobs_later = False
        """Whether jobs are done by ``work`` alone; else also by ``tidy``, and where no model is asked at once."""
        self._said: list[Turn] = []
        """What was said in the transaction that is under way; guarded by the store's lock, which that holds."""
        self.facts.refused = self.tidying.introspector.done.refused
        self._contexts = Contexts(self._workings, config, self.finding, self._sessions, self.tidying.overflows)
        self.prefetch = self._contexts.prefetch  # whoever calls it calls ``finding.invalidate`` after a change
        self.retention = Retention(self._workings, config.retention)
        self._forgetting = Forgetting(self._workings)
        self.users = Users(self._workings, self._forgetting)
        self._episodes = Episodes(self._workings)
        self._referents = ReferentResolver(self._workings, self._episodes)
        self.backups = Backups(None, None)
        self._why = Why(self._workings, self._episodes, config.facts)

    @classmethod
    def open(
        cls,
        data_dir: str | Path | None = None,
        config: MemoryConfig | None = None,
        clock: Callable[[], float] = time.time,
        opener: embedding.Open = open_embedder,
        load_wait_s: float = 3.0,
    ) -> PersonaMemory:
        """The memory in a data folder, which is made where there is none.

        StoreBusy where another process has it open, StoreUnavailable where it cannot be opened. A
        damaged, foreign or too-new database is set aside, and ``status`` says so. ``opener`` loads the
        embedder that the settings name, in the background; a question waits ``load_wait_s`` for it at most.
        """
        config = config or MemoryConfig()
        if data_dir is not None:
            config = replace(config, data_dir=str(data_dir))
        config = settled(config)
        with ExitStack() as undo:
            if (lock := own(config)) is not None:
                undo.callback(lock.release)
            store = open_stores(config)
            undo.callback(store.close)
            record_terms.renew(store)
            indexer = Indexer(store.vector_store, config.recall.embedder, opener, load_wait_s)
            memory = cls(store, config, clock, indexer)
            memory._lock = lock
            memory.backups = Backups(sqlite_folder(config), config.encryption.key)
            indexer.start()
            undo.pop_all()
        return memory

    def __enter__(self) -> PersonaMemory:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._store.compact()
            self.backups.renew()
        finally:
            self.close()

    def tidy(self, gives_way: Callable[[], bool] = never) -> bool:
        """Do a little of what was put off for a quiet moment; whether more is left.

        ``gives_way`` is asked between two turns that are learned from: true ends the call.
        """
        more = (
            self.transcript.backlog.catch_up(gives_way=gives_way)
            or self._store.tidy()
            or self.retention.step()
            or self._store.compact()
            or (not self.jobs_later and self.work())
        )
        if not more:
            self.backups.renew_soon()
        return more

    def close(self) -> None:
        """End the work in the background and close the store."""
        if self._indexer is not None:
            self._indexer.stop()
        self.backups.close()
        self._store.close()
        if self._lock is not None:
            self._lock.release()

    @contextmanager
    def transaction(self, crowded: bool = False) -> Iterator[None]:
        """Several verbs with one commit: all of them or none. What they delete is gone when it ends.

        ``crowded``: nothing may be told before ``sync``, a loss of power may still take it; ``tidy`` learns from it.
        """
        with self._store.unsynced() if crowded else self._store.transaction():
            self._depth += 1  # guarded by the store's lock, which a transaction holds
            try:
                with self.transcript.backlog.group(crowded):
                    yield
            finally:
                self._depth -= 1
                is_within = self._depth > 0
                said, self._said = ([], self._said) if is_within else (self._said, [])
        if is_within:
            return
        self.tidying.talked_in(said)
        try:
            self._purge_if_due()
        except StoreError:
            # it is committed: what could not be purged now is purged with the next change
            self.transcript.purge_due = True
        if not crowded and not self.learns_later:
            self._learn()
        if not crowded and not self.jobs_later and self.tidying.may_summarise_at_once:
            with suppress(PersonaMemoryError):  # it is none of the verb's: the job waits
                while self.work():
                    pass

    def _learn(self) -> None:
        """Learn from what was just kept; a failure is none of the verb that kept it: the turn waits, or is left out."""
        with suppress(PersonaMemoryError):
            if self.transcript.backlog.waits:
                self.transcript.backlog.catch_up()

    def work(self) -> bool:
        """Do one job that is due, a summary to write perhaps or a session to look at; whether there was one.

        It may take as long as a language model does: for a thread of its own, which holds nobody up. A StoreError
        where the store fails.
        """
        return self.tidying.work()

    def sync(self) -> None:
        """Return when all that was committed is on the disk; StoreError where it cannot be. Waits for no verb."""
        self._store.sync()

    # turns

    def hear(self, heard: Heard) -> list[Turn]:
        """Take in one event heard on the bus: the turns that it added to the log, none for most events."""
        with self.transaction():
            return self.hear_within(heard)

    def hear_within(self, heard: Heard) -> list[Turn]:
        """As ``hear``, within a transaction of the caller's; where it fails the caller's is to fail, too."""
        added = self.transcript.hear(heard)
        self._episodes.hear(self.transcript.latest, added)
        self._said += added
        return added

    @checked
    def record(
        self,  # more than five: these are the protocol's fields
        turns: Sequence[Turn],
        scope: Scope = Scope(),
        as_passed: bool = False,
        delivery_id: str | None = None,
        utterance_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        learn: bool = True,
    ) -> list[str]:
        """Add turns in scope and give their ids, in order; none while remembering is off.

        Turns that the daemon has heard already are linked with what it heard, not doubled.
        ``as_passed`` keeps what was not heard as one block, untouched by the rules of history.
        What comes again with a known ``delivery_id`` is not recorded again. ``utterance_id``: the
        utterance that the turns belong to. ``metadata``: what the turn took, ``tokens`` (number), ``tools`` (names),
        ``latency_ms`` (number) and more: kept as an episode ``turn_completed``. InvalidRequest for one of another type.
        ``learn`` false: nothing is learned from them, and what was learned when they were heard is taken out again.
        """
        completed.refuse_unusable_metadata(metadata)
        now = self._clock()
        given = [handed_in(turn, scope, utterance_id, now) for turn in turns]
        if not learn:
            given = [replace_fast(turn, unlearned=True) for turn in given]
        if delivery_id is not None:
            given = [replace_fast(turn, id=delivered_id(turn, delivery_id, n)) for n, turn in enumerate(given)]
        wanted = all(self.captures.may_write(scope, at) for at in {turn.at for turn in given})
        if not wanted or not self.transcript.people.is_kept(scope.session_id, utterance_id):
            return []
        batch = (delivery_id or uuid.uuid4().hex) if as_passed else None
        is_fresh = delivery_id is None and not any(turn.id for turn in turns)
        with self.transaction():
            kept = self.transcript.take(given, batch, is_fresh, claims=not scope.assumed_persona)
            self._said += given
            self._episodes.note_tools(kept if any(turn.tool_calls or turn.tool_call_id for turn in turns) else ())
            if metadata is not None:
                self._episodes.note_completed(kept, metadata)
            return kept

    @checked
    def history(
        self,  # more than five: these are the protocol's fields
        scope: Scope,
        max_history: int | None = 5,
        max_rounds: int | None = None,
        max_tokens: int | None = None,
        hanging: bool = False,
        roles: Collection[Role] | None = None,
        utterance_id: str | None = None,
    ) -> list[ContextMessage]:
        """The newest messages of the session in scope, oldest first, by the rules of history.

        Of a scope without a session or a room those of all sessions of its user, or its task, in order of arrival.
        ``hanging`` leaves the ends as they are: a question without an answer, an answer without one. ``roles``: only
        messages of these, to which then the limits apply, but for rounds, which are those of the whole talk; None:
        all. ``max_rounds`` of 0 is no limit. ``utterance_id``: the utterance that asks, which is no part of it yet.
        """
        window = self._sessions.within(Window(max_history, max_rounds, max_tokens))
        if not self.captures.may_read(scope):
            return []
        scope = self._sessions.of_room(scope)
        # in a room whose sessions last for one message they are one talk
        grouped = blocks_by_session if scope.session_id is None and scope.site_id is None else blocks
        turns = self._sessions.newest_turns(scope, window, grouped, roles)
        of_request = [turn for turn in turns if utterance_id is not None and turn.utterance_id == utterance_id]
        if all(turn.role == "user" for turn in of_request):
            turns = [turn for turn in turns if turn not in of_request]
        return (history.raw_history if hanging else history.history)(turns, window, self._clock(), grouped, roles)

    @checked
    def turn(self, id: str, scope: Scope = Scope()) -> Turn | None:
        """The turn with this id as it is in the log; None where there is none in scope, or reading is off."""
        if not self.captures.may_read(scope):
            return None
        found = self._store.turn(id)
        return found if found is not None and in_scope(found, scope) else None

    @checked
    def turns(
        self,
        scope: Scope = Scope(),
        since: float | None = None,
        until: float | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> builtins.list[Turn]:
        """The newest ``limit`` turns in scope that were said in [since, until), oldest first, as they are in the log.

        ``offset``: so many newer ones are left out. None while reading is off.
        """
        if limit <= 0 or not self.captures.may_read(scope):
            return []
        found = self._store.turns(scope, limit + offset, since, until)
        return found[: len(found) - offset][-limit:] if offset < len(found) else []

    @checked
    def sessions(self, scope: Scope = Scope(), limit: int = 100) -> list[Session]:
        """The sessions in scope, the one that was last talked in first; none while reading is off."""
        if not self.captures.may_read(scope):
            return []
        return self._store.sessions(scope, limit)

    @checked
    def activity(self, scope: Scope = Scope(), since: float | None = None) -> Sequence[Activity]:
        """What was said on each day since then in scope, oldest first; days without a word are left out.

        Days are those of this device's clock. Empty while reading is off.
        """
        if not self.captures.may_read(scope):
            return []
        days: dict[date, list[int]] = {}
        for at, role in self._store.moments(scope, since):
            day = days.setdefault(date.fromtimestamp(at), [0, 0])
            day[0] += 1
            day[1] += role == "user"
        return [Activity(day.isoformat(), *days[day]) for day in sorted(days)]

    @checked
    def clear_session(self, scope: Scope) -> int:
        """Forget the turns of the session in scope, its summary and what was learned in it alone; how many turns."""
        if scope.session_id is None:
            raise InvalidRequest("session_id", "is missing")
        return self._forgetting.delete(Selection(scope, kinds=frozenset({"turn", "fact"}))).turns

    # one session as a whole

    @checked
    def update_session(self, scope: Scope, summary: str | None = None, description: str | None = None) -> Note:
        """Set the summary of the session in scope, or its description, and give both; None changes nothing.

        With neither they are only given, and empty while reading is off. The summary joins the persona context.
        CapturePaused where there is something to set while remembering is off.
        """
        return self._sessions.update(scope, summary, description)

    @checked
    def snapshot(self, scope: Scope, max_history: int | None = 1000) -> Snapshot:
        """A copy of the session in scope: its newest messages, oldest first, and its summary."""
        return self._sessions.snapshot(scope, max_history)

    @checked
    def restore(self, taken: Mapping[str, Any] | Sequence[MessageLike], scope: Scope) -> list[str]:
        """Put a snapshot, or a plain list of messages, in place of the session in scope; the ids of its turns.

        All that was in the session is forgotten, its description stays. The messages stay as they are
        passed. CapturePaused while remembering is off; then nothing is changed.
        """
        return self._sessions.restore(taken, scope)

    @checked
    def to_summarise(self, scope: Scope, keep_recent: int = 6) -> list[ContextMessage]:
        """What a summary of the session in scope should take up: all but the newest messages, oldest first.

        No system messages, and nothing that ``trim`` has left to the summary already. A call stays
        with its results, so that more may be kept.
        """
        return self._sessions.to_summarise(scope, keep_recent)

    @checked
    def trim(self, scope: Scope, keep_recent: int = 6) -> int:
        """Leave to the summary what ``to_summarise`` gives; how many messages.

        They are in no history any more, but stay in the log, where recall finds them.
        """
        return self._sessions.trim(scope, keep_recent)

    @checked
    def trim_to_fit(self, scope: Scope, max_tokens: int) -> int:
        """Leave the oldest messages of the session to the summary until the rest fits; how many messages.

        Tokens are characters / 4. A call goes with its results. System messages stay, and so does the newest question
        with what follows it, whether it fits or not. What goes stays in the log, where recall finds it.
        """
        return self._sessions.trim_to_fit(scope, max_tokens)

    # finding

    @checked
    def asks(self, text: str, lang: str | None = None) -> bool:
        """Whether a text is a question, spoken or written, with a mark or without; ``lang``: a BCP-47 tag."""
        return extraction.asks(text, lang)

    @checked
    def question_kind(
        self, text: str, lang: str | None = None, scope: Scope = Scope(), utterance_id: str | None = None
    ) -> QuestionKind:
        """Of what kind an utterance is.

        ``scope``: whose records are meant; ``utterance_id``: the utterance that asks, which states nothing.
        """
        about = ""
        if extraction.asks_about_something(text, lang) and self.captures.may_read(scope):
            about = self.finding.topic_of(Question(text, lang, utterance_id), scope)
        to_forget, reply = extraction.to_forget(text, lang), extraction.reply_in(text, lang)
        surely, wants_all = extraction.surely_to_forget(text, lang), extraction.wants_all(text, lang)
        return QuestionKind(about, extraction.asks_what_was_said(text, lang), to_forget, reply, surely, wants_all)

    @checked
    def may_ask(self, text: str, lang: str | None = None) -> bool:
        """As ``asks``, and True, too, where a remark may be a question, "ruben è ancora malato": what is known of it is
        worth telling then."""
        return extraction.may_ask(text, lang)

    @checked
    def surely_asks(self, text: str, lang: str | None = None) -> bool:
        """As ``asks``, but False where it may well be a statement: what nothing is known about is then a remark."""
        return extraction.surely_asks(text, lang)

    @checked
    def recall(
        self,  # more than five: these are the protocol's fields
        question: str,
        scope: Scope = Scope(),
        k: int = 5,
        kinds: Collection[HitKind] | None = None,
        at: float | None = None,
        lang: str | None = None,
        utterance_id: str | None = None,
        timezone: str | None = None,
        asked_in: Scope | None = None,
        secrets: bool = False,
        withheld: bool = False,
        status: Status | None = None,
        about: bool = False,
        asker: str | None = None,
        by_words: bool = False,
        since: float | None = None,
        until: float | None = None,
    ) -> list[Hit]:
        """At most ``k`` hits in scope, sure ones first, then by score; empty when nothing is found.

        ``at``: the time of asking. ``utterance_id``: the utterance that asks, which never answers itself; ``asked_in``:
        its session, where more than that is searched. ``asker``: the name of who asks, where several speak as one user;
        that of the utterance unless given. ``kinds``: of turn, memory, fact and episode; none: all but episodes.
        ``timezone``: of who asks, an IANA name; the device's own unless given. ``secrets``: those that somebody asked
        to keep are found, too; ``withheld``: without their words, and quickly where there are none. ``status``: only
        memories of it; none: accepted ones, and what has none. ``about``: the question is a topic, and the hits are
        everything that people stated about it and that holds, the newest first. ``since``, ``until``: they are what
        people stated then, seconds since the epoch, the oldest first. ``by_words``: a list of words, not judged.
        """
        if not self.captures.may_read(scope) or (withheld and not self._store.has_secrets(scope.user_id or HOUSEHOLD)):
            return []
        asker = asker or self.transcript.people.name_of((asked_in or scope).session_id, utterance_id)
        asked = Question(question, lang, utterance_id, at=at, timezone=timezone, asker=asker, by_words=by_words)
        reached = replace_fast(scope, secrets=secrets or withheld, status=status or scope.status)
        found = self.finding.found(asked, reached, k, kinds, about, (since, until))
        used = [hit.id for hit in found if (hit.sure or hit.answers) and utterance_id and not hit.secret]
        self._episodes.note_recall(asked_in or scope, used, utterance_id)
        return [replace(hit, text="", reason="") if hit.secret and withheld else hit for hit in found]

    @checked
    def context(self, request: ContextRequest) -> Context:
        """What a persona is handed for an utterance: history of its session, and what is surely remembered."""
        asker = request.asker or self.transcript.people.name_of(request.scope.session_id, request.utterance_id)
        scope = replace_fast(request.scope, secrets=False)
        known = self._contexts.build(replace_fast(request, scope=scope, asker=asker))
        if not request.preview:
            self._episodes.note_recall(request.scope, [hit.id for hit in known.hits], request.utterance_id)
        return known

    # lasting memories

    @checked
    def remember(
        self,  # more than five: these are the protocol's fields
        text: str,
        scope: Scope = Scope(),
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        lang: str | None = None,
        utterance_id: str | None = None,
        secret: bool = False,
        status: Status | None = None,
    ) -> Entry:
        """Keep a lasting memory; under a known key the text is replaced and the metadata merged.

        A key belongs to the user and the persona in scope, or to no persona where it names none: what another has
        under the same key stays as it is. ``status``: accepted unless given.

        ``private`` in the metadata: see ``records.PRIVATE``. The utterance that asks for it, ``utterance_id``,
        is then kept without its words. CapturePaused while remembering is off; NotAllowed where something
        private has the key and the user is not known surely enough, and where the utterance that asks was
        forgotten. What was forgotten may be remembered anew. ``secret``: its person was asked and wants it kept, though
        it is a secret; it is then found where secrets are asked for and nowhere else. Without it, and where
        ``secrets.offer`` is off, SecretRefused for what is one.
        """
        refuse_unknown_status(status)
        entry = self._entries.remember(text, scope, key, metadata, lang, utterance_id, secret, status)
        if entry.private and utterance_id is not None:
            with self.transaction():
                self.transcript.redact(scope, utterance_id)
        if entry.secret:
            with self.transaction():
                self.transcript.redact_telling(scope, entry)
        return entry

    @checked
    def get(self, key: str, scope: Scope = Scope(), secrets: bool = False) -> Entry | None:
        """The memory with this key, or the fact with this id, of the user in scope; None where reading is off, too.

        A persona's own comes before that of no persona. A scope without a persona means that of no persona first, else
        of those of several personas the one last changed. A secret only with ``secrets``.
        """
        return self._entries.get(key, replace_fast(scope, secrets=secrets))

    @checked
    def list(  # more than five: these are the protocol's fields
        self,
        scope: Scope = Scope(),
        limit: int = 20,
        offset: int = 0,
        kinds: Collection[LastingKind] = frozenset({"memory"}),
        secrets: bool = False,
        status: Status | None = None,
    ) -> list[Entry]:
        """The lasting memories in scope, the last changed first; none while reading is off.

        With ``fact`` among the ``kinds`` facts too: the id is the key. Secrets only with ``secrets``. ``status``: only
        memories of it; none: of any.
        """
        return self._entries.list(replace_fast(scope, secrets=secrets), limit, offset, frozenset(kinds), status)

    @checked
    def update(  # more than five: these are the protocol's fields
        self,
        key: str,
        scope: Scope = Scope(),
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        status: Status | None = None,
    ) -> Entry:
        """Change the text of a memory or its status, or merge into its metadata; UnknownEntry where there is none.

        Which one is meant is told as by ``get``. A status goes from draft to accepted, and from either to discard.
        A fact, by its id, is superseded by one with the new text; it has no metadata to merge into.
        """
        refuse_unknown_status(status)
        return self._entries.update(key, replace_fast(scope, secrets=False), text, metadata, status)

    @checked
    def correct(
        self,  # more than five: these are the protocol's fields
        id: str,
        text: str,
        scope: Scope = Scope(),
        lang: str | None = None,
        utterance_id: str | None = None,
    ) -> Entry:
        """Put a text in the place of what was told: of a turn, a memory or a fact, by its id.

        What says the same in the same words is put right with it, and the facts that were learned of it. A turn stays
        in the log as it was said, and answers nothing any more. UnknownEntry where there is no such record.
        ``utterance_id``: the utterance that puts it right.
        """
        return self._entries.correct(id, scope, text, lang, utterance_id)

    @checked
    def referents(self, scope: Scope, utterance_id: str | None = None, said: str | None = None) -> Referents:
        """What "that" can mean now in the session of the scope: what was just quoted, told or answered.

        ``utterance_id`` and ``said``: the utterance that asks, by its id or its words; it is never what is meant.
        """
        return self._referents.referents(scope, utterance_id, said)

    # what a language model proposes

    @checked
    def introspect(self, scope: Scope = Scope(), undo: str | None = None, look: bool = True) -> Sequence[Introspection]:
        """Have what is new in the sessions in scope looked at by the language model, as soon as nobody talks.

        What was looked at lately is given, the newest first. ``undo``: nothing is looked at; what the look with this id
        changed is put back as it was, but for what was changed again since. UnknownEntry where there is no such look.
        ``look`` false: likewise nothing is looked at.
        """
        if undo is not None:
            self.tidying.introspector.done.undo(undo, scope)
        elif look and self._config.introspection.wanted is not None:
            self.tidying.introspector.ask(scope)
        return self.tidying.introspector.done.newest(scope)

    # documents

    @checked
    def documents(
        self, scope: Scope = Scope(), namespace: str = "default", lang: str | None = None, embed: Embed | None = None
    ) -> Documents:
        """The documents of the user in scope: kept and found apart from turns and memories.

        ``embed`` gives embeddings where a caller gives none; without it documents in whose namespace nobody
        gave any are found by the memory's own search by meaning, too, where it has one.
        """
        return Documents(self._workings, DocumentScope(scope, namespace, lang, embed, self.finding.meaning))

    @checked
    def why(self, scope: Scope = Scope(), id: str | None = None, key: str | None = None) -> Origin | None:
        """Where a memory, fact or turn comes from: by id or key, else what the last answer of the session used first.

        None where it is not known, or reading is off.
        """
        return self._why.why(replace_fast(scope, secrets=False), id, key)

    # what happened

    @checked
    def episodes(
        self,  # more than five: these are the protocol's conditions
        scope: Scope = Scope(),
        kinds: Collection[EpisodeKind] | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int = 20,
        words: bool = False,
    ) -> Sequence[Episode]:
        """The newest episodes in scope of these kinds that began in [since, until), newest first.

        An empty answer means that nothing happened then of which anything is kept, or that reading is off.
        ``kinds``: of exchange, intent, tool_call, turn_completed, recall; None: all but recall. ``words``: with what
        was said.
        """
        chosen = EPISODE_KINDS[:-1] if kinds is None else kinds
        found = self._episodes.episodes(EpisodesWanted(scope, frozenset(chosen), since, until, limit))
        return [self._episodes.add_words(one) for one in found] if words else found

    # forgetting

    def forget(self, scope: Scope = Scope(), **wanted: Any) -> int:
        """Forget what is in scope and meets every condition given; how many records that were.

        By ``key`` a lasting memory, as ``get`` gives it; by ``ids`` turns, memories and facts, with what says the same
        in the same words; by ``query`` what holds all of its words; by ``topic`` what is about it, however it is
        named; by time [``since``, ``until``), seconds since the epoch; by ``source`` what a skill or persona said.
        InvalidRequest where neither a condition nor a session nor ``everything`` is given.
        Gone when this returns: from rows, index and journal. ``lang``: the language of the query. What told of a
        forgotten memory stays without its words, and so does the utterance that asks (``asked_in``, ``utterance_id``).
        """
        return self.forget_by_kind(scope, **wanted).total

    @checked
    def forget_by_kind(self, scope: Scope = Scope(), preview: bool = False, **wanted: Any) -> Forgotten:
        """As ``forget``, but says how much of each kind; ``preview``: only says it, and changes nothing."""
        return (
            self.would_forget(scope, **wanted).kinds
            if preview
            else self._forgetting.forget(scope, ForgetConditions(**wanted))
        )

    @checked
    def would_forget(self, scope: Scope = Scope(), **wanted: Any) -> Foreseen:
        """What ``forget`` would take, in people's own words, with every id; changes nothing.

        Whoever has it read back forgets exactly that with ``forget(ids=would_forget(...).ids)``.
        """
        return self._forgetting.preview(scope, ForgetConditions(**wanted))

    def _purge_if(self, gone: bool) -> None:
        if gone:
            self.transcript.purge_due = True
        self._purge_if_due()

    def _purge_if_due(self) -> None:
        if self.transcript.purge_due and not self._depth:
            self.transcript.purge_due = False
            self.tidying.keep()
            self._store.purge()
            self.backups.forgotten()
            languages.forget_texts()

    # whether anything is kept and used

    @checked
    def capture(
        self,  # more than five: these are the protocol's fields
        scope: Scope = Scope(),
        write: bool | None = None,
        read: bool | None = None,
        until: float | None = None,
        session: bool = False,
        site: bool = False,
        person: bool = False,
    ) -> Capture:
        """What holds now, for everything or for the session, room (``site``) or user (``person``) in scope alone,
        after setting what is given; that of everything holds there too.

        ``until``: when the setting ends by itself, seconds since the epoch; it is kept over restarts.
        InvalidRequest where the scope does not name what it is to be about, or more than one is chosen.
        """
        place = capture.place_of(scope, {"session": session, "site": site, "user": person})
        if write is not None or read is not None:
            self.captures.switch(place, write, read, until)
        return self.captures.setting_of(place)

    # state

    def state(self, name: str) -> str | None:
        """A small value kept by name; None where there is none."""
        return self._store.state(name)

    def put_state(self, name: str, value: str) -> None:
        """Keep a small value by name."""
        self._store.put_state(name, value)

    def status(self) -> Mapping[str, Any]:
        """Version, store, counts, capture, ``index_lag`` (turns and memories without a vector yet), ``meaning``."""
        return {
            "version": __version__,
            "backend": self._config.backend if not self._config.kinds.chosen else "kinds",
            "counts": asdict(self._store.counts()),
            "store": dict(self._store.details()),
            "capture": asdict(self.captures.setting_of(capture.EVERYTHING)),
            "index_lag": self._indexer.lag if self._indexer is not None else 0,
            "meaning": self._indexer.state() if self._indexer is not None else {},
            "retention": self.retention.last(),
            "secrets": asdict(self._config.secrets),
            "backups": self.backups.state(),
            "models": self.tidying.status(),
            "up_s": round(self._clock() - self._opened_at, 3),
        }
