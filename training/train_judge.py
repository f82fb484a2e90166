"""Makes the judge of answers: ``training/train_judge.py [model file]``.

Layers and a head of its own upon those of the reader that it shares, if any, which stay as they are: what they make of
a question and a remark is computed once. It begins with what the reader's layers and head have learned and, above them,
with the upper layers of the base model; what is kept is the mean of what it was on its way, newer states counting more.
It needs what ``base_encoder`` needs.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from base_encoder import BaseFile, BaseLayer
from numpy.typing import NDArray
from pairs import HELD, Pair, blocks_in, houses_in, pairs_of
from torch import Tensor, nn
from torch.nn import functional

from ovos_persona_memory.extraction.reader.answering import FILE
from ovos_persona_memory.extraction.reader.encoder import DENSE, NORMS, Dense, Layer, Norm, Vectors
from ovos_persona_memory.extraction.reader.judge_model import HEADS, MOST_LAYERS, SHARED, JudgeModel, pieces_of
from ovos_persona_memory.extraction.reader.model import ReaderModel
from ovos_persona_memory.extraction.reader.reader import FILE as READER

ROOT = Path(__file__).parent
SEED = 7
BLOCK_SHARE, HOUSE_TIMES = 3, 3
"""A third of the pairs of single remarks is shown in an epoch, and those of households three times: they are what
people ask."""
EPOCHS, BATCH, DECAY = 0.4, 64, 0.02
RATE, LOWEST, HEAD_TIMES, WARM = 1e-4, 0.5, 3.0, 0.05
"""The maximum learning rate of the highest layer, what share of it the lowest has, how much that of the head is above
it, and the share of steps until then."""
MEAN_FROM, KEPT = 0.3, 0.998
"""From this share of the steps on the mean is taken, of which each step leaves such a share."""
STEEPEST, DOUBTED, DROPPED = 1.0, 0.04, 0.1
"""Maximum norm of a gradient; how far from sure an answer may be at most; the share of numbers that are left out."""
HAS_BFLOAT16 = torch.backends.cpu.get_cpu_capability() == "AVX512"
"""Whether layers are computed in bfloat16: in a CPU without AVX-512 that takes a hundred times as long."""
ALIKE_IN, AT_ONCE = 50, 64
"""Batches among which pairs are sorted by their lengths, and pairs that the lower layers read at once."""


class TorchLayer(nn.Module):
    """What ``encoder.Layer`` computes."""

    def __init__(self, layer: Layer, heads: int) -> None:
        super().__init__()
        self.heads = heads
        for name in DENSE:
            dense: Dense = getattr(layer, name)
            weights = dense.rows.astype(np.float32) * dense.scales
            linear = nn.Linear(*weights.shape)
            linear.weight.data, linear.bias.data = _tensor(weights.T), _tensor(dense.shift)
            setattr(self, name, linear)
        for name in NORMS:
            norm: Norm = getattr(layer, name)
            made = nn.LayerNorm(len(norm.scale), eps=1e-12)
            made.weight.data, made.bias.data = _tensor(norm.scale), _tensor(norm.shift)
            setattr(self, name, made)

    def forward(self, vectors: Tensor, real: Tensor) -> Tensor:
        size, length, _ = vectors.shape
        split = [getattr(self, name)(vectors).view(size, length, self.heads, -1).transpose(1, 2) for name in DENSE[:3]]
        mixed = functional.scaled_dot_product_attention(*split, attn_mask=real[:, None, None, :])
        vectors = self.after_others(vectors + self.output(mixed.transpose(1, 2).reshape(vectors.shape)))
        up = functional.gelu(self.up(vectors), approximate="tanh")
        made: Tensor = self.after_itself(vectors + self.down(up))
        return made

    def packed(self) -> Layer:
        """The layer as it is used."""
        dense = {
            name: Dense.of(as_array(getattr(self, name).weight).T, as_array(getattr(self, name).bias)) for name in DENSE
        }
        norms = {name: Norm(as_array(getattr(self, name).weight), as_array(getattr(self, name).bias)) for name in NORMS}
        return Layer(**dense, **norms)


class JudgeNet(nn.Module):
    """How much a remark seems to answer its question, from what the lower layers make of both."""

    def __init__(self, reader: ReaderModel) -> None:
        super().__init__()
        heads, weights = reader.encoder.heads, reader.weights
        changed = [TorchLayer(one, heads) for one in reader.encoder.layers[SHARED:]]
        self.layers = nn.ModuleList([*changed, *_upper_layers(len(reader.encoder.layers), heads)])
        for name in HEADS:
            linear = nn.Linear(*weights[name].shape)
            linear.weight.data, linear.bias.data = _tensor(weights[name].T), _tensor(weights[f"{name}_bias"])
            setattr(self, name, linear)
        self.skip = nn.Dropout(DROPPED)

    def forward(self, vectors: Tensor, real: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=HAS_BFLOAT16):
            for layer in self.layers:
                vectors = self.skip(layer(vectors, real))
        made: Tensor = self.answer(torch.tanh(self.deep(self.skip(vectors[:, 0].float())))).squeeze(-1)
        return made

    def packed(self, reader: ReaderModel) -> JudgeModel:
        """The model that the product reads."""
        weights = {name: as_array(getattr(self, name).weight).T for name in HEADS}
        weights |= {f"{name}_bias": as_array(getattr(self, name).bias) for name in HEADS}
        layers = tuple(one.packed() for one in self.layers if isinstance(one, TorchLayer))
        return JudgeModel(reader, layers, weights)


@dataclass(frozen=True)
class Shown:
    """Pairs as the lower layers read them."""

    vectors: NDArray[np.float16]
    """[pieces of all pairs, width]"""
    bounds: dict[Pair, tuple[int, int]]

    @classmethod
    def of(cls, pairs: Sequence[Pair], reader: ReaderModel) -> Shown:
        """Reads every pair once, those of about the same length together."""
        lower = [TorchLayer(one, reader.encoder.heads).eval() for one in reader.encoder.layers[:SHARED]]
        pieces = {pair: pieces_of(reader.encoder, pair.asked, pair.said) for pair in dict.fromkeys(pairs)}
        ordered = sorted(pieces, key=lambda pair: len(pieces[pair][0]))
        ends = np.cumsum([0, *(len(pieces[pair][0]) for pair in ordered)])
        vectors = np.empty((int(ends[-1]), reader.encoder.table.of([0]).shape[1]), np.float16)
        bounds = {pair: (int(ends[n]), int(ends[n + 1])) for n, pair in enumerate(ordered)}
        for first in range(0, len(ordered), AT_ONCE):
            some = ordered[first : first + AT_ONCE]
            parts = reader.weights["parts"]
            placed = [reader.encoder.placed(rows, parts[kinds]) for rows, kinds in (pieces[pair] for pair in some)]
            made, real = padded(placed)
            with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=HAS_BFLOAT16):
                for layer in lower:
                    made = layer(made, real)
            for pair, row in zip(some, made.float().numpy(), strict=True):
                start, end = bounds[pair]
                vectors[start:end] = row[: end - start]
        return cls(vectors, bounds)

    def batch(self, pairs: Sequence[Pair]) -> tuple[Tensor, Tensor]:
        """Vectors of these pairs, shorter ones padded, and which are real."""
        return padded([self.vectors[slice(*self.bounds[pair])].astype(np.float32) for pair in pairs])

    def size(self, pair: Pair) -> int:
        """Pieces of a pair."""
        start, end = self.bounds[pair]
        return end - start


def _upper_layers(first: int, heads: int) -> Iterator[TorchLayer]:
    """The layers of the base model from this number on."""
    base = BaseFile.read()
    for layer in (BaseLayer(base, number) for number in range(first, MOST_LAYERS)):
        made = TorchLayer(layer.packed(), heads)
        made.load_state_dict(layer.state_dict())
        yield made


def padded(rows: Sequence[Vectors]) -> tuple[Tensor, Tensor]:
    """The vectors of pieces of several texts, shorter ones padded, and which are real."""
    longest = max(map(len, rows))
    vectors = np.zeros((len(rows), longest, rows[0].shape[1]), np.float32)
    real = np.zeros((len(rows), longest), bool)
    for place, one in enumerate(rows):
        vectors[place, : len(one)], real[place, : len(one)] = one, True
    return torch.from_numpy(vectors), torch.from_numpy(real)


def read_pairs(chance: random.Random) -> list[Pair]:
    """The pairs of an epoch, and of each pair as many as it is shown."""
    folders = sorted(ROOT.glob("*/questions"))
    blocks = [block for folder in folders for block in blocks_in(folder)]
    single = pairs_of([one for place, one in enumerate(blocks) if place % HELD], chance)
    houses = [pair for folder in folders for house in houses_in(folder) for pair in house.pairs(chance)]
    return chance.sample(single, len(single) // BLOCK_SHARE) + houses * HOUSE_TIMES


def batches(pairs: Sequence[Pair], shown: Shown, chance: random.Random) -> Iterator[list[Pair]]:
    """Batches without end, pairs of about the same length together."""
    while True:
        mixed = chance.sample(pairs, len(pairs))
        some = ALIKE_IN * BATCH
        alike = [sorted(mixed[at : at + some], key=shown.size) for at in range(0, len(mixed), some)]
        each = [part[at : at + BATCH] for part in alike for at in range(0, len(part), BATCH)]
        yield from chance.sample(each, len(each))


def trained(reader: ReaderModel, chance: random.Random) -> JudgeNet:
    """The network, trained on all pairs."""
    pairs = read_pairs(chance)
    print(f"{len(pairs)} pairs, of which {len(set(pairs))} differ", flush=True)
    shown = Shown.of(pairs, reader)
    net = JudgeNet(reader)
    heads = [*net.deep.parameters(), *net.answer.parameters()]
    shares = np.linspace(LOWEST, 1.0, len(net.layers))
    rates = [*(RATE * float(share) for share in shares), RATE * HEAD_TIMES]
    parts = [*(list(layer.parameters()) for layer in net.layers), heads]
    groups = [{"params": part, "lr": rate} for part, rate in zip(parts, rates, strict=True)]
    optimizer = torch.optim.AdamW(groups, weight_decay=DECAY)
    steps = int(EPOCHS * len(pairs) / BATCH)
    return descended(net, _losses(net, pairs, shown, chance), Descent(optimizer, rates, steps, WARM, MEAN_FROM))


def _losses(net: JudgeNet, pairs: Sequence[Pair], shown: Shown, chance: random.Random) -> Iterator[Tensor]:
    for some in batches(pairs, shown, chance):
        wanted = torch.tensor([1 - DOUBTED if pair.answers else DOUBTED for pair in some])
        yield functional.binary_cross_entropy_with_logits(net(*shown.batch(some)), wanted)


Net = TypeVar("Net", bound=nn.Module)


@dataclass(frozen=True)
class Descent:
    """How a network is trained."""

    optimizer: torch.optim.Optimizer
    rates: Sequence[float]
    """The maximum learning rate of each group of parameters."""
    steps: int
    warm: float
    """The share of steps until the maximum."""
    mean_from: float
    """From this share of the steps on the mean is taken."""


def descended(net: Net, losses: Iterator[Tensor], how: Descent) -> Net:
    """The mean of the states of a network on its way; ``losses``: of one batch after the other, as it is then."""
    pace = torch.optim.lr_scheduler.OneCycleLR(
        how.optimizer, list(how.rates), total_steps=how.steps + 1, pct_start=how.warm, anneal_strategy="linear"
    )
    began, seen, mean = time.monotonic(), [], Mean(net)
    net.train()
    for number, loss in zip(range(1, how.steps + 1), losses, strict=False):
        how.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), STEEPEST)
        how.optimizer.step()
        pace.step()
        seen.append(float(loss.detach()))
        if number > how.mean_from * how.steps:
            mean.add(net)
        if number % 250 == 0 or number == how.steps:
            lately = sum(seen[-250:]) / len(seen[-250:])
            print(f"{time.monotonic() - began:.0f} s: step {number} of {how.steps}, loss {lately:.4f}", flush=True)
    net.load_state_dict(mean.state)
    return net.eval()


class Mean:
    """The mean of the states of a network."""

    def __init__(self, net: nn.Module) -> None:
        self.state = self._of(net)
        self._is_empty = True

    def add(self, net: nn.Module) -> None:
        """Count the present state in."""
        now = self._of(net)
        kept = 0.0 if self._is_empty else KEPT
        self.state = {name: kept * self.state[name] + (1 - kept) * now[name] for name in now}
        self._is_empty = False

    @staticmethod
    def _of(net: nn.Module) -> dict[str, Tensor]:
        return {name: tensor.detach().clone() for name, tensor in net.state_dict().items()}


def _tensor(numbers: Vectors) -> Tensor:
    return torch.from_numpy(np.array(numbers, np.float32))


def as_array(tensor: Tensor) -> Vectors:
    """The numbers of a tensor, float32."""
    return tensor.detach().numpy().astype(np.float32)


def main() -> None:
    """Train, and write the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path, default=FILE)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(SEED)
    reader = ReaderModel.load(READER)
    trained(reader, random.Random(SEED)).packed(reader).save(asked.model)
    print(f"{asked.model}: {asked.model.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
