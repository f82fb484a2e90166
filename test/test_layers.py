"""The rooms of the package: who may import whom, and what is written where."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ovos_persona_memory.stores import BACKENDS

PACKAGE = Path(__file__).parent.parent / "ovos_persona_memory"
NAME = PACKAGE.name
TREES = {str(path.relative_to(PACKAGE)): ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
MODULES = [module for module in TREES if module not in ("__init__.py", "__main__.py")]

# The list of rooms in the package's docstring is the only one: a level and a room to a line, from the ground up.
LEVELS: dict[str, int] = {}
for digit, name in re.findall(r"^(\d| )  (\w+)  +\S", ast.get_docstring(TREES["__init__.py"]) or "", re.MULTILINE):
    LEVELS[name] = int(digit) if digit.strip() else list(LEVELS.values())[-1]
ROOMS = list(LEVELS)
EDGE = LEVELS["service"]
HEARS_OVOS = {"topics", "messages", "config", "bus", "client"} | {room for room in ROOMS if LEVELS[room] >= EDGE}


def room(module: str) -> str:
    return module.split("/")[0].removesuffix(".py")


def imports(module: str) -> Iterator[str]:
    """The dotted names that a module imports, wherever in it."""
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}:{node.lineno}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def ours(module: str) -> Iterator[list[str]]:
    """What a module imports of this package: room first."""
    yield from (name.split(".")[1:] for name in imports(module) if name.startswith(f"{NAME}."))


def strings(module: str) -> Iterator[str]:
    """The texts in a module's code; docstrings are prose."""
    prose = {id(node.value) for node in ast.walk(TREES[module]) if isinstance(node, ast.Expr)}
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_its_room_in_the_list(module: str) -> None:
    assert room(module) in ROOMS, f"write a line for {room(module)} in the docstring of {NAME}/__init__.py"
    assert not {"utils", "common", "helpers", "manager"} & set(re.split(r"\W|_", module))


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down_the_list_only(module: str) -> None:
    here = room(module)
    below = ROOMS[: ROOMS.index(here)] if here in ROOMS else ROOMS
    for there in {there for there, *_ in ours(module)} - {here}:
        assert there in below, f"{there} is not below {here}"
        assert LEVELS.get(here) != EDGE or LEVELS[there] < EDGE, f"the edge {here} imports the edge {there}"


@pytest.mark.parametrize("module", MODULES)
def test_each_thing_is_written_in_its_own_place(module: str) -> None:
    here, foreign = room(module), {name.split(".")[0] for name in imports(module)} - {NAME}
    nodes = list(ast.walk(TREES[module]))
    reads = [node.value.id for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
             and node.attr in ("data", "context") and re.fullmatch(r"(.*_)?(message|msg)", node.value.id)]  # fmt: skip
    if here not in HEARS_OVOS:
        assert not [name for name in foreign if name.startswith("ovos_")], "of OVOS only the rim knows"
    if here != "topics":
        assert not [text for text in strings(module) if "ovos.persona.memory" in text], "topics are in topics.py"
    if here != "messages":
        assert not reads, "messages are read in messages.py"
    if here != "config":
        assert not [name for name in imports(module) if name.endswith(".Configuration")], "settings are in config.py"
    if here != "stores":
        backends = {path.stem for path in (PACKAGE / "stores").glob("*.py") if path.stem.startswith(BACKENDS)}
        assert not [what for there, *what in ours(module) if there == "stores" and backends & set(what)]


@pytest.mark.parametrize("module", TREES)
def test_nothing_is_too_long(module: str) -> None:
    lines = (PACKAGE / module).read_text("utf-8").splitlines()
    assert len(lines) <= 600
    for node in ast.walk(TREES[module]):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        few = len([name for name in names if name not in ("self", "cls")]) <= 5
        reason = "#" in "".join(lines[node.lineno - 1 : node.body[0].lineno - 1])
        assert (node.end_lineno or 0) - node.lineno < 40, f"{node.name} has more than 40 lines"
        assert few or reason, f"{node.name} has more than 5 parameters, and no comment in its signature says why"
