"""What is wrong with what is kept: said twice, nearly twice, faded, secret, or the assistant's own words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ovos_persona_memory.memory.learning.confidence import HalfLives, confidence_at
from ovos_persona_memory.records import Fact, Scope, Trouble
from ovos_persona_memory.stores import FactQuery, Store
from ovos_persona_memory.text import contains_secret, languages

STALE = 0.2
"""A fact that is less sure than this has faded."""
NEARLY = 0.75
"""Share of their words that two texts have in common to be nearly the same (Jaccard's index)."""
SHARED_BY = 40
"""A word that more texts hold tells no two of them apart."""
NAMED = 100
"""Ids of each finding at most."""

ADVICE = {
    "duplicates": "Forget all but one of each by its id.",
    "near_duplicates": "Look at them; forget what says the same as another by its id.",
    "stale": "Nobody has said them for long: forget what is no longer true by its id, or say it again.",
    "secrets": "Forget them by their ids: a memory is no place for secrets.",
    "recall_loops": "The assistant had said these words before: forget what no person said by its id.",
    "waiting": "Accept or reject them with the command review.",
    "refused_proposals": "Nobody said what the language model proposed; nothing is to be done, but for another model.",
}


@dataclass(frozen=True)
class _Kept:
    """A fact or a memory as far as an audit looks at it."""

    id: str
    text: str
    lang: str | None
    user_id: str
    at: float


def audit(store: Store, scope: Scope, now: float, half_lives: HalfLives) -> list[Trouble]:
    """Each kind of trouble with how often it occurs, the ids and what to do; kinds without any are listed too."""
    facts = store.fact_store.facts(FactQuery(scope))
    kept = sorted([*map(_of_fact, facts), *_memories(store, scope)], key=lambda one: (one.at, one.id))
    found = {
        "duplicates": _duplicates(kept),
        "near_duplicates": _near_duplicates(kept),
        "stale": [fact.id for fact in facts if confidence_at(fact, now, half_lives) < STALE],
        "secrets": [one.id for one in kept if contains_secret(one.text, one.lang)],
        "recall_loops": _recall_loops(store, scope, kept),
        "waiting": [fact.id for fact in store.fact_store.facts(FactQuery(scope, frozenset({"waiting"})))],
    }
    return [Trouble(what, len(ids), ids[:NAMED], ADVICE[what] if ids else "") for what, ids in found.items()]


def refused_proposals(refused: Sequence[str]) -> Trouble:
    """What a language model proposed in vain, as one kind of trouble."""
    what = "refused_proposals"
    return Trouble(what, len(refused), list(refused[:NAMED]), ADVICE[what] if refused else "")


def _of_fact(fact: Fact) -> _Kept:
    return _Kept(fact.id, fact.text, fact.lang, fact.user_id, fact.created_at)


def _memories(store: Store, scope: Scope) -> list[_Kept]:
    return [_Kept(one.id, one.text, one.lang, one.user_id, one.created_at) for one in store.entries(scope)]


def _duplicates(kept: Sequence[_Kept]) -> list[str]:
    """Those whose words another, older one of the same user has; a fact beside a memory of the same words, too."""
    known: set[tuple[str, ...]] = set()
    found = []
    for one in kept:
        words = (one.user_id, *languages.fold(one.text))
        if words in known:
            found.append(one.id)
        known.add(words)
    return found


def _near_duplicates(kept: Sequence[_Kept]) -> list[str]:
    """Those that have most of their words in common with an older one of the same user, but not all."""
    words = [frozenset(languages.for_text(one.lang, one.text).words(one.text)) for one in kept]
    return [
        kept[place].id
        for place, others in _sharing(words)
        if any(kept[other].user_id == kept[place].user_id and _nearly(words[place], words[other]) for other in others)
    ]


def _sharing(words: Sequence[frozenset[str]]) -> Iterable[tuple[int, set[int]]]:
    """For each text the older ones that share a word with it which is not everywhere."""
    holders: Mapping[str, list[int]] = defaultdict(list)
    for place, held in enumerate(words):
        for word in held:
            holders[word].append(place)
    for place, held in enumerate(words):
        rare = [holders[word] for word in held if len(holders[word]) <= SHARED_BY]
        yield place, {other for places in rare for other in places if other < place}


def _nearly(one: frozenset[str], other: frozenset[str]) -> bool:
    return one != other and len(one & other) >= NEARLY * len(one | other)


def _recall_loops(store: Store, scope: Scope, kept: Sequence[_Kept]) -> list[str]:
    """Those whose very words the assistant said to their user before they were kept."""
    wanted = {(one.user_id, *languages.fold(one.text)) for one in kept}
    said: dict[tuple[str, ...], float] = {}
    for turn in store.turns(Scope(user_id=scope.user_id)):
        words = (turn.user_id, *languages.fold(turn.text)) if turn.role == "assistant" else ()
        if words in wanted:
            said.setdefault(words, turn.at or 0.0)
    return [one.id for one in kept if said.get((one.user_id, *languages.fold(one.text)), one.at) < one.at]
