"""Labelled utterances, played through the intent pipeline of a real assistant; prints the confusion table.

A file holds a JSON list of objects, or one object a line: ``lang`` (a tag), ``text``, ``intent`` (a name of the memory
skill's intents; "more" for who wants to hear more; null for an utterance that belongs to somebody else) and, if it
matters, ``slots`` (name to words).

Before each the memory is emptied and given what the utterance is about. It counts as right when its intent was reached
and each slot has the words that were labelled, small words ("my", "the") aside, and when its work was done: what was
to be kept is in the store, what was to be forgotten is gone after a yes, the switches are as they were to be, a
question was answered. One of somebody else's is right when the memory skill was not reached. The status is 0 where at
least the share --least is right and nothing of others was taken.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]  # a script is run where it stands

from support.assistants import Assistant  # noqa: E402  (the line above must come first)
from support.servers.bus import Wire  # noqa: E402
from support.servers.ports import free_port  # noqa: E402  (the line above must come first)

from ovos_persona_memory.protocol import MemoryClient  # noqa: E402
from ovos_persona_memory.text import languages  # noqa: E402

SKILL = "ovos-skill-persona-memory.openvoiceos"
HANDLED_WITHIN_S = 20.0
MARK = "velvet cormorant"
"""Words of the memory that is made before an utterance; no utterance holds them otherwise."""
UNDONE = {
    *("memory_away", "not_kept", "not_switched", "not_remembering", "changes_closed", "None"),
    *("remember_what", "correct_what", "correct_how", "private_what", "why_what", "forget_time_what"),
    *("forget_that_nothing", "forget_about_nothing", "forget_all_nothing", "forget_failed"),
    *("nothing_known", "nothing_known_about", "nothing_known_of_you"),
}
"""Dialogs that report that nothing was done."""
PUT = {
    "ca-ES": "{thing} és al soterrani",
    "da-DK": "{thing} ligger i kælderen",
    "de-DE": "{thing} ist im Keller",
    "en-US": "{thing} is in the cellar",
    "es-ES": "{thing} está en el sótano",
    "fr-FR": "{thing} est dans la cave",
    "gl-ES": "{thing} está no soto",
    "it-IT": "{thing} è in cantina",
    "nl-NL": "{thing} ligt in de kelder",
    "pt-PT": "{thing} está na cave",
}
ASK_FOR_ALL = {
    "ca-ES": "què saps de mi",
    "da-DK": "hvad ved du om mig",
    "de-DE": "was weißt du über mich",
    "en-US": "what do you know about me",
    "es-ES": "qué sabes de mí",
    "fr-FR": "que sais-tu de moi",
    "gl-ES": "que sabes de min",
    "it-IT": "cosa sai di me",
    "nl-NL": "wat weet je over mij",
    "pt-PT": "o que sabes sobre mim",
}


@dataclass(frozen=True)
class LabelledUtterance:
    """One utterance and its expected intent."""

    lang: str
    text: str
    intent: str | None
    slots: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ReachedSkill:
    """The intent of ours that an utterance reached, else None and the skill that took it."""

    intent: str | None
    by: str
    slots: dict[str, str]
    spoken: str
    dialogs: tuple[str, ...] = ()
    did_its_work: bool = True


def read(path: Path) -> list[LabelledUtterance]:
    """The labelled utterances of a file."""
    text = path.read_text(encoding="utf-8")
    items = (
        json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines() if line]
    )
    return [LabelledUtterance(i["lang"], i["text"], i.get("intent"), i.get("slots") or {}) for i in items]


class Talker:
    """A speaker in a session of their own, which is kept as a client keeps it."""

    def __init__(self, wire: Wire, lang: str, name: str) -> None:
        self._wire = wire
        self._session: dict[str, Any] = {"session_id": name, "lang": lang}

    def say(self, text: str) -> ReachedSkill:
        """Say a text; which intent it reached."""
        own = {name: self._session[name] for name in ("session_id", "lang")}
        said = {"utterances": [text], "lang": own["lang"]}
        self._wire.send("recognizer_loop:utterance", said, {"session": {**self._session, **own}})
        matched: dict[str, Any] = {}
        spoken: list[tuple[str, str]] = []
        while (message := self._wire.receive(HANDLED_WITHIN_S)) is not None:
            kind, data, context = message.get("type"), message.get("data", {}), message.get("context", {})
            session = context.get("session") or {}
            if session.get("session_id") != own["session_id"]:
                continue
            if kind == "ovos.intent.matched":
                matched = data
            elif kind == "ovos.utterance.speak":
                spoken.append((str((data.get("meta") or {}).get("dialog")), str(data.get("utterance"))))
            elif kind == "ovos.utterance.handled":
                self._session = session
                break
        return reached_by(matched, spoken)


def reached_by(matched: dict[str, Any], spoken: Sequence[tuple[str, str]]) -> ReachedSkill:
    """The intent that a notification of a match and the dialogs behind it show."""
    name = str(matched.get("intent_name") or "nobody")
    by = str(matched.get("skill_id") or name.partition(":")[0])
    slots = matched.get("slots") if isinstance(matched.get("slots"), dict) else {}
    ours = name.rpartition(":")[2].removesuffix(".intent") if by == SKILL else None
    dialogs = tuple(dialog for dialog, _ in spoken)
    words = " ".join(text for _, text in spoken)
    return ReachedSkill(ours, by, {k: str(v) for k, v in (slots or {}).items() if isinstance(v, str)}, words, dialogs)


def play(wire: Wire, one: LabelledUtterance, number: int) -> ReachedSkill:
    """Say an utterance in a session of its own; which intent it reached."""
    return Talker(wire, one.lang, f"utterance-{number}").say(one.text)


def is_right(one: LabelledUtterance, reached: ReachedSkill) -> bool:
    """Whether the expected intent and slots were reached."""
    if one.intent is None:
        return reached.intent is None
    if not reached.did_its_work or one.intent not in (reached.intent, "more"):
        return False
    spoken = languages.for_language(one.lang)
    return all(_same(spoken, words, reached.slots.get(name), one.text) for name, words in one.slots.items())


def _same(spoken: languages.Language, wanted: str, got: str | None, text: str) -> bool:
    # where the words stand in the intent's template itself, there is no slot: the skill reads the utterance then
    if got is None:
        return " ".join(languages.fold(wanted)) in " ".join(languages.fold(text))
    left, right = set(spoken.content_words(wanted)), set(spoken.content_words(got))
    return left <= right or right <= left


def table(rows: Sequence[tuple[LabelledUtterance, ReachedSkill]]) -> Iterator[str]:
    """The confusion table: expected, reached, how often, where they differ; then shares by language."""
    pairs = Counter((one.intent or "others", reached.intent or f"({reached.by})") for one, reached in rows)
    width = max(len(name) for pair in pairs for name in pair) + 2
    yield f"{'expected':<{width}}{'reached':<{width}}times"
    for (wanted, got), times in sorted(pairs.items()):
        yield f"{wanted:<{width}}{got:<{width}}{times}"
    yield ""
    for lang in sorted({one.lang for one, _ in rows}):
        mine = [is_right(one, reached) for one, reached in rows if one.lang == lang and one.intent]
        taken = [reached.intent for one, reached in rows if one.lang == lang and not one.intent]
        share = f"{sum(mine)}/{len(mine)} right ({sum(mine) / len(mine):.1%})" if mine else "none of ours"
        yield f"{lang}: {share}, {sum(t is not None for t in taken)} of {len(taken)} of others taken"


def misses(rows: Sequence[tuple[LabelledUtterance, ReachedSkill]]) -> Iterator[str]:
    """The utterances with a wrong result."""
    for one, reached in rows:
        if not is_right(one, reached):
            got = f"{reached.intent or reached.by} {reached.slots or ''} {reached.dialogs}".strip()
            yield f"{one.lang}  {one.text!r}: {one.intent or 'others'} {one.slots or ''}, reached {got}"


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="scripts/utterances", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--least", type=float, default=0.95, help="the share that has to be right (%(default)s)")
    parser.add_argument("--say", action="store_true", help="print what was said to each utterance too")
    args = parser.parse_args()
    labelled = [one for path in args.files for one in read(path)]
    rows = list(played(labelled))
    if args.say:
        print(
            *(f"{one.lang}  {one.text}\n    {reached.by} {reached.intent}: {reached.spoken}" for one, reached in rows),
            sep="\n",
        )
    print(*misses(rows), "", *table(rows), sep="\n")
    right = [is_right(one, reached) for one, reached in rows if one.intent]
    taken = [one for one, reached in rows if one.intent is None and reached.intent]
    return 0 if not taken and sum(right) >= args.least * len(right) else 1


def played(labelled: Sequence[LabelledUtterance]) -> Iterator[tuple[LabelledUtterance, ReachedSkill]]:
    """Each utterance with what it reached, in an assistant of its language."""
    for lang in dict.fromkeys(one.lang for one in labelled):
        mine = [one for one in labelled if one.lang == lang]
        with (
            tempfile.TemporaryDirectory() as folder,
            assistant_of(lang, Path(folder)) as assistant,
            Wire(assistant.port) as wire,
            assistant.owner() as owner,
        ):
            lead = languages.for_language(lang).lines("remember_that.list")[0]
            for number, one in enumerate(mine):
                yield one, work(Talker(wire, lang, f"utterance-{number}"), owner, one, lead)


def work(talker: Talker, owner: MemoryClient, one: LabelledUtterance, lead: str) -> ReachedSkill:
    """Say the utterance to a memory with the records it is about; whether its work was done."""
    owner.capture(write=True, read=True)
    owner.forget(everything=True)
    _prepare(talker, owner, one, lead)
    reached = talker.say(one.text)
    if one.intent is None:
        return reached
    done = bool(reached.dialogs) and not set(reached.dialogs) & UNDONE
    if any(dialog.startswith("forget_") and "_ask" in dialog for dialog in reached.dialogs):
        yes = languages.for_language(one.lang).phrases("yes.voc")[0]
        done = any(dialog.endswith("_done") for dialog in talker.say(yes).dialogs)
    if "correct_how" in reached.dialogs:
        done = "corrected" in talker.say(one.slots.get("text", "")).dialogs
    if "not_kept_secret" not in reached.dialogs:  # which is what is to be said to a password
        done = done and _is_in_store(owner, one)
    return replace(reached, did_its_work=done)


def _prepare(talker: Talker, owner: MemoryClient, one: LabelledUtterance, lead: str) -> None:
    if "topic" in one.slots:
        owner.remember(f"{one.slots['topic']} {MARK}", lang=one.lang)
    elif "thing" in one.slots:
        owner.remember(PUT[one.lang].format(thing=one.slots["thing"]), lang=one.lang)
    elif one.intent in ("guest_off", "quiet_off"):
        owner.capture(write=False, read=one.intent == "quiet_off")
    elif one.intent == "more":
        for number in range(5):
            owner.remember(f"{MARK} {number}", lang=one.lang)
        talker.say(ASK_FOR_ALL[one.lang])
    elif one.intent in ("about_me", "how_much", "forget_me", "forget_all"):
        owner.remember(MARK, lang=one.lang)
    elif one.intent in ("correct", "private", "why", "forget_that"):
        talker.say(f"{lead} {MARK}")


def _is_in_store(owner: MemoryClient, one: LabelledUtterance) -> bool:
    """Whether the store holds the expected records."""
    texts = [" ".join(languages.fold(entry.text)) for entry in owner.list()]
    if one.intent in ("remember", "correct"):
        wanted = languages.for_language(one.lang).content_words(one.slots.get("text", ""))
        return any(set(wanted) <= set(languages.for_language(one.lang).words(text)) for text in texts)
    if one.intent in ("forget_that", "forget_me", "forget_all", "forget_about"):
        return not any(MARK in text for text in texts)
    capture = owner.capture()
    switches = {"guest_on": (False, False), "quiet_on": (False, True)}
    return (capture.write, capture.read) == switches.get(str(one.intent), (True, True))


def assistant_of(lang: str, folder: Path, others: bool = True) -> Assistant:
    """An assistant that speaks this language alone; ``others``: with an alarm clock and a calendar."""
    settings = folder / "home" / ".config" / "mycroft" / "mycroft.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"lang": lang}))
    return Assistant(folder / "data", folder / "home", free_port(), others=others)


if __name__ == "__main__":
    sys.exit(main())
