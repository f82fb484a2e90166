"""Texts handed in as a list of content blocks, as the chat interfaces of language models have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from ovos_persona_memory.records.validation import Unfit, refuse_unclean

OF_TEXT = ("text", "input_text", "output_text")
"""Types of blocks that hold a text, in OpenAI's and Anthropic's interfaces."""


def text_of(given: str | Sequence[Any]) -> str:
    """The text; for content blocks the text of each, one a line. Unfit for anything else.

    A block is a text, or an object with its ``type``. Pictures, sounds and the like have no text and are left out;
    where nothing else is there, their types stand for them: "[image_url]".
    """
    if isinstance(given, str):
        return given
    if not isinstance(given, (list, tuple)):
        raise Unfit("must be a text, or a list of content blocks")
    texts: list[str] = []
    others: list[str] = []
    for number, block in enumerate(given):
        try:
            text, kind = _read(block)
        except Unfit as unfit:
            raise unfit.inside(number) from None
        (others if text is None else texts).append(f"[{kind}]" if text is None else text)
    return "\n".join(texts) if texts else " ".join(others)


def _read(block: object) -> tuple[str | None, str]:
    """The text of a block, None where it has none, and its type."""
    if isinstance(block, str):
        return block, OF_TEXT[0]
    kind = block.get("type", OF_TEXT[0]) if isinstance(block, Mapping) else None
    if not isinstance(block, Mapping) or not isinstance(kind, str):
        raise Unfit("is no content block: a text, or an object with a type")
    if kind not in OF_TEXT:
        return None, kind
    text = block.get("text")
    if not isinstance(text, str):
        raise Unfit("must be a text", ".text")
    return text, kind


def refuse_unusable_text(given: Any) -> None:
    """Raise Unfit for a value that is neither text nor content blocks, or that cannot be stored."""
    refuse_unclean(text_of(given))


TextOrBlocks = Annotated[str, refuse_unusable_text]
"""A text; ``record`` and ``restore`` accept content blocks in its place."""
