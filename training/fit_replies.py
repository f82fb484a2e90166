"""Fits what a reply says to whether something is to be deleted, and writes it into the model of kinds.

    PYTHONPATH=. python training/fit_replies.py [model file]

From what the layers of that model, and those below them, make of the lines in ``training/<tag>/questions/*.consent``:
what agrees (``+``), what refuses (``-``), and what does neither (``o``). The mean of some small networks is kept, each
from other numbers to begin with. It comes after ``train_kinds.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional
from train_judge import as_array

from ovos_persona_memory.extraction.reader.kinds_model import KindsModel, whole_of
from ovos_persona_memory.extraction.reader.model import ReaderModel, Utterance
from ovos_persona_memory.extraction.reader.reader import FILE, KINDS_FILE
from ovos_persona_memory.extraction.reader.words import words_of

ROOT = Path(__file__).parent
LETTERS = "+-o"
"""In the order of ``kinds_model.REPLIES``, and neither."""
NETS, HIDDEN, DROPPED = 3, 64, 0.3
EPOCHS, BATCH, RATE, DECAY, DOUBTED = 30, 64, 1e-3, 0.05, 0.05


def main() -> None:
    """Fit, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path, default=KINDS_FILE)
    path = parser.parse_args().model
    reader = ReaderModel.load(FILE).with_kinds(path)
    lines = list(_lines())
    vectors = np.stack([vector_of(reader, text) for _, text in lines])
    fitted = heads(vectors, np.array([LETTERS.index(letter) for letter, _ in lines]))
    with np.load(path) as kept:  # all else stays as it is, to the bit
        arrays = {name: kept[name] for name in kept.files}
    arrays |= {f"head_{name}": rows.astype(np.float16) for name, rows in fitted.items()}
    with path.open("wb") as file:
        np.savez(file, **arrays)
    print(f"{path}: {path.stat().st_size:,} bytes, {len(lines)} lines")


def _lines() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.glob("*/questions/*.consent")):
        for line in filter(None, path.read_text("utf-8").splitlines()):
            letter, _, text = line.strip().partition(" ")
            if letter not in tuple(LETTERS) or not words_of(text):
                raise ValueError(f"{path}: {line}")
            yield letter, text


def vector_of(reader: ReaderModel, text: str) -> NDArray[np.float32]:
    """What the head sees of a line, as ``KindsModel.told_by`` has it."""
    made = reader.shared_of(Utterance(tuple(word.lower for word in words_of(text)), []))
    kinds: KindsModel | None = reader.kinds
    if kinds is None:
        raise ValueError("the reader has no model of kinds")
    upper = made
    for layer in kinds.layers:
        upper = layer.make(upper, reader.encoder.heads)
    return np.concatenate([whole_of(upper), whole_of(made)])


def heads(vectors: NDArray[np.float32], wanted: NDArray[np.int64]) -> dict[str, NDArray[np.float32]]:
    """The weights of ``reply`` and ``replies`` and what is added to each: the mean of the networks, side by side."""
    middle, spread = vectors.mean(axis=0), vectors.std(axis=0) + 1e-5
    rows, classes = torch.from_numpy((vectors - middle) / spread), torch.from_numpy(wanted)
    nets = [_trained(rows, classes, seed) for seed in range(NETS)]
    first = np.concatenate([as_array(one[1].weight).T for one in nets], axis=1)
    begun = np.concatenate([as_array(one[1].bias) for one in nets])
    return {
        "reply": first / spread[:, None],
        "reply_bias": begun - (middle / spread) @ first,
        "replies": np.concatenate([as_array(one[4].weight).T for one in nets]) / NETS,
        "replies_bias": np.mean([as_array(one[4].bias) for one in nets], axis=0),
    }


def _trained(rows: torch.Tensor, classes: torch.Tensor, seed: int) -> nn.Sequential:
    torch.manual_seed(seed)
    net = nn.Sequential(
        nn.Dropout(DROPPED),
        nn.Linear(rows.shape[1], HIDDEN),
        nn.Tanh(),
        nn.Dropout(DROPPED),
        nn.Linear(HIDDEN, len(LETTERS)),
    )
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    for _ in range(EPOCHS):
        order = torch.randperm(len(rows))
        for first in range(0, len(rows), BATCH):
            some = order[first : first + BATCH]
            loss = functional.cross_entropy(net(rows[some]), classes[some], label_smoothing=DOUBTED)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return net.eval()


if __name__ == "__main__":
    main()
