"""Makes a language's field of what words tell, out of the marked talk in training/: scripts/train_facts.py en-US."""

from __future__ import annotations

import argparse
from pathlib import Path

from ovos_persona_memory import language, tagging
from ovos_persona_memory.measuring.training import samples_in, train

TRAINING = Path(__file__).parent.parent / "training"


def main() -> None:
    """One model for each language that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", nargs="+", help="a folder of training/, as en-US")
    parser.add_argument("--without", nargs="*", default=[], help="files to leave out, so that they can be measured")
    parser.add_argument("--to", type=Path, help="where to write it; else beside the language's templates")
    asked = parser.parse_args()
    for tag in asked.language:
        told = samples_in(TRAINING / tag, asked.without)
        train(told, tag, asked.to or language.locale_folder() / tag / tagging.FILE, print)


if __name__ == "__main__":
    main()
