"""Who gives another name than the one they told before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ovos_persona_memory.people import Before
from ovos_persona_memory.templates import Templates
from ovos_persona_memory.verdict import Verdict

HELD = ("learned", "waiting")
"""What comes of a name that somebody gives themselves."""


def as_another(known: Templates, told: Sequence[Verdict], before: Before) -> bool:
    """Whether somebody who told their name says that they are called quite otherwise: most likely they play."""
    own = {word for who in before.names.values() if not who.subject for word in who.called.split()}
    names = (one for one in told if one.slot == "name" and not one.subject and not one.thing)
    return bool(own) and any(_renames(known, one, own) for one in names if one.value and one.outcome in HELD)


def _renames(known: Templates, told: Verdict, own: Collection[str]) -> bool:
    """Whether it is "i am ..." or "my name is ..." with no other name of theirs, and nothing that explains it."""
    before, found, behind = told.text.partition(told.value or told.text)
    said = known.words_of(told.text).folded
    head, rest = known.words_of(before).folded, known.words_of(behind)
    head = head[:-1] if head[-1:] and head[-1] in known.lists.get("article", ()) else head
    plain = any(head[-len(one) :] == one for one in _heads(known) if one)
    alone = not rest.folded or rest.folded[0] in known.lists.get("joint", ())
    return bool(found) and plain and alone and not any(word.startswith(name) for word in said for name in own)


def _heads(known: Templates) -> Iterator[tuple[str, ...]]:
    """The words in front of a name: "i am", "my name is"."""
    yield known.lists.get("self_named", ())
    for one in known.lists.get("elided_subject", ()):
        yield from ((one, being) for being in known.lists.get("being", ()))
    yield from (known.words_of(said).folded for said in known.lists.get("self_called", ()))
