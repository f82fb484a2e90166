"""Fits what tells whether a hit is a part of an answer that was told bit by bit: "who brings what", "how many eggs".

    PYTHONPATH=.:scripts python training/fit_parts.py

Plays the weeks in ``training/<tag>/weeks`` into an empty memory each, as fit_answers does, asks the questions for
lists and counts in them, and what else is taken for one, and prints the weights for ``search/several_answers.py``; and
for a rule that tells what the judge alone gives enough, and for these weights, fitted without a quarter of the weeks in
turn, how many questions are told two thirds of their parts and no more beside them than these, which get less, only
something else, and nothing.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
from benchmarks.quality.weeks import read
from fit_answers import ROOT, SECONDS, answers_in, key_of, line_of, opened
from logistic import fitted, left_out_shares
from numpy.typing import NDArray

from ovos_persona_memory import extraction
from ovos_persona_memory.evaluation.rankers import wait_until_indexed
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.search import Question
from ovos_persona_memory.search.answer_judge import SEVERAL, breadth_of, looked_at
from ovos_persona_memory.search.several_answers import signs, told_from

KINDS, OTHERS = ("lists", "counting"), ("about_talk", "topic")
"""What asks for several things, and what is answered otherwise."""
JUDGED_FROM = (0.2, 0.4, 0.6)
"""The judge alone is measured with each of these."""
PENALTY = 5.0


@dataclass(frozen=True)
class Seen:
    """A question and what was looked at for it."""

    week: str
    signs: NDArray[np.float64]
    """A row for each hit: ``several_answers.signs``."""
    parts: NDArray[np.float64]
    """1 for each hit that is a part of the answer."""
    wanted: int
    """How many parts were told."""


def main() -> None:
    """Print weights and counts."""
    report([one for path in sorted(ROOT.glob("*/weeks/*.week")) for one in seen_in(path)])


def report(seen: Sequence[Seen]) -> None:
    """As ``main``, of what was seen."""
    rows, parts = np.concatenate([one.signs for one in seen]), np.concatenate([one.parts for one in seen])
    print(f"{len(seen)} questions with {len(rows)} hits, of which {int(parts.sum())} are parts of the answer")
    judged = [1 / (1 + np.exp(-one.signs[:, 0])) for one in seen]
    for least in JUDGED_FROM:
        print(f"judge >= {least}: {_told(seen, [own >= least for own in judged])}")
    sources = [one.week for one in seen for _ in one.parts]
    shares = left_out_shares(rows, parts, sources, PENALTY, np.ones(len(rows)))
    split = np.split(shares, np.cumsum([len(one.parts) for one in seen])[:-1])
    print(f"weighed: {_told(seen, [own >= told_from(own) for own in split])}")
    weights, bias = fitted(rows, parts, PENALTY)
    print("WEIGHTS =", ", ".join(f"{one:.3f}" for one in weights), f"BIAS = {bias:.3f}")


def seen_in(path: Path) -> Iterator[Seen]:
    """What the questions of a week see of several answers."""
    week, answers = read(path), answers_in(path.with_suffix(".answers"))
    told: dict[str, int] = {}
    now = [0.0]
    with tempfile.TemporaryDirectory() as folder, opened(folder, "auto", lambda: now[0]) as (memory, finding):
        for place, line in enumerate(week.lines):
            now[0] = (line.at + timedelta(seconds=SECONDS * place)).timestamp()
            heard = f"line {line.number}"
            said = Turn("user", line.words, at=now[0], lang=week.lang, speaker=line.person)
            memory.record([said], Scope("default"), utterance_id=heard)
            wanted = set(answers.get(line.number, ()))
            asked = Question(line.words, week.lang, heard, at=now[0], asker=line.person)
            found = []
            if line.number in answers and _is_for_several(line.kind, asked):
                wait_until_indexed(memory)
                found = looked_at(finding.hits(asked, Scope(), SEVERAL.among), asked, extraction, {}, SEVERAL)
            if found:
                parts = np.array([line_of(hit, told) in wanted for hit, _ in found], float)
                yield Seen(path.name, np.array(signs(found, asked)), parts, len(wanted))
            told[key_of(line.words)] = line.number


def _is_for_several(kind: str | None, asked: Question) -> bool:
    return kind in KINDS or (kind not in OTHERS and breadth_of(asked, extraction) is SEVERAL)


def _told(seen: Sequence[Seen], told: Sequence[NDArray[np.bool_]]) -> str:
    """How the questions are answered by what is told."""
    found = Counter(_outcome(one, own) for one, own in zip(seen, told, strict=True))
    return ", ".join(f"{name} {found[name]}" for name in ("told", "in part", "something else", "nothing"))


def _outcome(one: Seen, is_told: NDArray[np.bool_]) -> str:
    right, others = int(one.parts[is_told].sum()), int((1 - one.parts[is_told]).sum())
    if not right:
        return "something else" if others else "nothing"
    return "told" if 3 * right >= 2 * one.wanted and others <= right else "in part"


if __name__ == "__main__":
    main()
