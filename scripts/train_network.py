"""Makes a language's network of what words tell, out of the marked talk in training/: scripts/train_network.py en-US.

It needs PyTorch, which nothing else here does: pip install torch.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from train_facts import asked_for

from ovos_persona_memory import looks, network, tagging
from ovos_persona_memory.looks import Look
from ovos_persona_memory.measuring.training import SEED, Sample, Values, joined, swapped, values_of
from ovos_persona_memory.network import BESIDE, GATES, OWN, PARTS, UNHEARD, Network, Table, numbered, parts_of

ROUNDS, BATCH, RATE, DECAY = 7, 64, 2e-3, 0.05
"""Rounds through all talk: more fit it better, and people who are not in it worse."""
WIDTH = 64
"""Of the vectors of words, and of the memory in each direction."""
SWAPPED, JOINED = 0.25, 0.1
"""How likely an utterance has another value, and goes on with another utterance."""
DROPPED, FORGOTTEN, UNSEEN = 0.4, 0.2, 0.2
"""How much is left out while it learns: of vectors, of words, of what stands beside them."""
SELDOM = 2
"""Words that were said less often count as unheard: so it learns what to make of those."""
SMOOTHED = 0.03
"""Of each label's share that goes to all others."""
STEEPEST = 1.0
"""Length of a step's gradient at most."""
NO_WORD = -100
"""The label of what fills up a batch."""
Numbers = list[list[int]]


@dataclass(frozen=True)
class Shown:
    """An utterance as numbers; the lists have an item for each word."""

    words: list[int]
    own: Numbers
    parts: Numbers
    beside: Numbers
    labels: list[int]


@dataclass(frozen=True)
class Batch:
    """Utterances side by side, those that are shorter filled up."""

    words: Tensor
    own: tuple[Tensor, Tensor]
    parts: tuple[Tensor, Tensor]
    beside: tuple[Tensor, Tensor]
    labels: Tensor


class Net(nn.Module):
    """What ``ovos_persona_memory.network`` computes."""

    def __init__(self, words: int, labels: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, WIDTH)
        self.own, self.parts = (nn.EmbeddingBag(rows, WIDTH, mode=how) for rows, how in ((OWN, "sum"), (PARTS, "mean")))
        self.beside = nn.EmbeddingBag(BESIDE, labels, mode="sum")
        for table in (self.words, self.own, self.parts):
            nn.init.normal_(table.weight, 0, 0.1)
        nn.init.zeros_(self.beside.weight)
        self.before, self.behind = nn.LayerNorm(WIDTH), nn.LayerNorm(2 * WIDTH)
        self.memory = nn.LSTM(WIDTH, WIDTH, batch_first=True, bidirectional=True)
        self.drop, self.out = nn.Dropout(DROPPED), nn.Linear(2 * WIDTH, labels)

    def forward(self, given: Batch) -> Tensor:
        shape = (*given.words.shape, -1)
        vectors = self.words(given.words) + (self.own(*given.own) + self.parts(*given.parts)).view(shape)
        real = (given.labels != NO_WORD)[..., None].float()
        read, _ = self.memory(self.drop(self.before(vectors)) * real)
        deep: Tensor = self.out(self.drop(self.behind(read)))
        return deep + self.beside(*given.beside).view(shape)


@dataclass(frozen=True)
class Teacher:
    """Shows a network the talk of one language, each round with other values and other things left out."""

    seen: looks.Looks
    told: list[Sample]
    labels: list[str]
    heard: NDArray[np.uint32]
    values: Values
    chance: random.Random

    @classmethod
    def of(cls, told: list[Sample], tag: str) -> Teacher:
        """One for these samples; those that count twice stand in them twice."""
        labels = sorted({label for sample in told for label in sample.labels} - {tagging.NOTHING})
        once = list({id(sample): sample for sample in told}.values())
        counted = Counter(word for sample in once for word in sample.words.folded)
        heard = np.unique(network.hashes(word for word, times in counted.items() if times >= SELDOM))
        return cls(looks.of(tag), told, [tagging.NOTHING, *labels], heard, values_of(once), random.Random(SEED))

    def batches(self) -> Iterator[Batch]:
        """All talk once, in no order, utterances of about the same length together."""
        shown = [self._shown(self._varied(sample)) for sample in self.told]
        self.chance.shuffle(shown)
        some = 20 * BATCH
        alike = [sorted(shown[at : at + some], key=lambda one: len(one.words)) for at in range(0, len(shown), some)]
        parts = [part[at : at + BATCH] for part in alike for at in range(0, len(part), BATCH)]
        self.chance.shuffle(parts)
        return map(_batch, parts)

    def _varied(self, sample: Sample) -> Sample:
        if self.chance.random() < SWAPPED:
            sample = swapped(sample, self.values, self.chance)
        return joined(sample, self.chance.choice(self.told)) if self.chance.random() < JOINED else sample

    def _shown(self, sample: Sample) -> Shown:
        seen = self.seen.of(sample.words, sample.before, sample.hints, sample.refused)
        rows = np.searchsorted(self.heard, hashes := network.hashes(sample.words.folded))
        known = self.heard[np.minimum(rows, len(self.heard) - 1)] == hashes
        words = [
            int(row) + 1 if is_known and not self._misses(FORGOTTEN) else UNHEARD
            for row, is_known in zip(rows, known, strict=True)
        ]
        return Shown(
            words,
            [numbered(look.own, OWN) for look in seen],
            [numbered(parts_of(look.word), PARTS) for look in seen],
            [self._beside(look) for look in seen],
            [self.labels.index(label) for label in sample.labels],
        )

    def _beside(self, look: Look) -> list[int]:
        return [row for row in numbered((look.word, *look.beside), BESIDE) if not self._misses(UNSEEN)]

    def _misses(self, share: float) -> bool:
        return self.chance.random() < share


def main() -> None:
    """One network for each language that is named."""
    for tag, told, path in asked_for(__doc__, tagging.NETWORK):
        trained(told, tag).write(path)
        print(f"{tag}: {len(told)} utterances, {path}, {path.stat().st_size:,} bytes")


def trained(told: list[Sample], tag: str) -> Network:
    """The network that these samples make."""
    torch.manual_seed(SEED)
    teacher = Teacher.of(told, tag)
    net = Net(len(teacher.heard) + 1, len(teacher.labels))
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    steps = ROUNDS * (len(told) // BATCH + 2)
    pace = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.1)
    for number in range(1, ROUNDS + 1):
        losses = [_step(net, batch, optimizer, pace) for batch in teacher.batches()]
        print(f"{tag}: round {number} of {ROUNDS}, loss {sum(losses) / len(losses):.3f}", flush=True)
    tables = {name: Table.of(_array(getattr(net, name).weight)) for name in ("words", "own", "parts", "beside")}
    return Network(tuple(teacher.labels), teacher.heard, tables, _weights(net))


def _step(net: Net, batch: Batch, optimizer: Any, pace: Any) -> float:
    found = net(batch).flatten(0, 1)
    labels = batch.labels.flatten()
    loss = functional.cross_entropy(found, labels, ignore_index=NO_WORD, label_smoothing=SMOOTHED)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), STEEPEST)
    optimizer.step()
    pace.step()
    return float(loss.detach())


def _batch(part: Sequence[Shown]) -> Batch:
    size = max(len(one.words) for one in part)
    bags = (_bag([getattr(one, name) for one in part], size) for name in ("own", "parts", "beside"))
    words, labels = ([one.words for one in part], UNHEARD), ([one.labels for one in part], NO_WORD)
    filled = (torch.tensor([some + [by] * (size - len(some)) for some in lists]) for lists, by in (words, labels))
    return Batch(next(filled), *bags, next(filled))


def _bag(lists: Sequence[Numbers], size: int) -> tuple[Tensor, Tensor]:
    """All numbers, and where each list of them begins."""
    every = [numbers for one in lists for numbers in (*one, *([[]] * (size - len(one))))]
    begins = np.cumsum([0, *map(len, every)])[:-1]
    return torch.tensor([number for some in every for number in some], dtype=torch.long), torch.from_numpy(begins)


# from PyTorch to a file


def _weights(net: Net) -> dict[str, NDArray[np.float32]]:
    memory = {name: _array(weight) for name, weight in net.memory.named_parameters()}
    ways = ("l0", "l0_reverse")
    given = [_gates(memory[f"weight_ih_{way}"]).T for way in ways]
    again = [_gates(memory[f"weight_hh_{way}"]).T for way in ways]
    bias = [_gates(memory[f"bias_ih_{way}"] + memory[f"bias_hh_{way}"]) for way in ways]
    weights = {"given": np.hstack(given), "again": np.stack(again), "bias": np.hstack(bias)}
    for name, layer in (("in", net.before), ("out", net.behind)):
        weights |= {f"{name}_scale": _array(layer.weight), f"{name}_shift": _array(layer.bias)}
    return weights | {"out": _array(net.out.weight).T, "out_bias": _array(net.out.bias)}


def _array(weight: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = weight.detach().numpy()
    return array


def _gates(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """From the order input, forget, new, output to the one with new last; the others halved for a logistic function
    that is computed as a hyperbolic tangent."""
    given, forgotten, new, output = np.split(rows, GATES)
    return np.concatenate([given / 2, forgotten / 2, output / 2, new])


if __name__ == "__main__":
    main()
