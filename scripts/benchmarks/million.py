"""Part d: a million turns, asked in this process."""

from __future__ import annotations

import time

from benchmarks.corpus import BY_WORDS, Asked, Corpus, built
from benchmarks.figures import Figure, Spread
from benchmarks.progress import say
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Context, ContextRequest, Scope

TURNS = {"quick": 50_000, "full": 1_000_000}
CASES = ((500, 25.0), (1, 150.0))
"""Number of people, and the target of p95, milliseconds."""
ASKED = 400


def run(size: str) -> list[Figure]:
    """The figures of this part."""
    figures = []
    for people, limit_ms in CASES:
        turns = TURNS[size]
        say(f"d: {turns} turns of {people}, built unless they are still there")
        base = built(Corpus(turns, people))
        with PersonaMemory.open(base.folder, BY_WORDS) as memory:
            first_ms = _took_ms(memory, base.questions[0])
            took = Spread.from_values([_took_ms(memory, one) for one in base.questions[:ASKED]])
            alone = Spread.from_values([_took_ms(memory, one, recall=0) for one in base.questions[:ASKED]])
            hits = [len(_context(memory, one).hits) for one in base.questions[:ASKED]]
        size_mb = sum(path.stat().st_size for path in base.folder.iterdir()) / 1e6
        note = (
            f"the first question {first_ms:.0f} ms; {sum(map(bool, hits))} of {len(hits)} found a sure hit; "
            f"{size_mb:.0f} MB on disk; recorded in {base.turn_us:.0f} us a turn"
        )
        name = f"context with recall, {turns} turns of {people} {'people' if people > 1 else 'household'}"
        target = f"p95 under {limit_ms:.0f} ms"
        figures.append(Figure("d", name, "ms", took, alone, "history alone", target, took.p95 < limit_ms, note))
    return figures


def _took_ms(memory: PersonaMemory, asked: Asked, recall: int | None = None) -> float:
    began = time.perf_counter()
    _context(memory, asked, recall)
    return (time.perf_counter() - began) * 1000


def _context(memory: PersonaMemory, asked: Asked, recall: int | None = None) -> Context:
    scope = Scope(session_id=asked.session_id, user_id=asked.user_id)
    return memory.context(ContextRequest(asked.text, scope, recall=recall))
