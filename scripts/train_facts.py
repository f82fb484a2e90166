"""Makes a language's model of what words tell, out of the marked talk in training/: scripts/train_facts.py en-US."""

from __future__ import annotations

import argparse
from pathlib import Path

from ovos_persona_memory import language, tagging
from ovos_persona_memory.measuring.marked import ENDING, read_marked
from ovos_persona_memory.measuring.training import Sample, samples, train

TRAINING = Path(__file__).parent.parent / "training"
READ = "read"
"""The folder of talk by which the templates were written: what they take from it says nothing of other people."""
TIMES = {"everyday": 2, READ: 2, "scenes": 2, "varied": 1}
"""How often each talk of a folder counts: what people say most often counts more."""


def main() -> None:
    """One model for each language that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", nargs="+", help="a folder of training/, as en-US")
    parser.add_argument("--without", nargs="*", default=[], help="files to leave out, so that they can be measured")
    parser.add_argument("--to", type=Path, help="where to write it; else beside the language's templates")
    asked = parser.parse_args()
    for tag in asked.language:
        told: list[Sample] = []
        for path in sorted((TRAINING / tag).rglob(f"*{ENDING}")):
            if path.stem not in asked.without:
                folder = path.parent.name
                told += list(samples(read_marked(path), hinted=folder != READ)) * TIMES[folder]
        train(told, tag, asked.to or language.locale_folder() / tag / tagging.FILE, print)


if __name__ == "__main__":
    main()
