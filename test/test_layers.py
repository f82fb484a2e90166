"""The rooms of the package: who may import whom, what is written where, and what each room shows."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "ovos_persona_memory"
NAME = PACKAGE.name
TREES = {str(path.relative_to(PACKAGE)): ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
MODULES = [module for module in TREES if module not in ("__init__.py", "__main__.py")]

GROUND = {"errors", "records"}
ENGINE = GROUND | {"version", "text", "config", "stores", "extraction", "conversation", "search"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "records": {"errors"},
    "text": {"errors"},
    "config": GROUND,
    "stores": GROUND | {"config"},
    "extraction": {"records", "text"},
    "conversation": GROUND | {"text"},
    "search": GROUND | {"text", "stores"},
    "protocol": GROUND | {"config", "conversation"},
    "memory": ENGINE,
    "evaluation": ENGINE | {"memory"},
    "opm": GROUND | {"config", "text", "conversation", "protocol"},
    "skill": GROUND | {"config", "text", "protocol"},
    "web": GROUND | {"version", "config", "text", "protocol"},
    "service": ENGINE | {"protocol", "memory", "web"},
    "cli": ENGINE | {"protocol", "memory", "evaluation", "service", "web"},
}
"""The rooms, from the ground up, and what each may import: only rooms above it in this list."""
MOST_ROOMS, MOST_ARROWS = 18, 76
FOLDERS = {
    *("records", "text", "extraction", "conversation", "search", "protocol", "memory", "evaluation", "service", "opm"),
    *("skill", "cli", "web", "web/pages", "stores", "extraction/reader"),
    *("memory/learning", "memory/privacy", "memory/tidying"),
    *(f"stores/{name}" for name in ("base", "sql", "sqlite", "postgres", "redis", "chroma", "inmemory", "composite")),
}
BACKEND = "each backend has a file for each part of the port, whatever its length"
KEPT_APART = {
    "cli/web.py": "each command is a file",
    "service/preloading.py": "a thread that reads languages, and knows nothing of the daemon",
    "stores/postgres/learning_queue.py": BACKEND,
    "stores/postgres/tombstones.py": BACKEND,
    "stores/sqlite/tombstones.py": BACKEND,
    "stores/sqlite/users.py": BACKEND,
    "stores/sqlite/wal_sync.py": "what is asked of the operating system, where all else asks SQLite",
    "web/connection.py": "needs uvicorn, of an extra, when it is read; its importer is read without",
}
"""Files of under 60 lines with a single importer that are no part of it, and why."""
HEARS_OVOS = {"protocol", "config", "service", "opm", "skill", "cli", "web"}
READS_MESSAGES = {"protocol/messages.py", "protocol/message_values.py"}


def room(module: str) -> str:
    return module.split("/")[0].removesuffix(".py")


def dotted(module: str) -> str:
    return module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


FILES = {dotted(module): module for module in TREES if module != "__init__.py"}
SHOWN = {
    room(module): [
        name.value
        for node in TREES[module].body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        and "__all__" in ast.dump(node.targets[0] if isinstance(node, ast.Assign) else node.target)
        for name in ast.walk(node)
        if isinstance(name, ast.Constant) and isinstance(name.value, str)
    ]
    for module in TREES
    if module.endswith("/__init__.py") and module.count("/") == 1
}


def imports(module: str) -> Iterator[tuple[str, str]]:
    """What a module imports, wherever in it: from where, and the name there."""
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}:{node.lineno}: imports are absolute"
            yield from ((node.module or "", alias.name) for alias in node.names)


def ours(module: str) -> Iterator[tuple[str, str]]:
    """The same of this package, without its name: a module or folder, and a name in it; or a module, and no name."""
    for there, name in imports(module):
        if there == NAME and name in FILES:
            yield name, ""
        elif there.startswith(f"{NAME}."):
            full = f"{there}.{name}".removeprefix(f"{NAME}.")
            yield (full, "") if full in FILES else (there.removeprefix(f"{NAME}."), name)


def strings(module: str) -> Iterator[str]:
    """The texts in a module's code; docstrings are prose."""
    prose = {id(node.value) for node in ast.walk(TREES[module]) if isinstance(node, ast.Expr)}
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value


def test_the_rooms_are_few_and_each_is_in_the_list() -> None:
    rooms = {room(module) for module in MODULES}
    assert rooms == set(MAY_IMPORT)
    assert len(rooms | {"__main__"}) <= MOST_ROOMS
    assert {str(path.parent.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py")} - {"."} == FOLDERS
    for module in MODULES:
        assert not {"utils", "common", "helpers", "manager"} & set(re.split(r"\W|_", module))


def test_rooms_import_only_what_stands_above_them_in_the_list() -> None:
    for number, (here, below) in enumerate(MAY_IMPORT.items()):
        assert below <= set(list(MAY_IMPORT)[:number]), f"{here} may import what is not below it"


def arrows_between_rooms() -> set[tuple[str, str]]:
    arrows = {(room(module), there.split(".")[0]) for module in MODULES for there, _ in ours(module)}
    return {(here, there) for here, there in arrows if here != there}


def test_there_are_few_arrows_between_rooms() -> None:
    assert len(arrows_between_rooms()) <= MOST_ARROWS


@pytest.mark.parametrize("module", MODULES)
def test_a_room_imports_what_it_may_and_only_what_others_show(module: str) -> None:
    here = room(module)
    for there, name in ours(module):
        other, _, inside = there.partition(".")
        if other == here:
            continue
        assert other in MAY_IMPORT[here], f"{here} may not import {other}"
        if other not in SHOWN:
            continue
        if not inside and not name:
            continue  # the room itself: of it, what it shows
        shown = inside or name
        assert shown in SHOWN[other], f"{other} does not show {shown}: from outside a room its face alone is imported"


@pytest.mark.parametrize("module", [module for module in MODULES if module.endswith("/__init__.py")])
def test_a_folder_says_what_it_is_for_and_shows_what_it_says(module: str) -> None:
    tree = TREES[module]
    assert (ast.get_docstring(tree) or "").split("\n\n")[0].endswith(".")
    shown = import_module(f"{NAME}.{dotted(module)}").__all__
    if not module.startswith("opm/"):  # what a plugin needs may be missing
        for name in shown:
            assert hasattr(import_module(f"{NAME}.{dotted(module)}"), name)


def test_no_files_import_each_other_in_a_circle() -> None:
    arrows = {module: {FILES[there] for there, _ in ours(module) if there in FILES} - {module} for module in MODULES}
    while arrows:
        free = {module for module, there in arrows.items() if not there & arrows.keys()}
        assert free, f"in a circle, or behind one: {sorted(arrows)}"
        arrows = {module: there for module, there in arrows.items() if module not in free}


@pytest.mark.parametrize("module", MODULES)
def test_each_thing_is_written_in_its_own_place(module: str) -> None:
    here, foreign = room(module), {there.split(".")[0] for there, _ in imports(module)} - {NAME}
    nodes = list(ast.walk(TREES[module]))
    reads = [node.value.id for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
             and node.attr in ("data", "context") and re.fullmatch(r"(.*_)?(message|msg)", node.value.id)]  # fmt: skip
    if here not in HEARS_OVOS:
        assert not [name for name in foreign if name.startswith("ovos_")], "of OVOS only the rim knows"
    if module != "protocol/topics.py":
        assert not [text for text in strings(module) if "ovos.persona.memory" in text], "topics are in protocol/topics"
    if module not in READS_MESSAGES:
        assert not reads, "messages are read in protocol/messages"
    if here != "config":
        assert not [name for _, name in imports(module) if name == "Configuration"], "settings are in config"


@pytest.mark.parametrize("module", TREES)
def test_nothing_is_too_long(module: str) -> None:
    lines = (PACKAGE / module).read_text("utf-8").splitlines()
    assert len(lines) <= 1000, "a module has one subject"
    for node in ast.walk(TREES[module]):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        few = len([name for name in names if name not in ("self", "cls")]) <= 5
        reason = "#" in "".join(lines[node.lineno - 1 : node.body[0].lineno - 1])
        assert (node.end_lineno or 0) - node.lineno < 40, f"{node.name} has more than 40 lines"
        assert few or reason, f"{node.name} has more than 5 parameters, and no comment in its signature says why"


def test_a_short_file_with_a_single_importer_is_a_part_of_it() -> None:
    importers = defaultdict(set)
    for module in TREES:
        for there, name in ours(module):
            importers[FILES.get(there) or FILES.get(f"{there}.{name}")].add(module)
    alone = set()
    for module in MODULES:
        others = importers[module] - {module}
        in_a_face = any(one.endswith("/__init__.py") for one in {module, *others})  # a face shows files of any length
        if len(others) == 1 and not in_a_face and len((PACKAGE / module).read_text("utf-8").splitlines()) < 60:
            alone.add(module)
    assert alone == KEPT_APART.keys()


def test_no_two_classes_have_one_name() -> None:
    places = defaultdict(list)
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


@pytest.mark.parametrize("module", TREES)
def test_each_docstring_stands_behind_what_it_is_about(module: str) -> None:
    for node in ast.walk(TREES[module]):
        body = getattr(node, "body", None)
        texts = [is_text(one) for one in body] if isinstance(body, list) else []
        assert (True, True) not in list(pairwise(texts)), "two strings in a row: one has slid"


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@pytest.mark.parametrize(
    "path", sorted((PACKAGE.parent / "test" / "unit").rglob("test_*.py")), ids=lambda path: path.stem
)
def test_a_unit_test_stands_where_its_module_does(path: Path) -> None:
    there = path.relative_to(PACKAGE.parent / "test" / "unit").with_name(path.name.removeprefix("test_"))
    places = (PACKAGE, PACKAGE.parent / "scripts")  # what measures is code, too
    assert any((place / there).is_file() for place in places), f"{there}: what spans rooms stands in test/scenarios"


if __name__ == "__main__":
    print(f"rooms: {len({room(module) for module in MODULES} | {'__main__'})} of at most {MOST_ROOMS}")
    print(f"arrows between rooms: {len(arrows_between_rooms())} of at most {MOST_ARROWS}")
    print(f"folders: {len(FOLDERS)}, files: {len(TREES)}")
