"""Calibration: the training examples and the fit of the model of confidence in learned facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from ovos_persona_memory.evaluation.fact_scores import measure_learning
from ovos_persona_memory.evaluation.labelled_talk import LabelledTalk
from ovos_persona_memory.extraction import Candidate
from ovos_persona_memory.extraction.fusion import calibration
from ovos_persona_memory.extraction.fusion.calibration import RIGHT, WRONG, Signs, UtteranceAnalysis, signs_of

SETTINGS = {"c1": 0.0, "c2": 5.0, "max_iterations": 300}
"""L1 and L2 penalties, and iterations at most, as CRFsuite names them."""


@dataclass(frozen=True)
class CalibrationExample:
    """A learned fact with its signals, and whether it is right."""

    signs: Signs
    right: bool


@dataclass
class SignalRecorder:
    """A calibrator that accepts everything, and records the signals."""

    seen: dict[tuple[str, str | None, str | None], Signs] = field(default_factory=dict)
    """Signals by text of the utterance, slot and value."""

    def likely(self, understood: UtteranceAnalysis, one: Candidate) -> float:
        """Always certain."""
        self.seen.setdefault((understood.heard.words.text, one.slot, one.value), signs_of(understood, one))
        return 1.0


def examples(talk: LabelledTalk) -> Iterator[CalibrationExample]:
    """The facts learned from a talk without calibration."""
    watching = SignalRecorder()
    calibration.override_for_tests(talk.language, watching)
    for one in measure_learning([talk]).learned:
        signs = watching.seen.get((one.said, one.slot, one.value))
        if signs is not None:
            yield CalibrationExample(signs, one.right)


def fit(told: Sequence[CalibrationExample], path: Path, say: Callable[[str], None]) -> None:
    """Write the calibration model fitted to these examples."""
    library: Any = import_module("pycrfsuite")
    trainer = library.Trainer(verbose=False, params=SETTINGS)
    for one in told:
        trainer.append([dict(one.signs)], [RIGHT if one.right else WRONG])
    trainer.train(str(path))
    right = sum(one.right for one in told)
    say(f"{path}, {path.stat().st_size:,} bytes, of {len(told)} facts, {right} of them right")
