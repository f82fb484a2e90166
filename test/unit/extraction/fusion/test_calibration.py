"""The second look: its signs, what it decides, and what it is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ovos_persona_memory.evaluation.talk_markup import read_marked
from ovos_persona_memory.evaluation.training.calibration import CalibrationExample, examples, fit
from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext
from ovos_persona_memory.extraction.fusion import calibration, candidates
from ovos_persona_memory.extraction.fusion.calibration import Judge, UtteranceAnalysis, signs_of
from ovos_persona_memory.extraction.fusion.tagged_utterance import TaggedUtterance
from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources
from ovos_persona_memory.extraction.tagger import tagger
from ovos_persona_memory.extraction.tagger.features import TemplateSpan, TokenFeatures, models_folder
from ovos_persona_memory.extraction.tagger.tagger import NOTHING, Guess, LabelProbabilities, TaggerOutput
from ovos_persona_memory.extraction.templates import loader
from ovos_persona_memory.text import languages

NOTHING_BEFORE = DialogueContext()
TEXT = "my goat is rex by the way"
TOLD = Candidate("learned", "stated", TEXT, "pet", "", "goat", "rex", (0, len("my goat is rex")))
LIKES = Candidate("learned", "stated", TEXT, "likes", "", "goat", "goat", (0, len(TEXT)))


def understood(
    told: Sequence[Candidate] = (),
    added: Sequence[tuple[Candidate, float]] = (),
    before: DialogueContext = NOTHING_BEFORE,
    text: str = TEXT,
    pet: float = 0.5,
) -> UtteranceAnalysis:
    """That "rex" is found a pet's name so likely by the network, and with certainty by the field."""
    known = loader.for_language("en-US")
    words = known.words_of(text)
    size = len(words.folded)
    network, field = np.zeros((2, size, 3), np.float32)
    network[:, 0] = field[:, 0] = 1.0
    if "rex" in words.folded:
        place = words.folded.index("rex")
        network[place], field[place] = (1 - pet, pet, 0.0), (0.0, 0.0, 1.0)
    shares = LabelProbabilities(network, field, {NOTHING: [0], "pet": [1, 2]})
    heard = TaggedUtterance(LanguageResources(languages.for_language("en-US"), known), words, before, [])
    return UtteranceAnalysis(heard, shares, told, added, [*told, *(one for one, _ in added)])


def test_signs_say_who_found_what_and_how_surely() -> None:
    signs = signs_of(understood(told=[TOLD]), TOLD)
    assert {"template", "template:pet", "by template alone", "of speaker", "thing", "slot=pet"} <= set(signs)
    assert {"before=is", "behind=by", "first=my", "two=my goat", "length=1", "size=8"} <= set(signs)
    assert signs["guessed"] == 0.0
    guessed = signs_of(understood(added=[(TOLD, 0.3)]), TOLD)
    assert guessed["guessed"] == 0.3
    assert not {"template", "template:pet", "by template alone"} & set(guessed)


def test_signs_hold_what_each_model_finds() -> None:
    signs = signs_of(understood(told=[TOLD], pet=0.5), TOLD)
    assert signs["network least"] == pytest.approx(0.0)
    assert signs["field least"] == pytest.approx(2.647, abs=0.01)  # half the log odds of 0.995, which stands for 1
    assert signs["mean least"] == signs["least:pet"] == pytest.approx(0.549, abs=0.01)  # ... of 0.75
    assert signs["network nothing"] == pytest.approx(0.0)
    assert signs["elsewhere nothing"] == 1.0
    assert signs_of(understood(told=[TOLD], pet=0.9), TOLD)["network least"] == pytest.approx(1.099, abs=0.01)


def test_a_value_that_is_not_there_has_no_place() -> None:
    elsewhere = Candidate("learned", "stated", TEXT, "pet", "", "goat", "bob", (0, len(TEXT)))
    signs = signs_of(understood(told=[elsewhere]), elsewhere)
    assert "nowhere" in signs
    assert "mean least" not in signs


def test_what_else_is_told_of_the_same_is_a_rival() -> None:
    other = Candidate("learned", "stated", TEXT, "pet", "", "goat", "goat", (0, len(TEXT)))
    signs = signs_of(understood(told=[TOLD], added=[(other, 0.6)]), other)
    assert signs["rival"] == pytest.approx(0.75)
    assert signs["rival surer"] == pytest.approx(0.75)
    assert "rival" not in signs_of(understood(told=[TOLD], added=[(LIKES, 0.6)]), TOLD)


class Deciding:
    """Believes everything so far."""

    def __init__(self, likely: float) -> None:
        self.answer = likely

    def likely(self, understood: UtteranceAnalysis, one: Candidate) -> float:
        """The same of all."""
        return self.answer


class Model:
    """Guesses that the last word is a liking."""

    def __init__(self, sure: float) -> None:
        self.sure = sure

    def told(self, seen: Sequence[TokenFeatures], hints: Sequence[TemplateSpan]) -> TaggerOutput:
        """One guess."""
        return TaggerOutput([Guess("likes", len(seen) - 1, len(seen), self.sure)])


@pytest.fixture
def learned(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """What comes of an utterance whose last word is guessed, where a judge finds all so likely."""

    def of(
        text: str, sure: float, likely: float, told: Sequence[Candidate] = (), before: DialogueContext = NOTHING_BEFORE
    ) -> list[tuple[str, str | None]]:
        judge: Judge = Deciding(likely)
        monkeypatch.setattr(tagger, "_USED", {"en-US": Model(sure)})
        monkeypatch.setattr(calibration, "_USED", {"en-US": judge})
        spoken = LanguageResources(languages.for_language("en-US"), loader.for_language("en-US"))
        found = candidates.add_tagger_candidates(spoken, text, before, list(told))
        return [(one.outcome, one.value) for one in found]

    return of


GUESSED = "honestly i could live on kohlrabi"


def test_what_is_hardly_right_waits_or_is_not_learned_at_all(learned) -> None:  # type: ignore[no-untyped-def]
    assert learned(GUESSED, 0.9, 0.9) == [("learned", "kohlrabi")]
    assert learned(GUESSED, 0.9, 0.1) == [("waiting", "kohlrabi")]
    assert learned(GUESSED, 0.4, 0.9) == [("learned", "kohlrabi")]
    assert learned(GUESSED, 0.4, 0.1) == []
    assert learned(GUESSED, 0.2, 0.9) == []


def test_what_a_template_took_waits(learned) -> None:  # type: ignore[no-untyped-def]
    assert learned(TEXT, 0.1, 0.9, [TOLD]) == [("learned", "rex")]
    assert learned(TEXT, 0.1, 0.1, [TOLD]) == [("waiting", "rex")]


def test_what_templates_know_as_a_whole_is_learned_however_unlikely_it_looks(learned) -> None:  # type: ignore[no-untyped-def]
    assert learned("my goat is rex", 0.1, 0.1, [TOLD]) == [("learned", "rex")]
    age = Candidate(
        "learned", "stated", TEXT, "age", "", "", "six", (len("my goat is rex and "), len("my goat is rex and i'm six"))
    )
    assert learned("my goat is rex and i'm six", 0.1, 0.1, [TOLD, age]) == [("learned", "rex"), ("learned", "six")]
    assert learned("my goat is rex hurray i'm six", 0.1, 0.1, [TOLD, age]) == [("waiting", "rex"), ("waiting", "six")]
    assert learned("the goat is rex", 0.1, 0.1, [replace(TOLD, span=(0, 15))]) == [("learned", "rex")]
    assert learned("goat rex", 0.1, 0.1, [replace(TOLD, span=(0, 8))]) == [("waiting", "rex")]


def test_nobody_looks_again_at_answers_breeds_and_moods(learned) -> None:  # type: ignore[no-untyped-def]
    assert learned(TEXT, 0.1, 0.1, [TOLD], DialogueContext(question=True)) == [("learned", "rex")]
    assert learned(GUESSED, 0.9, 0.1, [], DialogueContext(question=True)) == [("waiting", "kohlrabi")]
    assert learned(TEXT, 0.1, 0.1, [replace(TOLD, slot="mood", thing="")]) == [("learned", "rex")]
    assert learned(TEXT, 0.1, 0.1, [replace(TOLD, slot="detail", thing="kind")]) == [("learned", "rex")]


def test_what_was_asked_to_be_remembered_is_not_doubted(learned) -> None:  # type: ignore[no-untyped-def]
    asked = Candidate("learned", "asked", TEXT, "pet", "", "goat", "rex", (0, len(TEXT)))
    ended = Candidate("ended", "taken_back", TEXT, "pet", "", "goat", "rex", (0, len(TEXT)))
    assert learned(TEXT, 0.1, 0.1, [asked]) == [("learned", "rex")]
    assert learned(TEXT, 0.1, 0.1, [ended]) == [("ended", "rex")]


def test_it_knows_what_it_was_fitted_to(tmp_path: Path) -> None:
    said: list[str] = []
    good = [CalibrationExample(signs_of(understood(told=[TOLD], pet=0.9), TOLD), True)] * 40
    bad = [CalibrationExample(signs_of(understood(added=[(TOLD, 0.3)], pet=0.1), TOLD), False)] * 20
    fit([*good, *bad], tmp_path / "belief", said.append)
    assert "of 60 facts, 40 of them right" in said[0]
    found = calibration.opened(tmp_path / "belief")
    assert found is not None
    sure = found.likely(understood(told=[TOLD], pet=0.9), TOLD)
    unsure = found.likely(understood(added=[(TOLD, 0.3)], pet=0.1), TOLD)
    assert 0.0 < unsure < 0.5 < sure < 1.0


def test_examples_are_what_is_learned_and_whether_it_is_right(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(calibration, "_USED", {})
    folder = tmp_path / "en-US"
    folder.mkdir()
    talk = (
        "@kitchen\nanna: no pesto please i'm allergic to [walnuts]{allergy} you know\n"
        "anna!: not today please i'm allergic to mondays you know\nanna!: what time is it\n"
    )
    (folder / "house.talk").write_text(talk, encoding="utf-8")
    found = [(one.right, "slot=allergy" in one.signs) for one in examples(read_marked(folder / "house.talk").talk)]
    assert found[0] == (True, True)
    assert all(not right for right, _ in found[1:])


def test_without_the_library_nobody_looks_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(calibration, "import_module", missing)
    assert calibration.opened(tmp_path / "belief") is None


@pytest.mark.parametrize("tag", ["en-US", "de-DE"])
def test_a_language_with_models_is_looked_at_again(tag: str) -> None:
    assert (models_folder() / tag / tagger.FILE).is_file()
    assert isinstance(calibration.for_language(tag), calibration.Calibrator)


def test_other_languages_are_not() -> None:
    assert calibration.for_language("fr-FR") is None
