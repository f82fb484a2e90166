"""Language models that work in the background: asked with patience, within a budget, each call told of."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ovos_persona_memory.config import ModelsConfig
from ovos_persona_memory.conversation import estimate_tokens, message_tokens
from ovos_persona_memory.errors import PersonaMemoryError
from ovos_persona_memory.memory.tidying.jobs import Postponed
from ovos_persona_memory.records import ContextMessage
from ovos_persona_memory.stores import Store

STATE = "model_calls"
"""Name of the small value in the store that says what was used of the day's budget."""
DAY_S = 86400.0
LOOKED_S = 0.1
"""So often it is looked whether an answer is there, or whether nobody wants it any more, seconds."""
SOON_S = 1.0
"""A job that was called off waits so long, seconds."""

Answer = Callable[[Sequence[ContextMessage], str | None], str]
"""From messages and a language (a BCP-47 tag) to a text; it may raise anything, and take any time."""
ModelKind = Literal["chat", "summarizer", "document"]
"""chat: answers the last message; summarizer: retells all messages; document: retells the text of the only one."""
Outcome = Literal["ok", "failed", "empty", "late", "called off"]


class ModelFailed(PersonaMemoryError):
    """The language model gave no usable answer."""

    code = "model"


@dataclass(frozen=True)
class Model:
    """A language model, as whoever loads plugins hands it down."""

    name: str
    kind: ModelKind
    answer: Answer
    where: str = ""
    """Hosts that it is known to ask, for people; empty: none is known."""
    leaves_device: bool | None = None
    """Whether what it is asked goes to another device; None: nothing in its settings or in itself names an address."""

    @property
    def described(self) -> str:
        """For people: its name, and where what it is asked goes to."""
        if self.leaves_device is None:
            return f"{self.name}, in which no address is found"
        if self.leaves_device:
            return f"{self.name}, which sends what was said to {self.where}"
        return f"{self.name}, which asks this device, {self.where}"


@dataclass(frozen=True)
class Call:
    """One call of a model, after its end."""

    job: str
    """The kind of job that it was for."""
    model: str
    outcome: Outcome
    took_s: float
    asked_tokens: int
    answered_tokens: int
    problem: str
    """Of a failure its kind, never what was said."""
    text: str
    """What was asked and answered: for whoever looks for a fault, and for no log otherwise."""


@dataclass(frozen=True)
class Usage:
    """What was used of one day's budget."""

    day: int = 0
    """Days since the epoch, UTC."""
    calls: int = 0
    tokens: int = 0
    """Asked and answered, characters / 4."""


class ModelCalls:
    """Calls of models for the jobs of one store. Thread-safe.

    No transaction of the store is open while a model works.
    """

    def __init__(self, store: Store, clock: Callable[[], float], config: ModelsConfig) -> None:
        self._store, self._clock, self._config = store, clock, config
        self.told: Callable[[Call], None] = lambda call: None
        """Hears of each call when it has ended."""
        self.wait_for_quiet: Callable[[], None] = lambda: None
        """Called before each call, and before its answer is taken up: returns when nobody talks, or when nobody wants
        an answer any more."""
        self.is_called_off: Callable[[], bool] = lambda: False
        """Whether nobody wants an answer any more: the process ends."""
        self._running = 0
        self._lock = threading.Lock()  # guards _running

    def used(self) -> Usage:
        """What was used today."""
        kept, today = self._store.state(STATE), int(self._clock() // DAY_S)
        usage = Usage(**json.loads(kept)) if kept else Usage(today)
        return usage if usage.day == today else Usage(today)

    def ask(self, model: Model, job: str, messages: Sequence[ContextMessage], lang: str | None) -> str:
        """What the model answers, stripped and never empty.

        ModelFailed where it does not answer well or in time; Postponed where the budget of the day is used up, or
        nobody wants an answer any more. A call counts from its beginning, whatever becomes of it.
        """
        self.wait_for_quiet()
        self._refuse_if_called_off()
        asked = sum(map(message_tokens, messages))
        self._count(asked)
        begun = time.monotonic()
        outcome, answered, problem = self._outcome(model, messages, lang)
        call = Call(
            job=job,
            model=model.name,
            outcome=outcome,
            took_s=round(time.monotonic() - begun, 3),
            asked_tokens=asked,
            answered_tokens=estimate_tokens(answered),
            problem=problem,
            text="\n".join([*(f"{one.role}: {one.text}" for one in messages), f"answer: {answered}"]),
        )
        self.told(call)
        if outcome == "called off":
            self._refuse_if_called_off()
        if outcome != "ok":
            raise ModelFailed(f"{model.name}: {problem}")
        self._add(call.answered_tokens)
        self.wait_for_quiet()
        return answered

    def _refuse_if_called_off(self) -> None:
        if self.is_called_off():
            raise Postponed("the memory ends", SOON_S)

    def _outcome(self, model: Model, messages: Sequence[ContextMessage], lang: str | None) -> tuple[Outcome, str, str]:
        """How a call ended, its answer, and what went wrong.

        The model works in a thread of its own, which nobody can end: one that hangs is left behind.
        """
        got: list[Any] = []
        done = threading.Event()

        def work() -> None:
            try:
                got.append(model.answer(messages, lang))
            except Exception as error:  # the top of a thread, and a plugin may raise anything
                got.append(error)
            finally:
                with self._lock:
                    self._running -= 1
                done.set()

        with self._lock:
            if self._running >= self._config.at_once:
                return "late", "", "it is still busy with what it was asked before"
            self._running += 1
        threading.Thread(target=work, name="model", daemon=True).start()
        until = time.monotonic() + self._config.timeout_s
        while not done.wait(LOOKED_S):
            if self.is_called_off():
                return "called off", "", "nobody wants an answer any more"
            if time.monotonic() > until:
                return "late", "", f"no answer within {self._config.timeout_s:g} s"
        return _judged(got[0])

    def _count(self, tokens: int) -> None:
        """Note the beginning of a call with so many tokens; Postponed where the budget of the day does not allow it."""
        with self._store.transaction():
            used = self.used()
            calls, most = self._config.calls_per_day, self._config.tokens_per_day
            if (calls is not None and used.calls >= calls) or (most is not None and used.tokens + tokens > most):
                tomorrow = (used.day + 1) * DAY_S - self._clock()
                raise Postponed("the budget of the day for language models is used up", tomorrow)
            self._put(replace(used, calls=used.calls + 1, tokens=used.tokens + tokens))

    def _add(self, tokens: int) -> None:
        with self._store.transaction():
            used = self.used()
            self._put(replace(used, tokens=used.tokens + tokens))

    def _put(self, used: Usage) -> None:
        self._store.put_state(STATE, json.dumps(asdict(used)))


def _judged(got: object) -> tuple[Outcome, str, str]:
    if isinstance(got, Exception):
        # a plugin's words may hold what was said, or a key: its kind alone is told
        return "failed", "", type(got).__name__
    if not isinstance(got, str) or not got.strip():
        return "empty", "", "the answer is empty"
    return "ok", got.strip(), ""
