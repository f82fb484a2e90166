"""The command documents: texts with an id, beside what was said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import rich_click as click

from ovos_persona_memory.cli.connection import Memory, open_memory
from ovos_persona_memory.cli.options import (
    data_option,
    examples,
    json_option,
    lang_option,
    metadata_option,
    pairs,
    scope_of,
    user_option,
)
from ovos_persona_memory.cli.output import Command, answer, answer_json, answer_rows, confirm, progress, say
from ovos_persona_memory.cli.show import say_if_not_read
from ovos_persona_memory.cli.time_format import format_time
from ovos_persona_memory.config import device_language
from ovos_persona_memory.errors import UnknownEntry
from ovos_persona_memory.memory import Documents
from ovos_persona_memory.protocol import DocumentsClient
from ovos_persona_memory.records import Document
from ovos_persona_memory.text import counted

DELETE_WITHIN_S = 600.0
"""Rewriting the files of a large memory takes its time."""
namespace_option = click.option(
    "--namespace", default="default", show_default=True, help="Documents of one user that are searched together."
)


@click.group()
def documents() -> None:
    """Texts of your own, with an id, to be searched apart from what was said."""


def _of(memory: Memory, user: str | None, namespace: str, lang: str | None = None) -> Documents | DocumentsClient:
    return memory.documents(scope_of(user), namespace, lang or device_language())


def _with_metadata(document: Document) -> str:
    metadata = " ".join(f"{name}={value}" for name, value in document.metadata.items())
    return f"{document.text} [{metadata}]" if metadata else document.text


@documents.command("list", cls=Command, epilog=examples("documents list --namespace guides"))
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Documents at most.")
@click.option("--offset", type=click.IntRange(0, 1_000_000), default=0, help="Leave out so many first.")
@namespace_option
@user_option
@data_option
@json_option
def list_documents(  # one parameter an option
    limit: int, offset: int, namespace: str, user: str | None, data: Path | None, as_json: bool
) -> None:
    """The documents, the last changed first."""
    with open_memory(data) as memory:
        found = _of(memory, user, namespace).list(limit, offset)
        say_if_not_read(memory, None, found)
    if as_json:
        return answer_json({"documents": found})
    return answer_rows(
        ["changed", "id", "text"],
        [[format_time(one.updated_at), one.id, _with_metadata(one)] for one in found],
        "There are no documents there; documents add keeps one." if not offset else "There are no more documents.",
    )


@documents.command(
    cls=Command,
    epilog=examples('documents search "castles in Lisbon"', "documents search castles -k 3 --filter from=guide"),
)
@click.argument("query")
@click.option("-k", type=click.IntRange(1, 1000), default=5, show_default=True, help="Documents at most.")
@click.option(
    "--filter",
    "wanted",
    multiple=True,
    metavar="NAME=VALUE",
    callback=pairs,
    help="Only those with this in their metadata; may be given several times.",
)
@namespace_option
@lang_option
@user_option
@data_option
@json_option
def search(  # one parameter an option
    query: str,
    k: int,
    wanted: dict[str, str] | None,
    namespace: str,
    lang: str | None,
    user: str | None,
    data: Path | None,
    as_json: bool,
) -> None:
    """Search the documents for what has to do with QUERY, best first."""
    with open_memory(data) as memory:
        found = _of(memory, user, namespace, lang).search(query, k, wanted)
        say_if_not_read(memory, None, found)
    if as_json:
        return answer_json({"documents": found})
    rows = [[f"{one.score:.3f}", one.id, _with_metadata(one)] for one in found]
    return answer_rows(["score", "id", "text"], rows, "No document was found.")


@documents.command(
    cls=Command,
    epilog=examples(
        'documents add "Lisbon has a castle" --id lisbon --metadata from=guide',
        'documents add "$(cat manual.txt)" --id manual --namespace guides',
    ),
)
@click.argument("text")
@click.option("--id", help="Its name; the document that has it already is replaced. Made up unless given.")
@metadata_option
@namespace_option
@lang_option
@user_option
@data_option
@json_option
def add(  # one parameter an option
    text: str,
    id: str | None,
    metadata: dict[str, str] | None,
    namespace: str,
    lang: str | None,
    user: str | None,
    data: Path | None,
    as_json: bool,
) -> None:
    """Keep TEXT as a document, and print its id."""
    with open_memory(data) as memory:
        kept = _of(memory, user, namespace, lang).upsert(text, id, metadata)
    return answer_json({"document": kept}) if as_json else answer(kept.id)


@documents.command(cls=Command, epilog=examples("documents delete lisbon porto --yes"))
@click.argument("ids", nargs=-1, required=True)
@namespace_option
@user_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
@json_option
def delete(  # one parameter an option
    ids: Sequence[str], namespace: str, user: str | None, yes: bool, data: Path | None, as_json: bool
) -> None:
    """Forget the documents with these IDS, for good, and print how many there were."""
    with open_memory(data, DELETE_WITHIN_S) as memory:
        shelf = _of(memory, user, namespace)
        if not yes:
            _show_before_asking(shelf, ids)
            confirm("Forget it for good?")
        with progress("Forgetting"):
            forgotten = shelf.delete(list(ids))
    if not forgotten:
        raise UnknownEntry(f"there is no document with the id {', '.join(map(repr, ids))}")
    return answer_json({"forgotten": forgotten}) if as_json else answer(f"Forgot {counted(forgotten, 'document')}.")


def _show_before_asking(shelf: Documents | DocumentsClient, ids: Sequence[str]) -> None:
    say("To be forgotten:")
    for one in ids:
        found = shelf.get(one)
        say(f"  {one}: {found.text if found else 'it cannot be shown, or is not there'}")
