"""Commands about the memory's files as a whole: backup, restore, encrypt, decrypt."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from ovos_persona_memory import stores
from ovos_persona_memory.cli.connection import alone, patiently, settings
from ovos_persona_memory.cli.files import key_option
from ovos_persona_memory.cli.options import InputFile, data_option, examples, json_option, secrets_option
from ovos_persona_memory.cli.output import Command, answer, answer_json, confirm, progress, progress_bar, say
from ovos_persona_memory.config import MemoryConfig, encryption_key, settled
from ovos_persona_memory.errors import ConfigError, InvalidRequest
from ovos_persona_memory.memory import Migration
from ovos_persona_memory.search import record_terms
from ovos_persona_memory.service import announcement
from ovos_persona_memory.text import counted_kinds

namespace_option = click.option(
    "--namespace", "namespaces", multiple=True, help="Of documents, besides default. As often as needed."
)


@click.command(
    cls=Command,
    epilog=examples(
        "backup /media/stick/memory.backup",
        "backup memory.backup --key file:~/.config/memory.key",
        "backup memory.backup --json",
    ),
)
@click.argument("file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@key_option
@click.option("--plain", is_flag=True, help="Not encrypted, though the memory is.")
@click.option("--detached", is_flag=True, help="Leave it as it is for good: forgetting does not reach it.")
@namespace_option
@secrets_option
@data_option
@json_option
def backup(  # one parameter an option
    file: Path,
    key: str | None,
    plain: bool,
    detached: bool,
    namespaces: tuple[str, ...],
    with_secrets: bool,
    data: Path | None,
    as_json: bool,
) -> None:
    """Copy the whole memory to FILE, while it goes on recording.

    The copy is one moment: what is said after it is not in it. It is encrypted with the memory's own key, with
    another where --key says which, and not at all with --plain. When something is forgotten later, the copy is written
    anew without it, if it is still there then. Of a memory on a server the copy stays as it is, and the secrets stay
    there, unless --with-secrets is given.
    """
    if plain and key is not None:
        raise InvalidRequest("--plain", "cannot be given together with --key")
    config = settled(settings(data))
    chosen = None if plain else encryption_key(key or config.encryption.key, "Key of the backup")
    folder = stores.sqlite_folder(config)
    if folder is not None:
        with progress("Copying"):
            stores.write_backup(config, file, chosen)
        if not detached:
            held = stores.PLAIN if plain else key or stores.OWN
            stores.note_backup(folder, stores.BackupNote(str(file.absolute()), held))
    else:
        _migrated(config, file, chosen, tuple(dict.fromkeys(("default", *namespaces))), with_secrets)
    found = stores.counts_in(file, chosen)
    size = file.stat().st_size
    if as_json:
        return answer_json({"file": str(file), "bytes": size, "encrypted": chosen is not None, "holds": found})
    how = ", encrypted" if chosen is not None else ""
    return answer(f"Wrote {counted_kinds(found)} to {file} ({size / 1e6:.1f} MB{how}).")


def _migrated(config: MemoryConfig, file: Path, key: str | None, names: tuple[str, ...], with_secrets: bool) -> None:
    """The backup of a memory that is not in one SQLite file."""
    source = patiently(lambda: stores.open_stores(config))
    try:
        with stores.scratch_store(file.parent, key) as (target, database), progress_bar() as told:
            record_terms.renew(target)
            Migration(source, target, names, (announcement.ANNOUNCED,), with_secrets).run(told)
            stores.copy_file(database, file, key)
    finally:
        source.close()


@click.command(cls=Command, epilog=examples("restore memory.backup", "--data ~/attic restore memory.backup --yes"))
@click.argument("file", type=InputFile())
@key_option
@namespace_option
@secrets_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
@json_option
def restore(  # one parameter an option
    file: Path,
    key: str | None,
    namespaces: tuple[str, ...],
    with_secrets: bool,
    yes: bool,
    data: Path | None,
    as_json: bool,
) -> None:
    """Put the backup in FILE in the place of the memory. What was in the memory goes.

    End the daemon first. FILE stays as it is. --key: of the backup; without it the memory's own is tried.
    """
    config = settled(settings(data))
    is_encrypted = stores.is_encrypted(file)
    if is_encrypted and key is None and config.encryption.key is None:
        raise InvalidRequest("--key", f"is needed: {file} is encrypted, or no backup")
    given = key or (config.encryption.key if is_encrypted else None)
    chosen = encryption_key(given, "Key of the backup")
    found = stores.counts_in(file, chosen)
    folder = stores.sqlite_folder(config)
    if folder is None:
        _put_on_server(config, file, chosen, tuple(dict.fromkeys(("default", *namespaces))), with_secrets)
    else:
        database = stores.database_in(folder)
        if database.exists() and not yes:
            say(f"The memory in {folder} goes ({database.stat().st_size / 1e6:.1f} MB).")
            confirm(f"Put {counted_kinds(found)} in its place?")
        with progress("Putting it in place"):
            alone(lambda: stores.restore_backup(config, file, chosen))
    if as_json:
        return answer_json({"restored": found})
    return answer(f"Restored {counted_kinds(found)}.")


def _put_on_server(
    config: MemoryConfig, file: Path, key: str | None, names: tuple[str, ...], with_secrets: bool
) -> None:
    target = patiently(lambda: stores.open_stores(config))
    try:
        with stores.open_backup(file, key, file.parent) as source, progress_bar() as told:
            record_terms.renew(target)
            Migration(source, target, names, (announcement.ANNOUNCED,), with_secrets).run(told)
    finally:
        target.close()


@click.command(
    cls=Command,
    epilog=examples("encrypt file:~/.config/memory.key", "encrypt keyring", "encrypt prompt"),
)
@click.argument("key")
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
@json_option
def encrypt(key: str, yes: bool, data: Path | None, as_json: bool) -> None:
    """Encrypt the memory with the key at KEY: file:PATH, env:NAME, keyring, keyring:SERVICE or prompt.

    A memory that is encrypted gets the new key. End the daemon first; then name the key in the settings, as the
    command says. Who loses the key loses the memory.
    """
    chosen = encryption_key(key, "New key of the memory")
    if not yes:
        confirm("Who loses the key loses the memory. Encrypt it?")
    _convert(data, chosen, {"encrypted": True}, as_json)
    say(f'Now write "encryption": {{"key": "{key}"}} into the section persona_memory of mycroft.conf.')


@click.command(cls=Command, epilog=examples("decrypt", "decrypt --key file:~/.config/memory.key --yes"))
@key_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
@json_option
def decrypt(key: str | None, yes: bool, data: Path | None, as_json: bool) -> None:
    """Take the encryption off. End the daemon first; then take encryption.key out of the settings."""
    if not yes:
        confirm("Whoever gets at the disk can read the memory then. Decrypt it?")
    _convert(data, None, {"encrypted": False}, as_json, key)
    say('Now take "encryption" out of the section persona_memory of mycroft.conf.')


def _convert(
    data: Path | None, new_key: str | None, told: dict[str, bool], as_json: bool, key: str | None = None
) -> None:
    config = settled(settings(data))
    files = stores.encrypted_files(config)
    if not files:
        raise ConfigError(f"there is no memory in {config.folder}")
    is_encrypted = any(stores.is_encrypted(file) for file in files)
    present = key or config.encryption.key
    if is_encrypted and present is None:
        raise ConfigError("the memory is encrypted: say with encryption.key in the settings where its key is")
    old_key = encryption_key(present) if is_encrypted else None
    with progress("Writing it anew"):
        alone(lambda: stores.convert_files(files, old_key, new_key))
    names = [str(file) for file in files]
    for left in sorted({one for file in files for one in file.parent.glob("*.damaged-*")}):
        say(f"{left} was set aside and stays as it is: delete it when you need it no more.")
    if as_json:
        answer_json({**told, "files": names})
    else:
        answer("\n".join(f"{'Encrypted' if told['encrypted'] else 'Decrypted'} {name}" for name in names))
