"""``install-service`` and ``uninstall-service``: the daemon as a systemd unit of the user, and its way back."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

import rich_click as click

from ovos_persona_memory.cli.connection import settings
from ovos_persona_memory.cli.options import NAME, address_options, data_option, examples, json_option
from ovos_persona_memory.cli.output import Command, answer, answer_json, confirm, say
from ovos_persona_memory.errors import ConfigError, InvalidRequest

UNIT_NAME = f"{NAME}.service"
ASSISTANT = "ovos.service"
"""The unit that starts OpenVoiceOS, where its installer set one up (raspOVOS, ovos-installer)."""
MARK = f"# Written by {NAME} install-service"
UNIT = """{mark}; taken away by uninstall-service.
[Unit]
Description=OpenVoiceOS persona memory
Documentation=https://github.com/OpenVoiceOS/ovos-persona-memory
{ordered}
[Service]
Type=notify
ExecStart={command}
TimeoutStartSec=1m
TimeoutStopSec=10
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2 6
UMask=0077

[Install]
WantedBy={wanted_by}
"""
"""Status 2 and 6, a setting or a key that cannot be used, are not mended by starting again."""
WITH_ASSISTANT = f"PartOf={ASSISTANT}\nAfter={ASSISTANT}\nAfter=ovos-messagebus.service\n"
WITHIN_S = 90.0
VERIFIED_WITHIN_S = 30.0


@click.command("install-service", cls=Command, epilog=examples("install-service --dry-run", "install-service --yes"))
@click.option("--dry-run", is_flag=True, help="Only show and check what would be written and run.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
@address_options
@json_option
def install_service(  # one parameter an option
    dry_run: bool, yes: bool, data: Path | None, host: str | None, port: int | None, as_json: bool
) -> None:
    """Have systemd start the daemon with the assistant, or with your session where there is no unit of the assistant.

    First it shows the unit and the commands, has systemd check the unit, and asks. uninstall-service takes all of it
    back.
    """
    _refuse_unusable(data)
    path = unit_folder() / UNIT_NAME
    text = unit_text(_command(data, host, port), has_assistant())
    problems = verified(text)
    plan = {"unit": str(path), "text": text, "commands": [shlex.join(one) for one in starting()], "problems": problems}
    if not as_json:
        _show(path, text, problems)
    if problems:
        raise ConfigError("systemd would not start this unit: nothing was written")
    if dry_run:
        return answer_json({**plan, "installed": False}) if as_json else say("Nothing was changed.")
    if not yes:
        confirm("Write it and start the daemon?")
    write_unit(path, text)
    runs = _run_all(starting())
    if as_json:
        return answer_json({**plan, "installed": True, "runs": runs})
    return _say_installed(path, runs)


def _refuse_unusable(data: Path | None) -> None:
    if settings(data).encryption.key == "prompt":
        raise ConfigError("the key of the memory is to be typed, and systemd cannot ask: use file:PATH or keyring")


def _show(path: Path, text: str, problems: Sequence[str]) -> None:
    answer(f"# {path}")
    answer(text)
    for command in starting():
        answer(f"$ {shlex.join(command)}")
    for problem in problems:
        say(problem)
    if shutil.which("systemd-analyze") is None:
        say("The unit was not checked: there is no systemd-analyze here.")


def _say_installed(path: Path, runs: bool) -> None:
    if runs:
        answer(f"{path} is there, and the daemon runs.")
        answer("To have it run while nobody is logged in: loginctl enable-linger")
    else:
        answer(f"{path} is there. No systemd of your user answers now: the daemon starts at your next login.")


@click.command(
    "uninstall-service", cls=Command, epilog=examples("uninstall-service --dry-run", "uninstall-service --yes")
)
@click.option("--dry-run", is_flag=True, help="Only show what would be run and taken away.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
@json_option
def uninstall_service(dry_run: bool, yes: bool, data: Path | None, as_json: bool) -> None:
    """End the daemon and take its unit away. The memory stays where it is, and the answer says where that is.

    A unit that install-service found and moved aside is put back.
    """
    path, folder = unit_folder() / UNIT_NAME, settings(data).folder
    is_ours = path.is_file() and path.read_text("utf-8").startswith(MARK)
    if path.is_file() and not is_ours:
        raise InvalidRequest(str(path), f"was not written by {NAME}: take it away yourself")
    commands = ending() if is_ours else []
    if not as_json:
        for command in commands:
            answer(f"$ {shlex.join(command)}")
        answer(f"$ rm {path}" if is_ours else f"There is no unit at {path}.")
    if is_ours and not dry_run:
        if not yes:
            confirm("End the daemon and take its unit away?")
        _run_all(commands[:1])
        take_unit_away(path)
        _run_all(commands[1:])
    left = what_stays(folder)
    if as_json:
        answer_json({"unit": str(path), "removed": is_ours and not dry_run, "stays": left})
    else:
        answer("\n".join(left))


def what_stays(folder: Path) -> list[str]:
    """Sentences that tell where the data is and how the rest is taken away."""
    size = sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()) if folder.is_dir() else 0
    there = f"The memory stays in {folder} ({size / 1e6:.1f} MB)." if size else f"There is no memory in {folder}."
    return [
        there,
        *([f"To take it to another place: {NAME} backup FILE. To delete it for good: rm -r {folder}"] if size else []),
        f"The package is taken away by: {sys.executable} -m pip uninstall {NAME}",
        "Settings stay in the section persona_memory of mycroft.conf, and personas that name the memory still do.",
    ]


# the unit


def unit_folder() -> Path:
    """Where systemd looks for the units of this user (systemd.unit(5))."""
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "systemd" / "user"


def has_assistant() -> bool:
    """Whether OpenVoiceOS has a unit of its own here."""
    folders = [unit_folder(), *map(Path, ("/etc/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user"))]
    return any((folder / ASSISTANT).exists() for folder in folders)


def _command(data: Path | None, host: str | None, port: int | None) -> list[str]:
    """The command of the daemon, with this installation's own program."""
    program = Path(sysconfig.get_path("scripts")) / NAME
    start = [str(program)] if program.exists() else [sys.executable, "-m", "ovos_persona_memory"]
    folder = [] if data is None else ["--data", str(data.expanduser().absolute())]
    address = [*([] if host is None else ["--host", host]), *([] if port is None else ["--port", str(port)])]
    return [*start, "run", *folder, *address]


def unit_text(command: Sequence[str], with_assistant: bool) -> str:
    """The unit. ``with_assistant``: it starts and stops with OpenVoiceOS; else it starts with the user's session."""
    return UNIT.format(
        mark=MARK,
        command=" ".join([quoted(command[0]), *(quoted(word).replace("$", "$$") for word in command[1:])]),
        ordered=WITH_ASSISTANT if with_assistant else "",
        wanted_by=ASSISTANT if with_assistant else "default.target",
    )


def quoted(word: str) -> str:
    """A word of ExecStart as systemd reads it (systemd.service(5), command lines); in an argument $ is doubled, too."""
    escaped = word.replace("%", "%%")
    if not any(c.isspace() or c in "\"'\\;" for c in word):
        return escaped
    return '"' + escaped.replace("\\", "\\\\").replace('"', '\\"') + '"'


def verified(text: str) -> list[str]:
    """What systemd finds wrong with a unit, a line each; none also where it cannot be asked."""
    tool = shutil.which("systemd-analyze")
    if tool is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        beside = Path(folder) / UNIT_NAME
        beside.write_text(text, "utf-8")
        done = _ran(
            [tool, "--user", "verify", str(beside)], VERIFIED_WITHIN_S, {"XDG_RUNTIME_DIR": folder, **os.environ}
        )
    about = [line for line in done.stderr.splitlines() if UNIT_NAME in line]
    return about or ([] if done.returncode == 0 else done.stderr.splitlines()[-1:])


def write_unit(path: Path, text: str) -> None:
    """Write the unit; one that somebody else wrote is moved aside."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.read_text("utf-8").startswith(MARK):
        path.rename(_aside(path))
        say(f"The unit that was there is {_aside(path)} now; uninstall-service puts it back.")
    path.write_text(text, "utf-8")


def take_unit_away(path: Path) -> None:
    """Delete the unit, and put back what was moved aside."""
    path.unlink()
    if _aside(path).exists():
        _aside(path).rename(path)


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.before")


# systemd


def starting() -> list[list[str]]:
    """The commands that put the unit into use."""
    return [["systemctl", "--user", "daemon-reload"], ["systemctl", "--user", "enable", "--now", UNIT_NAME]]


def ending() -> list[list[str]]:
    """The commands that take it out of use: one before its file goes, one after."""
    return [["systemctl", "--user", "disable", "--now", UNIT_NAME], ["systemctl", "--user", "daemon-reload"]]


def _run_all(commands: Sequence[list[str]]) -> bool:
    """Run them; whether each did its work. Also where no manager of the user runs a unit is enabled and disabled."""
    worked = True
    for command in commands:
        if shutil.which(command[0]) is None:
            say(f"There is no {command[0]} here.")
            return False
        done = _ran(command, WITHIN_S)
        if done.returncode and "--now" in command:
            _ran([word for word in command if word != "--now"], WITHIN_S)
        worked = worked and done.returncode == 0
        if done.returncode:
            say(f"{shlex.join(command)}: {done.stderr.strip() or done.returncode}")
    return worked


def _ran(
    command: Sequence[str], within_s: float, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=within_s,
        check=False,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
