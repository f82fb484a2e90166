"""Output: standard output is for answers alone; logs, questions and errors go to standard error."""

from __future__ import annotations

import contextlib
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, TextIO

import msgspec
import rich_click as click
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TaskID
from rich.text import Text

from ovos_persona_memory.cli.options import InputFile
from ovos_persona_memory.errors import (
    CapturePaused,
    ConfigError,
    InvalidRequest,
    NeedsApproval,
    NoAnswer,
    NotAllowed,
    PersonaMemoryError,
    SecretRefused,
    StoreBusy,
    StoreError,
    UnknownEntry,
    UnknownVerb,
)

_ANSWERS: ContextVar[TextIO] = ContextVar("answers")
_DEGRADED: ContextVar[Callable[[], bool]] = ContextVar("degraded")
EXIT_STATUS: Sequence[tuple[int, tuple[type[PersonaMemoryError], ...]]] = (
    (2, (InvalidRequest, ConfigError, UnknownVerb)),
    (3, (UnknownEntry,)),
    (4, (NoAnswer,)),
    (5, (StoreBusy,)),
    (6, (StoreError,)),
    (7, (NotAllowed, CapturePaused, SecretRefused, NeedsApproval)),
)
"""The exit status for each kind of error, the first that fits; 1 for any other."""
INTERRUPTED = 130
"""The exit status after Ctrl-C, as a shell has it."""
_CONTROLS = re.compile("[\x7f-\x9f]")
AWAY = (
    "The store is away: this is what this device alone knows, and more may be remembered. "
    "What is new waits here until the store is back."
)


class Command(click.RichCommand):
    """A command whose failures are one sentence, and whose standard output holds nothing but its answer."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run it; the exit status tells what went wrong, see ``EXIT_STATUS``."""
        before = _ANSWERS.set(sys.stdout)
        whole = _DEGRADED.set(lambda: False)
        try:
            # OVOS's logger writes to whatever sys.stdout is when it first speaks
            with contextlib.redirect_stdout(sys.stderr):
                self._refuse_unreadable_files(ctx)
                return super().invoke(ctx)
        except PersonaMemoryError as error:
            say(error.reason)
            ctx.exit(exit_status(error))
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        finally:
            if _DEGRADED.get()():
                say(AWAY)
            _DEGRADED.reset(whole)
            _ANSWERS.reset(before)

    def _refuse_unreadable_files(self, ctx: click.Context) -> None:
        """Check all input files before the first is read."""
        for param in self.params:
            if isinstance(param.type, InputFile):
                given = ctx.params[param.name or ""]
                for path in given if isinstance(given, tuple) else filter(None, (given,)):
                    param.type.refuse_unreadable(path)


def exit_status(error: PersonaMemoryError) -> int:
    """The exit status that tells of an error."""
    return next((status for status, kinds in EXIT_STATUS if isinstance(error, kinds)), 1)


def degraded_if(degraded: Callable[[], bool]) -> None:
    """Set the function that tells, when a command answers and at its end, whether the memory's store was away."""
    _DEGRADED.set(degraded)


def answers() -> TextIO:
    """The real standard output."""
    return _ANSWERS.get(sys.stdout)


@contextlib.contextmanager
def to_answers() -> Iterator[None]:
    """Within this context print and input use the real standard output."""
    with contextlib.redirect_stdout(answers()):
        yield


def say(text: str) -> None:
    """Print a remark that is no answer, on standard error."""
    print(text, file=sys.stderr, flush=True)


def confirm(question: str) -> None:
    """Go on only after a yes, asked on standard error; InvalidRequest where nobody can be asked."""
    if not sys.stdin.isatty():
        raise InvalidRequest("--yes", "must be given where nobody can be asked")
    click.confirm(question, abort=True, err=True)


def plain(text: str) -> str:
    """The text without control characters, which must not steer a terminal. Line ends stay."""
    return "".join(c for c in text if c == "\n" or unicodedata.category(c) != "Cc")


def answer(text: str) -> None:
    """One line of the answer, on standard output."""
    print(plain(text), file=answers(), flush=True)


def answer_line(line: bytes) -> None:
    """A line of an answer that is a document: as it is in a pipe or a file, plain on a terminal."""
    text = line.decode()
    answers().write(plain(text) if answers().isatty() else text)


def answer_json(value: Any) -> None:
    """The answer as one JSON document; with ``degraded`` where the store was away, as in the daemon's own answers."""
    if _DEGRADED.get(lambda: False)():
        value = {**msgspec.to_builtins(value), "degraded": True}
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    # JSON may hold these as they are: as escapes they steer no terminal, and are not lost
    answer(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def answer_rows(names: Sequence[str], rows: Sequence[Sequence[str]], none: str) -> None:
    """Rows of cells, a line each, all but the last cell aligned; their names first on a terminal.

    ``none``: the sentence that is said where there are no rows, on standard error: whoever counts lines counts none.
    Empty where there always are.
    """
    if not rows and none:
        say(none)
    lines = [[" ".join(plain(cell).split()) for cell in row] for row in rows]
    if answers().isatty() and rows:
        lines.insert(0, list(names))
    widths = [max((len(line[i]) for line in lines), default=0) for i in range(len(names) - 1)]
    for line in lines:
        answer("  ".join([*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[-1]]))


def answer_text(text: Text) -> None:
    """One line of the answer with colours, where the terminal shows them."""
    Console(file=answers(), highlight=False, soft_wrap=True).print(text)


@contextlib.contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Within this context the function that it gives shows how much of a step is done: a bar on a terminal, else a line
    on standard error when a step has ended. It is called with the step's name, how much is done, and how much there is.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda name, done, total: say(f"{name}: {done} of {total}") if done == total else None
        return
    with Progress(*Progress.get_default_columns(), MofNCompleteColumn(), console=console, transient=True) as bars:
        known: dict[str, TaskID] = {}

        def told(name: str, done: int, total: int) -> None:
            if name not in known:
                known[name] = bars.add_task(name, total=total)
            bars.update(known[name], completed=done, total=total)

        yield told


@contextlib.contextmanager
def progress(what: str) -> Iterator[None]:
    """Show progress of a long step on a terminal, on standard error."""
    console = Console(stderr=True)
    with console.status(what) if console.is_terminal else contextlib.nullcontext():
        yield
