"""Part e: how much memory the daemon takes, and how soon it is ready."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.asking import connected, timed_ms
from benchmarks.corpus import CACHE, Built, Corpus, built
from benchmarks.figures import Figure, Spread
from benchmarks.progress import say
from benchmarks.services import DAEMON, Stack, stack

TURNS = {"quick": 20_000, "full": 100_000}
STARTS = 5
REQUESTS = 200
MOST_MB, MOST_S = 100.0, 2.0


def run(size: str) -> list[Figure]:
    """The figures of this part."""
    turns = TURNS[size]
    base = built(Corpus(turns))
    with stack() as services, TemporaryDirectory(dir=CACHE) as scratch:
        data = base.copy(Path(scratch) / "data")
        say(f"e: {STARTS} starts with {turns} turns, then {REQUESTS} contexts")
        ours, echo = [], []
        for _ in range(STARTS):
            for kind in (DAEMON, "stock echo"):
                if kind in services.services.running:
                    services.end(kind)
            ours.append(services.start_daemon(data))
            echo.append(services.start_echo("stock"))
        fresh = _memory_mb(services, DAEMON)["Rss"]
        _ask(services, base)
        return [
            *_memory_figures(services, fresh, turns),
            Figure("e", "from exec to ready", "s", Spread.from_values(ours), Spread.from_values(echo), "stock echo",
                   f"under {MOST_S:.0f} s", Spread.from_values(ours).p50 < MOST_S),
        ]  # fmt: skip


def _ask(services: Stack, base: Built) -> None:
    transport = connected(services.port)
    for one in base.questions[:REQUESTS]:
        timed_ms(transport, "context", {"utterance": one.text}, one.session_id)
    transport.close()


def _memory_figures(services: Stack, fresh: float, turns: int) -> list[Figure]:
    daemon, echo = _memory_mb(services, DAEMON), _memory_mb(services, "stock echo")
    figures = []
    for name, measure in (("resident memory", "Rss"), ("its share (PSS)", "Pss")):
        ours, other = (Spread(one[measure], one[measure], 1) for one in (daemon, echo))
        target = f"under {MOST_MB:.0f} MB" if measure == "Rss" else ""
        met = ours.p50 < MOST_MB if target else None
        note = f"{fresh:.1f} MB when just started" if target else ""
        title = f"{name} with {turns} turns"
        figures.append(Figure("e", title, "MB", ours, other, "stock echo", target, met, note))
    return figures


def _memory_mb(services: Stack, name: str) -> dict[str, float]:
    """Rss and Pss of a service (proc(5), smaps_rollup), megabytes of 2^20."""
    text = Path(f"/proc/{services.pid(name)}/smaps_rollup").read_text(encoding="ascii")
    fields = (line.split() for line in text.splitlines()[1:])
    return {field[0].rstrip(":"): int(field[1]) / 1024 for field in fields}
