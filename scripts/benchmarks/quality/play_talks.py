"""Short talks, played through a real assistant; prints which of them ended with the right records.

A file holds one talk a line, a JSON object: ``id``, ``kind``, ``lang``, ``turns`` (what the person says, in order),
``kept`` (groups of words; one record must hold all of a group), ``gone`` (no record may hold all of a group), ``noted``
(a lasting memory must hold them), ``no_notes`` (true: there must be no lasting memory) and ``checks`` (questions asked
afterwards: ``ask``, the words that the answer must have in ``has``, and those that it must not have in ``not``).

Each talk is played in a session of its own on an emptied memory. The status is 0 where all ended right.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts"), str(ROOT / "test")]  # a script is run where it stands

from support.servers.bus import Wire  # noqa: E402

from benchmarks.quality.play_utterances import Talker, assistant_of  # noqa: E402  (the line above must come first)
from ovos_persona_memory.protocol import MemoryClient  # noqa: E402
from ovos_persona_memory.records import Scope  # noqa: E402
from ovos_persona_memory.text import languages  # noqa: E402

LabelledTalk = dict[str, Any]


def read(path: Path) -> list[LabelledTalk]:
    """The talks of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def holds(text: str, group: Sequence[str]) -> bool:
    """Whether a text holds every word of a group, as a word of its own."""
    said = f" {' '.join(languages.fold(text))} "
    return all(f" {' '.join(languages.fold(word))} " in said for word in group)


def faults(talk: LabelledTalk, owner: MemoryClient, session_id: str) -> Iterator[str]:
    """The errors in the records after a talk."""
    turns = owner.history(Scope(session_id=session_id), max_history=1000, hanging=True)
    notes = [entry.text for entry in owner.list(limit=1000)]
    facts = owner.facts.list(status="all", limit=1000)
    told = [*(one.text for one in turns if one.role == "user"), *notes, *(one.text for one in facts)]
    every = [*told, *(one.text for one in turns)]
    yield from (f"lost: {group}" for group in talk.get("kept", ()) if not any(holds(text, group) for text in told))
    yield from (f"not noted: {group}" for group in talk.get("noted", ()) if not any(holds(t, group) for t in notes))
    for group in talk.get("gone", ()):
        left = [text for text in every if holds(text, group)]
        if left:
            yield f"still there: {group} in {left[0]!r}"
    if talk.get("no_notes") and notes:
        yield f"noted: {notes}"


def wrong_answers(talk: LabelledTalk, talker: Talker) -> Iterator[str]:
    """The errors in the answers to the questions after a talk."""
    for check in talk.get("checks", ()):
        reply = talker.say(check["ask"]).spoken
        missing = [word for word in check.get("has", ()) if not holds(reply, [word])]
        too_many = [word for word in check.get("not", ()) if holds(reply, [word])]
        if missing or too_many:
            yield f"asked {check['ask']!r}: {reply!r} lacks {missing}, has {too_many}"


def play(talk: LabelledTalk, wire: Wire, owner: MemoryClient) -> tuple[list[str], list[str], list[str]]:
    """Play a talk: its utterances, the errors in the store, the errors in the answers."""
    owner.forget(everything=True)
    session_id = f"talk-{talk['id']}-{uuid.uuid4().hex[:6]}"
    talker = Talker(wire, talk["lang"], session_id)
    said = []
    for line in talk["turns"]:
        reached = talker.say(line)
        said += [f"> {line}", f"  {reached.spoken}  [{reached.intent or reached.by}]"]
    return said, list(faults(talk, owner, session_id)), list(wrong_answers(talk, talker))


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(
        prog="scripts/benchmarks/quality/play_talks.py", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--all", action="store_true", help="print the talks that ended right, too")
    parser.add_argument("--only", default="", help="only talks whose id begins with this")
    args = parser.parse_args()
    talks = [talk for path in args.files for talk in read(path) if talk["id"].startswith(args.only)]
    right: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    for lang in dict.fromkeys(talk["lang"] for talk in talks):
        with (
            tempfile.TemporaryDirectory() as folder,
            assistant_of(lang, Path(folder), others=False) as assistant,
            Wire(assistant.port) as wire,
            assistant.owner() as owner,
        ):
            for talk in (one for one in talks if one["lang"] == lang):
                said, stored, replied = play(talk, wire, owner)
                right[talk["kind"]] += not stored
                answered[talk["kind"]] += not stored and not replied
                if stored or replied or args.all:
                    print(talk["id"], *said, *(f"  !! {one}" for one in (*stored, *replied)), "", sep="\n")
    kinds = Counter(talk["kind"] for talk in talks)
    print(f"{'kind':<16}{'talks':>6}{'records right':>15}{'answers too':>13}")
    for kind, number in sorted(kinds.items()):
        print(f"{kind:<16}{number:>6}{right[kind]:>15}{answered[kind]:>13}")
    return 0 if sum(right.values()) == len(talks) else 1


if __name__ == "__main__":
    sys.exit(main())
