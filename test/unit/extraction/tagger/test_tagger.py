"""What a model makes of the words of an utterance, and what each of them looks like to it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from ovos_persona_memory.evaluation.talk_markup import read_marked
from ovos_persona_memory.evaluation.training.tagger import (
    Sample,
    Values,
    WordKinds,
    joined_samples,
    samples,
    samples_in,
    swapped,
    train,
    values_of,
    varied,
)
from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext, PersonRef
from ovos_persona_memory.extraction.tagger import features, network
from ovos_persona_memory.extraction.tagger import tagger as tagging
from ovos_persona_memory.extraction.tagger.features import TemplateSpan, TokenFeatures, kinds_in, models_folder
from ovos_persona_memory.extraction.templates import loader

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


NOTHING_BEFORE = DialogueContext()


def seen(text: str, before: DialogueContext = NOTHING_BEFORE, *hints: TemplateSpan) -> dict[str, set[str]]:
    """The features of each word."""
    words = loader.for_language("en-US").words_of(text)
    return {look.word: set(look.features) for look in features.for_language("en-US").extract(words, before, hints)}


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
    words = loader.for_language("de-DE").words_of("ich mag zwetschgenkuchen")
    assert "k=food" in features.for_language("de-DE").extract(words, DialogueContext())[-1].own


def test_what_templates_took_is_seen() -> None:
    features = seen("i love jazz", DialogueContext(), TemplateSpan("likes", 2, 3))
    assert "takes=likes" in features["jazz"] and "took=" in features["love"]


def test_what_was_said_before_counts_for_answers_alone() -> None:
    before = DialogueContext(told="favourite", names={"ben": PersonRef("ben")})
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


class Known:
    """A network that knows what some words tell; of any other that it tells nothing."""

    labels = ("O", "B-pet", "I-pet", "B-thing", "B-who")

    def __init__(self, **likely: dict[str, float]) -> None:
        self.shares = {word: {"O": 1 - sum(one.values()), **one} for word, one in likely.items()}

    def may_read(self, words: Sequence[str]) -> bool:
        return "many" not in words

    def likely(self, seen: Sequence[TokenFeatures]) -> NDArray[np.float32]:
        rows = [[self.shares.get(look.word, {"O": 1.0}).get(label, 0.0) for label in self.labels] for look in seen]
        return np.array(rows, np.float32)


def opened(path: Path, **likely: dict[str, float]) -> tagging.Tagger:
    """The field in a file beside such a network."""
    tagger = tagging.opened(path, models_folder() / "en-US" / tagging.NETWORK)
    assert tagger is not None
    return replace(tagger, network=cast("network.Network", Known(**likely)))


@pytest.fixture
def field(talk: Path, tmp_path: Path) -> Path:
    """A field that knows how pets are named."""
    train(list(samples(read_marked(talk))) * 5, "en-US", tmp_path / "model", lambda _: None)
    return tmp_path / "model"


def words_like(text: str) -> list[TokenFeatures]:
    return features.for_language("en-US").extract(loader.for_language("en-US").words_of(text), DialogueContext())


PETS = {"goat": {"B-thing": 0.9}, "rex": {"B-pet": 0.9}}


def test_models_find_what_they_were_trained_on(field: Path) -> None:
    tagger = opened(field, **PETS)
    found = tagger.told(words_like("my goat answers to rex")).guesses
    assert [(one.kind, one.first, one.last) for one in found] == [("thing", 1, 2), ("pet", 4, 5)]
    assert all(0.5 < one.sure <= 1.0 for one in found)
    assert tagger.told([]).guesses == []


def test_both_models_count_the_same(field: Path) -> None:
    seen = words_like("my goat answers to rex")
    for_it, against_it = (opened(field, rex={"B-pet": share}).told(seen).guesses[-1].sure for share in (0.9, 0.7))
    assert for_it - against_it == pytest.approx(0.1, abs=1e-4)
    assert "pet" not in [one.kind for one in opened(field, rex={"B-who": 1.0}).told(seen).guesses]


def test_of_words_that_are_too_many_pieces_nothing_is_guessed(field: Path) -> None:
    assert opened(field, **PETS).told(words_like("my goat answers to rex among many")).guesses == []


def test_what_a_template_took_is_doubted_where_both_hardly_believe_it(field: Path) -> None:
    hint, question = TemplateSpan("pet", 1, 2), words_like("what time is it")
    assert opened(field).told(question, [hint]).doubted == {hint}
    assert opened(field, time={"B-pet": 0.9}).told(question, [hint]).doubted == frozenset()
    assert (
        opened(field).told(question, [TemplateSpan("mood", 1, 2)]).doubted == frozenset()
    )  # they never heard of moods
    named = words_like("my goat answers to rex")
    assert opened(field, **PETS).told(named, [TemplateSpan("pet", 4, 5)]).doubted == frozenset()


def test_samples_are_what_people_of_the_house_said(talk: Path) -> None:
    told = list(samples(read_marked(talk)))
    assert len(told) == 9
    assert told[0].labels == ("O", "B-thing", "O", "O", "B-pet")
    assert set(told[6].labels) == {"O"}


def test_samples_of_talk_that_was_read_hold_no_hints(tmp_path: Path) -> None:
    (tmp_path / "en-US").mkdir()
    path = tmp_path / "en-US" / "house.talk"
    path.write_text("@kitchen\nanna: i love [jazz]{likes}\n", encoding="utf-8")
    assert [one.hints for one in samples(read_marked(path))] == [(TemplateSpan("likes", 2, 3),)]
    assert [one.hints for one in samples(read_marked(path), hinted=False)] == [()]


ALLERGIC = Sample(
    loader.for_language("en-US").words_of("i am allergic to peanut butter and my sister is called ana"),
    DialogueContext(),
    (TemplateSpan("allergy", 4, 6), TemplateSpan("family", 11, 12)),
    "",
    ("O", "O", "O", "O", "B-allergy", "I-allergy", "O", "O", "B-who", "O", "O", "B-family"),
)


def test_a_value_is_swapped_for_another_of_its_slot() -> None:
    values: Values = {"allergy": [("eggs",), ("tree", "nuts", "too")], "family": [("ben",)]}
    made = [swapped(ALLERGIC, values, random.Random(n)) for n in range(20)]
    assert {" ".join(one.words.folded[4:7]) for one in made} >= {"eggs and my", "tree nuts too"}
    for one in made:
        spans = tagging.spans_of(one.labels)
        assert [kind for kind, _, _ in spans] == ["allergy", "who", "family"]
        assert [(hint.first, hint.last) for hint in one.hints] == [spans[0][1:], spans[2][1:]]
        assert len(one.words.folded) == len(one.labels) == len(one.words.spans)


def test_a_value_of_which_a_template_took_a_part_stays() -> None:
    part = replace(ALLERGIC, hints=(TemplateSpan("allergy", 4, 5),))
    made = [swapped(part, {"allergy": [("eggs",)]}, random.Random(n)) for n in range(5)]
    assert made == [part] * 5


def test_an_utterance_goes_on_with_another() -> None:
    other = replace(ALLERGIC, hints=(TemplateSpan("allergy", 4, 6),))
    both = joined_samples(ALLERGIC, other)
    assert both.words.folded == (*ALLERGIC.words.folded, *other.words.folded)
    assert both.labels == (*ALLERGIC.labels, *other.labels)
    assert both.hints[-1] == TemplateSpan("allergy", 16, 18)
    assert joined_samples(both, other) == both  # long enough


def test_the_values_of_talk_are_those_of_slots() -> None:
    assert values_of([ALLERGIC]) == {"allergy": [("peanut", "butter")], "family": [("ana",)]}


def test_talk_counts_by_its_folder(talk: Path) -> None:
    for folder in ("everyday", "varied"):
        (talk.parent / folder).mkdir()
        (talk.parent / folder / f"{folder}.talk").write_text(TALK, encoding="utf-8")
    talk.unlink()
    assert len(samples_in(talk.parent)) == 27
    assert len(samples_in(talk.parent, ["everyday"])) == 9


def test_variants_keep_what_is_told() -> None:
    kinds = WordKinds.in_file(models_folder() / "en-US" / features.FILE)
    made = [one for n in range(20) if (one := varied(ALLERGIC, kinds, random.Random(n))) is not None]
    assert made
    for one in made:
        spans = tagging.spans_of(one.labels)
        assert [kind for kind, _, _ in spans] == ["allergy", "who", "family"]
        assert [(hint.first, hint.last) for hint in one.hints] == [spans[0][1:], spans[2][1:]]
        assert len(one.words.folded) == len(one.labels)
        assert one.words.folded[:4] == ALLERGIC.words.folded[:4]


def test_without_the_library_there_is_no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(tagging, "import_module", missing)
    assert tagging.opened(tmp_path / "model", tmp_path / "network") is None


@pytest.mark.parametrize("tag", ["en-US", "de-DE", "en-GB"])
def test_a_language_has_a_model(tag: str) -> None:
    assert tagging.for_language(tag) is not None


def test_other_languages_have_none() -> None:
    assert tagging.for_language("fr-FR") is None
