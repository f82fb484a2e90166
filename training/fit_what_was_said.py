"""Fits what tells which statements a question about the talk asks for: "what did grandma just tell you".

    PYTHONPATH=.:scripts python training/fit_what_was_said.py

Reads the weeks in ``training/<tag>/weeks``, takes the questions in them that ask what was said, and prints the weights
for ``search/what_was_said.py``: of the signs, by which the likeliest statement is the highest, and of what tells
whether that one is asked for at all, which is learned with each answer once left in the talk and once taken out of it.
Before that it prints, fitted without a quarter of the weeks in turn, how often the likeliest statement and one of those
that are told is asked for, and of how many questions something is told with either.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
from benchmarks.quality.weeks import Week, WeekLine, read
from fit_answers import ROOT, SECONDS, answers_in
from logistic import PARTS, SEED, fitted, left_out_shares
from numpy.typing import NDArray

from ovos_persona_memory import extraction
from ovos_persona_memory.records import Hit
from ovos_persona_memory.search import Question
from ovos_persona_memory.search.what_was_said import ALSO_FROM, AT_MOST, HELD, HOLDS, HOLDS_NOT, signs
from ovos_persona_memory.text import languages

STEPS, RATE, PENALTY = 400, 0.05, 0.02
SURENESS_PENALTY = 1.0
THRESHOLDS = (0.1, 0.15, 0.2, 0.3, 0.5)
FEWEST = 3
"""So many statements are left, >=, where an answer is taken out."""


@dataclass(frozen=True)
class Talk:
    """A question and the statements before it."""

    week: str
    signs: NDArray[np.float64]
    """A row for each statement: ``what_was_said.signs``."""
    wanted: NDArray[np.float64]
    """1 for each that is asked for."""

    @property
    def names_topic(self) -> bool:
        """Whether it is named what was spoken of."""
        return bool((self.signs[:, HOLDS] + self.signs[:, HOLDS_NOT]).any())

    def without_answer(self) -> Talk:
        """The same, had nobody said what is asked for."""
        others = self.wanted == 0
        return Talk(self.week, self.signs[others], self.wanted[others])


def main() -> None:
    """Print weights and counts."""
    talks = [one for path in sorted(ROOT.glob("*/weeks/*.week")) for one in talks_in(path)]
    talks = [one for one in talks if one.wanted.any()]
    weeks = sorted({one.week for one in talks})
    random.Random(SEED).shuffle(weeks)
    shown: list[tuple[str, list[float], float, bool]] = []
    for part in range(PARTS):
        held_out = {week for place, week in enumerate(weeks) if place % PARTS == part}
        weights = softmax_fitted([one for one in talks if one.week not in held_out])
        others = [one for one in talks if one.week in held_out]
        found = [_best(one, weights) for one in others]
        first, told = (
            sum(bool(one.wanted[best[:most]].any()) for one, best in zip(others, found, strict=True)) / len(others)
            for most in (1, AT_MOST)
        )
        print(f"{len(others)} questions: the likeliest {first:.3f}, one of those told {told:.3f}")
        shown += [(one.week, *_sureness_row(one, weights), True) for one in others if one.names_topic]
        left = [one.without_answer() for one in others if one.names_topic]
        shown += [(one.week, *_sureness_row(one, weights), False) for one in left if len(one.wanted) >= FEWEST]
    rows, wanted = np.array([row for _, row, _, _ in shown]), np.array([one for _, _, one, _ in shown])
    shares = left_out_shares(rows, wanted, [week for week, *_ in shown], SURENESS_PENALTY, np.ones(len(rows)))
    is_there = np.array([one for *_, one in shown])
    for least in THRESHOLDS:
        right, wrong = ((shares >= least) & is_there & (wanted == one) for one in (1, 0))
        gone = (shares >= least) & ~is_there
        print(f"from {least}: {right.sum()} of {int(wanted.sum())} right ones are told, {wrong.sum()} others", end="")
        print(f", and {gone.sum()} of {(~is_there).sum()} where the answer was taken out")
    print("WEIGHTS =", ", ".join(f"{one:.2f}" for one in softmax_fitted(talks)))
    weights, bias = fitted(rows, wanted, SURENESS_PENALTY)
    print("SURENESS =", ", ".join(f"{one:.2f}" for one in weights), f"SURENESS_BIAS = {bias:.2f}")


def talks_in(path: Path) -> Iterator[Talk]:
    """The questions of a week that ask what was said."""
    week, answers = read(path), answers_in(path.with_suffix(".answers"))
    told: list[tuple[int, Hit]] = []
    for place, line in enumerate(week.lines):
        at = (line.at + timedelta(seconds=SECONDS * place)).timestamp()
        if line.kind is None:
            told.append((line.number, _hit(week, line, at)))
        elif line.number in answers and extraction.asks_what_was_said(line.words, week.lang):
            said = [(number, hit) for number, hit in told if _states(hit)]
            if said:
                asked = Question(line.words, week.lang, at=at, timezone="UTC", asker=line.person)
                remarks = [(hit.text, None if hit.speaker == line.person else hit.speaker) for _, hit in said]
                judged = extraction.answering(line.words, remarks)
                rows = signs([(hit, share) for (_, hit), share in zip(said, judged, strict=True)], asked)
                wanted = [float(number in answers[line.number]) for number, _ in said]
                yield Talk(path.name, np.array(rows), np.array(wanted))


def _hit(week: Week, line: WeekLine, at: float) -> Hit:
    return Hit(
        id=str(line.number),
        kind="turn",
        text=line.words,
        score=1.0,
        sure=False,
        reason="",
        at=at,
        speaker=line.person,
        lang=week.lang,
    )


def _states(hit: Hit) -> bool:
    if languages.for_text(hit.lang, hit.text).is_command(hit.text) or extraction.surely_asks(hit.text, hit.lang):
        return False
    return extraction.to_forget(hit.text, hit.lang) is None


def softmax_fitted(talks: Sequence[Talk]) -> NDArray[np.float64]:
    """The weights with which the statements that are asked for have most of the probability among the others."""
    rows = [torch.tensor(one.signs, dtype=torch.float32) for one in talks]
    wanted = [torch.tensor(one.wanted > 0) for one in talks]
    weights = torch.zeros(rows[0].shape[1], requires_grad=True)
    optimizer = torch.optim.Adam([weights], lr=RATE)
    for _ in range(STEPS):
        optimizer.zero_grad()
        shares = (torch.log_softmax(row @ weights, 0)[one] for row, one in zip(rows, wanted, strict=True))
        loss = -torch.stack([torch.logsumexp(one, 0) for one in shares]).mean() + PENALTY * (weights**2).sum()
        loss.backward()  # type: ignore[no-untyped-call]  # torch carries no types for it
        optimizer.step()
    made: NDArray[np.float64] = weights.detach().numpy().astype(np.float64)
    return made


def _best(talk: Talk, weights: NDArray[np.float64]) -> list[int]:
    """The places of those that are told, the likeliest first."""
    sums = talk.signs @ weights
    likely = np.exp(sums - sums.max())
    return [int(place) for place in np.argsort(-sums)[:AT_MOST] if likely[place] >= ALSO_FROM]


def _sureness_row(talk: Talk, weights: NDArray[np.float64]) -> tuple[list[float], float]:
    """What tells whether the likeliest statement is asked for, and whether it is."""
    sums = talk.signs @ weights
    likely = np.exp(sums - sums.max())
    first = int(sums.argmax())
    row = talk.signs[first]
    return [row[HOLDS], row[HELD], float(1 / likely.sum()), float(sums[first])], float(talk.wanted[first])


if __name__ == "__main__":
    main()
