"""What reaches a user: the wheel, the sdist, a wheel made of the sdist, and an editable install."""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
import yaml
from support.servers.ports import free_port

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
NAME = "ovos_persona_memory"
ENTRY_POINTS = {
    "console_scripts": {"ovos-persona-memory": f"{NAME}.cli:main"},
    "opm.agents.memory": {"ovos-persona-memory-plugin": f"{NAME}.opm.memory:PersonaMemoryPlugin"},
    "opm.agents.chat": {
        "ovos-persona-memory-recall-plugin": f"{NAME}.opm.chat:RecallChatEngine",
        "ovos-persona-memory-remember": f"{NAME}.opm.remembering_engine:RememberingChatEngine",
    },
    "opm.solver.chat": {"ovos-persona-memory-remember": f"{NAME}.opm.remembering_solver:RememberingSolver"},
    "opm.agents.retrieval": {"ovos-persona-memory-retrieval-plugin": f"{NAME}.opm.retrieval:PersonaMemoryRetrieval"},
    "opm.agents.toolbox": {"ovos-persona-memory-tools": f"{NAME}.opm.toolbox:PersonaMemoryTools"},
    "opm.skill": {"ovos-skill-persona-memory.openvoiceos": f"{NAME}.skill:PersonaMemorySkill"},
    "ovos.plugin.skill": {"ovos-skill-persona-memory.openvoiceos": f"{NAME}.skill:PersonaMemorySkill"},
    "opm.plugin.persona": {"Scribe": f"{NAME}.opm.persona:SCRIBE"},
}
LOOK = f"""
from importlib.metadata import distribution
from {NAME}.text import languages

for entry_point in distribution("ovos-persona-memory").entry_points:
    entry_point.load()
import {NAME}
print({NAME}.__file__)
folder = languages.locale_folder()
print(*sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*")))
"""


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(source: Path, target: Path, kind: str) -> Path:
    run(sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", target, source, cwd=source)
    (made,) = target.iterdir()
    return made


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    """The paths that a clone would have."""
    names = run("git", "ls-files", "-z", cwd=ROOT).split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def shipped(tracked: list[str]) -> set[str]:
    """The paths that a wheel must have, beside its metadata."""
    paths = {f"{NAME}/{name}" for name in tracked if name.startswith("locale/")}
    assert {PurePosixPath(path).parts[2] for path in paths} >= {"de-DE", "en-US"}
    return paths | {name for name in tracked if name.startswith(f"{NAME}/")}


@pytest.fixture(scope="module")
def checkout(tracked: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, so that building leaves nothing behind."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in tracked:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def sdist(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(checkout, tmp_path_factory.mktemp("sdist"), "sdist")


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(checkout, tmp_path_factory.mktemp("wheel"), "wheel")


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """The interpreter of a throwaway environment, which borrows the packages of the one that runs the tests."""
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip()
    Path(packages, "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    return python


def look(python: Path, cwd: Path) -> tuple[Path, set[str]]:
    """From where the package is imported, and which language resources it finds."""
    *_, module, resources = run(python, "-W", "ignore", "-c", LOOK, cwd=cwd).splitlines()
    return Path(module), {f"{NAME}/locale/{path}" for path in resources.split()}


def contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def test_the_wheel_has_every_module_word_list_and_schema_step(wheel: Path, shipped: set[str]) -> None:
    assert shipped == contents(wheel)


def test_the_readme_says_how_large_the_wheel_and_its_models_are(wheel: Path) -> None:
    said = re.search(r"The wheel has about (\d+) MB.*?(\d+\.\d) MB are three\s+trained models", README, re.DOTALL)
    assert said, "the readme says nothing of the size"
    with zipfile.ZipFile(wheel) as archive:
        models = sum(held.file_size for held in archive.infolist() if held.filename.endswith(".model"))
    assert wheel.stat().st_size / 1e6 == pytest.approx(float(said[1]), rel=0.05)
    assert models / 1e6 == pytest.approx(float(said[2]), abs=0.05)


def test_the_wheel_declares_the_fixed_names(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (path,) = [name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt")]
        declared = configparser.ConfigParser(delimiters="=")
        declared.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
        declared.read_string(archive.read(path).decode())
        assert {section: dict(declared[section]) for section in declared.sections()} == ENTRY_POINTS
        assert any(name.endswith("/licenses/LICENSE") for name in archive.namelist())


def test_a_wheel_made_of_the_sdist_is_the_same(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    run("tar", "-xzf", sdist, "-C", tmp_path / "source", cwd=tmp_path)
    (source,) = (tmp_path / "source").iterdir()
    assert contents(build(source, tmp_path / "wheel", "wheel")) == contents(wheel)


def test_an_installed_wheel_finds_its_languages(
    wheel: Path, environment: Path, shipped: set[str], tmp_path: Path
) -> None:
    run(sys.executable, "-m", "pip", "--python", environment, "install", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    module, resources = look(environment, tmp_path)
    assert module.is_relative_to(tmp_path / "venv")
    assert resources == {path for path in shipped if path.startswith(f"{NAME}/locale/")}
    assert "forget" in run(environment.with_name("ovos-persona-memory"), "--help", cwd=tmp_path)


@dataclass(frozen=True)
class Installed:
    """The wheel in an empty environment, with settings and data of its own."""

    bin: Path
    home: Path

    @property
    def data(self) -> Path:
        return self.home / "data" / NAME

    @property
    def variables(self) -> dict[str, str]:
        own = {f"XDG_{kind.upper()}_HOME": str(self.home / kind) for kind in ("config", "data", "state", "cache")}
        return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | own

    def run(self, *command: str) -> str:
        """What a command of the environment answers."""
        done = subprocess.run(
            [str(self.bin / command[0]), *command[1:]],
            env=self.variables,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def daemon(self, port: int) -> Iterator[None]:
        """The daemon runs inside, on the port of a bus that is not there."""
        command = [str(self.bin / "ovos-persona-memory"), "run", "--port", str(port)]
        with (self.home / "log").open("wb") as log:
            process = subprocess.Popen(command, env=self.variables, cwd=self.home, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 30
            while not (self.data / "web.token").exists():
                assert process.poll() is None, (self.home / "log").read_text()
                assert time.monotonic() < deadline, (self.home / "log").read_text()
                threading.Event().wait(0.05)
            yield
        finally:
            process.terminate()
            assert process.wait(20) == 0


def interpreters() -> dict[tuple[int, int], Path]:
    """The interpreters of this machine that the package is for, by version."""
    names = [f"python3.{minor}" for minor in range(10, 30)]
    placed = [Path(path) for name in names if (path := shutil.which(name))]
    found: dict[tuple[int, int], Path] = {}
    for python in (*Path.home().glob(".pyenv/versions/3.*/bin/python"), *placed):
        asked = subprocess.run(
            [python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, check=False
        )
        if asked.returncode == 0:  # pyenv puts stand-ins on the path that only say that they are none
            major, minor = map(int, asked.stdout.split())
            found[major, minor] = python
    return found


SAY = f"""
import sys
from pathlib import Path
from {NAME}.protocol import MemoryClient
from {NAME}.records import Scope, Turn
with MemoryClient.over_door(Path(sys.argv[1])) as memory:
    memory.record([Turn("user", "my cat is called Bob", lang="en-US")], Scope(session_id="s1"))
"""


@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_the_quick_start_works_in_an_empty_environment(wheel: Path, which: str, tmp_path: Path) -> None:
    version = (3, 10) if which == "oldest" else max(interpreters(), default=(3, 0))
    if version not in interpreters() or (which == "newest" and version < (3, 13)):
        pytest.skip(f"there is no Python {'3.10' if which == 'oldest' else '3.13 or newer'}")
    run(interpreters()[version], "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    installed = Installed(tmp_path / "venv" / "bin", tmp_path)
    run(installed.bin / "pip", "install", "--quiet", f"{wheel}[web]", cwd=tmp_path)
    config = tmp_path / "config" / "mycroft" / "mycroft.conf"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"persona_memory": {"web": {"port": free_port()}}}))
    with installed.daemon(free_port()):
        installed.run("python", "-c", SAY, str(installed.data))
        assert "my cat is called Bob" in installed.run("ovos-persona-memory", "recall", "what is my cat called")
        link = installed.run("ovos-persona-memory", "web").split()[-1]
        opener = build_opener(HTTPCookieProcessor())
        opener.open(link).close()
        with opener.open(link.partition("/enter")[0]) as page:
            assert "my cat is called Bob" in page.read().decode()


def test_an_editable_install_finds_its_languages(
    checkout: Path, environment: Path, shipped: set[str], tmp_path: Path
) -> None:
    pip = (sys.executable, "-m", "pip", "--python", environment)
    run(*pip, "install", "--no-deps", "--no-index", "--no-build-isolation", "--editable", checkout, cwd=tmp_path)
    module, resources = look(environment, tmp_path)
    assert module.is_relative_to(checkout)
    assert resources == {path for path in shipped if path.startswith(f"{NAME}/locale/")}


# containers


def image_context() -> list[str]:
    """The paths that ``.dockerignore`` lets through."""
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert lines[1] == "**"
    return [line[1:] for line in lines if line.startswith("!")]


def test_what_an_image_is_built_of_makes_the_same_wheel(checkout: Path, wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "context").mkdir()
    for name in image_context():
        copy = shutil.copytree if (checkout / name).is_dir() else shutil.copy2
        copy(checkout / name, tmp_path / "context" / name)
    assert contents(build(tmp_path / "context", tmp_path / "wheel", "wheel")) == contents(wheel)


def test_the_compose_file_keeps_the_memory_on_a_volume_and_reads_the_settings() -> None:
    compose = yaml.safe_load((ROOT / "docker" / "docker-compose.persona-memory.yml").read_text("utf-8"))
    [service] = compose["services"].values()
    folder = "/home/${OVOS_USER}/.local/share/ovos_persona_memory"
    assert f"ovos_persona_memory:{folder}" in service["volumes"]
    assert "${OVOS_CONFIG_FOLDER}:/home/${OVOS_USER}/.config/mycroft:ro" in service["volumes"]
    assert compose["volumes"].keys() == {"ovos_persona_memory"}
    assert (ROOT / "docker" / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    recipe = (ROOT / "docker" / "Dockerfile").read_text("utf-8")
    assert 'ENTRYPOINT ["ovos-persona-memory", "run"]' in recipe
    assert folder.replace("OVOS_USER", "USER") in recipe


HADOLINT = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")


@pytest.mark.skipif(HADOLINT is None, reason="there is no hadolint for this machine")
def test_the_linter_finds_nothing_wrong_with_the_dockerfile(tmp_path: Path) -> None:
    recipe = (ROOT / "docker" / "Dockerfile").read_text("utf-8")
    assert run(str(HADOLINT), ROOT / "docker" / "Dockerfile", cwd=ROOT) == ""
    broken = tmp_path / "Dockerfile"
    broken.write_text(recipe + "RUN cd /tmp && sudo true\n", "utf-8")
    done = subprocess.run([str(HADOLINT), str(broken)], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "sudo" in done.stdout, "the linter looks"
