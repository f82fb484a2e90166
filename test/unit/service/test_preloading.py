"""What is read before anybody speaks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from ovos_persona_memory.config import parse
from ovos_persona_memory.extraction.pipeline import extract
from ovos_persona_memory.extraction.reader import reader
from ovos_persona_memory.memory.learning import learner
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import ContextRequest, Scope, Turn
from ovos_persona_memory.service import preloading
from ovos_persona_memory.service.daemon import QUIET_S, Daemon
from ovos_persona_memory.service.preloading import Languages
from ovos_persona_memory.text import languages as language
from ovos_persona_memory.text import lexicon
from ovos_persona_memory.text.secret_detection import tells_secret


def wait_until(condition: Callable[[], bool]) -> None:
    until, pause = time.monotonic() + 30, threading.Event()
    while not condition():
        assert time.monotonic() < until
        pause.wait(0.01)


@pytest.mark.full
def test_the_first_who_speaks_a_language_that_was_read_waits_for_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noted(room: Any, name: str) -> None:
        made = room.made_of
        monkeypatch.setattr(room, "for_language", language.computed_once(room.for_language.__wrapped__))
        monkeypatch.setattr(room, "made_of", lambda *of: read.append(name) or made(*of))  # type: ignore[func-returns-value]

    noted(lexicon, "words")
    load = reader._loaded.__wrapped__
    monkeypatch.setattr(reader, "_loaded", lru_cache(lambda path: read.append("reader") or load(path)))  # type: ignore[func-returns-value]
    read_all = Languages._read_all
    begin = threading.Event()
    monkeypatch.setattr(Languages, "_read_all", lambda one: begin.wait(10) and read_all(one))
    languages = Languages(("de-DE",))
    assert not languages.busy
    languages.start(), languages.go_on()
    assert read == ["words"], "who records knows secrets by them, and would wait"
    assert tells_secret("meine pin ist vier eins neun zwei", "de-DE")
    assert read == ["words"]
    begin.set()
    wait_until(lambda: not languages.busy)
    assert read == ["words", "reader"]
    assert extract(Turn("user", "merk dir dass meine Katze Bob heißt", lang="de-DE"))
    assert read == ["words", "reader"]
    assert extract(Turn("user", "remember that my cat is called Bob", lang="en-US"))
    assert read == ["words", "reader", "words"], "the reader serves all languages"


def test_languages_are_busy_until_the_last_is_read_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str | None] = []
    go_on = threading.Semaphore(0)
    monkeypatch.setattr(preloading, "extract", lambda turn: begun.append(turn.lang) or go_on.acquire(timeout=10))  # type: ignore[func-returns-value]
    languages = Languages(("en-US", "de-DE", "en-us"))
    languages.start(), languages.go_on()
    wait_until(lambda: begun == ["en-US"])
    assert languages.busy
    go_on.release()
    wait_until(lambda: begun == ["en-US", "de-DE"])
    assert languages.busy
    go_on.release()
    wait_until(lambda: not languages.busy)
    assert begun == ["en-US", "de-DE"]


def test_without_languages_nothing_is_ever_read() -> None:
    languages = Languages(())
    languages.start(), languages.go_on()
    assert not languages.busy


def test_who_asks_while_something_is_read_waits_for_it() -> None:
    begun, go_on, times = threading.Event(), threading.Event(), []

    @language.computed_once
    def slow(key: str) -> str:
        times.append(key)
        begun.set()
        assert go_on.wait(10)
        return key.upper()

    found: list[str] = []
    asking = [threading.Thread(target=lambda: found.append(slow("a"))) for _ in range(2)]
    asking[0].start()
    assert begun.wait(10)
    asking[1].start()
    go_on.set()
    for one in asking:
        one.join(10)
    assert (found, times) == (["A", "A"], ["a"])
    assert slow("b") == "B"


@pytest.mark.full
def test_nobody_waits_for_a_language_and_nothing_that_was_said_meanwhile_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, judged = threading.Event(), []
    monkeypatch.setattr(preloading, "extract", lambda *_: go_on.wait(60))
    monkeypatch.setattr(learner, "extract", lambda turn, known: judged.append(turn.text) or extract(turn, known))  # type: ignore[func-returns-value]
    daemon = Daemon(parse({"data_dir": str(tmp_path)}), host="127.0.0.1", port=1)
    daemon.start()
    try:
        with MemoryClient.over_door(tmp_path) as owner:
            said = [Turn("user", "my cat is called Bob", lang="en-US"), Turn("assistant", "Fine.")]
            owner.record(said, Scope("s"))
            told = owner.context(ContextRequest("what now", Scope("s"), max_history=5, lang="en-US")).messages
            assert [one.text for one in told] == [said[0].text, "Fine.", "what now"]
            assert not go_on.wait(4 * QUIET_S) and judged == []
            go_on.set()
            wait_until(lambda: said[0].text in judged)
            wait_until(lambda: {one.value for one in owner.facts.list(Scope())} == {"Bob"})
    finally:
        go_on.set()
        daemon.stop()


def test_the_judge_of_answers_is_loaded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[str] = []
    monkeypatch.setattr(preloading, "answering", lambda question, remarks: judged.append(question))
    room = Languages(["en-US"])
    room.start()
    assert judged == []
    room.go_on()
    wait_until(lambda: not room.busy)
    assert len(judged) == 1
