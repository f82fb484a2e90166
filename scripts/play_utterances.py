"""Labelled utterances, played through the intent pipeline of a real assistant; prints the confusion table.

A file holds a JSON list of objects, or one object a line: ``lang`` (a tag), ``text``, ``intent`` (a name of the memory
skill's intents, or null for an utterance that belongs to somebody else) and, if it matters, ``slots`` (name to words).

An utterance counts as right when its intent was reached and each slot has the words that were labelled, small words
("my", "the") aside; one of somebody else's when the memory skill was not reached. The status is 0 where at least the
share --least is right and nothing of others was taken.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "test" / "end_to_end")]

from assistants import Assistant  # noqa: E402  (the line above must come first)
from servers import Wire, free_port  # noqa: E402

from ovos_persona_memory import language  # noqa: E402

SKILL = "ovos-skill-persona-memory.openvoiceos"
HANDLED_WITHIN_S = 20.0


@dataclass(frozen=True)
class Labelled:
    """One utterance and what it should reach."""

    lang: str
    text: str
    intent: str | None
    slots: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reached:
    """What an utterance reached: the intent of ours, else None and who took it."""

    intent: str | None
    by: str
    slots: dict[str, str]
    spoken: str


def read(path: Path) -> list[Labelled]:
    """The labelled utterances of a file."""
    text = path.read_text(encoding="utf-8")
    items = (
        json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines() if line]
    )
    return [Labelled(i["lang"], i["text"], i.get("intent"), i.get("slots") or {}) for i in items]


def play(wire: Wire, one: Labelled, number: int) -> Reached:
    """Say it in a session of its own, and see where it goes."""
    session = {"session_id": f"utterance-{number}", "lang": one.lang}
    wire.send("recognizer_loop:utterance", {"utterances": [one.text], "lang": one.lang}, {"session": session})
    matched: dict[str, Any] = {}
    spoken = []
    while (message := wire.receive(HANDLED_WITHIN_S)) is not None:
        kind, data, context = message.get("type"), message.get("data", {}), message.get("context", {})
        if (context.get("session") or {}).get("session_id") != session["session_id"]:
            continue
        if kind == "ovos.intent.matched":
            matched = data
        elif kind == "ovos.utterance.speak":
            spoken.append(str(data.get("utterance")))
        elif kind == "ovos.utterance.handled":
            break
    name = str(matched.get("intent_name") or "nobody")
    by = str(matched.get("skill_id") or name.partition(":")[0])
    slots = matched.get("slots") if isinstance(matched.get("slots"), dict) else {}
    ours = name.rpartition(":")[2].removesuffix(".intent") if by == SKILL else None
    return Reached(ours, by, {k: str(v) for k, v in slots.items() if isinstance(v, str)}, " ".join(spoken))


def is_right(one: Labelled, reached: Reached) -> bool:
    """Whether it reached what it should."""
    if one.intent is None or reached.intent != one.intent:
        return one.intent is None and reached.intent is None
    spoken = language.of(one.lang)
    return all(_same(spoken, words, reached.slots.get(name), one.text) for name, words in one.slots.items())


def _same(spoken: language.Language, wanted: str, got: str | None, text: str) -> bool:
    # where the words stand in the intent's template itself, there is no slot: the skill reads the utterance then
    if got is None:
        return " ".join(language.fold(wanted)) in " ".join(language.fold(text))
    left, right = set(spoken.content_words(wanted)), set(spoken.content_words(got))
    return left <= right or right <= left


def table(rows: Sequence[tuple[Labelled, Reached]]) -> Iterator[str]:
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


def misses(rows: Sequence[tuple[Labelled, Reached]]) -> Iterator[str]:
    """Each utterance that went wrong."""
    for one, reached in rows:
        if not is_right(one, reached):
            got = f"{reached.intent or reached.by} {reached.slots or ''}".strip()
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


def played(labelled: Sequence[Labelled]) -> Iterator[tuple[Labelled, Reached]]:
    """Each utterance with what it reached, in an assistant of its language."""
    for lang in dict.fromkeys(one.lang for one in labelled):
        with (
            tempfile.TemporaryDirectory() as folder,
            assistant_of(lang, Path(folder)) as assistant,
            Wire(assistant.port) as wire,
        ):
            for number, one in enumerate(one for one in labelled if one.lang == lang):
                yield one, play(wire, one, number)


def assistant_of(lang: str, folder: Path) -> Assistant:
    """An assistant that speaks this language alone."""
    settings = folder / "home" / ".config" / "mycroft" / "mycroft.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"lang": lang}))
    return Assistant(folder / "data", folder / "home", free_port())


if __name__ == "__main__":
    sys.exit(main())
