"""What a model makes of the words of an utterance, and what each of them looks like to it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ovos_persona_memory import language, looks, tagging, templates
from ovos_persona_memory.looks import Hint, kinds_in
from ovos_persona_memory.measuring.marked import read_marked
from ovos_persona_memory.measuring.training import Kinds, Sample, samples, train, varied
from ovos_persona_memory.people import Before, Who

TALK = """\
@kitchen
anna: my [cat]{thing} answers to [bob]{pet}
anna: my [dog]{thing} answers to [rex]{pet}
anna: my [parrot]{thing} answers to [coco]{pet}
anna: my [hamster]{thing} answers to [otto]{pet}
anna: my [pony]{thing} answers to [lulu]{pet}
anna: my [goat]{thing} answers to [heidi]{pet}
anna!: what time is it
tom!: set a timer for ten minutes
anna!: turn on the light
"""


NOTHING_BEFORE = Before()


def seen(text: str, before: Before = NOTHING_BEFORE, *hints: Hint) -> dict[str, set[str]]:
    """The features of each word."""
    words = templates.of("en-US").words_of(text)
    return dict(zip(words.folded, map(set, looks.of("en-US").of(words, before, hints)), strict=True))


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    (tmp_path / "en-US").mkdir()
    path = tmp_path / "en-US" / "house.talk"
    path.write_text(TALK, encoding="utf-8")
    return path


def test_labels_are_stretches() -> None:
    labels = ["O", "B-pet", "I-pet", "B-pet", "O", "B-who", "I-who"]
    assert tagging.spans_of(labels) == [("pet", 1, 3), ("pet", 3, 4), ("who", 5, 7)]
    assert tagging.spans_of(["O", "O"]) == []


def test_a_word_looks_like_its_kind_its_ends_and_its_neighbours() -> None:
    features = seen("i love strawberries a lot")["strawberries"]
    assert {"w=strawberries", "s3=ies", "-1=love", "1=a", "k=food", "l=i", "r=lot"} <= features


def test_a_name_of_two_words_has_its_kind_in_both() -> None:
    features = seen("i love peanut butter")
    assert "k=food" in features["peanut"] and "k=food" in features["butter"]


def test_a_long_word_has_the_kind_that_it_ends_with() -> None:
    words = templates.of("de-DE").words_of("ich mag zwetschgenkuchen")
    assert "k=food" in looks.of("de-DE").of(words, Before())[-1]


def test_what_templates_took_is_seen() -> None:
    features = seen("i love jazz", Before(), Hint("likes", 2, 3))
    assert "takes=likes" in features["jazz"] and "took=" in features["love"]


def test_what_was_said_before_counts_for_answers_alone() -> None:
    before = Before(told="favourite", names={"ben": Who("ben")})
    assert "told=favourite" in seen("mine's green", before)["green"]
    assert "told=favourite" not in seen("the shop on the corner sells green things", before)["green"]
    assert "named" in seen("ben is tall", before)["ben"]


def test_kinds_are_read_with_their_words() -> None:
    found = kinds_in(["food: apple, peanut butter", "pear", "", "colour:", "pear, Teal"])
    assert found == {
        "apple": ("food",),
        "peanut butter": ("food",),
        "pear": ("colour", "food"),
        "teal": ("colour",),
    }


def test_a_model_finds_what_it_was_trained_on(talk: Path, tmp_path: Path) -> None:
    told = list(samples(read_marked(talk))) * 5
    train(told, "en-US", tmp_path / "model", lambda _: None)
    tagger = tagging.opened(tmp_path / "model")
    assert tagger is not None
    words = templates.of("en-US").words_of("my goat answers to rex")
    found = tagger.told(looks.of("en-US").of(words, Before(), (), "")).guesses
    assert [(one.kind, one.first, one.last) for one in found] == [("thing", 1, 2), ("pet", 4, 5)]
    assert all(0.5 < one.sure <= 1.0 for one in found)
    assert tagger.told([]).guesses == []
    question = looks.of("en-US").of(templates.of("en-US").words_of("what time is it"), Before())
    assert tagger.told(question, [Hint("pet", 1, 2)]).doubted == {Hint("pet", 1, 2)}
    assert tagger.told(looks.of("en-US").of(words, Before()), [Hint("pet", 4, 5)]).doubted == frozenset()


def test_samples_are_what_people_of_the_house_said(talk: Path) -> None:
    told = list(samples(read_marked(talk)))
    assert len(told) == 9
    assert told[0].labels == ("O", "B-thing", "O", "O", "B-pet")
    assert set(told[6].labels) == {"O"}


def test_samples_of_talk_that_was_read_hold_no_hints(tmp_path: Path) -> None:
    (tmp_path / "en-US").mkdir()
    path = tmp_path / "en-US" / "house.talk"
    path.write_text("@kitchen\nanna: i love [jazz]{likes}\n", encoding="utf-8")
    assert [one.hints for one in samples(read_marked(path))] == [(Hint("likes", 2, 3),)]
    assert [one.hints for one in samples(read_marked(path), hinted=False)] == [()]


def test_variants_keep_what_is_told() -> None:
    words = templates.of("en-US").words_of("i am allergic to peanut butter and my sister is called ana")
    labels = ("O", "O", "O", "O", "B-allergy", "I-allergy", "O", "O", "B-who", "O", "O", "B-family")
    sample = Sample(words, Before(), (Hint("allergy", 4, 6), Hint("family", 11, 12)), "", labels)
    kinds = Kinds.in_file(language.locale_folder() / "en-US" / looks.FILE)
    made = [one for n in range(20) if (one := varied(sample, kinds, random.Random(n))) is not None]
    assert made
    for one in made:
        spans = tagging.spans_of(one.labels)
        assert [kind for kind, _, _ in spans] == ["allergy", "who", "family"]
        assert [(hint.first, hint.last) for hint in one.hints] == [spans[0][1:], spans[2][1:]]
        assert len(one.words.folded) == len(one.labels)
        assert one.words.folded[:4] == words.folded[:4]


def test_without_the_library_there_is_no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(tagging, "import_module", missing)
    assert tagging.opened(tmp_path / "model") is None


@pytest.mark.parametrize("tag", ["en-US", "de-DE", "en-GB"])
def test_a_language_has_a_model(tag: str) -> None:
    assert tagging.of(tag) is not None


def test_other_languages_have_none() -> None:
    assert tagging.of("fr-FR") is None
