"""``bench``: how well the memory finds, on conversations with labelled evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module, util
from pathlib import Path

import rich_click as click
from rich.console import Console
from rich.table import Table

from ovos_persona_memory.cli.options import InputFile, examples, json_option
from ovos_persona_memory.cli.output import Command, answer, answer_json, answer_rows, answers, plain, say
from ovos_persona_memory.config import MemoryConfig, RecallConfig
from ovos_persona_memory.evaluation import (
    RANKERS,
    Ask,
    LabelledConversation,
    LearningScores,
    Ranker,
    RankerScores,
    Ranking,
    RankingScores,
    Ratio,
    TrapResult,
    embedder_ranker,
    is_trap_file,
    labelled_conversations,
    measure_learning,
    memory_ranker,
    play_trap,
    ranking_scores,
    read_marked,
    read_talks,
    read_traps,
    recall_run,
    talk_markup,
    turn_document,
)
from ovos_persona_memory.search import embedding
from ovos_persona_memory.service import open_embedder
from ovos_persona_memory.stores import NEEDS_NO_SERVER
from ovos_persona_memory.text import counted, languages

WIDTH = 130
"""Width of the tables where there is no terminal, characters."""


@contextmanager
def _lexical(conversation: LabelledConversation) -> Iterator[Ask]:
    """LexicalMemory of ovos-memory-plugins, a document a turn."""
    made = import_module("ovos_memory_plugins.lexical").LexicalMemory({"db_path": ":memory:"})
    with closing(made) as memory:
        known: dict[str, str] = {}
        for number, turn in enumerate(conversation.in_time_order()):
            memory.store(turn_document(turn), str(number))
            known[f"{number}_0"] = turn.id  # it names documents so: session and number
        yield lambda question, at: Ranking(
            [known[hit.source] for hit in memory.search(question, top_k=ranking_scores.K)]
        )


COMPARED: Mapping[str, Ranker] = {**RANKERS, "lexical": _lexical}
ALONE = "embedder"
NEEDS = {"lexical": ("ovos_memory_plugins", "ovos-memory-plugins")}
"""The module that a comparison needs, and the package to install for it."""


@dataclass(frozen=True)
class FileScores:
    """The scores on one file."""

    file: str
    conversations: int
    turns: int
    questions: int
    systems: list[RankerScores]


@click.group()
def bench() -> None:
    """Measure the memory."""


@bench.command(
    cls=Command, epilog=examples("bench recall talks.jsonl", "bench recall talks.jsonl --compare bm25 --words-only")
)
@click.argument("files", nargs=-1, required=True, type=InputFile())
@click.option(
    "--backend", type=click.Choice(NEEDS_NO_SERVER), default="sqlite", show_default=True, help="Where to keep them."
)
@click.option("--compare", multiple=True, type=click.Choice([*COMPARED, ALONE]), help="Measure this, too.")
@click.option("--embedder", default="auto", show_default=True, help="What to search by meaning with.")
@click.option("--words-only", is_flag=True, help="Search by words alone, not by meaning.")
@click.option("--heard", is_flag=True, help="Record each question as a turn first, as the running assistant does.")
@click.option("--limit", type=click.IntRange(min=1), help="Conversations of each file at most.")
@json_option
def recall(  # one parameter an option
    files: Sequence[Path],
    backend: str,
    compare: Sequence[str],
    embedder: str,
    words_only: bool,
    heard: bool,
    limit: int | None,
    as_json: bool,
) -> None:
    """How well recall finds the labelled evidence of the conversations in FILES, JSON lines, plain or gzip."""
    missing = {name: NEEDS[name][1] for name in compare if name in NEEDS and util.find_spec(NEEDS[name][0]) is None}
    left_out = {name: f"{package} is not installed" for name, package in missing.items()}
    setting = None if words_only else embedding.chosen(embedder)
    if ALONE in compare and setting is None:
        left_out[ALONE] = "there is no embedder"
    for name, why in left_out.items():
        say(f"{name} is left out: {why}")
    config = MemoryConfig(backend=backend, recall=RecallConfig(embedder=setting or "none"))
    rankers = {"memory": memory_ranker(config, open_embedder, heard)}
    rankers |= {name: COMPARED[name] for name in compare if name in COMPARED and name not in left_out}
    if ALONE in compare and setting is not None:
        rankers[ALONE] = embedder_ranker(open_embedder(setting))
    read_in = [(str(path), labelled_conversations.read_conversations(path, limit)) for path in files]
    found = [_measured(name, conversations, rankers) for name, conversations in read_in]
    how = (f"words and {setting}" if setting else "words") + (", each question heard first" if heard else "")
    settings = {"backend": backend, "k": ranking_scores.K, "words_only": words_only, "searched_by": how}
    if as_json:
        return answer_json({"settings": settings, "files": found, "left_out": left_out})
    return _show(found, f"{backend}, by {how}")


@bench.command(cls=Command, epilog=examples("bench facts household.talk --list"))
@click.argument("files", nargs=-1, required=True, type=InputFile())
@click.option("--language", help="The language of talks with traps where no folder or file name says it, as en-US.")
@click.option("--speakers", is_flag=True, help="Whoever has a name is a person, whatever the role.")
@click.option("--slots", is_flag=True, help="Show the figures of each slot, too.")
@click.option("--list", "listed", is_flag=True, help="List every fact that was learned, and what was missed.")
@json_option
def facts(  # one parameter an option
    files: Sequence[Path], language: str | None, speakers: bool, slots: bool, listed: bool, as_json: bool
) -> None:
    """How well facts are learned from the talk in FILES: JSON lines, plain or gzip, .talk, or talks with traps.

    Example: ovos-persona-memory bench facts test/data/months/*.jsonl.gz
    """
    found = {str(path): _facts_of(path, language, speakers) for path in files}
    if as_json:
        return answer_json({"files": [{"file": name, **_as_json(figures)} for name, figures in found.items()]})
    answer_rows(FACT_COLUMNS, [_fact_row(name, figures) for name, figures in found.items()], "No file was given.")
    for name, figures in found.items():
        if isinstance(figures, LearningScores):
            if slots:
                answer(name)
                rows = [
                    [slot, _share(both["precision"]), _share(both["recall"])] for slot, both in figures.slots.items()
                ]
                answer_rows(["slot", "precision", "recall"], rows, "No fact of any slot was expected or learned.")
            if listed:
                _list_learned(figures)
        elif listed:
            _list_traps(figures)
    return None


FACT_COLUMNS = ["file", "turns", "learned", "precision", "recall", "asked", "of nothing", "talks right"]
FactFigures = LearningScores | list[TrapResult]


def _facts_of(path: Path, language: str | None, speakers: bool) -> FactFigures:
    if path.suffix == talk_markup.ENDING:
        return measure_learning([read_marked(path).talk], speakers)
    if is_trap_file(path):
        return [play_trap(trap, _language_of(path, language)) for trap in read_traps(path)]
    return measure_learning(read_talks(path), speakers)


def _language_of(path: Path, language: str | None) -> str:
    """The language asked for, else the known tag by which the file or the nearest folder is named, else English."""
    parts = (path.name.partition(".")[0], *(folder.name for folder in path.absolute().parents))
    return language or next((part for part in parts if part in languages.known()), languages.FALLBACK)


def _as_json(figures: FactFigures) -> dict[str, object]:
    if isinstance(figures, LearningScores):
        return asdict(figures)
    right = sum(one.is_right for one in figures)
    return {"talks": len(figures), "right": right, "results": [asdict(one) for one in figures]}


def _fact_row(name: str, figures: FactFigures) -> list[str]:
    if isinstance(figures, LearningScores):
        shares = (figures.precision, figures.recall_typed, figures.recall_asked)
        return [
            name,
            str(figures.turns),
            str(figures.precision.of),
            *map(_share, shares),
            str(figures.from_nothing),
            "",
        ]
    right = sum(one.is_right for one in figures)
    return [name, "", "", "", "", "", "", f"{100 * right / len(figures):.1f} % ({right} of {len(figures)})"]


def _share(share: Ratio) -> str:
    return f"{100 * share.share:.1f} % ({share.number} of {share.of})" if share.share is not None else "none"


def _list_learned(figures: LearningScores) -> None:
    for one in figures.learned:
        mark = "right" if one.right else one.why
        about = " ".join(filter(None, (one.person, one.slot or "asked", one.subject)))
        answer(f"{mark}: {one.turn} {about}: {one.value or ''} | {one.text}")
        if one.said != one.text:
            answer(f"    from: {' '.join(one.said.split())}")
    for label in figures.missed:
        answer(f"missed: {label.turn} {label.slot or 'asked'}: {label.value or ''}")


def _list_traps(figures: Sequence[TrapResult]) -> None:
    for one in figures:
        answer(f"{'right' if one.is_right else 'wrong'}: {one.id} ({one.kind})")
        for what, said in (("missed", one.missed), ("must not be known", one.wrong), ("known", one.known)):
            if said and not one.is_right:
                answer(f"    {what}: {'; '.join(said)}")


def _measured(name: str, conversations: list[LabelledConversation], rankers: Mapping[str, Ranker]) -> FileScores:
    for one in conversations:
        for field, turn_id in one.missing_evidence():
            say(f"{name}, conversation {one.conversation}, {field}: no turn is {turn_id!r}; it counts as not found")
    return FileScores(
        file=name,
        conversations=len(conversations),
        turns=sum(len(one.turns) for one in conversations),
        questions=sum(len(one.questions) for one in conversations),
        systems=[recall_run.measure_recall(system, ranker, conversations, say) for system, ranker in rankers.items()],
    )


def _show(found: Sequence[FileScores], how: str) -> None:
    console = Console(file=answers(), highlight=False, width=None if answers().isatty() else WIDTH)
    for one in found:
        sizes = {"conversation": one.conversations, "turn": one.turns, "question": one.questions}
        size = ", ".join(counted(number, name) for name, number in sizes.items())
        console.print(plain(f"{one.file}: {size}; {how}"), markup=False)
        console.print(_finding(one.systems))
        console.print(_sureness(one.systems))


def _finding(systems: Sequence[RankerScores]) -> Table:
    names = ("questions", "recall@5", "@10", "@20", "hit@10", "MRR", "sure recall@10", "no sure hit")
    table = _table(("system", "kind"), names)
    for system in systems:
        table.add_row(system.system, "all", *_cells(system.overall), style="bold")
        for kind, figures in system.kinds.items():
            if figures.questions:
                table.add_row("", plain(kind), *_cells(figures))
    return table


def _cells(figures: RankingScores) -> list[str]:
    shares = (figures.recall_at_5, figures.recall_at_10, figures.recall_at_20, figures.hit_at_10)
    rank = "" if figures.mrr is None else f"{figures.mrr:.3f}"
    sure = (figures.sure_recall_at_10, figures.no_sure_hit)
    return [str(figures.questions), *map(_percent, shares), rank, *map(_percent, sure)]


def _sureness(systems: Sequence[RankerScores]) -> Table:
    names = ("never said", "silent", "asked of another", "silent", "p50 ms", "p95 ms")
    table = _table(("system",), names)
    for one in systems:
        never = (str(one.overall.never_said), _percent(one.overall.never_said_silent))
        other = (str(one.silence_questions), _percent(one.silence))
        took = ("" if ms is None else f"{ms:.2f}" for ms in (one.latency_p50_ms, one.latency_p95_ms))
        table.add_row(one.system, *never, *other, *took)
    return table


def _table(left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table()
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, justify="right")
    return table


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"
