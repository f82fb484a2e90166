"""Writes docs/conformance.md from the tests of this folder: what five documents promise, and what holds here.

``python test/acceptance/conformance.py`` writes the page; ``--check`` only says whether it is up to date.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "conformance.md"
FILES = (
    "test_short_term_memory_of_personas.py",
    "test_memory_with_token_budget.py",
    "test_three_layer_memory.py",
    "test_memory_manager.py",
    "test_scoped_short_term_memory.py",
)
"""In the order of the page."""
WHYS = ("In other words", "Deliberately not", "Not yet", "Not ours")
"""How the last cell of a row begins that tells of a difference."""
DIFFERENT = "DIFFERENT"


@dataclass(frozen=True)
class Promise:
    """A sentence of a document that a test shows."""

    sentence: str
    test: str


@dataclass(frozen=True)
class Difference:
    """A sentence of a document that does not hold here as it stands."""

    sentence: str
    here: str
    why: str


@dataclass(frozen=True)
class Chapter:
    """What is promised by one document, in its order."""

    title: str
    file: str
    promises: Sequence[Promise]
    differences: Sequence[Difference]


def chapter(path: Path) -> Chapter:
    """What one file of tests says; ValueError where a test has no sentence, or a row no known reason."""
    tree = ast.parse(path.read_text("utf-8"))
    tests = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name.startswith("test_")]
    promises = [Promise(_sentence(one), one.name) for one in tests]
    differences = [Difference(*map(_on_one_line, row)) for row in _rows(tree)]
    for row in differences:
        if not row.why.startswith(WHYS):
            raise ValueError(f"{path.name}: {row.why!r} begins with none of {', '.join(WHYS)}")
    title = (ast.get_docstring(tree) or "").splitlines()[0].rstrip(".")
    return Chapter(title, path.name, promises, differences)


def _sentence(test: ast.FunctionDef) -> str:
    sentence = _on_one_line(ast.get_docstring(test) or "")
    if not sentence:
        raise ValueError(f"{test.name} does not say which sentence it shows")
    return sentence


def _rows(tree: ast.Module) -> list[tuple[str, str, str]]:
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == DIFFERENT and node.value is not None:
            return list(ast.literal_eval(node.value))
    return []


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def chapters() -> list[Chapter]:
    """All files of tests, in the order of the page."""
    return [chapter(HERE / name) for name in FILES]


def page(told: Sequence[Chapter]) -> str:
    """The page as markdown."""
    shown = sum(len(one.promises) for one in told)
    different = sum(len(one.differences) for one in told)
    lines = [
        "# Conformance",
        "",
        "This memory takes the place of five others. Their documents promise behaviour, sentence by sentence. For each",
        "such sentence this page says which test shows that it holds here, or what holds here instead, and why.",
        f"{shown} sentences are shown by a test, {different} are kept in other words, differently, or not yet.",
        "",
        "The page is written from the tests in `test/acceptance` by `python test/acceptance/conformance.py`.",
        "",
        *(f"- [{one.title}](#{_anchor(one.title)})" for one in told),
        "",
        "In the last column, *in other words* means that the same can be done, named or shaped differently;",
        "*deliberately not*, that something else is meant to hold; *not yet*, that it is to come; and *not ours*, that",
        "another program does it.",
    ]
    for one in told:
        lines += ["", f"## {one.title}", "", f"Tests: [{one.file}](../test/acceptance/{one.file}).", ""]
        lines += ["| sentence | test |", "|---|---|"]
        lines += [f"| {_cell(it.sentence)} | `{it.test.removeprefix('test_')}` |" for it in one.promises]
        if one.differences:
            lines += ["", "| sentence | what holds here | why |", "|---|---|---|"]
            lines += [
                " | ".join(("", *map(_cell, (it.sentence, it.here, it.why)), "")).strip() for it in one.differences
            ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    # in a table a bar ends a cell
    return text.replace("|", "or").replace("<", "&lt;")


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def main() -> int:
    """Write the page, or say that it is out of date; the exit status."""
    made = page(chapters())
    if "--check" in sys.argv[1:]:
        return int(PAGE.read_text("utf-8") != made)
    PAGE.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
