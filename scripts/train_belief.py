"""Makes a language's second look at what was understood, out of the marked talk in training/.

scripts/train_belief.py en-US --models FOLDER

It is fitted to talk that its models were not trained on. So of the everyday talk one half is left out of the training
of two models and then played to them, and the other way round. Each half takes half an hour, and needs what
scripts/train_network.py needs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from train_facts import TRAINING

from ovos_persona_memory import belief, language, tagging
from ovos_persona_memory.measuring.believing import Example, examples, fit
from ovos_persona_memory.measuring.marked import ENDING, read_marked

EVERYDAY = "everyday"
"""The folder of talk that is most like what people say."""
HALVES = ("a", "b")


def trained(tag: str, folder: Path, half: str, without: list[str]) -> tagging.Tagger:
    """The models that know nothing of some files; they are trained where they do not lie in the folder."""
    field, network = folder / f"{tag}.{half}.model", folder / f"{tag}.{half}.network"
    for script, path in (("train_facts.py", field), ("train_network.py", network)):
        if not path.is_file():
            command = [sys.executable, str(Path(__file__).parent / script), tag, "--without", *without]
            subprocess.run([*command, "--to", str(path)], check=True)
    tagger = tagging.opened(field, network)
    if tagger is None:
        raise ImportError("pip install python-crfsuite")
    return tagger


def told(tag: str, folder: Path) -> Iterator[Example]:
    """What is learned of all everyday talk by models that were not trained on it."""
    paths = sorted((TRAINING / tag / EVERYDAY).glob(f"*{ENDING}"))
    for number, half in enumerate(HALVES):
        left_out = paths[number :: len(HALVES)]
        tagging.use(tag, trained(tag, folder, half, [path.stem for path in left_out]))
        for path in left_out:
            yield from examples(read_marked(path))


def main() -> None:
    """One second look for each language that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", nargs="+", help="a folder of training/, as en-US")
    parser.add_argument("--models", type=Path, required=True, help="a folder for the models of each half")
    parser.add_argument("--to", type=Path, help="where to write it; else beside the language's templates")
    asked = parser.parse_args()
    asked.models.mkdir(parents=True, exist_ok=True)
    for tag in asked.language:
        path = asked.to or language.locale_folder() / tag / belief.FILE
        fit(list(told(tag, asked.models)), path, print)


if __name__ == "__main__":
    main()
