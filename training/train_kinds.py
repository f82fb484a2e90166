"""Makes what tells of what kind an utterance is: ``training/train_kinds.py [model file]``.

    PYTHONPATH=.:scripts python training/train_kinds.py

Whether it asks; if so, for several things, for all about something, or for what was said to the assistant; whether it
wants something forgotten, and which words name that; and which words ask, where a clause stands before them. Layers of
its own in place of the reader's upper ones learn it all together:

- of the households in ``training/<tag>/questions/*.house`` what asks, and for how much: for several things where three
  remarks or more answer, for one where one does; some short ones also behind another, as the reader is given them;
- of talk with marked questions what asks;
- of ``questions/*.kinds`` what asks for all about something (``t``), for what was said (``a``), for something else
  (``o``), or not (``s``);
  of those named ``unplain`` in forms that a listener for questions would miss;
- of ``questions/*.forget`` what wants something forgotten (``f``), with what names it in brackets, or not (``s``);
- of the weeks in ``training/<tag>/weeks`` all but what is to be forgotten.

Some questions are shown behind a remark of the same household or file as well, as one utterance, "i'm at the shop what
do we need", and some remarks behind another one. All are in lower case and without their marks, as they are spoken;
what asks and what does not is weighed as in ``fit_asks``. A twelfth of the sources is left out, to tell how well it
does.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from benchmarks.quality.weeks import read
from fit_asks import FOLDERS, TALK, as_spoken, is_signed, times_of
from numpy.typing import NDArray
from pairs import House, houses_in
from samples import of_marked
from torch import Tensor, nn
from torch.nn import functional
from train_judge import HAS_BFLOAT16, Descent, TorchLayer, as_array, descended, padded

from ovos_persona_memory.extraction.reader.kinds_model import KINDS, MARKS, SHARED, KindsModel
from ovos_persona_memory.extraction.reader.labels import KINDS as TURNS
from ovos_persona_memory.extraction.reader.model import ReaderModel, Utterance
from ovos_persona_memory.extraction.reader.reader import CONTEXT_FOR, CONTEXT_WORDS, FILE, KINDS_FILE
from ovos_persona_memory.extraction.reader.words import words_of

ROOT = Path(__file__).parent
SEED = 3
EPOCHS, BATCH, RATE, HEAD_TIMES, WARM, DECAY = 1.2, 64, 2e-4, 10.0, 0.08, 0.02
"""The maximum learning rate of the layers, how much that of the heads is above it, the share of steps until then."""
MEAN_FROM = 0.4
"""From this share of the steps on the mean is taken."""
DROPPED, DOUBTED = 0.1, 0.01
PIECES_LEFT_OUT, OF_LINES = 0.1, 0.5
"""So many pieces of so many lines are not shown."""
MARKS_TIMES, FORGET_TIMES, WRITTEN_TIMES = (0.3, 0.05), 1.5, 2.0
"""How much a word counts that names what is to be forgotten, or that asks; whether something is to be forgotten; and a
line by a writer."""
LONGEST, AT_ONCE, ALIKE_IN = 60, 128, 50
CLAUSE_MOST = 10
"""Words of a remark at most before a question."""
BEHIND, BEHIND_REMARK = {"house": 0.3, "week": 1.0, "written": 0.5, "talk": 0.3}, 0.1
"""Share of the questions of each group, and of the remarks, that are shown behind a remark, too."""
SHOWN, BEHIND_OTHER = 0.6, 0.15
"""Share of what is said in households that is shown, and of the short ones that is shown behind another one, too."""
SEVERAL = 3
"""So many remarks answer what asks for several things, at least."""
LISTS, OF_ONE = "lists", frozenset({"same_words", "other_words", "whose", "newest", "yes_no", "never_said", "forget"})
"""Kinds of questions in weeks."""
BEFORE_FORGOTTEN = 6
"""Lines before the question whether something is forgotten, among which is what asks for that."""
LEFT_OUT, PART = 12, 26
"""One in so many sources is left out; lines of a file that are one source."""
UNMARKED = ".unplain."
"""In the names of files with questions before or behind which something else may stand."""
AT = (0.05, 0.2, 0.4, 0.5, 0.8, 0.9, 0.95)
"""Probabilities at which is told how well it does."""
NOTHING: Mapping[str, bool] = {"asks_about": False, "asks_what_was_said": False, "asks_to_forget": False}


@dataclass(frozen=True)
class Line:
    """An utterance, and of what kind it is."""

    text: str
    tag: str
    source: str
    """The household, or the part of a file, that it is of."""
    group: str
    """What else is known of it, for the figures."""
    kinds: Mapping[str, bool] = field(default_factory=dict)
    """Whether it is of a kind, of those of which that is known."""
    names: tuple[int, int] | None = None
    """The characters of what is to be forgotten."""
    asks_from: int = 0
    """The first character of what asks, if it asks; below 0: nobody has marked it."""
    before: str = ""
    """What was said right before."""


def main() -> None:
    """Train, tell how well it does with what is left out, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path, default=KINDS_FILE)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    torch.set_flush_denormal(True)
    reader, chance = ReaderModel.load(FILE), random.Random(SEED)
    lines = [one for one in all_lines(chance) if words_of(one.text)]
    shown = Shown.of(lines, reader)
    every = sorted({one.source for one in lines})
    left_out = set(random.Random(SEED).sample(every, len(every) // LEFT_OUT))
    held = [place for place, one in enumerate(lines) if one.source in left_out]
    rest = sorted(set(range(len(lines))) - set(held))
    net = trained(shown, rest, reader)
    tell([lines[place] for place in held], shares_of(net, shown, held))
    net.packed().save(asked.model, reader.encoder)
    print(f"{asked.model}: {asked.model.stat().st_size:,} bytes")


def all_lines(chance: random.Random) -> Iterator[Line]:
    """What is learned from."""
    lines = [*_of_kinds(), *_of_forgetting(), *_of_weeks(), *_of_households(chance), *_of_talk(chance)]
    yield from lines
    yield from _behind_clauses(lines, chance)


def _behind_clauses(lines: Sequence[Line], chance: random.Random) -> Iterator[Line]:
    """Some of what asks, and some remarks, behind a short remark of the same source, or else of the same language."""
    of_source, of_tag = defaultdict(list), defaultdict(list)
    for one in lines:
        is_remark = (
            one.kinds.get("asks_to_forget") is False and one.kinds.get("asks", one.group == "week told") is False
        )
        if (is_remark or one.group == "week told") and len(one.text.split()) <= CLAUSE_MOST:
            of_source[one.source].append(one.text)
            of_tag[one.tag].append(one.text)
    for one in lines:
        asks = one.kinds.get("asks", one.kinds.get("asks_about") or one.kinds.get("asks_what_was_said"))
        share = BEHIND.get(one.group.split(" ")[0], 0.0) if asks else BEHIND_REMARK if asks is False else 0.0
        if chance.random() < share and not one.before and not one.kinds.get("asks_to_forget"):
            clause = chance.choice(of_source[one.source] or of_tag[one.tag])
            text, group = f"{clause} {one.text}", f"{one.group}, behind a clause"
            yield replace(one, text=text, asks_from=len(clause) + 1, group=group)


def _of_kinds() -> Iterator[Line]:
    for path, number, letter, text in _lettered("kinds", "taos"):
        kinds = {"asks_about": letter == "t", "asks_what_was_said": letter == "a", "asks_to_forget": False}
        if letter in "os":
            kinds["asks"] = letter == "o"
        source, group = f"{path} {number // PART}", f"written {letter}"
        asks_from = -1 if UNMARKED in path.name else 0
        yield Line(as_spoken(text), path.parent.parent.name, source, group, kinds, asks_from=asks_from)


def _of_forgetting() -> Iterator[Line]:
    for path, number, letter, marked in _lettered("forget", "fs"):
        first, last = marked.find("["), marked.find("]") - 1
        text, kinds = marked.replace("[", "").replace("]", ""), {**NOTHING, "asks_to_forget": letter == "f"}
        if letter == "f":
            kinds["asks"] = False
        names = (first, last) if first >= 0 else None
        source = f"{path} {number // PART}"
        yield Line(text, path.parent.parent.name, source, f"written {letter} beside forgetting", kinds, names)


def _lettered(ending: str, letters: str) -> Iterator[tuple[Path, int, str, str]]:
    """Each line of the files with this ending, with its number and its letter; ValueError names one without."""
    for path in sorted(ROOT.glob(f"*/questions/*.{ending}")):
        for number, line in enumerate(filter(None, path.read_text("utf-8").splitlines())):
            letter, _, text = line.strip().partition(" ")
            if letter not in letters:
                raise ValueError(f"{path}: {line}")
            yield path, number, letter, text


def _of_weeks() -> Iterator[Line]:
    for path in sorted(ROOT.glob("*/weeks/*.week")):
        yield from _of_week(path)


def _of_week(path: Path) -> Iterator[Line]:
    lines, tag = read(path).lines, path.parent.parent.name
    checked = [place for place, line in enumerate(lines) if line.kind == "forget"]
    for place, line in enumerate(lines):
        if line.kind is not None:
            yield Line(as_spoken(line.words), tag, str(path), f"week {line.kind}", _kinds_in_week(line.kind))
        elif not any(0 < asked - place <= BEFORE_FORGOTTEN for asked in checked):
            yield Line(as_spoken(line.words), tag, str(path), "week told", NOTHING)


def _kinds_in_week(kind: str) -> dict[str, bool]:
    found = {"asks": True, "asks_to_forget": False}
    found |= {"asks_about": kind == "topic", "asks_what_was_said": kind == "about_talk"}
    return found | ({"asks_several": kind == LISTS} if kind == LISTS or kind in OF_ONE else {})


def _of_households(chance: random.Random) -> Iterator[Line]:
    houses = ((folder.parent.name, house) for folder in sorted(ROOT.glob("*/questions")) for house in houses_in(folder))
    for number, (tag, house) in enumerate(houses):
        yield from _of_household(house, tag, f"{tag} {number}", chance)


def _of_household(house: House, tag: str, source: str, chance: random.Random) -> Iterator[Line]:
    told = [(as_spoken(text), {**NOTHING, "asks": False}) for _, text in house.said]
    asked = [(as_spoken(text), _kinds_in_house(len(answers))) for _, text, answers in house.asked]
    for text, kinds in [*told, *asked]:
        if chance.random() >= SHOWN:
            continue
        one = Line(text, tag, source, "house", kinds)
        yield one
        if len(text.split()) <= CONTEXT_FOR and chance.random() < BEHIND_OTHER:
            yield replace(one, before=chance.choice([*told, *asked])[0], group="house, behind another")


def _kinds_in_house(answers: int) -> dict[str, bool]:
    return {"asks": True} | ({"asks_several": answers >= SEVERAL} if answers == 1 or answers >= SEVERAL else {})


def _of_talk(chance: random.Random) -> Iterator[Line]:
    for tag in sorted(path.parent.name for path in ROOT.glob("*/questions")):
        files = [path for folder in FOLDERS for path in sorted((ROOT / tag / folder).glob("*.talk"))]
        told = [(sample, path) for path in files for sample in of_marked(path, 2) if sample.kind >= 0]
        for sample, path in chance.sample(told, min(TALK, len(told))):
            asks = sample.kind == TURNS.index("question")
            kinds = {"asks": asks} | ({} if asks else {"asks_to_forget": False})
            yield Line(as_spoken(" ".join(sample.words)), tag, f"{path.parent.name}/{path.name}", "talk", kinds)


@dataclass(frozen=True)
class Shown:
    """Lines as the shared layers read them."""

    vectors: Sequence[NDArray[np.float16]]
    """Of each [pieces, width]."""
    marks: Sequence[NDArray[np.float32]]
    """Of each [pieces, 2]: 1 or 0 where it begins a word that names what is to be forgotten, or not, and one that asks,
    or not; -1: that is not known."""
    wanted: NDArray[np.float32]
    """[lines, kinds]"""
    times: NDArray[np.float32]
    """The same: how often each counts."""

    @classmethod
    def of(cls, lines: Sequence[Line], reader: ReaderModel) -> Shown:
        """Reads every line once, those of about the same length together."""
        lower = [TorchLayer(one, reader.encoder.heads).eval() for one in reader.encoder.layers[:SHARED]]
        given = [_placed(one, reader) for one in lines]
        ordered = sorted(range(len(lines)), key=lambda place: len(given[place][0]))
        vectors: dict[int, NDArray[np.float16]] = {}
        for first in range(0, len(ordered), AT_ONCE):
            some = ordered[first : first + AT_ONCE]
            made, real = padded([given[place][0] for place in some])
            with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=HAS_BFLOAT16):
                for layer in lower:
                    made = layer(made, real)
            for place, row in zip(some, made.float().numpy(), strict=True):
                vectors[place] = row[: len(given[place][0])].astype(np.float16)
        wanted = np.array([[float(one.kinds.get(kind, False)) for kind in KINDS] for one in lines], np.float32)
        return cls([vectors[place] for place in range(len(lines))], [one for _, one in given], wanted, _times(lines))

    def batch(self, places: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
        """Vectors of these lines, shorter ones padded, which are real, and their marks."""
        made, real = padded([self.vectors[place].astype(np.float32) for place in places])
        marks = np.full((*real.shape, len(MARKS)), -1.0, np.float32)
        for row, place in enumerate(places):
            marks[row, : len(self.marks[place])] = self.marks[place]
        return made, real, torch.from_numpy(marks)


def _placed(line: Line, reader: ReaderModel) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The pieces of a line before the first layer, and the marks of each."""
    words, before = words_of(line.text)[:LONGEST], words_of(line.before)[-CONTEXT_WORDS:]
    given = Utterance(tuple(word.lower for word in words), [word.lower for word in before])
    rows, beside, firsts = reader.pieces(given)
    marks = np.full((len(rows), len(MARKS)), -1.0, np.float32)
    first, last = line.names or (0, 0)
    asks = line.kinds.get("asks") or line.kinds.get("asks_about") or line.kinds.get("asks_what_was_said")
    for place, word in zip(firsts, words, strict=False):
        if line.kinds.get("asks_to_forget"):
            marks[place, 0] = first <= word.first and word.last <= last
        if asks and line.asks_from >= 0:
            marks[place, 1] = word.first >= line.asks_from
    return reader.encoder.placed(rows, beside), marks


def _times(lines: Sequence[Line]) -> NDArray[np.float32]:
    written = [WRITTEN_TIMES if one.group.startswith(("written", "week ")) else 1.0 for one in lines]
    times = np.array([[float(kind in one.kinds) for kind in KINDS] for one in lines], np.float32)
    times *= np.array(written, np.float32)[:, None]
    known = [place for place, one in enumerate(lines) if "asks" in one.kinds]
    times[known, KINDS.index("asks")] = times_of(
        [(one.text, one.tag, one.kinds["asks"]) for one in (lines[place] for place in known)]
    )
    times[:, KINDS.index("asks_to_forget")] *= FORGET_TIMES
    return times


class KindsNet(nn.Module):
    """What ``KindsModel`` computes."""

    def __init__(self, reader: ReaderModel) -> None:
        super().__init__()
        self.layers = nn.ModuleList([TorchLayer(one, reader.encoder.heads) for one in reader.encoder.layers[SHARED:]])
        width = reader.encoder.table.of([0]).shape[1]
        self.kinds, self.marks = nn.Linear(2 * width, len(KINDS)), nn.Linear(width, len(MARKS))
        self.skip = nn.Dropout(DROPPED)
        nn.init.normal_(self.kinds.weight, std=0.01)
        nn.init.zeros_(self.kinds.bias)

    def forward(self, vectors: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        with torch.autocast("cpu", torch.bfloat16, enabled=HAS_BFLOAT16):
            for layer in self.layers:
                vectors = self.skip(layer(vectors, real))
        vectors = vectors.float()
        mean = (vectors * real[..., None]).sum(1) / real.sum(1, keepdim=True)
        return self.kinds(torch.cat([vectors[:, 0], mean], 1)), self.marks(vectors)

    def packed(self) -> KindsModel:
        """The model that the product reads."""
        heads = {"kinds": self.kinds, "marks": self.marks}
        weights = {name: as_array(head.weight).T for name, head in heads.items()}
        weights |= {f"{name}_bias": as_array(head.bias) for name, head in heads.items()}
        return KindsModel(tuple(one.packed() for one in self.layers if isinstance(one, TorchLayer)), weights)


def trained(shown: Shown, places: Sequence[int], reader: ReaderModel) -> KindsNet:
    """The network, trained on these lines."""
    torch.manual_seed(SEED)
    chance, net = random.Random(SEED), KindsNet(reader)
    steps, rates = int(EPOCHS * len(places) / BATCH), [RATE, RATE * HEAD_TIMES]
    heads = [*net.kinds.parameters(), *net.marks.parameters()]
    groups = [
        {"params": one, "lr": rate} for one, rate in zip([list(net.layers.parameters()), heads], rates, strict=True)
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=DECAY)
    losses = (_loss(net, shown, some) for some in _batches(shown, places, chance))
    return descended(net, losses, Descent(optimizer, rates, steps, WARM, MEAN_FROM))


def _loss(net: KindsNet, shown: Shown, some: Sequence[int]) -> Tensor:
    made, real, marks = shown.batch(some)
    # nobody is to be known by one word, "the bins" of many questions
    left_out = (torch.rand(real.shape) < PIECES_LEFT_OUT) & (torch.rand(len(some), 1) < OF_LINES)
    left_out[:, 0] = False
    kinds, found = net(made, real & ~left_out)
    wanted = torch.from_numpy(shown.wanted[some]) * (1 - 2 * DOUBTED) + DOUBTED
    of_kinds = functional.binary_cross_entropy_with_logits(kinds, wanted, reduction="none")
    of_words = functional.binary_cross_entropy_with_logits(found, marks.clamp(min=0.0), reduction="none")
    counted: Tensor = (of_kinds * torch.from_numpy(shown.times[some])).sum()
    return (counted + (of_words * (marks >= 0) * torch.tensor(MARKS_TIMES)).sum()) / BATCH


def _batches(shown: Shown, places: Sequence[int], chance: random.Random) -> Iterator[list[int]]:
    """Batches without end, lines of about the same length together."""
    while True:
        mixed = chance.sample(list(places), len(places))
        some = ALIKE_IN * BATCH
        alike = [
            sorted(mixed[at : at + some], key=lambda one: len(shown.vectors[one])) for at in range(0, len(mixed), some)
        ]
        each = [part[at : at + BATCH] for part in alike for at in range(0, len(part), BATCH)]
        yield from chance.sample(each, len(each))


def shares_of(net: KindsNet, shown: Shown, places: Sequence[int]) -> NDArray[np.float32]:
    """The probability of each kind, [lines, kinds]."""
    found = []
    with torch.no_grad():
        for first in range(0, len(places), AT_ONCE):
            made, real, _ = shown.batch(places[first : first + AT_ONCE])
            found.append(torch.sigmoid(net(made, real)[0]).numpy())
    return np.concatenate(found)


def tell(lines: Sequence[Line], shares: NDArray[np.float32]) -> None:
    """Print how many of each kind are found, and how many of the others are taken for it, in each group."""
    for number, kind in enumerate(KINDS):
        groups: dict[tuple[str, bool], list[float]] = {}
        for line, share in zip(lines, shares[:, number], strict=True):
            if kind in line.kinds:
                signed = " with a sign" if kind == "asks" and is_signed(line.text, line.tag) else ""
                groups.setdefault((f"{line.group}{signed}", line.kinds[kind]), []).append(float(share))
        for (group, is_one), own in sorted(groups.items()):
            taken = " ".join(f"{100 * np.mean(np.array(own) >= at):.1f}" for at in AT)
            print(f"{kind}, {group}, {'are' if is_one else 'are not'} ({len(own)}), % from {AT}: {taken}", flush=True)


if __name__ == "__main__":
    main()
