"""The embedder port: what turns texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

from ovos_persona_memory.stores import Floats

Kind = Literal["sentence", "static", "multilingual"]


class Embedder(Protocol):
    """Turns texts into vectors that are near where the texts mean alike. Thread-safe."""

    name: str
    """Model and version: vectors of embedders with other names cannot be compared."""
    dim: int
    """Length of a vector."""
    kind: Kind
    """What it embeds, and so how reliable its similarities are: whole sentences, of English
    or of any language, or words one by one."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """One normalised row a text, float32 [n, dim]; zeros where nothing is known of a text."""


@runtime_checkable
class QuestionEmbedder(Embedder, Protocol):
    """An embedder that reads questions otherwise than the texts that answer them."""

    def embed_question(self, text: str) -> Floats:
        """The normalised vector of a question, float32 [dim]."""


def question_vector(embedder: Embedder, text: str) -> Floats:
    """The normalised vector of a question, float32 [dim]."""
    if isinstance(embedder, QuestionEmbedder):
        return embedder.embed_question(text)
    found: Floats = embedder.embed([text])[0]
    return found
