"""The PyTorch form of the reader: an encoder, labels of each word, and pointers from values to what they belong to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from base_encoder import BaseEncoder, BaseFile
from pairs import Pair
from samples import NOBODY, UNKNOWN, Sample
from torch import Tensor, nn
from torch.nn import functional

from ovos_persona_memory.extraction.reader.judge_model import ASKED_PIECES
from ovos_persona_memory.extraction.reader.labels import KINDS, NEAR, SAYINGS, SLOT_LABELS
from ovos_persona_memory.extraction.reader.model import (
    ASKED,
    CONTEXT_PIECES,
    EARLY,
    HEADS,
    ITSELF,
    POINTERS,
    ReaderModel,
)

POINTER = 64
"""Size of the vectors by which a value finds what it belongs to."""
PARTS, STYLES = 4, 3
"""Parts of what is read: said before by the assistant, said before by a person, the turn itself, and what is asked."""
SMOOTHED, DOUBTED = 0.02, 0.04
"""How sure the network may become at most of labels, and of answers."""
QUESTION = KINDS.index("question")
WEIGHTS = {"slot": 1.0, "saying": 0.5, "who": 0.4, "thing": 0.4, "pointer": 0.2, "kind": 0.3, "early": 0.2}
"""How much each part of the loss counts."""
DROPPED = 0.1


@dataclass(frozen=True)
class Batch:
    """Turns side by side, shorter ones padded."""

    pieces: Tensor
    parts: Tensor
    known: Tensor
    styles: Tensor
    real: Tensor
    firsts: Tensor
    """Place of each word's first piece."""
    there: Tensor
    """Which words are no padding."""
    slots: Tensor
    sayings: Tensor
    who: Tensor
    thing: Tensor
    kinds: Tensor
    rows: list[int]
    values: list[int]
    targets: Tensor
    """Of each value [2]: the word of whom, and of what, plus 1; 0 where there is none."""


class ReaderNet(nn.Module):
    """Reads a batch of turns."""

    def __init__(self, encoder: BaseEncoder) -> None:
        super().__init__()
        width = encoder.base.width
        self.encoder = encoder
        self.parts, self.styles, self.known = (
            nn.Embedding(PARTS, width),
            nn.Embedding(STYLES, width),
            nn.Embedding(2, width),
        )
        for table in (self.parts, self.styles, self.known):
            nn.init.zeros_(table.weight)
        self.skip = nn.Dropout(DROPPED)
        self.slot, self.saying = nn.Linear(width, SLOT_LABELS), nn.Linear(width, len(SAYINGS))
        self.who, self.thing, self.kind = nn.Linear(width, 3), nn.Linear(width, 3), nn.Linear(width, len(KINDS))
        self.early = nn.Linear(width, 1)
        self.deep, self.answer = nn.Linear(width, width), nn.Linear(width, 1)
        self.asks = nn.ModuleList(nn.Linear(width, POINTER) for _ in range(2))
        self.answers = nn.ModuleList(nn.Linear(width, POINTER) for _ in range(2))
        self.nobody = nn.Parameter(torch.zeros(2, POINTER))
        self.nobody_bias = nn.Parameter(torch.zeros(2))
        self.distance = nn.Parameter(torch.zeros(2, 2 * NEAR + 1))

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        told = self.styles(batch.styles) * (batch.styles != STYLES - 1)[:, None]
        beside = self.parts(batch.parts) + self.known(batch.known) + told[:, None, :]
        begun, vectors = self.encoder(batch.pieces, batch.real, beside, EARLY)
        firsts = batch.firsts[..., None].expand(-1, -1, vectors.shape[-1])
        early = self.early(begun.gather(1, firsts)).squeeze(-1).masked_fill(~batch.there, -1e4)
        words = self.skip(vectors.gather(1, firsts))
        place = torch.arange(words.shape[1])
        far = (place[None, :] - place[:, None]).clamp(-NEAR, NEAR) + NEAR
        pointers = []
        for number in range(2):
            asked = self.asks[number](words)
            score = asked @ self.answers[number](words).transpose(1, 2) / POINTER**0.5 + self.distance[number][far]
            nobody = asked @ self.nobody[number] / POINTER**0.5 + self.nobody_bias[number]
            pad = ~torch.cat([torch.ones(len(words), 1, dtype=torch.bool), batch.there], 1)
            both = torch.cat([nobody[..., None], score], -1).masked_fill(pad[:, None, :], -1e4)
            pointers.append(both)
        return {
            "slot": self.slot(words),
            "saying": self.saying(words),
            "who": self.who(words),
            "thing": self.thing(words),
            "kind": self.kind(self.skip(vectors[:, 0])),
            "pointers": torch.stack(pointers),
            "early": early.logsumexp(1),
        }

    def loss(self, batch: Batch) -> Tensor:
        """How far what it reads is from the labels."""
        made = self(batch)
        total = torch.zeros(())
        for name, labels in (
            ("slot", batch.slots),
            ("saying", batch.sayings),
            ("who", batch.who),
            ("thing", batch.thing),
        ):
            if (labels >= 0).any():
                total = total + WEIGHTS[name] * functional.cross_entropy(
                    made[name].flatten(0, 1), labels.flatten(), ignore_index=UNKNOWN, label_smoothing=SMOOTHED
                )
        if (batch.kinds >= 0).any():
            total = total + WEIGHTS["kind"] * functional.cross_entropy(made["kind"], batch.kinds, ignore_index=UNKNOWN)
        tells = ((batch.slots != 0) & batch.there).any(1) | (batch.kinds == QUESTION)
        total = total + WEIGHTS["early"] * functional.binary_cross_entropy_with_logits(made["early"], tells.float())
        for number in range(2):
            target = batch.targets[:, number] if batch.rows else batch.kinds[:0]
            if (target >= 0).any():
                points = made["pointers"][number][batch.rows, batch.values]
                total = total + WEIGHTS["pointer"] * functional.cross_entropy(points, target, ignore_index=UNKNOWN)
        return total

    def judge(self, pairs: Sequence[Pair]) -> Tensor:
        """How much each remark seems to answer its question: the logarithm of the odds."""
        shown = [_pair_pieces(self.encoder, pair) for pair in pairs]
        pieces, parts = _filled([one[0] for one in shown], -1), _filled([one[1] for one in shown], ITSELF)
        real = pieces >= 0
        _, vectors = self.encoder(pieces.clamp(min=0), real, self.parts(parts), EARLY)
        made: Tensor = self.answer(torch.tanh(self.deep(self.skip(vectors[:, 0])))).squeeze(-1)
        return made

    def judge_loss(self, pairs: Sequence[Pair]) -> Tensor:
        """How far that is from the truth."""
        answers = torch.tensor([1 - DOUBTED if pair.answers else DOUBTED for pair in pairs])
        return functional.binary_cross_entropy_with_logits(self.judge(pairs), answers)


def _pair_pieces(encoder: BaseEncoder, pair: Pair) -> tuple[list[int], list[int]]:
    """Rows of pieces of a question and a remark, and their parts."""
    cut = encoder.pieces.cut
    asked = [row for word in pair.asked for row in cut(word)][-ASKED_PIECES:]
    said = [row for word in pair.said for row in cut(word)]
    rows = [*[0, *asked, 1, *said][: encoder.places.shape[0] - 1], 1]
    return rows, [ITSELF, *[ASKED] * (len(asked) + 1), *[ITSELF] * (len(rows) - len(asked) - 2)]


def pieces_of(encoder: BaseEncoder, sample: Sample) -> tuple[list[int], list[int], list[int], list[int]]:
    """Rows of pieces, their parts, whether each is of a known name, and the place of each word's first piece."""
    cut = encoder.pieces.cut
    before = [row for word in sample.context for row in cut(word)][-CONTEXT_PIECES:]
    rows = [0, *before, *([1] if before else [])]
    parts = [2, *[0 if sample.by_assistant else 1] * (len(rows) - 1)]
    known, firsts = [0] * len(rows), []
    for place, word in enumerate(sample.words):
        firsts.append(len(rows))
        made = cut(word)
        rows += made
        known += [int(place in sample.known)] * len(made)
    size = encoder.places.shape[0] - 1
    rows, known = [*rows[:size], 1], [*known[:size], 0]
    parts += [2] * (len(rows) - len(parts))
    return rows, parts[: len(rows)], known, [min(first, len(rows) - 1) for first in firsts]


def batch_of(encoder: BaseEncoder, samples: Sequence[Sample]) -> Batch:
    """These turns side by side."""
    shown = [pieces_of(encoder, sample) for sample in samples]
    rows, values, targets = [], [], []
    for row, sample in enumerate(samples):
        for value, who, thing in sample.links:
            rows.append(row)
            values.append(value)
            targets.append([UNKNOWN if one == UNKNOWN else one - NOBODY for one in (who, thing)])
    pieces = _filled([one[0] for one in shown], -1)
    slots = _filled([sample.slots for sample in samples], UNKNOWN)
    return Batch(
        pieces.clamp(min=0),
        _filled([one[1] for one in shown], 2),
        _filled([one[2] for one in shown], 0),
        torch.tensor([sample.style for sample in samples]),
        pieces >= 0,
        _filled([one[3] for one in shown], 0),
        _filled([[1] * len(sample.words) for sample in samples], 0).bool(),
        slots,
        _filled([sample.sayings for sample in samples], UNKNOWN),
        _filled([sample.who for sample in samples], UNKNOWN),
        _filled([sample.thing for sample in samples], UNKNOWN),
        torch.tensor([sample.kind for sample in samples]),
        rows,
        values,
        torch.tensor(targets, dtype=torch.long),
    )


def _filled(lists: Sequence[Sequence[int]], by: int) -> Tensor:
    """A row for each list, padded to the longest."""
    size = max(map(len, lists))
    return torch.tensor([[*some, *[by] * (size - len(some))] for some in lists])


TWICE = 2
"""A word of the samples that is said so often has its pieces kept; of others shorter pieces are read."""


def encoder_for(samples: Sequence[Sample], layers: int) -> BaseEncoder:
    """The encoder with pieces for the usual words of every language and for what these samples say more than once."""
    number = Counter(word for sample in samples for word in sample.words)
    return BaseEncoder(BaseFile.read(), (word for word, times in number.items() if times >= TWICE), layers)


def packed(net: ReaderNet) -> ReaderModel:
    """The network in the form that the product reads."""
    weights: dict[str, Tensor] = {
        "parts": net.parts.weight,
        "known": net.known.weight,
    }
    for name in HEADS:
        head = getattr(net, name)
        weights |= {name: head.weight.T, f"{name}_bias": head.bias}
    for name in ("early", "deep", "answer"):
        head = getattr(net, name)
        weights |= {name: head.weight.T, f"{name}_bias": head.bias}
    for number, name in enumerate(POINTERS):
        for part, layers in (("asks", net.asks), ("answers", net.answers)):
            weights |= {f"{name}_{part}": layers[number].weight.T, f"{name}_{part}_bias": layers[number].bias}
        weights |= {f"{name}_nobody": net.nobody[number], f"{name}_nobody_bias": net.nobody_bias[number]}
        weights[f"{name}_distance"] = net.distance[number]
    arrays = {name: weight.detach().numpy().astype("float32") for name, weight in weights.items()}
    return ReaderModel(net.encoder.packed(), arrays)
