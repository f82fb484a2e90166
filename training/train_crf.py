"""Makes a language's field of what words tell, out of the marked talk in training/: training/train_crf.py en-US."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from ovos_persona_memory.evaluation.training.tagger import Sample, samples_in, train
from ovos_persona_memory.extraction.tagger import tagger
from ovos_persona_memory.extraction.tagger.features import models_folder

TRAINING = Path(__file__).parents[1] / "training"


def asked_for(description: str | None, name: str) -> Iterator[tuple[str, list[Sample], Path]]:
    """Each language that the command line names, its talk, and where the file of this name goes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("language", nargs="+", help="a folder of training/, as en-US")
    parser.add_argument("--without", nargs="*", default=[], help="files to leave out, so that they can be measured")
    parser.add_argument("--to", type=Path, help="where to write it; else where the memory looks for it")
    asked = parser.parse_args()
    for tag in asked.language:
        yield tag, samples_in(TRAINING / tag, asked.without), asked.to or models_folder() / tag / name


def main() -> None:
    """One model for each language that is named."""
    for tag, told, path in asked_for(__doc__, tagger.FILE):
        train(told, tag, path, print)


if __name__ == "__main__":
    main()
