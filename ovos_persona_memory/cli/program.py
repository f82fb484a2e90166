"""The program: its global options and its commands."""

from __future__ import annotations

import rich_click as click

from ovos_persona_memory.cli.bench import bench
from ovos_persona_memory.cli.chat import chat
from ovos_persona_memory.cli.doctor import doctor
from ovos_persona_memory.cli.documents import documents
from ovos_persona_memory.cli.edit import capture, forget, introspect, remember, update
from ovos_persona_memory.cli.event_log import episodes, why
from ovos_persona_memory.cli.facts import audit, facts, review
from ovos_persona_memory.cli.options import HELP, NAME, address_options, data_option
from ovos_persona_memory.cli.run import run
from ovos_persona_memory.cli.session import restore, snapshot, summary, trim
from ovos_persona_memory.cli.show import get, history, list_, recall, sessions, status, turn
from ovos_persona_memory.cli.transfer import import_, migrate
from ovos_persona_memory.cli.users import users
from ovos_persona_memory.cli.web import web
from ovos_persona_memory.version import __version__


@click.group(context_settings=HELP)
@data_option
@address_options
@click.version_option(__version__, prog_name=NAME)
def program(**_: object) -> None:
    """The memory of an OpenVoiceOS assistant: look, search, correct, forget.

    What runs already is asked; where no daemon runs, the memory is opened here.
    """


_LOOK = (status, history, turn, sessions, recall, list_, get, facts, audit, why, episodes)
_CHANGE = (remember, update, review, introspect, forget, capture)
_SESSION = (summary, trim, snapshot, restore)
_MOVE = (migrate, import_)
for _command in (run, chat, web, *_LOOK, *_CHANGE, *_SESSION, documents, *_MOVE, users, doctor, bench):
    program.add_command(_command)
