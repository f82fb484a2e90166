"""The threads that do jobs while nobody talks: apart from the worker, so that a slow model holds up no answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from ovos_utils.log import LOG

from ovos_persona_memory.config import ModelsConfig
from ovos_persona_memory.errors import ConfigError, PersonaMemoryError
from ovos_persona_memory.memory import Call, PersonaMemory
from ovos_persona_memory.service.model_plugins import open_model

AGAIN_S = 60.0
"""After a failure of the store or of the program it is tried again so much later, seconds."""
JOINED_S = 1.0
"""How long the end of a thread is waited for, seconds."""


class JobWorker:
    """Does the jobs of a memory. ``talked`` may be called by any thread, and never waits."""

    def __init__(
        self,
        memory: Callable[[], PersonaMemory | None],
        config: ModelsConfig,
        named: Mapping[str, str] | None = None,
        done: Callable[[], None] = lambda: None,
    ) -> None:
        """``memory``: the one that is in use; None while its store is away. ``named``: from a kind of job to the plugin
        for it; None: that for summaries alone. ``done``: called after each job; it never waits.
        """
        self._done = done
        self._memory, self._config = memory, config
        summary = {"summary": config.summary} if config.summary is not None else {}
        self._named: Mapping[str, str] = summary if named is None else named
        self._talked_at = -config.quiet_s
        self._ended = threading.Event()
        self._wakes = [threading.Event() for _ in range(config.at_once)]
        self._threads = [
            threading.Thread(target=self._run, args=(wake,), name="jobs", daemon=True) for wake in self._wakes
        ]
        self._loading = threading.Lock()  # guards the loading of plugins
        self._refused: set[str] = set()

    def start(self) -> None:
        """Begin: models are loaded in the background."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End: what a model still works on is left, and done anew after the next start."""
        self._ended.set()
        self.wake()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(JOINED_S)

    def talked(self) -> None:
        """Somebody talks: what is not begun waits until that is over.

        There is nothing to do yet: the memory says so when what is said is committed.
        """
        self._talked_at = time.monotonic()

    def serve(self, memory: PersonaMemory) -> None:
        """Take a memory into use, before anybody else uses it."""
        memory.jobs_later, memory.tidying.wanted = True, self.wake
        calls = memory.model_calls
        calls.told, calls.wait_for_quiet, calls.is_called_off = tell, self._wait_for_quiet, self._ended.is_set
        self.wake()

    def wake(self) -> None:
        """There may be something to do."""
        for wake in self._wakes:
            wake.set()

    def _run(self, wake: threading.Event) -> None:
        wait_s: float | None = None
        while not self._ended.is_set():
            wake.wait(wait_s)
            wake.clear()
            wait_s = self._work()

    def _work(self) -> float | None:
        """Do what is due as soon as nobody talks; seconds until there is more to do, None: until somebody talks."""
        memory = self._memory()
        if memory is None:
            return None
        try:
            self._load(memory)
            self._wait_for_quiet()
            while not self._ended.is_set() and memory.work():
                self._done()
                self._wait_for_quiet()
            return memory.jobs.due_in_s()
        except PersonaMemoryError as error:
            LOG.debug("jobs are tried again: %s", error.reason)
        except Exception:  # the top of a thread
            LOG.exception("a job failed inside")
        return AGAIN_S

    def _wait_for_quiet(self) -> None:
        while (left_s := self._talked_at + self._config.quiet_s - time.monotonic()) > 0:
            if self._ended.wait(left_s):
                return

    def _load(self, memory: PersonaMemory) -> None:
        with self._loading:
            for kind in self._named:
                if kind not in memory.models:
                    self._load_one(kind, memory)

    def _load_one(self, kind: str, memory: PersonaMemory) -> None:
        try:
            model = open_model(kind, self._config, self._named[kind])
        except ConfigError as error:
            if error.reason not in self._refused:
                LOG.error("there is no language model: %s", error.reason)
            self._refused.add(error.reason)
            return
        if model is not None:
            memory.models[kind] = model
            LOG.info("for %s: %s", kind, model.described)


def tell(call: Call) -> None:
    """Log a call of a model; what was asked and answered for whoever looks for a fault alone."""
    problem = f": {call.problem}" if call.problem else ""
    LOG.info(
        "asked %s for %s: %s after %.1f s, %d tokens asked and %d answered%s",
        *(call.model, call.job, call.outcome, call.took_s, call.asked_tokens, call.answered_tokens, problem),
    )
    LOG.debug("asked %s: %s", call.model, call.text)
