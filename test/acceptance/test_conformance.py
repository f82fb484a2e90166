"""The page docs/conformance.md is what the tests of this folder say."""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance import conformance

HERE = Path(__file__).parent


def test_the_page_is_up_to_date() -> None:
    made = conformance.page(conformance.chapters())
    assert conformance.PAGE.read_text("utf-8") == made, "run python test/acceptance/conformance.py"


def test_every_file_of_promises_is_on_the_page() -> None:
    files = {path.name for path in HERE.glob("test_*.py")} - {Path(__file__).name}
    assert files == set(conformance.FILES)


def test_no_sentence_is_both_shown_and_told_to_be_different() -> None:
    for one in conformance.chapters():
        shown = [promise.sentence for promise in one.promises]
        different = [row.sentence for row in one.differences]
        assert len({*shown, *different}) == len(shown) + len(different), one.file


def test_a_test_without_a_sentence_and_a_row_without_a_reason_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    path.write_text('"""It."""\ndef test_it() -> None:\n    assert 1\n')
    with pytest.raises(ValueError, match="test_it does not say"):
        conformance.chapter(path)
    path.write_text('"""It."""\nDIFFERENT: object = (("a", "b", "Because."),)\n')
    with pytest.raises(ValueError, match="begins with none of"):
        conformance.chapter(path)
