"""What the reader says of words: the slot of a value, the kind of saying, and what an utterance is."""

from __future__ import annotations

SLOT_NAMES = (
    *("name", "birthday", "age", "origin", "home", "work", "family", "pet", "allergy", "diet", "health", "favourite"),
    *("likes", "dislikes", "activity", "location", "mood", "detail", "note"),
)
"""The slots of values; ``note`` is what somebody asks to remember that fits no other."""
SAYINGS = ("stated", "asked", "over", "denied", "unsure", "quoted", "other")
"""What is said of a value: it holds; it is to be remembered; it held and does no more; it is denied or taken back; it
is doubted, wished or planned; it stands in another's words; it is told of somebody outside family and household."""
KINDS = ("nothing", "telling", "question")
"""What an utterance is: neither of the others, at least one value in it, or a question with or without its mark."""
NOTHING, BEGINS, INSIDE = 0, 1, 2
"""Labels of a word in a span: outside, its first word, a further one."""
SLOT_LABELS = 1 + 2 * len(SLOT_NAMES)
"""Labels of a word for slots: outside, then first and further word of each slot in the order of ``SLOT_NAMES``."""
NEAR = 24
"""Words between a value and what belongs to it are counted up to this many."""
