"""Weeks of households, each played through a real assistant of its own that has an empty memory.

    scripts/bench weeks FILE... [--out FOLDER]    plays them, and writes down what was replied
    scripts/bench weeks --judge VERDICTS          the table of judged replies

``benchmarks.quality.weeks`` describes the files. Everybody talks to one device, and a recogniser tells the memory who
it is (``identity.trust: session``, ``user_id`` the name). At a heading the wall clock of all processes is moved; the
monotonic clock, and so every wait, goes on as it is.

A transcript is JSON lines, one for everything said: ``file``, ``number`` (of the line in the file), ``heading``,
``at``, ``person``, ``kind``, ``words``, ``expected``, ``replies`` (everything spoken until the utterance was handled
and it was silent for a moment), ``more`` (with ``--more``: what was replied to the words to go on with, where it was
said that there is more), ``seconds`` and ``handled`` (false: it had no end within 30 s).
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts"), str(ROOT / "test")]  # a script is run where it stands

from support.assistants import OTHERS, Assistant  # noqa: E402  (the line above must come first)
from support.servers.bus import Wire, wait_until  # noqa: E402
from support.servers.ports import free_port  # noqa: E402  (the line above must come first)

from benchmarks.figures import Spread  # noqa: E402
from benchmarks.quality.weeks import Week, WeekError, WeekLine, by_language, read, table, verdicts_of  # noqa: E402
from ovos_persona_memory.protocol import MemoryClient  # noqa: E402
from ovos_persona_memory.text import languages  # noqa: E402

HANDLED_WITHIN_S = 30.0
SILENCE_S = 0.25
"""Speech may come after the end of its utterance: the next line waits for this much silence."""
ASKED_BACK_S = 2.0
"""A question that comes back, and this much silence behind it, end a reply too."""
INDEXED_WITHIN_S = 60.0
CLOCK_WITHIN_S = 10.0
SPOKEN, SPOKEN_TOO = "ovos.utterance.speak", "speak"
SESSION = "default"
"""The session of a device that everybody in the house talks to."""


@dataclass(frozen=True)
class PlayedLine:
    """What was said, and what was replied."""

    line: WeekLine
    replies: tuple[str, ...]
    seconds: float
    """Until the utterance was handled."""
    handled: bool = True
    more: tuple[str, ...] = ()
    """What was replied to the words to go on with."""

    @property
    def record(self) -> dict[str, Any]:
        """Its line in a transcript."""
        said = asdict(self.line) | {"at": self.line.at.isoformat()}
        replied = {"replies": list(self.replies), "more": list(self.more)}
        return said | replied | {"seconds": round(self.seconds, 3), "handled": self.handled}


class MovedClock:
    """The wall clock of the processes that are started with ``environment``."""

    def __init__(self, folder: Path) -> None:
        """``folder`` gets the library that those processes preload, compiled here; WeekError where that fails."""
        source, library = Path(__file__).with_name("moved_clock.c"), folder / "moved_clock.so"
        self._file = folder / "moved_by"
        self._file.write_bytes(bytes(8))
        try:
            subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(source)], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise WeekError(f"The clock cannot be moved, which needs Linux and a C compiler (cc): {error}") from error
        self.environment = {"LD_PRELOAD": str(library), "MOVED_CLOCK": str(self._file), "TZ": "UTC"}

    @property
    def now(self) -> float:
        """What those processes take for the time, seconds since the epoch."""
        (moved_ns,) = struct.unpack("q", self._file.read_bytes())
        return time.time() + moved_ns / 1e9

    def move_to(self, at: datetime) -> None:
        """Set it, at once for all of them. It never goes back."""
        moved_ns = int((at.timestamp() - time.time()) * 1e9)
        with self._file.open("r+b") as file:  # in place: it is mapped into their memory
            file.write(struct.pack("q", moved_ns))


class Household:
    """People who talk to one device."""

    def __init__(self, wire: Wire, lang: str) -> None:
        self._wire, self._lang = wire, lang

    def say(self, line: WeekLine) -> PlayedLine:
        """Say a line, and hear what is replied."""
        session = {"session_id": SESSION, "lang": self._lang, "user_id": line.person}
        data = {"utterances": [line.words], "lang": self._lang}
        self._wire.send("recognizer_loop:utterance", data, {"session": session, "destination": ["skills"]})
        reply = Reply()
        while not reply.is_over and (message := self._wire.receive(reply.patience_s)) is not None:
            reply.hear(message)
        return PlayedLine(line, tuple(reply.spoken), reply.seconds, reply.handled)


class Reply:
    """What is heard after an utterance."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.spoken: list[str] = []
        self._clock = clock
        self._began_at = self._changed_at = clock()
        self._ended_at: float | None = None
        self._asked_back = False
        self._known: set[tuple[str, str]] = set()

    @property
    def handled(self) -> bool:
        """Whether the utterance was handled, or a question came back."""
        return self._ended_at is not None or self._asked_back

    @property
    def seconds(self) -> float:
        """How long it took until the utterance was handled, else until now."""
        return (self._clock() if self._ended_at is None else self._ended_at) - self._began_at

    @property
    def patience_s(self) -> float:
        """How long to listen on, seconds; 0 or less when the reply is over."""
        silence_s = SILENCE_S if self._ended_at is not None else ASKED_BACK_S if self._asked_back else HANDLED_WITHIN_S
        return self._changed_at + silence_s - self._clock()

    @property
    def is_over(self) -> bool:
        """Whether nothing more is waited for."""
        return self.patience_s <= 0

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take a message of the bus."""
        topic, data, context = message.get("type"), message.get("data") or {}, message.get("context") or {}
        if topic in (SPOKEN, SPOKEN_TOO):
            self._changed_at = self._clock()
            # one event under two names is heard once
            same = (str(data.get("utterance")), str(context.get("utterance_id")))
            if topic == SPOKEN or same not in self._known:
                self.spoken.append(same[0])
                self._asked_back = self._asked_back or bool(data.get("expect_response"))
            self._known.add(same)
        elif topic == "ovos.utterance.handled":
            self._ended_at = self._changed_at = self._clock()


def settings_of(trust: str, lang: str) -> dict[str, Any]:
    """The owner's settings."""
    place = {"timezone": {"code": "UTC", "name": "UTC", "offset": 0, "dstOffset": 0}}
    return {"lang": lang, "location": place, "persona_memory": {"identity": {"trust": trust}}}


def play(week: Week, trust: str, others: bool, more: bool = False) -> Iterator[PlayedLine]:
    """Play a week through an assistant of its own; see Assistant for ``others``.

    ``more``: who asked says once the words to go on with where it is said that there is more.
    """
    with tempfile.TemporaryDirectory(prefix="week-") as scratch:
        folder = Path(scratch)
        settings = folder / "home" / ".config" / "mycroft" / "mycroft.conf"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps(settings_of(trust, week.lang)), encoding="utf-8")
        clock = MovedClock(folder)
        clock.move_to(week.lines[0].at)
        started = Assistant(
            folder / "data",
            folder / "home",
            free_port(),
            others=others,
            PYTHONPATH=_places(others),
            **clock.environment,
        )
        with started as assistant, Wire(assistant.port) as wire, assistant.owner() as owner:
            household = Household(wire, week.lang)
            for before, line in zip([None, *week.lines], week.lines, strict=False):
                if before is not None and line.at != before.at:
                    move(clock, owner, line.at)
                if line.kind is not None:
                    wait_until_known(owner)
                played = household.say(line)
                if more and line.kind is not None and says_there_is_more(week.lang, played.replies):
                    asked = languages.for_language(week.lang).phrases("more.voc")[0]
                    played = replace(played, more=household.say(replace(line, words=asked)).replies)
                yield played


def _places(others: bool) -> str:
    """Where the assistant's processes look for modules: this checkout first."""
    return os.pathsep.join([str(ROOT), *([str(OTHERS)] if others else [])])


def move(clock: MovedClock, owner: MemoryClient, at: datetime) -> None:
    """Move the clock on, and make sure that the daemon sees it; WeekError where it does not."""
    up_s, now = float(owner.status()["up_s"]), clock.now
    clock.move_to(at)
    seen_s, passed_s = float(owner.status()["up_s"]) - up_s, clock.now - now
    if abs(seen_s - passed_s) > CLOCK_WITHIN_S:
        raise WeekError(f"{passed_s:.0f} s passed, and the daemon's clock saw {seen_s:.0f} s")


def wait_until_known(owner: MemoryClient) -> None:
    """Return when everything said so far can be found by its meaning: nobody asks within the same second."""
    wait_until(lambda: not owner.status()["index_lag"], "the index of what was said", INDEXED_WITHIN_S)


def transcript_of(path: Path, out: Path | None, several: bool) -> Path:
    """Where a transcript goes: beside the week, or to ``out``; ``several``: other weeks have the same name."""
    name = f"{path.stem}.transcript.jsonl"
    if out is None:
        return path.with_name(name)
    return out / (f"{path.resolve().parent.name}.{name}" if several else name)


def says_nothing(lang: str, replies: Sequence[str]) -> bool:
    """Whether the replies only say that nothing is known."""
    spoken = languages.for_language(lang)
    known = [
        text for dialog in ("nothing_known", "nothing_happened", "nothing_planned") for text in spoken.sentences(dialog)
    ]
    return all(reply in known for reply in replies)


def says_there_is_more(lang: str, replies: Sequence[str]) -> bool:
    """Whether the replies end with an offer to tell more that answers."""
    offer = languages.for_language(lang).say("say_more")
    return any(reply.endswith(offer) for reply in replies)


def overview(weeks: Sequence[tuple[Week, Sequence[PlayedLine]]]) -> Iterator[str]:
    """A table of the questions: how many were asked of each kind, answered at all, and how long the replies took."""
    asked: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    took: dict[str, list[float]] = {}
    for week, played in weeks:
        for one in played:
            kind = one.line.kind or "(told)"
            asked[kind] += 1
            answered[kind] += not says_nothing(week.lang, one.replies)
            took.setdefault(kind, []).append(one.seconds)
    width = max(map(len, asked), default=0) + 2
    yield f"{'kind':<{width}}{'lines':>7}{'answered':>10}{'p50 s':>8}{'p95 s':>8}"
    for kind in sorted(asked):
        spread = Spread.from_values(took[kind])
        yield f"{kind:<{width}}{asked[kind]:>7}{answered[kind]:>10}{spread.p50:>8.2f}{spread.p95:>8.2f}"


def play_all(args: argparse.Namespace) -> None:
    """Play the files, write their transcripts, and print the table."""
    weeks = [read(path) for path in args.files]  # all of them first: a mistake in the last is told at once
    names = Counter(week.path.name for week in weeks)
    found: list[tuple[Week, list[PlayedLine]]] = []
    for week in weeks:
        began = time.monotonic()
        target = transcript_of(week.path, args.out, names[week.path.name] > 1)
        target.parent.mkdir(parents=True, exist_ok=True)
        played: list[PlayedLine] = []
        with target.open("w", encoding="utf-8") as file:
            for one in play(week, args.trust, args.others, args.more):
                played.append(one)
                record = {"file": str(week.path), **one.record}
                print(json.dumps(record, ensure_ascii=False), file=file, flush=True)
        lost = sum(not one.handled for one in played)
        print(f"{target}: {len(played)} lines, {lost} without an end, {time.monotonic() - began:.0f} s", flush=True)
        found.append((week, played))
    print("", *overview(found), sep="\n")


def judge(verdicts: Path, target: Path | None) -> None:
    """Print the table of judged replies, and write it as JSON beside the verdicts or to ``target``."""
    judged = verdicts_of(verdicts)
    print(*table(judged), sep="\n")
    target = target or verdicts.with_suffix(".table.json")
    target.write_text(json.dumps(by_language(judged), indent=1) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="scripts/bench weeks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where transcripts go (beside each file)")
    trust = "session: each has a memory of their own (the default); none: everybody is one household"
    parser.add_argument("--trust", choices=("session", "none"), default="session", help=trust)
    parser.add_argument("--others", action="store_true", help="with an alarm clock and a calendar: starts slower")
    parser.add_argument("--more", action="store_true", help="who is told that there is more goes on, once")
    parser.add_argument(
        "--judge", type=Path, metavar="VERDICTS", help="print the table of these verdicts, play nothing"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the table of verdicts goes (beside them)")
    args = parser.parse_args(arguments)
    if bool(args.files) == bool(args.judge):
        parser.error("either files are played, or verdicts are read")
    try:
        if args.judge:
            judge(args.judge, args.json)
        else:
            play_all(args)
    except WeekError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
