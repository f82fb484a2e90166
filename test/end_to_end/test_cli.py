"""The command line as people run it: processes on a real messagebus."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ovos_bus_client import Message, MessageBusClient
from support.servers.ports import free_port

from ovos_persona_memory.cli.conversation import Conversation
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Scope, Turn

from .conftest import Address, Daemon, own_environment, wait_until, write_settings

Handler = Callable[[Message], None]


class Assistant:
    """Answers utterances on the bus as ovos-core does: ids, speech under both names, an end to each."""

    def __init__(self, address: Address) -> None:
        host, port = address
        self.bus = MessageBusClient(host=host, port=port)
        self.heard: list[Message] = []
        self.asking: Message | None = None
        self.endless: Message | None = None
        self.bus.on("recognizer_loop:utterance", self._answer)
        self.bus.run_in_thread()
        assert self.bus.connected_event.wait(10)

    def _answer(self, message: Message) -> None:
        self.heard.append(message)
        said = message.data["utterances"][0]
        message.context["utterance_id"] = f"u{len(self.heard)}"
        if said == "speak thrice":
            self._speak(message, "one")
            self._speak(message, "two\nlines")
            self._speak(message, "three")
        elif said == "ask me":
            message.context["session"]["response_mode"] = {"skill_id": "asker", "expires_at": 9e9}
            self._speak(message, "which city?", expect_response=True)
            self.asking = message
            return  # its handler waits for the reply
        elif said == "never end":
            self.bus.emit(message.forward("ovos.intent.matched", {"utterance": said, "intent_name": "endless"}))
            self.endless = message
            return
        elif said == "be late":
            self.bus.emit(message.forward("ovos.utterance.handled"))
            self._speak(message, "late")
            return
        elif said != "be silent":
            if said == "announce":
                self.bus.emit(Message("speak", {"utterance": "dinner"}, {"session": {"session_id": "kitchen"}}))
                scheduled = message.forward("speak", {"utterance": "timer over"})
                scheduled.context["scheduler"] = {"event": "timer"}
                self.bus.emit(scheduled)
            self._speak(message, f"you said {said}")
        self.bus.emit(message.forward("ovos.utterance.handled"))
        if self.asking is not None:
            self._speak(self.asking, f"so, {said}")
            self.bus.emit(self.asking.forward("ovos.utterance.handled"))
            self.asking = None

    def _speak(self, message: Message, text: str, **more: Any) -> None:
        self.bus.emit(message.reply("ovos.utterance.speak", {"utterance": text, "lang": "en-US", "meta": {}, **more}))


@pytest.fixture(scope="module")
def assistant(bus_address: Address) -> Iterator[Assistant]:
    one = Assistant(bus_address)
    yield one
    one.bus.close()


def run_program(folder: Path, *arguments: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ovos_persona_memory", *arguments],
        input=lines,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        cwd=folder,
        env=own_environment(folder),
        timeout=60,
        check=False,
    )


def chat(folder: Path, address: Address, *said: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    host, port = address
    lines = "".join(f"{line}\n" for line in said)
    return run_program(folder, "chat", "--host", host, "--port", str(port), *options, lines=lines)


def test_each_reply_is_printed_once_on_a_line_of_its_own(
    assistant: Assistant, bus_address: Address, tmp_path: Path
) -> None:
    done = chat(tmp_path, bus_address, "hello", "", "speak thrice", "be silent", "be late", "grüße")
    assert done.stdout.splitlines() == ["you said hello", "one", "two lines", "three", "late", "you said grüße"]
    assert (done.returncode, done.stderr) == (0, "")


def test_announcements_are_no_replies(assistant: Assistant, bus_address: Address, tmp_path: Path) -> None:
    done = chat(tmp_path, bus_address, "announce")
    assert done.stdout.splitlines() == ["you said announce"]
    assert done.stderr.splitlines() == ["(announcement) dinner", "(announcement) timer over"]


def test_a_question_of_the_assistant_is_answered_by_the_next_line_in_the_session_that_it_left(
    assistant: Assistant, bus_address: Address, tmp_path: Path
) -> None:
    done = chat(tmp_path, bus_address, "ask me", "Lisbon", options=("--session", "mine", "--lang", "de-DE"))
    asked, replied = assistant.heard[-2:]
    assert done.stdout.splitlines() == ["which city?", "you said Lisbon", "so, Lisbon"]
    assert asked.context["session"]["session_id"] == "mine" == replied.context["session"]["session_id"]
    assert replied.context["session"]["response_mode"]["skill_id"] == "asker"
    assert replied.data["lang"] == "de-DE" == replied.context["session"]["lang"]


def test_chat_ends_with_4_where_no_bus_is_reached_in_time(tmp_path: Path) -> None:
    done = chat(tmp_path, ("127.0.0.1", free_port()), "hello", options=("--wait", "0.2"))
    assert (done.returncode, done.stdout) == (4, "")
    assert "no messagebus answers at ws://127.0.0.1" in done.stderr


def test_what_is_no_text_does_not_end_the_talk(assistant: Assistant, bus_address: Address, tmp_path: Path) -> None:
    done = chat(tmp_path, bus_address, "caf\udce9", "hello")
    assert done.stdout.splitlines() == ["you said caf\ufffd", "you said hello"]


def test_the_late_end_of_what_was_given_up_does_not_end_what_was_said_later(
    assistant: Assistant, bus_address: Address
) -> None:
    host, port = bus_address
    conversation = Conversation("patient", "en-US", lambda _: None, host=host, port=port)
    assert conversation.start(10)
    conversation.say("never end")
    assert not conversation.wait(0.5)
    given_up = assistant.endless
    assert given_up is not None
    conversation.say("never end")
    wait_until(lambda: assistant.endless is not given_up, "the second utterance")
    assistant.bus.emit(given_up.forward("ovos.utterance.handled"))
    assert not conversation.wait(0.5)
    conversation.say("hello")
    assert conversation.wait(10)
    conversation.close()


@pytest.fixture(scope="module")
def told_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a memory that was told something, beside the settings of who looks into it."""
    home = tmp_path_factory.mktemp("home")
    write_settings(home)
    with PersonaMemory.open(home / "data") as memory:
        memory.record([Turn("user", "my cat is called Bob")], Scope(session_id="s1"))
        memory.remember("the bins go out on Tuesday", key="bins", lang="en-US")
    return home / "data"


class OnTerminal:
    """The chat on a pseudo-terminal."""

    def __init__(self, folder: Path, address: Address) -> None:
        self._ours, theirs = pty.openpty()
        host, port = address
        command = [sys.executable, "-m", "ovos_persona_memory", "chat", "--host", host, "--port", str(port)]
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env=own_environment(folder, TERM="xterm"),
            preexec_fn=_owns_its_terminal,
        )
        os.close(theirs)
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def ends_on_ctrl_c(self) -> bool:
        """Whether the program has ended a moment after Ctrl-C; one typed while it draws its prompt is lost."""
        self.type("\x03")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(2)
        return self.process.returncode is not None

    def wait_for(self, text: str) -> None:
        """Read until the text has been shown since the last time."""

        def is_shown() -> bool:
            if select.select([self._ours], [], [], 0)[0]:
                self.shown += os.read(self._ours, 4096).decode()
            return text in self.shown

        wait_until(is_shown, f"{text!r} on the terminal")
        self.shown = self.shown.partition(text)[2]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


def _owns_its_terminal() -> None:
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's job in the background ignores it, and hands that on
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminal(assistant: Assistant, bus_address: Address, tmp_path: Path) -> Iterator[OnTerminal]:
    one = OnTerminal(tmp_path, bus_address)
    yield one
    one.close()


def test_a_terminal_has_a_prompt_and_announcements_are_dimmed(terminal: OnTerminal) -> None:
    terminal.wait_for("> ")
    terminal.type("announce\n")
    terminal.wait_for("\x1b[2mdinner")
    terminal.wait_for("you said announce")
    terminal.wait_for("> ")
    terminal.type("\x04")
    assert terminal.process.wait(10) == 0


def test_an_announcement_leaves_what_is_being_typed(assistant: Assistant, terminal: OnTerminal) -> None:
    terminal.wait_for("> ")
    terminal.type("hel")
    terminal.wait_for("hel")
    assistant.bus.emit(Message("speak", {"utterance": "dinner"}, {"session": {"session_id": "kitchen"}}))
    terminal.wait_for("dinner")
    terminal.wait_for("> hel")
    terminal.type("lo\n")
    terminal.wait_for("you said hello")


def test_ctrl_c_ends_the_waiting_first_and_at_the_prompt_the_chat(assistant: Assistant, terminal: OnTerminal) -> None:
    terminal.wait_for("> ")
    terminal.type("ask me nothing, say nothing\n")
    terminal.wait_for("you said ask me nothing, say nothing")
    terminal.wait_for("> ")
    heard = len(assistant.heard)
    terminal.type("never end\n")
    wait_until(lambda: len(assistant.heard) > heard, "the utterance on the bus")  # before, it is still at the prompt
    terminal.shown = ""
    terminal.type("\x03")
    terminal.wait_for("> ")
    wait_until(terminal.ends_on_ctrl_c, "its end")
    assert terminal.process.returncode == 0


def on_terminal(folder: Path, *arguments: str) -> str:
    """What a command writes to its standard output where that is a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ovos_persona_memory", *arguments]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        cwd=folder,
        env=own_environment(folder),
        timeout=60,
        check=True,
    )
    assert done.returncode == 0
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # Linux says so at the end of a terminal
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("command", "heading"),
    [
        (("sessions",), ["first", "last", "turns", "user", "session"]),
        (("recall", "what is my cat called"), ["when", "sure", "score", "from", "text (why it was found)"]),
        (("list",), ["changed", "user", "key", "text"]),
        (("facts",), ["said", "user", "about", "sure", "status", "id", "text"]),
        (("users", "list"), ["last", "turns", "memories", "documents", "user"]),
    ],
)
def test_columns_have_headings_where_a_person_reads_and_none_where_a_program_does(
    told_folder: Path, command: tuple[str, ...], heading: list[str]
) -> None:
    at = ("--data", str(told_folder))
    names, *shown = on_terminal(told_folder.parent, *command, *at).splitlines()
    piped = run_program(told_folder.parent, *command, *at).stdout.splitlines()
    assert re.split(" {2,}", names) == heading
    assert [re.split(" {2,}", line) for line in shown] == [re.split(" {2,}", line) for line in piped] != []
    starts = [found.start() for found in re.finditer(r"(?<=  )\S", names)]
    assert all(line[start - 1] == " " != line[start] for line in shown for start in starts)
    as_json = [on_terminal(told_folder.parent, *command, *at, "--json")]
    as_json.append(run_program(told_folder.parent, *command, *at, "--json").stdout)
    assert as_json[0] == as_json[1]


def test_run_says_when_it_is_ready_and_ends_on_sigterm(daemon: Callable[..., Daemon]) -> None:
    one = daemon()
    wait_until(lambda: f"Ready: data in {one.data}" in one.said(), "the line that says so")
    assert one.end() == 0


def test_a_second_daemon_on_a_folder_is_refused(
    daemon: Callable[..., Daemon], bus_address: Address, tmp_path: Path
) -> None:
    one = daemon()
    again = run_program(tmp_path, "run", "--data", str(one.data), "--port", str(bus_address[1]))
    assert (again.returncode, again.stderr) == (5, f"a daemon already runs on {one.data}\n")


def test_a_setting_that_cannot_be_used_ends_with_2_and_one_sentence(tmp_path: Path) -> None:
    write_settings(tmp_path, persona_memory={"announce": "maybe"})
    for command in (["run"], ["list"]):
        done = run_program(tmp_path, *command, "--data", str(tmp_path / "data"))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("persona_memory.announce: ")


def test_commands_ask_the_daemon_where_one_runs_and_open_the_store_where_none_does(
    daemon: Callable[..., Daemon], tmp_path: Path
) -> None:
    one = daemon()

    def told(*arguments: str) -> Any:
        done = run_program(tmp_path, *arguments, "--data", str(one.data), "--json")
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)

    told("remember", "the bins go out on Tuesday", "--key", "bins")
    with_daemon = told("list")["memories"]
    assert told("status")["daemon"] is True
    one.end()
    assert told("status")["daemon"] is False
    assert told("list")["memories"] == with_daemon != []
    assert told("forget", "--key", "bins", "--yes")["forgotten"] == 1


def test_the_daemon_keeps_the_chat(
    assistant: Assistant, daemon: Callable[..., Daemon], bus_address: Address, tmp_path: Path
) -> None:
    one = daemon()
    chat(tmp_path, bus_address, "my cat is called Bob", options=("--session", "s1"))
    done = run_program(tmp_path, "history", "s1", "--data", str(one.data))
    assert done.stdout == "user: my cat is called Bob\nassistant: you said my cat is called Bob\n"


def test_the_doctor_finds_nothing_wrong_where_all_is_well(
    daemon: Callable[..., Daemon], bus_address: Address, tmp_path: Path
) -> None:
    one = daemon()
    write_settings(tmp_path, intents={"pipeline": ["ovos-persona-pipeline-plugin-high"]})
    done = run_program(tmp_path, "doctor", "--data", str(one.data), "--port", str(bus_address[1]), "--json")
    found = json.loads(done.stdout)
    assert [one for one in found if one["state"] != "ok"] == []
    assert {"messagebus", "daemon on the bus", "daemon at the owner's door"} <= {one["check"] for one in found}
    assert done.returncode == 0


def test_a_long_step_shows_a_bar_on_a_terminal_and_a_line_elsewhere(told_folder: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ovos_persona_memory", "export", "--data", str(told_folder)]
    done = subprocess.run(
        [*command, "--output", str(tmp_path / "export")],
        stderr=theirs,
        stdout=subprocess.PIPE,
        env=own_environment(told_folder.parent, TERM="xterm-256color", COLUMNS="100"),
        timeout=60,
        check=True,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # Linux says so at the end of a terminal
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    assert done.stdout == b""
    assert "turns" in shown.decode()
    assert "100%" in shown.decode()
    piped = run_program(told_folder.parent, *command[3:], "--output", str(tmp_path / "again"))
    assert "turns: 1 of 1\n" in piped.stderr
    assert "\x1b" not in piped.stderr


class Watch:
    """The command watch, as a process."""

    def __init__(self, one: Daemon, address: Address, folder: Path, *options: str) -> None:
        host, port = address
        bus = ("--host", host, "--port", str(port))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ovos_persona_memory", "watch", "--data", str(one.data), *bus, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=own_environment(folder),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        assert self.process.stderr is not None
        while "Watching" not in (line := self.process.stderr.readline()):
            assert line, "it ended"

    def ended(self) -> tuple[int, str]:
        """Its status and its answer."""
        shown = self.process.communicate(timeout=30)[0]
        return self.process.returncode, shown


def test_what_is_recorded_is_shown_as_it_is_spoken(
    daemon: Callable[..., Daemon], bus_address: Address, tmp_path: Path
) -> None:
    one = daemon()
    everybody = Watch(one, bus_address, tmp_path, "--limit", "3", "--json")
    alices = Watch(one, bus_address, tmp_path, "--user", "alice", "--limit", "1")
    with MemoryClient.over_door(one.data) as memory:
        memory.record([Turn("user", "my cat is called Bob"), Turn("assistant", "fine")], Scope("s1"))
        memory.record([Turn("user", "hello \x1b[31mred")], Scope("s2", user_id="alice", site_id="hall"))
    status, shown = everybody.ended()
    events = [json.loads(line) for line in shown.splitlines()]
    told = [event["turn"]["text"] for event in events if event["event"] == "recorded"]
    assert (status, told) == (0, ["my cat is called Bob", "fine", "hello \x1b[31mred"])
    status, shown = alices.ended()
    assert (status, shown.split("  ", 1)[1]) == (0, "alice (hall): hello [31mred\n")


def test_watching_ends_on_ctrl_c_or_after_its_time_and_tells_of_forgetting(
    daemon: Callable[..., Daemon], bus_address: Address, tmp_path: Path
) -> None:
    one = daemon()
    with MemoryClient.over_door(one.data) as memory:
        memory.record([Turn("user", "my cat is called Bob")], Scope("s1"))
        watch = Watch(one, bus_address, tmp_path)
        memory.forget(Scope("s1"), everything=True)
        assert watch.process.stdout is not None
        assert "forgotten" in watch.process.stdout.readline()
    watch.process.send_signal(signal.SIGINT)
    assert watch.ended()[0] == 0
    assert Watch(one, bus_address, tmp_path, "--for", "0.2s").ended() == (0, "")
    missing = run_program(tmp_path, "watch", "--data", str(tmp_path / "nowhere"))
    assert missing.returncode == 4
