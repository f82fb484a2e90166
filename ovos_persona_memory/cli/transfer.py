"""Commands that bring a memory elsewhere, or another's here: migrate, export and import."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import rich_click as click

from ovos_persona_memory import stores
from ovos_persona_memory.cli.connection import Memory, alone, open_memory, patiently, settings
from ovos_persona_memory.cli.files import key_option, output_option, write_whole
from ovos_persona_memory.cli.options import InputFile, data_option, examples, json_option, secrets_option, user_option
from ovos_persona_memory.cli.output import Command, answer_json, answer_line, answer_rows, progress_bar, say
from ovos_persona_memory.config import encryption_key, settled
from ovos_persona_memory.errors import ConfigError, InvalidRequest, SecretRefused
from ovos_persona_memory.memory import Migration, archive, importing, markdown
from ovos_persona_memory.records import Scope
from ovos_persona_memory.search import record_terms
from ovos_persona_memory.service import announcement
from ovos_persona_memory.stores import Store
from ovos_persona_memory.text import counted

CONFIGURED = "configured"


@click.command(
    cls=Command,
    epilog=examples(
        "migrate ~/.local/share/ovos_persona_memory env:MEMORY_POSTGRES", "migrate configured ~/attic --with-secrets"
    ),
)
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--namespace", "namespaces", multiple=True, help="Of documents, besides default. As often as needed.")
@secrets_option
@data_option
@json_option
def migrate(  # one parameter an option
    source: str, target: str, namespaces: tuple[str, ...], with_secrets: bool, data: Path | None, as_json: bool
) -> None:
    """Put everything from one store into another that is empty, and compare the two.

    FROM and TO are a folder (SQLite), the URL of a PostgreSQL or Redis server, with the collection behind a # where
    one is used, env:NAME or file:PATH where a URL is a secret, or the word configured for what the settings name.
    FROM stays as it is. Secrets that somebody asked to keep stay there, unless --with-secrets is given. Where it was
    cut short, give the same command again: it goes on. Vectors are made anew when the memory is next opened.
    """
    if source == target:
        raise ConfigError("FROM and TO are the same")
    one = _opened(source, data, must_be_there=True)
    try:
        other = _opened(target, data)
        try:
            names = list(dict.fromkeys(("default", *namespaces)))
            migration = Migration(one, other, names, (announcement.ANNOUNCED,), with_secrets)
            with progress_bar() as told:
                found = migration.run(told)
        finally:
            other.close()
    finally:
        one.close()
    if migration.left_out:
        say(f"Secrets left out: {migration.left_out}. --with-secrets takes them along.")
    if as_json:
        answer_json(found)
    else:
        answer_rows(
            ("section", "records", "digest"), [(one.section, str(one.count), one.sha256[:16]) for one in found], ""
        )


def _opened(place: str, data: Path | None, must_be_there: bool = False) -> Store:
    config = settled(settings(data))
    if place == CONFIGURED:
        store = alone(lambda: stores.open_stores(config))
    else:
        where = stores.parse_location(place)
        folder = stores.folder_of(where, config.folder)
        if folder is not None:
            database = stores.database_in(folder)
            if must_be_there and not database.exists():
                raise ConfigError(f"there is no memory in {folder}")
            if stores.is_encrypted(database) or not database.exists():
                where = replace(where, key=config.encryption.key)
        store = alone(lambda: stores.open_store(where.backend, config.folder, place=where))
    if not store.durable:
        store.close()
        raise ConfigError(f"{place} keeps nothing: there is nothing to migrate")
    record_terms.renew(store)
    return store


@click.command(
    cls=Command,
    epilog=examples(
        "export --output memory.jsonl",
        "export --format markdown --output memory.md",
        "export --user alice --output alice.jsonl",
        "export --output memory.sealed --key prompt",
    ),
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "markdown"]),
    default="jsonl",
    show_default=True,
    help="jsonl for programs and for import, markdown for people.",
)
@output_option
@key_option
@click.option("--namespace", "namespaces", multiple=True, help="Of documents, besides default. As often as needed.")
@secrets_option
@click.option("--user", help="Only what belongs to this user; everything unless given.")
@data_option
@json_option
def export(  # one parameter an option
    form: str,
    output: Path | None,
    key: str | None,
    namespaces: tuple[str, ...],
    with_secrets: bool,
    user: str | None,
    data: Path | None,
    as_json: bool,
) -> None:
    """Write everything that is kept as JSON lines or as Markdown, while the memory goes on recording.

    Without --output to standard output. With --key the file is encrypted. Secrets that somebody asked to keep are left
    out, unless --with-secrets is given. The file is a copy outside of the memory: forgetting does not reach it.
    """
    if output is None and (as_json or key is not None):
        raise InvalidRequest("--output", "is needed together with --json and with --key")
    sealed = encryption_key(key, "Key of the export")
    names = list(dict.fromkeys(("default", *namespaces)))
    wanted = archive.Wanted(names, user, with_secrets, (announcement.ANNOUNCED,))
    with progress_bar() as told, patiently_copied(data) as store:
        number = _write(_lines_of(store, form, wanted, told), output, sealed)
    if as_json:
        return answer_json({"file": str(output), "format": form, "lines": number, "encrypted": sealed is not None})
    return say(f"Wrote {counted(number, 'line')}{'' if output is None else f' to {output}'}.")


def _write(lines: Iterator[bytes], output: Path | None, key: str | None) -> int:
    """Write the lines to standard output, or to a file, encrypted with a key where there is one; how many they were."""
    passing = _Passing(lines)
    if output is None:
        for line in passing:
            answer_line(line)
    elif key is None:
        write_whole(output, passing)
    else:
        stores.write_sealed(output, key, passing)
    return passing.number


class _Passing:
    """Lines on their way, and how many have passed."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines, self.number = lines, 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
            self.number += 1
            yield line


@contextmanager
def patiently_copied(data: Path | None) -> Iterator[Store]:
    """A store to read from, of what the memory holds now."""
    config = settled(settings(data))
    with ExitStack() as held:
        store = patiently(lambda: held.enter_context(stores.open_copy(config)))
        record_terms.renew(store)
        yield store


def _lines_of(
    store: Store, form: str, wanted: archive.Wanted, told: Callable[[str, int, int], None]
) -> Iterator[bytes]:
    if form == "jsonl":
        return archive.write_lines(store, wanted, told)
    page = markdown.write_markdown(store, wanted.user_id, wanted.secrets)
    return (f"{line}\n".encode() for line in page)


@click.command(
    "import",
    cls=Command,
    epilog=examples(
        "import memory.jsonl --dry-run",
        "import chatgpt-export.zip --user alice",
        "import mem0.json",
        "import memory.sealed --key prompt",
    ),
)
@click.argument("files", nargs=-1, required=True, type=InputFile())
@click.option("--dry-run", is_flag=True, help="Only say what would come in.")
@click.option(
    "--learn/--no-learn", default=None, help="Whether facts are learned from it; of ChatGPT not, unless given."
)
@key_option
@user_option
@data_option
@json_option
def import_(  # one parameter an option
    files: tuple[Path, ...],
    dry_run: bool,
    learn: bool | None,
    key: str | None,
    user: str | None,
    data: Path | None,
    as_json: bool,
) -> None:
    """Take in FILES: what export wrote, or what ovos-memory-plugins, mem0 or ChatGPT have kept.

    The files stay as they are, and the same file again adds nothing. What export wrote goes into an empty memory as it
    was; a memory that holds something keeps what it has, and what was forgotten in it does not come back. Of the
    others what was said is recorded, facts are remembered, summaries go to their sessions.
    """
    sealed = encryption_key(key, "Key of the export")
    ours: list[Path] = []
    theirs: list[Path] = []
    for path in files:
        (ours if sealed is not None or _head(path, None) is not None else theirs).append(path)
    done: dict[str, int] = (
        {} if ours and not theirs else dict.fromkeys(("sessions", "turns", "memories", "summaries", "refused"), 0)
    )
    for path in ours:
        _take_in_archive(path, sealed, data, dry_run, done)
    if theirs:
        foreign = [
            replace(one, learn=one.learn if learn is None else learn)
            for path in theirs
            for one in importing.read_foreign(path)
        ]
        _take_in_foreign(foreign, user, data, dry_run, done)
    if dry_run:
        say("Nothing was changed: this is what would come in.")
    if as_json:
        answer_json({**done, "dry_run": True} if dry_run else done)
    else:
        answer_rows(("what", "how many"), [(name, str(number)) for name, number in done.items()], "Nothing came in.")


def _head(path: Path, key: str | None) -> archive.Head | None:
    """The head of what export wrote; None for another file."""
    with closing(_lines(path, key)) as lines:
        first = next(lines, b"")
    return archive.read_head(first)


def _lines(path: Path, key: str | None) -> Generator[bytes, None, None]:
    if key is not None:
        yield from stores.read_sealed(path, key)
        return
    with path.open("rb") as file:
        yield from file


def _take_in_archive(path: Path, key: str | None, data: Path | None, dry_run: bool, done: dict[str, int]) -> None:
    head = _head(path, key)
    if head is None:
        raise InvalidRequest(str(path), "is no export of this memory")
    if dry_run:
        _add(done, head.counts)
        return
    store = _opened(CONFIGURED, data)
    try:
        loading = archive.Loading(store, head, (announcement.ANNOUNCED,))
        with closing(_lines(path, key)) as lines, progress_bar() as told:
            next(lines)
            loading.run(lines, told)
    finally:
        store.close()
    _add(done, loading.added)
    if left := sum(loading.left_out.values()):
        say(f"Left out: {left}, because they are there already, were forgotten here, or hold for a whole memory.")


def _add(done: dict[str, int], counts: Mapping[str, int]) -> None:
    for name, number in counts.items():
        done[name] = done.get(name, 0) + number


def _take_in_foreign(
    found: Sequence[importing.ForeignSession], user: str | None, data: Path | None, dry_run: bool, done: dict[str, int]
) -> None:
    if dry_run:
        for one in found:
            told = {
                "sessions": 1,
                "turns": len(one.turns),
                "memories": len(one.facts),
                "summaries": int(bool(one.summary)),
            }
            _add(done, told)
        return
    with progress_bar() as told_of, open_memory(data) as memory:
        for number, one in enumerate(found, start=1):
            _take_in(memory, one, user, done)
            told_of("sessions", number, len(found))


def _take_in(memory: Memory, found: importing.ForeignSession, user: str | None, done: dict[str, int]) -> None:
    scope = Scope(found.session_id, user) if user is not None else Scope(found.session_id)
    done["sessions"] += 1
    for number, turns in enumerate(importing.deliveries(found.turns)):
        name = found.name if not number else f"{found.name}-{number}"
        memory.record(turns, scope, as_passed=True, delivery_id=name, learn=found.learn)
        done["turns"] += len(turns)
    for fact in found.facts:
        try:
            memory.remember(fact, scope, key=f"imported-{hashlib.sha256(fact.encode()).hexdigest()[:12]}")
            done["memories"] += 1
        except SecretRefused:
            done["refused"] += 1
    if found.summary or found.description:
        memory.update_session(scope, summary=found.summary or None, description=found.description or None)
        done["summaries"] += bool(found.summary)
