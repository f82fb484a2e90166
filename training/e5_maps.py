"""Make ovos_persona_memory/search/e5_maps.npy: they turn vectors of multilingual-e5-small so that questions are near to
what answers them.

    PYTHONPATH=. python training/e5_maps.py

It needs torch and the extra ``embeddings``. Two linear maps, of remarks and of questions, are learned from the
households in ``training/<tag>/questions/*.house``: each question is to be nearer to the remarks that answer it than to
any other of eight households of its language (van den Oord et al., 2018, "Representation learning with contrastive
predictive coding"). Both begin as the identity and are held near it. A tenth of the households is left out first, to
tell what the maps are good for.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from pairs import House, houses_in
from torch import Tensor
from torch.nn import functional

from ovos_persona_memory.search import open_embedder
from ovos_persona_memory.search.e5_embedder import MAPS, E5Embedder

ROOT = Path(__file__).parent
TOGETHER, EPOCHS, RATE = 8, 6, 5e-4
"""Households whose remarks compete, passes over all of them, and the learning rate, which falls to 0."""
NEAR_IDENTITY, SHARPNESS = 3e-3, 3.0
"""Weight of the squares of what a map changes, and the logarithm of the first factor of the cosines."""
SEED, LEFT_OUT = 4, 10
FIRST = (1, 3, 10)


@dataclass(frozen=True)
class Vectors:
    """A household's questions that something answers and its remarks, [number, dim], and which answer which."""

    language: str
    questions: Tensor
    remarks: Tensor
    answers: Tensor
    """[questions, remarks]: 1 where a remark answers."""


class Maps(torch.nn.Module):
    """The maps, and how sharply cosines are told apart."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.remarks = torch.nn.Parameter(torch.eye(dim))
        self.questions = torch.nn.Parameter(torch.eye(dim))
        self.sharpness = torch.nn.Parameter(torch.tensor(SHARPNESS))

    def cosines(self, some: Sequence[Vectors]) -> Tensor:
        """Of every question with every remark of these households."""
        asked = torch.cat([one.questions for one in some]) @ self.questions
        said = torch.cat([one.remarks for one in some]) @ self.remarks
        return functional.normalize(asked, dim=1) @ functional.normalize(said, dim=1).T

    def changed(self) -> Tensor:
        """The squares of what the maps change."""
        same = torch.eye(len(self.remarks))
        return (self.remarks - same).pow(2).sum() + (self.questions - same).pow(2).sum()


def main() -> None:
    """Learn, tell what it is good for, write the file."""
    torch.manual_seed(SEED)
    chance = random.Random(SEED)
    embedder = open_embedder("e5")
    assert isinstance(embedder, E5Embedder)
    houses = [_vectors(embedder, house) for folder in sorted(ROOT.glob("*/questions")) for house in houses_in(folder)]
    chance.shuffle(houses)
    held, rest = houses[::LEFT_OUT], [one for place, one in enumerate(houses) if place % LEFT_OUT]
    print(f"{len(held)} of {len(houses)} households left out; the answer is among the first", FIRST)
    print("as they are:", _found(Maps(embedder.dim), held), flush=True)
    print("mapped:", _found(_learned(rest, embedder.dim, chance), held), flush=True)
    maps = _learned(houses, embedder.dim, chance)
    both = [maps.remarks.detach().numpy(), maps.questions.detach().numpy()]
    np.save(MAPS, np.stack(both).astype(np.float16))


def _vectors(embedder: E5Embedder, house: House) -> Vectors:
    answered = [(text, answers) for _, text, answers in house.asked if answers]
    answers = torch.zeros(len(answered), len(house.said))
    for place, (_, right) in enumerate(answered):
        answers[place, list(right)] = 1.0
    asked = embedder.centred([text for text, _ in answered], is_question=True)
    said = embedder.centred([text for _, text in house.said], is_question=False)
    return Vectors(house.language, torch.from_numpy(asked), torch.from_numpy(said), answers)


def _learned(houses: Sequence[Vectors], dim: int, chance: random.Random) -> Maps:
    maps = Maps(dim)
    optimizer = torch.optim.Adam(maps.parameters(), lr=RATE)
    for epoch in range(EPOCHS):
        optimizer.param_groups[0]["lr"] = RATE * (1 - epoch / EPOCHS)
        for some in _together(houses, chance):
            wanted = torch.block_diag(*(one.answers for one in some))
            found = (maps.cosines(some) * maps.sharpness.exp()).log_softmax(1)
            loss = -((found * wanted).sum(1) / wanted.sum(1)).mean() + NEAR_IDENTITY * maps.changed()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return maps


def _together(houses: Sequence[Vectors], chance: random.Random) -> Iterator[list[Vectors]]:
    """Households of one language, in another order each time."""
    by_language = defaultdict(list)
    for one in chance.sample(houses, len(houses)):
        by_language[one.language].append(one)
    parts = [every[at : at + TOGETHER] for every in by_language.values() for at in range(0, len(every), TOGETHER)]
    yield from chance.sample(parts, len(parts))


def _found(maps: Maps, houses: Sequence[Vectors]) -> str:
    """Of how many questions an answer is among the first remarks of all these households of its language, in %."""
    counts, total = dict.fromkeys(FIRST, 0), 0
    with torch.no_grad():
        for language in sorted({one.language for one in houses}):
            some = [one for one in houses if one.language == language]
            order = maps.cosines(some).argsort(1, descending=True)
            right = torch.block_diag(*(one.answers for one in some)).gather(1, order)
            total += len(right)
            for first in FIRST:
                counts[first] += int(right[:, :first].any(1).sum())
    return ", ".join(f"{first}: {100 * number / total:.1f}" for first, number in counts.items())


if __name__ == "__main__":
    main()
