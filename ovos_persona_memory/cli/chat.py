"""``chat``: a text chat with the assistant, on a terminal or line by line."""

from __future__ import annotations

import contextlib
import io
import readline
import sys
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import rich_click as click
from rich.console import Console

from ovos_persona_memory.cli.connection import url
from ovos_persona_memory.cli.conversation import Conversation, SpokenAnswer
from ovos_persona_memory.cli.options import address_options, examples
from ovos_persona_memory.cli.output import Command, answers, plain, say, to_answers
from ovos_persona_memory.config import bus_address, device_language
from ovos_persona_memory.errors import NoAnswer

HANDLED_WITHIN_S = 30.0
PROMPT = "> "


@click.command(cls=Command, epilog=examples("chat", "chat --session kitchen-1 --lang de-DE"))
@address_options
@click.option("--session", help="Talk in this session; a fresh one unless given.")
@click.option("--lang", help="The language to talk in, en-US for example; the device's unless given.")
@click.option("--wait", "wait_s", type=float, default=30.0, show_default=True, help="Seconds to wait for the bus.")
def chat(host: str | None, port: int | None, session: str | None, lang: str | None, wait_s: float) -> None:
    """Talk with the assistant in text.

    Without a terminal: one utterance a line from standard input, one reply a line to standard output.
    """
    address = bus_address(host, port)
    interactive = sys.stdin.isatty() and answers().isatty()
    screen: PipeChat = TerminalChat() if interactive else PipeChat()
    conversation = Conversation(session or str(uuid.uuid4()), lang or device_language(), screen.show, **address)
    try:
        _reach_bus(conversation, address, wait_s)
        for line in screen.lines():
            with screen.interruptible():
                _talk(conversation, line, address, wait_s)
    finally:
        conversation.close()


def _reach_bus(conversation: Conversation, address: dict[str, Any], wait_s: float) -> None:
    if not conversation.start(wait_s):
        raise NoAnswer(f"no messagebus answers at {url(address)}")


def _talk(conversation: Conversation, line: str, address: dict[str, Any], wait_s: float) -> None:
    if not conversation.connected(wait_s):
        raise NoAnswer(f"the messagebus at {url(address)} went away")
    conversation.say(line)
    if not conversation.wait(HANDLED_WITHIN_S):
        say(f"The assistant has not finished with {line!r} within {HANDLED_WITHIN_S:.0f} s.")


class PipeChat:
    """Reads utterances and writes replies, one a line; speech that is no reply to us goes to standard error."""

    def __init__(self) -> None:
        self._answers = answers()

    def show(self, spoken: SpokenAnswer) -> None:
        """Write what was spoken, on one line."""
        line = plain(" ".join(spoken.text.split()))
        if spoken.ours:
            print(line, file=self._answers, flush=True)
        else:
            say(f"(announcement) {line}")

    def interruptible(self) -> AbstractContextManager[None]:
        """Context of one utterance and its replies: the meaning of Ctrl-C."""
        return contextlib.nullcontext()

    def lines(self) -> Iterator[str]:
        """The utterances, until the input ends."""
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")  # undecodable bytes must not end the conversation
        for line in sys.stdin:
            if line.strip():
                yield line.strip()


class TerminalChat(PipeChat):
    """A prompt, and replies as they come; speech that is no reply to us is dimmed."""

    def __init__(self) -> None:
        super().__init__()
        self._console = Console(file=self._answers, highlight=False)
        self._asking = False

    def show(self, spoken: SpokenAnswer) -> None:
        """Write what was spoken, above a line that is being typed."""
        if self._asking:
            self._answers.write("\r\x1b[K")
        self._console.print(plain(spoken.text), style="" if spoken.ours else "dim", markup=False)
        if self._asking:
            self._answers.write(PROMPT + readline.get_line_buffer())
            self._answers.flush()

    def interruptible(self) -> AbstractContextManager[None]:
        """Ctrl-C ends the waiting, not the chat."""
        return contextlib.suppress(KeyboardInterrupt)

    def lines(self) -> Iterator[str]:
        """The typed lines, until Ctrl-D or Ctrl-C at the prompt."""
        with contextlib.suppress(EOFError, KeyboardInterrupt):
            while True:
                line = self._ask()
                if line.strip():
                    yield line.strip()
        self._answers.write("\n")

    def _ask(self) -> str:
        self._asking = True
        try:
            with to_answers():
                return input(PROMPT)
        finally:
            self._asking = False
