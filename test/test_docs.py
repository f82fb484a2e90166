"""The docs say what the code does: their tables are read and compared with it, field by field."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import json
import re
import shlex
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
import rich_click as click
from msgspec import inspect as shapes

from ovos_persona_memory import config, errors
from ovos_persona_memory.cli.doctor import check_persona
from ovos_persona_memory.cli.program import program
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.protocol import messages, requests, topics
from ovos_persona_memory.records import Request, core, episodes, facts, introspection, provenance
from ovos_persona_memory.service import authorization, owner_socket, verb_handlers
from ovos_persona_memory.stores import BACKENDS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "ovos_persona_memory"
README = ROOT / "README.md"
DOCS = [README, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = {path: path.read_text("utf-8") for path in DOCS}
BUS, CONFIG, COMMANDS = (TEXT[ROOT / "docs" / name] for name in ("bus.md", "config.md", "command-line.md"))

Row = dict[str, str]


# reading markdown


def section(text: str, title: str) -> str:
    """What stands under a heading, up to the next one of its level or above; without code blocks."""
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.search(rf"^(#+) {re.escape(title)}$", plain, re.MULTILINE)
    assert found, f"there is no heading {title!r}"
    rest = plain[found.end() :]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def headings(text: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)


def tables(text: str) -> list[list[Row]]:
    """Every table of a piece of markdown: a mapping a row, by the names of its columns."""
    found = []
    for block in re.findall(r"^(?:\|.*\n?)+", text, re.MULTILINE):
        names, rule, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
        assert all(set(cell) <= set("-:") for cell in rule), block
        assert all(len(row) == len(names) for row in rows), f"a row has too few or too many cells:\n{block}"
        found.append([dict(zip(names, row, strict=True)) for row in rows])
    return found


def table(text: str, *columns: str) -> list[Row]:
    """The one table with exactly these columns; none is the empty table."""
    fitting = [rows for rows in tables(text) if rows and tuple(rows[0]) == columns]
    assert len(fitting) <= 1, f"{len(fitting)} tables have the columns {columns}"
    return fitting[0] if fitting else []


def code(cell: str) -> str:
    """What a cell holds between backticks."""
    found = re.fullmatch(r"`([^`]+)`", cell)
    assert found, f"{cell!r} is no name in backticks"
    return found[1]


def by_name(rows: list[Row], column: str) -> dict[str, Row]:
    """Rows by the name in their first column; each name once, and each with a meaning."""
    named = {code(row[column]): row for row in rows}
    assert len(named) == len(rows), "a name stands twice"
    assert all(row.get("meaning", "-") for row in rows), "a name has no meaning"
    return named


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


# the protocol

OBJECTS = {"ScopeFields": "scope", "TurnFields": "turn to record", "ToolCallFields": "tool call"}


def bounds(low: Any, high: Any, unit: str = "") -> str:
    if low is None and high is None:
        return ""
    return f"at most {high:.0f}{unit}" if low is None else f"{low:.0f} to {high:.0f}{unit}"


def wire_type(shape: shapes.Type) -> tuple[str, str]:
    """Type and limits of a field, in the words of the docs."""
    match shape:
        case shapes.UnionType():
            first, *others = [wire_type(one) for one in shape.types if not isinstance(one, shapes.NoneType)]
            return " or ".join([first[0], *(name for name, _ in others)]), first[1]
        case shapes.StrType():
            return "text", bounds(shape.min_length, shape.max_length, " characters")
        case shapes.IntType():
            return "whole number", bounds(shape.ge, shape.le)
        case shapes.FloatType():
            return "number", bounds(shape.ge, shape.le)
        case shapes.BoolType():
            return "true or false", ""
        case shapes.LiteralType():
            return "text", "one of " + ", ".join(f"`{value}`" for value in sorted(shape.values))
        case shapes.DictType():
            return "object", ""
        case shapes.StructType():
            name = OBJECTS[shape.cls.__name__]
            return f"[{name}](#{name.replace(' ', '-')})", ""
        case shapes.ListType():
            item, limits = wire_type(shape.item_type)
            return f"list of {item}", "; each ".join(filter(None, (bounds(None, shape.max_length), limits)))
    raise AssertionError(f"the docs have no word for {shape}")


def wire_default(field: shapes.Field) -> str:
    if field.required:
        return "required"
    made = field.default_factory
    default = made() if made is not msgspec.NODEFAULT else field.default
    return "empty" if default in ([], {}) else shown(default)


def wire_fields(struct: type[msgspec.Struct]) -> dict[str, tuple[str, str, str]]:
    """Type, default and limits of each field of a request."""
    shape = shapes.type_info(struct)
    assert isinstance(shape, shapes.StructType)
    found = {}
    for field in shape.fields:
        name, limits = wire_type(field.type)
        if field.name == "metadata":  # checked by its size, not by its shape
            limits = f"at most {requests.MAX_METADATA} characters"
        found[field.name] = (name, wire_default(field), limits)
    return found


def documented_fields(text: str) -> dict[str, tuple[str, str, str]]:
    rows = by_name(table(text, "field", "type", "default", "limits", "meaning"), "field")
    return {name: (row["type"], row["default"], row["limits"]) for name, row in rows.items()}


def bus_verbs() -> list[str]:
    return re.findall(r"^### (.+)$", section(BUS, "Verbs"), re.MULTILINE)


def test_every_verb_is_documented_and_no_other() -> None:
    assert bus_verbs() == list(topics.VERBS) == list(requests.FIELDS)
    reach = table(BUS, "verb", "over the bus", "through the owner's door")
    assert list(by_name(reach, "verb")) == list(topics.VERBS)


@pytest.mark.parametrize("verb", topics.VERBS)
def test_the_fields_of_a_request_are_documented_with_type_default_and_limits(verb: str) -> None:
    assert documented_fields(section(BUS, verb)) == wire_fields(requests.FIELDS[verb])


@pytest.mark.parametrize(
    ("title", "struct"),
    [
        ("scope", requests.ScopeFields),
        ("turn to record", requests.TurnFields),
        ("tool call", requests.ToolCallFields),
    ],
)
def test_the_objects_in_requests_are_documented(title: str, struct: type[msgspec.Struct]) -> None:
    assert documented_fields(section(BUS, title)) == wire_fields(struct)


def record_type(hint: Any) -> str:
    """The type of a record's field, in the words of the docs."""
    plain = {str: "text", float: "number", int: "whole number", bool: "true or false"}
    if hint in plain:
        return plain[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return "text"
    if origin in (dict, Mapping):
        return "object"
    if dataclasses.is_dataclass(hint):
        name = typing.cast(type, hint).__name__.lower()
        return f"[{name}](#{name})"
    if (origin, arguments[:1]) in ((tuple, (str,)), (list, (str,))):
        return "list of text"
    if origin is tuple:
        assert arguments[0] is core.ToolCall
        return "list of [tool call](#tool-call)"
    [inner] = [one for one in arguments if one is not type(None)]
    return f"{record_type(inner)} or null"


@pytest.mark.parametrize(
    ("title", "record"),
    [
        ("kept turn", core.Turn),
        ("message", core.ContextMessage),
        ("hit", core.Hit),
        ("memory", core.Entry),
        ("session", core.Session),
        ("note", core.Note),
        ("fact", facts.Fact),
        ("change", facts.FactChange),
        ("decision", facts.Decision),
        ("trouble", facts.Trouble),
        ("document", core.Document),
        ("user", core.User),
        ("capture setting", core.Capture),
        ("introspection", introspection.Introspection),
        ("origin", provenance.Origin),
        ("use", provenance.Use),
        ("episode", episodes.Episode),
    ],
)
def test_the_records_in_answers_are_documented(title: str, record: type) -> None:
    rows = by_name(table(section(BUS, title), "field", "type", "meaning"), "field")
    hints = typing.get_type_hints(record)
    wanted = {field.name: record_type(hints[field.name]) for field in dataclasses.fields(record)}
    assert {name: row["type"] for name, row in rows.items()} == wanted


ASKED: dict[str, dict[str, Any]] = {
    "context": {"utterance": "hello"},
    "record": {"turns": [{"role": "user", "text": "my cat is called Bob"}]},
    "session.restore": {"messages": [{"role": "user", "text": "my cat is called Bob"}]},
    "recall": {"question": "my cat"},
    "remember": {"text": "the bins go out on Tuesday", "key": "bins"},
    "turn": {"id": "none"},
    "get": {"key": "bins"},
    "update": {"key": "bins", "text": "the bins go out on Wednesday"},
    "forget": {"key": "bins"},
    "why": {"key": "bins"},
    "facts.add": {"text": "the bins go out on Tuesday"},
    "document.upsert": {"text": "Lisbon has a castle", "id": "lisbon"},
    "document.search": {"query": "castle"},
    "document.get": {"id": "lisbon"},
    "document.delete": {"ids": ["lisbon"]},
    "users.merge": {"user_id": "alicia", "into": "alice"},
}
ADDED_BY_THE_DAEMON = {"status": {"last_error", "latency_ms", "bus", "waiting", "web"}}
ENVELOPE = {"ok", "took_ms", "request_id"}


def documented_answer(verb: str) -> set[str]:
    return set(by_name(table(section(BUS, verb), "field", "meaning"), "field"))


def test_the_fields_of_every_answer_are_documented() -> None:
    settings = config.MemoryConfig(backend="inmemory")
    with PersonaMemory.open(config=settings) as memory:
        doubtful = core.Turn("user", "i think i put my keys in the drawer", lang="en-US")
        memory.record([doubtful, core.Turn("user", "my name is Ann", lang="en-US")], core.Scope(session_id="s0"))
        [known], [waiting] = memory.facts.list(), memory.facts.list(status="waiting")
        ids = {"facts.history": {"id": known.id}, "facts.review": {"id": waiting.id, "accept": True}}
        ids["facts.update"] = {"id": known.id, "confidence": 0.5}
        ids["correct"] = {"id": known.id, "text": "my name is Anna"}
        for verb in topics.VERBS:
            asked = Request(verb, {**ASKED, **ids}.get(verb, {}), core.Scope(session_id="s1"))
            answer = verb_handlers.answer(memory, settings, asked, owner=verb in authorization.OWNERS)
            assert documented_answer(verb) == answer.keys() | ADDED_BY_THE_DAEMON.get(verb, set()), verb


def examples(verb: str) -> tuple[dict[str, Any], dict[str, Any]]:
    start = BUS.index(f"\n### {verb}\n")
    asked, answered = blocks(BUS[start:], "json")[:2]
    return json.loads(asked), json.loads(answered)


@pytest.mark.parametrize("verb", topics.VERBS)
def test_the_example_of_a_verb_is_a_valid_request_and_a_whole_answer(verb: str) -> None:
    asked, answered = examples(verb)
    requests.read_request(Request(verb, asked, core.Scope(), request_id=asked["request_id"]))
    assert asked.keys() - {"request_id"} <= wire_fields(requests.FIELDS[verb]).keys()
    assert answered["ok"] is True
    assert answered.keys() == documented_answer(verb) | ENVELOPE
    assert asked["request_id"] == answered["request_id"]


def test_every_error_code_is_documented_and_no_other() -> None:
    rows = by_name(table(section(BUS, "Errors"), "code", "from", "when"), "code")
    assert rows.keys() == errors.BY_CODE.keys() | {errors.InvalidRequest.code}
    assert all(row["when"] for row in rows.values())


@pytest.mark.parametrize("verb", topics.VERBS)
def test_the_errors_of_a_verb_are_known_codes(verb: str) -> None:
    [line] = re.findall(r"^Errors: (.*)$", section(BUS, verb), re.MULTILINE)
    named = set(re.findall(r"`(\w+)`", line))
    assert named <= errors.BY_CODE.keys() | {errors.InvalidRequest.code}
    assert errors.InvalidRequest.code in named


def told() -> set[str]:
    """Every topic of our own that the code can send, beside answers."""
    ours = {topic for topic in vars(topics).values() if isinstance(topic, str) and topic.startswith(topics.PREFIX)}
    return ours - {topics.PREFIX} | {topics.SAY, topics.AUDIO_READY}


def test_every_event_is_documented_and_no_other() -> None:
    events, others = (rows for rows in tables(section(BUS, "Events")) if "topic" in rows[0])
    assert by_name(events, "topic").keys() | by_name(others, "topic").keys() == told()
    examples_of = {json.loads(block)["type"] for block in blocks(BUS, "json") if '"type": "ovos' in block}
    assert by_name(events, "topic").keys() <= examples_of


def test_every_heard_topic_is_documented_and_no_other() -> None:
    rows = table(section(BUS, "What is heard"), "topic", "older name", "what it does")
    old = {code(row["topic"]): code(row["older name"]) for row in rows if row["older name"]}
    assert old == {new: old for old, new in (topics.UTTERANCE, topics.SPEAK)}
    assert {code(row["topic"]) for row in rows} | set(old.values()) == messages.HEARD_TOPICS


def test_the_limits_are_those_of_the_code() -> None:
    rows = by_name(table(section(BUS, "Limits"), "limit", "value", "of"), "limit")
    limits = {name: value for room in (requests, messages, owner_socket) for name, value in vars(room).items()}
    assert {name: int(row["value"]) for name, row in rows.items()} == {
        name: value for name, value in limits.items() if name.startswith("MAX_")
    }


# the settings


def setting_type(hint: Any) -> str:
    plain = {str: "text", float: "number", int: "whole number", bool: "true or false", tuple[str, ...]: "list of text"}
    plain[dict[str, dict[str, Any]]] = plain[dict[str, str]] = plain[dict[str, tuple[str, ...]]] = "object"
    arguments = [one for one in typing.get_args(hint) if one is not type(None)]
    return plain[hint] if hint in plain else plain[arguments[0]]


def shown(value: Any) -> str:
    """A default, in the words of the docs."""
    if isinstance(value, tuple) and value:
        return ", ".join(f"`{one}`" for one in value)
    if isinstance(value, (str, tuple)):
        return f"`{value}`" if value else "empty"
    return "none" if value is None else json.dumps(value)


def settings_of(cls: type, prefix: str = "") -> Iterator[tuple[str, tuple[str, str]]]:
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        if dataclasses.is_dataclass(hint := hints[field.name]):
            yield from settings_of(hint, f"{prefix}{field.name}.")  # type: ignore[arg-type]  # it is a class
        else:
            made = field.default_factory
            default = field.default if made is dataclasses.MISSING else made() or ""
            yield prefix + field.name, (setting_type(hint), shown(default))


def documented_settings(title: str, page: str = CONFIG) -> dict[str, tuple[str, str]]:
    rows = by_name(table(section(page, title), "setting", "type", "default", "meaning"), "setting")
    return {name: (row["type"], row["default"]) for name, row in rows.items()}


def test_every_setting_is_documented_with_type_and_default() -> None:
    assert documented_settings("The daemon") == dict(settings_of(config.MemoryConfig))


def test_the_choices_of_a_setting_are_documented() -> None:
    rows = by_name(table(section(CONFIG, "The daemon"), "setting", "type", "default", "meaning"), "setting")
    of_plugin = table(section(CONFIG, "The memory plugin"), "setting", "type", "default", "meaning")
    rows |= by_name(of_plugin, "setting")
    choices = {**config.CHOICES, "backend": BACKENDS, "inject_mode": typing.get_args(core.Inject)}
    for name, allowed in choices.items():
        assert all(f"`{choice}`" in rows[name]["meaning"] for choice in allowed), name
    modes = table(section(TEXT[ROOT / "docs" / "personas.md"], "Where what is recalled stands"), "mode", "where")
    assert tuple(by_name(modes, "mode")) == choices["inject_mode"]


def read_settings(module: str) -> dict[str, Any]:
    """The settings that a plugin's code reads from its config, with their defaults."""
    found: dict[str, Any] = {}
    for node in ast.walk(ast.parse((PACKAGE / "opm" / module).read_text("utf-8"))):
        if isinstance(node, ast.Call) and node.args and (named := _reads(node)):
            default = named[1].value if len(named) > 1 and isinstance(named[1], ast.Constant) else None
            name = named[0].value if isinstance(named[0], ast.Constant) else None
            if name is not None:
                found[name] = default
        elif isinstance(node, ast.Subscript) and _is_config(node.value) and isinstance(node.slice, ast.Constant):
            found.setdefault(str(node.slice.value), None)
    return found


def _reads(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call that reads a setting: of ``config.get``, or of ``_whole`` behind its config."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "get" and _is_config(call.func.value):
        return call.args
    return call.args[1:] if _is_config(call.args[0]) else []


def _is_config(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "config") or (
        isinstance(node, ast.Name) and node.id == "config"
    )


@pytest.mark.parametrize(
    ("page", "title", "module"),
    [
        ("config.md", "The memory plugin", "memory.py"),
        ("config.md", "The recall chat engine", "chat.py"),
        ("personas.md", "The memory as tools of an agent loop", "toolbox.py"),
        ("personas.md", "Retrieval", "retrieval.py"),
        ("personas.md", "An engine that remembers", "remembering.py"),
    ],
)
def test_every_setting_of_a_plugin_is_documented_with_its_default(page: str, title: str, module: str) -> None:
    documented = {
        name: default for name, (_, default) in documented_settings(title, TEXT[ROOT / "docs" / page]).items()
    }
    # what a missing one stands for, where its reading does not say so itself
    missing = {"system_prompt": "", "fallthrough": False, "inject_mode": typing.get_args(core.Inject)[0]}
    assert documented == {name: shown(missing.get(name, default)) for name, default in read_settings(module).items()}


def test_every_environment_variable_that_is_read_is_documented() -> None:
    rows = by_name(table(section(CONFIG, "Environment"), "variable", "read by", "meaning"), "variable")
    calls = r"environ(?:\.get|\.setdefault)?[(\[]\s*\"(\w+)\""
    read = {name for path in PACKAGE.rglob("*.py") for name in re.findall(calls, path.read_text("utf-8"))}
    by_ovos = {"XDG_DATA_HOME", "XDG_CONFIG_HOME"}
    assert rows.keys() == read | by_ovos


# the command line

OptionRow = tuple[str, str]
VALUES = {"text": "text", "float": "number", "file": "file"}


def commands(group: click.Group, prefix: str = "") -> dict[str, click.Command]:
    """Every command by its full name, "bench recall" for one in a group."""
    found: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        full = f"{prefix}{name}"
        found |= commands(command, f"{full} ") if isinstance(command, click.Group) else {full: command}
    return found


PROGRAM = commands(program)


def option_name(param: click.Parameter) -> str:
    if isinstance(param, click.Argument):
        return f"`{(param.name or '').upper()}`"
    return ", ".join(f"`{one}`" for one in (*param.opts, *param.secondary_opts))


def option_value(param: click.Parameter) -> str:
    kind = param.type
    if getattr(param, "is_flag", False):
        return "none"
    if isinstance(kind, click.IntRange):
        return f"whole number, {kind.min} " + ("or more" if kind.max is None else f"to {kind.max}")
    if isinstance(kind, click.Choice):
        return " or ".join(f"`{choice}`" for choice in kind.choices)
    return f"`{param.metavar}`" if param.metavar else VALUES[kind.name]


def option_default(param: click.Parameter) -> str:
    default = param.to_info_dict()["default"] if not param.required else "required"
    return "none" if default is None or default is False or default == () else str(default)


def options(command: click.Command) -> dict[str, OptionRow]:
    return {option_name(one): (option_value(one), option_default(one)) for one in command.params}


def documented_options(text: str) -> dict[str, OptionRow]:
    rows = table(text, "option", "value", "default", "meaning")
    assert all(row["meaning"] for row in rows)
    return {row["option"]: (row["value"], row["default"]) for row in rows}


def options_with_shared(title: str) -> dict[str, OptionRow]:
    text = section(COMMANDS, title)
    shared = documented_options(section(COMMANDS, "Shared options"))
    line = re.search(r"^Shared: ([^.]*)\.", text, re.MULTILINE)
    chosen = [one.strip() for one in line[1].split(",")] if line else []
    own = documented_options(text)
    assert not own.keys() & set(chosen)
    return own | {name: shared[name] for name in chosen}


def test_every_command_is_documented_and_no_other() -> None:
    documented = re.findall(r"^### (.+)$", COMMANDS, re.MULTILINE)
    assert sorted(documented) == sorted(PROGRAM)


@pytest.mark.parametrize("name", sorted(PROGRAM))
def test_the_options_of_a_command_are_documented_with_value_and_default(name: str) -> None:
    assert options_with_shared(name) == options(PROGRAM[name])


def test_the_options_of_the_program_are_documented() -> None:
    assert options_with_shared("The program") == options(program)


# every page


def shown_commands() -> Iterator[tuple[str, bool]]:
    """Every command that a page shows, and whether it is shown whole rather than named in a sentence."""
    for text in TEXT.values():
        for block in re.findall(r"^```(?:bash|console)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            lines = block.splitlines()
            prompted = [line[2:] for line in lines if line.startswith("$ ")]
            yield from ((line, True) for line in prompted or lines)
        for line in re.findall(r"`((?:ovos-persona-memory|scripts/\w+) [^`]+)`", text):
            yield line, False


COMMANDS_SHOWN = sorted({(line, whole) for line, whole in shown_commands() if "ovos-persona-memory " in line})


@pytest.mark.parametrize(("line", "whole"), COMMANDS_SHOWN)
def test_a_command_that_is_shown_is_understood(line: str, whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words = shlex.split(line.split("|")[-1])
    if words[0] in ("systemctl", "cp", "pip") or any(word.strip(".").isupper() for word in words):
        return  # not ours, or with a placeholder
    assert Path(words[0]).name == "ovos-persona-memory", line
    name = next((one for one in (" ".join(words[1:3]), words[1]) if one in PROGRAM), "")
    assert name, line
    with contextlib.nullcontext() if whole else contextlib.suppress(click.MissingParameter):
        PROGRAM[name].make_context(name, words[1 + len(name.split()) :]).close()


def test_the_readme_shows_the_two_scripts_first() -> None:
    shell = [line for block in blocks(TEXT[README], "bash") for line in block.splitlines()]
    assert shell[:2] == ["scripts/run", "scripts/test"]
    assert all((ROOT / line).is_file() for line in shell[:2])


def test_every_file_that_a_command_names_is_there() -> None:
    for line, _ in shown_commands():
        for word in line.split():
            if word.startswith(("scripts/", "systemd/")):
                assert (ROOT / word).is_file(), line


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    given: dict[str, int] = {}
    found = set()
    for heading in headings(text):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = given.get(anchor, 0)
        given[anchor] = number + 1
        found.add(f"{anchor}-{number}" if number else anchor)
    return found


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", TEXT[path]):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        page = (path.parent / name).resolve() if name else path
        assert page.is_file(), target
        if anchor:
            assert anchor in anchors(page.read_text("utf-8")), target


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_json_block_is_json(path: Path) -> None:
    for block in blocks(TEXT[path], "json"):
        json.loads(block)


def json_objects() -> Iterator[Mapping[str, Any]]:
    for text in TEXT.values():
        for block in blocks(text, "json"):
            if isinstance(read := json.loads(block), dict):
                yield read


PERSONAS = [one for one in json_objects() if "memory_module" in one]


@pytest.mark.parametrize("persona", PERSONAS, ids=lambda persona: "+".join(persona["handlers"]))
def test_a_persona_that_is_shown_remembers(persona: Mapping[str, Any]) -> None:
    [found] = check_persona(persona["name"], persona, Path("persona.json"))
    assert (found.state, found.found) == ("ok", "remembers")
    block = persona["ovos-persona-memory-plugin"]
    assert block.keys() <= documented_settings("The memory plugin").keys()


WRAPPER = "ovos-persona-memory-remember"
WRAPPED = [one for one in json_objects() if WRAPPER in one]


@pytest.mark.parametrize("persona", WRAPPED, ids=lambda persona: persona[WRAPPER]["brain"])
def test_a_wrapped_engine_that_is_shown_remembers(persona: Mapping[str, Any]) -> None:
    [found] = check_persona(persona["name"], persona, Path("persona.json"))
    assert (found.state, found.found) == ("ok", "remembers")
    known = documented_settings("An engine that remembers", TEXT[ROOT / "docs" / "personas.md"])
    assert persona[WRAPPER].keys() <= {*known, persona[WRAPPER]["brain"]}
    assert (persona.get("handlers") or persona.get("solvers")) == [WRAPPER]


def test_the_engine_that_a_program_makes_remembers() -> None:
    [example] = blocks(TEXT[ROOT / "docs" / "personas.md"], "python")
    made: dict[str, Any] = {}
    exec(example, made)
    for name in ("continue_chat", "stream_tokens", "stream_sentences"):
        assert getattr(made["Parrot"], name).__wrapped__


def test_the_page_about_a_persona_shows_one() -> None:
    page = TEXT[ROOT / "docs" / "with-a-persona.md"]
    assert any("memory_module" in block for block in blocks(page, "json"))


def test_the_settings_that_are_shown_can_be_used() -> None:
    shown_sections = [one["persona_memory"] for one in json_objects() if "persona_memory" in one]
    assert shown_sections
    for given in shown_sections:
        config.parse(given)


def test_every_room_is_described_and_no_other() -> None:
    rows = table(
        section(TEXT[ROOT / "docs" / "architecture.md"], "The rooms"), "floor", "room", "what it is for", "may import"
    )
    described = [name for row in rows for name in re.findall(r"`(\w+)`", row["room"])]
    found = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert sorted(described) == sorted(found - {"__init__", "__main__"})


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_a_page_has_no_unfinished_marks_and_no_scratch_paths(path: Path) -> None:
    marks = ("TO" + "DO", "FIX" + "ME")
    assert re.findall(rf"\b({'|'.join(marks)})\b|/tmp/|/opt/", TEXT[path]) == []
