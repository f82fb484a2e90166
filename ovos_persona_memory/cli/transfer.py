"""Commands that bring a memory elsewhere, or another's here: migrate and import."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import rich_click as click

from ovos_persona_memory import stores
from ovos_persona_memory.cli.connection import Memory, open_memory, patiently, settings
from ovos_persona_memory.cli.options import InputFile, data_option, json_option, secrets_option, user_option
from ovos_persona_memory.cli.output import Command, answer_json, answer_rows, progress, say
from ovos_persona_memory.config import settled
from ovos_persona_memory.errors import ConfigError, SecretRefused
from ovos_persona_memory.memory import Migration, importing
from ovos_persona_memory.records import Scope
from ovos_persona_memory.search import record_terms
from ovos_persona_memory.service import announcement
from ovos_persona_memory.stores import Store

CONFIGURED = "configured"
STEPS = 10
"""Progress reports of a section."""


@click.command(cls=Command)
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
            found = migration.run(_tell)
        finally:
            other.close()
    finally:
        one.close()
    if migration.left_out:
        say(f"Secrets left out: {migration.left_out}. --with-secrets takes them along.")
    if as_json:
        answer_json(found)
    else:
        answer_rows(("section", "records", "digest"), [(one.section, str(one.count), one.sha256[:16]) for one in found])


def _opened(place: str, data: Path | None, must_be_there: bool = False) -> Store:
    config = settled(settings(data))
    if place == CONFIGURED:
        store = patiently(lambda: stores.open_stores(config))
    else:
        where = stores.parse_location(place)
        folder = stores.folder_of(where, config.folder)
        if must_be_there and folder is not None and not stores.database_in(folder).exists():
            raise ConfigError(f"there is no memory in {folder}")
        store = patiently(lambda: stores.open_store(where.backend, config.folder, place=where))
    if not store.durable:
        store.close()
        raise ConfigError(f"{place} keeps nothing: there is nothing to migrate")
    record_terms.renew(store)
    return store


def _tell(section: str, done: int, total: int) -> None:
    if done == total or sys.stderr.isatty():
        say(f"{section}: {done} of {total}")


@click.command("import", cls=Command)
@click.argument("files", nargs=-1, required=True, type=InputFile())
@user_option
@data_option
@json_option
def import_(files: tuple[Path, ...], user: str | None, data: Path | None, as_json: bool) -> None:
    """Take in what ovos-memory-plugins has kept: its JSON, SQLite and full-text files, which stay as they are.

    What was said is recorded, facts are remembered, summaries go to their sessions. The same file again adds nothing.
    """
    done = {"sessions": 0, "turns": 0, "memories": 0, "summaries": 0, "refused": 0}
    with progress("Taking in"), open_memory(data) as memory:
        for path in files:
            for found in importing.read_foreign(path):
                _take_in(memory, found, user, done)
    if as_json:
        answer_json(done)
    else:
        answer_rows(("what", "how many"), [(name, str(number)) for name, number in done.items()])


def _take_in(memory: Memory, found: importing.ForeignSession, user: str | None, done: dict[str, int]) -> None:
    scope = Scope(found.session_id, user) if user is not None else Scope(found.session_id)
    done["sessions"] += 1
    if found.turns:
        memory.record(found.turns, scope, as_passed=True, delivery_id=found.name)
        done["turns"] += len(found.turns)
    for fact in found.facts:
        try:
            memory.remember(fact, scope, key=f"imported-{hashlib.sha256(fact.encode()).hexdigest()[:12]}")
            done["memories"] += 1
        except SecretRefused:
            done["refused"] += 1
    if found.summary:
        memory.update_session(scope, summary=found.summary)
        done["summaries"] += 1
