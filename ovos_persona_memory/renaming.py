"""Who gives another name than the one they told before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ovos_persona_memory.people import Before
from ovos_persona_memory.verdict import Verdict
from ovos_persona_memory.wordlists import WordLists


def as_another(known: WordLists, told: Sequence[Verdict], before: Before) -> bool:
    """Whether somebody who told their name says that they are called quite otherwise: most likely they play."""
    names = [one for one in told if (one.slot, one.subject, one.thing) == ("name", "", "") and _is_given(one)]
    own = {word for who in before.names.values() if names and not who.subject for word in who.called.split()}
    return bool(own) and any(_renames(known, one.text, one.value or "", own) for one in names)


def _is_given(told: Verdict) -> bool:
    return bool(told.value) and told.outcome in ("learned", "waiting")


def _renames(known: WordLists, text: str, name: str, own: Collection[str]) -> bool:
    """Whether it is "i am ..." or "my name is ..." with no other name of theirs, and nothing that explains it."""
    before, found, behind = text.partition(name)
    said = known.words_of(text).folded
    head, rest = known.without(known.words_of(before), "skip").folded, known.words_of(behind)
    head = head[:-1] if head[-1:] and head[-1] in known.lists.get("article", ()) else head
    plain = any(head[-len(one) :] == one for one in _heads(known) if one)
    joint = known.lists.get("joint", ())  # behind it, or behind the rest of it: "i'm samuel pepys and ..."
    alone = len(rest.folded) <= 1 or any(word in joint for word in rest.folded[:2])
    return bool(found) and plain and alone and not any(word.startswith(one) for word in said for one in own)


def _heads(known: WordLists) -> Iterator[tuple[str, ...]]:
    """The words in front of a name: "i am", "my name is"."""
    yield known.lists.get("self_named", ())
    for one in known.lists.get("elided_subject", ()):
        yield from ((one, being) for being in known.lists.get("being", ()))
    yield from (known.words_of(said).folded for said in known.lists.get("self_called", ()))
