"""An assistant with a memory: a messagebus, the memory daemon, ovos-core with its personas, and a text chat.

What already answers at the bus is used as it is; the rest is started, and ends with this program. The services started
here have settings, logs and caches of their own under DATA/assistant: the user's own files are read and never written.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import functools
import ipaddress
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import websocket

START_TIMEOUT_S = 180.0  # of each: an ovos-core alone takes a minute on a slow or busy machine
ASK_TIMEOUT_S = 0.5
STOP_TIMEOUT_S = 2.0
LOOK_S = 0.2  # so often, at least, somebody looks whether a signal has come
LOG_LINES = 15
PR_SET_PDEATHSIG = 1  # linux/prctl.h
LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

MEMORY, SKILLS = "persona_memory", "skills"  # as the services call themselves on the bus
COPIED = ("lang", "secondary_langs", "location", "system_unit", "time_format", "date_format", "persona_memory")
PIPELINE = (
    "ovos-stop-pipeline-plugin-high",
    "ovos-converse-pipeline-plugin",
    "ovos-padatious-pipeline-plugin-high",
    "ovos-adapt-pipeline-plugin-high",
    "ovos-padacioso-pipeline-plugin-high",
    "ovos-persona-pipeline-plugin-high",
    "ovos-fallback-pipeline-plugin-high",
    "ovos-stop-pipeline-plugin-medium",
    "ovos-padatious-pipeline-plugin-medium",
    "ovos-adapt-pipeline-plugin-medium",
    "ovos-padacioso-pipeline-plugin-medium",
    "ovos-fallback-pipeline-plugin-medium",
    "ovos-persona-pipeline-plugin-low",
)


class StartError(Exception):
    """The assistant cannot be started, or cannot go on; the text is a sentence for the user."""


say = functools.partial(print, file=sys.stderr, flush=True)  # standard output is the assistant's own


class Ending:
    """The signal that has asked this program to end, kept until ``check`` is called.

    Its handler raises nothing: an exception that comes out of a handler is lost wherever Python happens to be in a hook
    of a fork, the callback of a weak reference, the compiler or another's except clause, and the program goes on.
    """

    def __init__(self) -> None:
        self.number = 0

    def listen(self) -> None:
        """Handle these signals from now on; a signal that the parent has this process ignore, as nohup does, stays
        ignored."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._note)

    def check(self) -> None:
        """Raise SystemExit, through every finally, when such a signal has come."""
        if self.number:
            raise SystemExit(128 + self.number)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.number = number


@dataclass(frozen=True)
class Address:  # of the messagebus
    host: str
    port: int
    route: str
    ssl: bool

    @property
    def url(self) -> str:
        return f"{'wss' if self.ssl else 'ws'}://{self.host}:{self.port}{self.route}"

    @property
    def is_here(self) -> bool:
        """Whether the host is this machine's loopback."""
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(self.host).is_loopback
        return self.host == "localhost"

    def answers(self) -> bool:
        """Whether anything accepts a connection there."""
        with contextlib.suppress(OSError), socket.create_connection((self.host, self.port), timeout=ASK_TIMEOUT_S):
            return True
        return False


class Bus:  # a client that only asks
    def __init__(self, address: Address, ending: Ending) -> None:
        self._ending = ending
        # as ovos-bus-client does, which trusts self-signed certificates
        self._socket = websocket.create_connection(address.url, timeout=5, sslopt={"cert_reqs": 0})

    def close(self) -> None:
        """Close the connection: the bus keeps every message for a client that does not read."""
        self._socket.close()

    def ask(self, topics: dict[str, str], timeout_s: float = ASK_TIMEOUT_S) -> dict[str, Any]:
        """The data of the answers, by topic; ``topics``: topic mapped to the topic of its answer. A topic without an
        answer is left out."""
        for topic in topics:
            self._socket.send(json.dumps({"type": topic, "data": {}, "context": {}}))
        answers: dict[str, Any] = {}
        deadline = time.monotonic() + timeout_s
        while len(answers) < len(topics) and (left_s := deadline - time.monotonic()) > 0:
            self._ending.check()
            self._socket.settimeout(min(left_s, LOOK_S))
            try:
                message = json.loads(self._socket.recv())
            except websocket.WebSocketTimeoutException:
                continue
            answers |= {topic: message["data"] for topic, answer in topics.items() if message.get("type") == answer}
        return answers

    def readiness(self, names: list[str], timeout_s: float = ASK_TIMEOUT_S) -> dict[str, bool]:
        """Whether each of these processes is ready, by name; those that are not there are left out."""
        topics = {f"mycroft.{name}.is_ready": f"mycroft.{name}.is_ready.response" for name in names}
        answers = self.ask(topics, timeout_s)
        return {topic.split(".")[1]: bool(data.get("status")) for topic, data in answers.items()}

    def is_ready(self, name: str) -> bool:
        return self.readiness([name]).get(name, False)

    def personas(self) -> list[str]:
        """The names of the personas that core has loaded."""
        topic = "ovos.persona.list"
        answer = self.ask({topic: f"{topic}.response"}, timeout_s=5).get(topic, {})
        return [persona["name"] for persona in answer.get("personas", ())]


def die_with_parent() -> None:
    """Runs in a new process, and has it killed when the launcher dies, even of SIGKILL."""
    if LIBC is not None:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Services:
    """The processes started here, ended in reverse order."""

    def __init__(self, folder: Path, ending: Ending) -> None:
        self.folder, self.ending = folder, ending
        self.environment = os.environ | {
            **{f"XDG_{kind.upper()}_HOME": str(folder / kind) for kind in ("config", "data", "state", "cache")},
            "PYTHONUNBUFFERED": "1",
            # core writes utterances into its log at INFO: what is forgotten would stay there
            "OVOS_DEFAULT_LOG_LEVEL": "WARNING",
        }
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *command: str) -> None:
        """Start a python module as a service of this name, in a session of its own: Ctrl-C is for the chat."""
        self.ending.check()
        with self._log(name).open("wb") as log:
            self.running[name] = subprocess.Popen(
                [sys.executable, "-m", *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,  # "python -m" looks for modules where it stands
                env=self.environment,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )

    def check(self) -> None:
        """Raise StartError when a service has ended, SystemExit when a signal has come."""
        self.ending.check()
        for name, process in self.running.items():
            if process.poll() is not None:
                raise StartError(f"The {name} ended with status {process.returncode}.\n{self.tail(name)}")

    def tail(self, name: str) -> str:
        """The path of a service's log, and its last lines."""
        if name not in self.running:
            return ""
        lines = self._log(name).read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:]
        return "\n    ".join([f"Its log, {self._log(name)}, ends with:", *lines])

    def end(self) -> None:
        """End all services, the last first; a service that does not end in time is killed."""
        while self.running:
            _, process = self.running.popitem()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_TIMEOUT_S)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):  # a disk that hangs keeps even what was killed
                process.wait(STOP_TIMEOUT_S)

    def _log(self, name: str) -> Path:
        return self.folder / "logs" / f"{name.replace(' ', '-')}.log"


def user_settings() -> tuple[dict[str, Any], Path]:
    """The user's own OVOS settings, and the folder of their personas."""
    with contextlib.redirect_stdout(sys.stderr):  # ovos-config logs to standard output
        from ovos_config.config import Configuration
        from ovos_config.locations import get_xdg_config_save_path

        return dict(Configuration()), Path(get_xdg_config_save_path("ovos_persona"))


def bus_address(settings: dict[str, Any], port: int | None) -> Address:
    """The address of the bus; port 0 finds a free one."""
    section = settings.get("websocket", {})
    host = section.get("host", "0.0.0.0").replace("0.0.0.0", "127.0.0.1")
    if port == 0:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
    port = port or section.get("port", 8181)
    return Address(host, port, section.get("route", "/core"), bool(section.get("ssl")))


def collect_personas(source: Path, target: Path, extra: Path | None) -> None:
    """Link the user's personas, and one more, into a folder for core: they may hold keys, so that they are not
    copied."""
    target.mkdir(exist_ok=True)
    for old in target.iterdir():
        old.unlink()
    for persona in [*([extra] if extra else []), *sorted(source.glob("*.json"))]:
        link = target / f"{persona.stem}.json"
        if not link.exists():
            link.symlink_to(persona.resolve())


def persona_name(args: argparse.Namespace) -> str:
    """The name of the persona: that of the option, else that in the file, else Scribe."""
    if not args.persona_file:
        return args.persona or "Scribe"
    if not args.persona_file.exists():
        raise StartError(f"{args.persona_file}: there is no such file")
    try:
        definition = json.loads(args.persona_file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StartError(f"{args.persona_file} is no persona definition: {error}") from error
    if not isinstance(definition, dict):
        raise StartError(f"{args.persona_file} is no persona definition: it holds no JSON object")
    return args.persona or str(definition.get("name", args.persona_file.stem))


def write_settings(folder: Path, settings: dict[str, Any], address: Address, persona: str) -> None:
    """Write the mycroft.conf of the services started here."""
    installed = tuple(f"{entry.name}-" for entry in entry_points(group="opm.pipeline"))
    intents = {
        "pipeline": [stage for stage in PIPELINE if f"{stage}-".startswith(installed)],
        "persona": {"handle_fallback": True, "default_persona": persona, "personas_path": str(folder / "personas")},
    }
    own = {
        "websocket": {"host": address.host, "port": address.port, "route": address.route, "ssl": address.ssl},
        "logging": {"log_level": "WARNING", "logs": {"path": "stdout"}, MEMORY: {"log_level": "INFO"}},
        "intents": intents,
        "open_data": {"intent_urls": []},
        "skills": {"use_deferred_loading": False},
    }
    target = folder / "config" / "mycroft" / "mycroft.conf"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({key: settings[key] for key in COPIED if key in settings} | own, indent=2))


def wait_for(what: str, condition: Callable[[], bool], services: Services) -> None:
    """Return once the condition holds; raise StartError when a service ends or the time is over."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            if condition():
                return
        except (OSError, websocket.WebSocketException) as error:
            services.check()
            raise StartError(f"The messagebus closed the connection: {error}") from error
        services.check()
        if time.monotonic() > deadline:
            raise StartError(f"The {what} was not ready within {START_TIMEOUT_S:.0f} seconds.\n{services.tail(what)}")
        time.sleep(0.05)


def start_bus(address: Address, services: Services) -> Bus:
    """A connection to the bus, which is started unless one answers there."""
    if not address.answers():
        if not address.is_here:
            raise StartError(f"No messagebus answers at {address.url}, and one can be started on this machine only.")
        services.start("messagebus", "ovos_messagebus")
        wait_for("messagebus", address.answers, services)
    try:
        bus = Bus(address, services.ending)
    except (OSError, websocket.WebSocketException) as error:
        raise StartError(
            f"What answers at {address.url} is no messagebus. Another port: --port N, or --port 0 for any free one."
        ) from error
    if "messagebus" not in services.running:
        say(f"Using the messagebus at {address.url}")
    return bus


def start_assistant(bus: Bus, services: Services, data: Path, persona: str) -> None:
    """Start the daemon and core, where they are missing, and wait until both are ready."""
    there = {} if "messagebus" in services.running else bus.readiness([MEMORY, SKILLS])
    if MEMORY in there:
        say("Using the memory daemon on that bus, with its own data folder")
    else:
        services.start("memory daemon", "ovos_persona_memory", "run", "--data", str(data))
    if SKILLS in there:
        say("Using the ovos-core on that bus, with its own settings and personas")
    else:
        say("Starting ovos-core")
        services.start("ovos-core", "ovos_core", "--disable-installer", "--disable-file-watcher")
    for what, name in (("memory daemon", MEMORY), ("ovos-core", SKILLS)):
        wait_for(what, functools.partial(bus.is_ready, name), services)
    if SKILLS not in there and persona.casefold() not in map(str.casefold, known := bus.personas()):
        loaded = ", ".join(known) or "none"
        raise StartError(f"No persona {persona} was loaded. Loaded: {loaded}.\n{services.tail('ovos-core')}")


def serve(services: Services) -> NoReturn:
    """Keep the services going until a signal ends this process."""
    while True:
        services.check()
        time.sleep(LOOK_S)


def chat(port: int, services: Services) -> int:
    """Run the chat; its exit status."""
    if sys.stdin.isatty():
        signal.signal(signal.SIGINT, lambda *_: None)  # the chat decides what Ctrl-C means
    environment = services.environment | {"OVOS_DEFAULT_LOG_LEVEL": "CRITICAL"}
    command = [sys.executable, "-m", "ovos_persona_memory", "chat", "--port", str(port)]
    with subprocess.Popen(command, cwd=services.folder, env=environment, preexec_fn=die_with_parent) as process:
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return process.wait(LOOK_S)
                services.check()
        finally:
            process.terminate()


@contextlib.contextmanager
def own_folder(data: Path) -> Iterator[Path]:
    """The folder of the services started here, held by one launcher at a time."""
    folder = data / "assistant"
    try:
        (folder / "logs").mkdir(parents=True, exist_ok=True)
        lock_file = (folder / "lock").open("w")
    except OSError as error:
        raise StartError(f"The data folder cannot be used: {error}") from error
    with lock_file as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StartError(f"An assistant is already running on {data}. Another data folder: --data DIR") from error
        yield folder


def run(args: argparse.Namespace, ending: Ending) -> int:
    """Start what is missing, talk, end what was started."""
    settings, personas = user_settings()
    address = bus_address(settings, args.port)
    persona = persona_name(args)
    with own_folder(args.data) as folder:
        services = Services(folder, ending)
        try:
            collect_personas(personas, folder / "personas", args.persona_file)
            write_settings(folder, settings, address, persona)
            with contextlib.closing(start_bus(address, services)) as bus:
                start_assistant(bus, services, args.data, persona)
            say(f"Ready on {address.url}, data in {args.data}, logs in {folder / 'logs'}")
            if args.no_chat:
                serve(services)
            return chat(address.port, services)
        finally:
            services.end()


def arguments() -> argparse.Namespace:
    """The arguments of the command line."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    parser = argparse.ArgumentParser(prog="scripts/run", description="An assistant with a memory, and a chat with it.")
    parser.add_argument("--data", type=Path, default=Path(home) / "ovos_persona_memory", help="the data folder")
    parser.add_argument("--port", type=int, help="the port of the messagebus; 0 finds a free one")
    parser.add_argument("--persona", help="who answers (Scribe, which needs no language model)")
    parser.add_argument("--persona-file", type=Path, help="a persona definition (JSON) to be loaded too")
    parser.add_argument("--no-chat", action="store_true", help="run the services alone, until interrupted")
    args = parser.parse_args()
    args.data = args.data.expanduser().resolve()
    return args


def main() -> int:
    """The exit status."""
    args = arguments()
    os.umask(0o077)
    ending = Ending()
    ending.listen()
    try:
        return run(args, ending)
    except StartError as trouble:
        say(trouble)
        return 1
    except SystemExit as end:
        return 0 if args.no_chat else int(str(end.code))


if __name__ == "__main__":
    sys.exit(main())
