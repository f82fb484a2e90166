"""The program: its global options and its commands, grouped by what people do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import rich_click as click

from ovos_persona_memory.cli.backup import backup, decrypt, encrypt, restore
from ovos_persona_memory.cli.bench import bench
from ovos_persona_memory.cli.chat import chat
from ovos_persona_memory.cli.completion import complete_names, completion
from ovos_persona_memory.cli.doctor import doctor
from ovos_persona_memory.cli.documents import documents
from ovos_persona_memory.cli.edit import capture, forget, introspect, remember, update
from ovos_persona_memory.cli.event_log import episodes, why
from ovos_persona_memory.cli.facts import audit, facts, review
from ovos_persona_memory.cli.options import HELP, NAME, address_options, data_option, examples
from ovos_persona_memory.cli.preview import preview
from ovos_persona_memory.cli.run import run
from ovos_persona_memory.cli.service_unit import install_service, uninstall_service
from ovos_persona_memory.cli.session import put_back, snapshot, summary, trim
from ovos_persona_memory.cli.show import get, history, list_, recall, sessions, status, turn
from ovos_persona_memory.cli.stats import stats
from ovos_persona_memory.cli.transfer import export, import_, migrate
from ovos_persona_memory.cli.users import users
from ovos_persona_memory.cli.watch import watch
from ovos_persona_memory.cli.web import web
from ovos_persona_memory.version import __version__


@click.group(
    context_settings=HELP,
    epilog=examples(
        "status",
        'recall "what is my cat called"',
        'remember "the bins go out on Tuesday" --key bins',
        "forget --since 10m",
        'preview "what is my cat called" --persona Ada',
        "backup memory.backup",
    ),
)
@data_option
@address_options
@click.version_option(__version__, prog_name=NAME)
def program(**_: object) -> None:
    """The memory of an OpenVoiceOS assistant: look, change, forget, move, run.

    What runs already is asked; where no daemon runs, the memory is opened here. COMMAND --help shows examples.
    """


GROUPS: Mapping[str, Sequence[click.Command]] = {
    "Look": (
        *(status, sessions, history, turn, watch, recall, preview, list_, get, facts, why, episodes, audit, stats),
        *(users,),
    ),
    "Change": (remember, update, review, introspect, summary, trim, put_back, documents),
    "Forget": (forget, capture),
    "Move": (export, import_, backup, restore, snapshot, migrate, encrypt, decrypt),
    "Run": (run, chat, web, doctor, install_service, uninstall_service, bench, completion),
}
"""The commands by what people do, in the order in which the help shows them."""

for _commands in GROUPS.values():
    for _command in _commands:
        program.add_command(_command)
complete_names(program)
click.rich_click.COMMAND_GROUPS = {
    NAME: [{"name": name, "commands": [str(one.name) for one in commands]} for name, commands in GROUPS.items()]
}
