"""Makes a language's second look at what was understood, out of the months of talk in test/data.

training/train_calibration.py en-US

It is fitted to talk that its models were not trained on: all months but the first three, and but what is kept out. Of
the months 30 to 39 the field knows the turns that tell something; without them the second look was worse, all the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from ovos_persona_memory.evaluation.labelled_talk import LabelledTalk, read_talks
from ovos_persona_memory.evaluation.talk_markup import ENDING, read_marked
from ovos_persona_memory.evaluation.training.calibration import examples, fit
from ovos_persona_memory.extraction.fusion import calibration
from ovos_persona_memory.extraction.tagger.features import models_folder

DATA = Path(__file__).parents[1] / "test" / "data"
TRAINED_ON = frozenset({"month", "month4", "month5"})
"""The months of talk that the models were trained on."""
KEPT_OUT = frozenset({"month29", "month50", "month51", "month60", "month61", "month62", "month63"})
"""The months that are held out for measuring."""


def months(tag: str) -> Iterator[LabelledTalk]:
    """All talk of a language that its models were not trained on."""
    ending = f"_{tag.partition('-')[0]}.jsonl.gz"
    for path in sorted((DATA / "months").glob(f"*{ending}")):
        if path.name.removesuffix(ending) not in TRAINED_ON | KEPT_OUT:
            yield from read_talks(path)
    for path in sorted((DATA / "talk" / tag).glob(f"*{ENDING}")):
        yield read_marked(path).talk


def main() -> None:
    """One second look for each language that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", nargs="+", help="a folder of training/, as en-US")
    parser.add_argument("--to", type=Path, help="where to write it; else where the memory looks for it")
    asked = parser.parse_args()
    for tag in asked.language:
        path = asked.to or models_folder() / tag / calibration.FILE
        fit([one for talk in months(tag) for one in examples(talk)], path, print)


if __name__ == "__main__":
    main()
