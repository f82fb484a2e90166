"""What is made of a model's guesses beside what templates take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext, PersonRef
from ovos_persona_memory.extraction.fusion import calibration, candidates
from ovos_persona_memory.extraction.fusion.template_spans import place_of
from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources
from ovos_persona_memory.extraction.tagger.features import TemplateSpan, TokenFeatures
from ovos_persona_memory.extraction.tagger.tagger import Guess, TaggerOutput
from ovos_persona_memory.extraction.templates import loader
from ovos_persona_memory.text import languages

NOTHING_BEFORE = DialogueContext()


class Model:
    """Guesses what it is told to, by the words."""

    def __init__(self, words: tuple[str, ...], marks: dict[str, str], sure: float, doubts: bool) -> None:
        self.words, self.marks, self.sure, self.doubts = words, marks, sure, doubts

    def told(self, seen: Sequence[TokenFeatures], hints: Sequence[TemplateSpan]) -> TaggerOutput:
        assert tuple(look.word for look in seen) == self.words
        found = []
        for kind, said in self.marks.items():
            value = loader.for_language("en-US").words_of(said).folded
            first = next(n for n in range(len(self.words)) if self.words[n : n + len(value)] == value)
            found.append(Guess(kind.partition(" ")[0], first, first + len(value), self.sure))
        found.sort(key=lambda one: one.first)
        return TaggerOutput(found, frozenset(hints) if self.doubts else frozenset())


@pytest.fixture
def guess(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """What is learned of an utterance in which these words are marked."""
    known = loader.for_language("en-US")

    def learned(
        text: str,
        marks: dict[str, str],
        told: Sequence[Candidate] = (),
        before: DialogueContext = NOTHING_BEFORE,
        sure: float = 0.9,
        doubted: bool = False,
    ) -> list[Candidate]:
        model = Model(known.words_of(text).folded, marks, sure, doubted)
        monkeypatch.setattr(candidates.tagging, "for_language", lambda tag: model)
        monkeypatch.setattr(calibration, "for_language", lambda tag: None)  # nobody looks again
        return candidates.add_tagger_candidates(
            LanguageResources(languages.for_language("en-US"), known), text, before, list(told)
        )

    return learned


def only(verdicts: list[Candidate]) -> Candidate:
    assert len(verdicts) == 1, verdicts
    return verdicts[0]


def test_what_is_denied_is_not_learned_but_food_that_nobody_eats_is(guess) -> None:  # type: ignore[no-untyped-def]
    assert guess("i'm not lying i'm a nurse", {"work": "nurse"}) != []
    assert guess("i'm not really nurse material", {"work": "nurse"}) == []
    assert guess("i'm not strictly a nurse you know", {"work": "nurse"}) == []
    assert guess("we don't live in leeds", {"home": "leeds"}) == []
    assert only(guess("we don't live in leeds but in york", {"home": "york"})).value == "york"
    assert only(guess("i am not strictly veggie any more", {"diet": "veggie"})).outcome == "ended"
    assert only(guess("just not mushrooms for me please", {"dislikes": "mushrooms"})).value == "mushrooms"


def test_what_is_guessed_of_what_holds_no_more_ends_it(guess) -> None:  # type: ignore[no-untyped-def]
    ended = [
        ("i'm off the iron tablets at last", {"health": "iron tablets"}),
        ("it's been ages since i stopped doing rowing", {"activity": "rowing"}),
        ("i'm not into pilates any more at all", {"activity": "pilates"}),
    ]
    for text, marks in ended:
        assert only(guess(text, marks)).outcome == "ended", text
    for text, marks in (
        ("i stopped at the shop because i do pilates", {"activity": "pilates"}),
        ("i'm on the iron tablets again", {"health": "iron tablets"}),
        ("i haven't got any more room but i do pilates", {"activity": "pilates"}),
    ):
        assert only(guess(text, marks)).outcome == "learned", text


def test_a_place_is_kept_with_its_preposition(guess) -> None:  # type: ignore[no-untyped-def]
    told = only(guess("the lead hangs on the back of the door", {"thing": "lead", "location": "back of the door"}))
    assert told.value == "on the back of the door"


def test_he_is_the_relative_whom_an_article_introduced(guess) -> None:  # type: ignore[no-untyped-def]
    told = only(guess("i've a nephew and he's only three", {"age": "three"}))
    assert (told.subject, told.value) == ("nephew", "three")
    assert guess("i've a niece and he's only three", {"age": "three"}) == []


def test_a_name_behind_for_is_nobody_s(guess) -> None:  # type: ignore[no-untyped-def]
    assert guess("it's for marcus obviously", {"name": "marcus"}) == []
    assert only(guess("it's marcus who speaks obviously", {"name": "marcus"})).value == "marcus"


def test_what_is_denied_of_its_thing_is_not_learned(guess) -> None:  # type: ignore[no-untyped-def]
    denied = "orange is not my favourite colour any more"
    assert guess(denied, {"favourite": "orange", "thing": "favourite colour"}) == []
    other = "my favourite colour is not orange any more but teal"
    assert only(guess(other, {"favourite": "teal", "thing": "favourite colour"})).value == "teal"
    held = "orange is my favourite colour"
    assert only(guess(held, {"favourite": "orange", "thing": "favourite colour"})).value == "orange"


def test_few_words_that_nobody_asked_for_must_be_surer(guess) -> None:  # type: ignore[no-untyped-def]
    text, marks = "none of that cheese please", {"dislikes": "cheese"}
    assert guess(text, marks, sure=0.3) == []
    assert only(guess(text, marks, sure=0.4)).value == "cheese"
    assert only(guess(text, marks, sure=0.3, before=DialogueContext(told="dislikes"))).value == "cheese"


def test_what_somebody_asks_to_remember_may_be_less_sure(guess) -> None:  # type: ignore[no-untyped-def]
    text, marks = "remember the filter is sixteen by twenty", {"detail": "sixteen by twenty", "thing": "filter"}
    kept = Candidate("kept", "asked", text)
    assert only(guess(text, marks, told=[kept], sure=0.2)).value == "sixteen by twenty"
    assert guess(text, marks, sure=0.2) == []


def test_of_what_is_put_right_the_last_holds_though_a_template_took_the_first(guess) -> None:  # type: ignore[no-untyped-def]
    text = "in shoes my size is nine no wait ten"
    first = Candidate("learned", "stated", text, "detail", "", "shoe size", "nine in shoes", (0, 24))
    found = guess(text, {"detail": "ten", "thing": "size"}, told=[first])
    assert [one.value for one in found] == ["ten"]


def test_what_something_else_takes_the_place_of_is_not_learned(guess) -> None:  # type: ignore[no-untyped-def]
    text = "i take candesartan instead of ramipril"
    assert only(guess(text, {"health": "candesartan"})).value == "candesartan"
    assert guess(text, {"health": "ramipril"}) == []


def test_a_value_of_articles_and_prepositions_alone_is_none(guess) -> None:  # type: ignore[no-untyped-def]
    text = "my charger is in the drawer"
    assert only(guess(text, {"location": "in the drawer", "thing": "charger"})).value == "in the drawer"
    assert guess(text, {"location": "in the", "thing": "charger"}) == []


def test_a_person_is_not_put_anywhere(guess) -> None:  # type: ignore[no-untyped-def]
    text = "my mum is on the island"
    assert guess(text, {"location": "on the island", "who": "my mum"}, before=DialogueContext(thing=("case",))) == []
    assert only(guess(text, {"home": "the island", "who": "my mum"})).subject == "mum"


def test_a_guess_is_learned_in_the_speakers_words(guess) -> None:  # type: ignore[no-untyped-def]
    one = only(guess("metformin twice a day till they bury me", {"health": "metformin"}))
    assert (one.outcome, one.reason, one.slot, one.value) == ("learned", "stated", "health", "metformin")
    assert one.text == "metformin twice a day till they bury me"


def test_an_unsure_guess_is_none(guess) -> None:  # type: ignore[no-untyped-def]
    assert guess("metformin twice a day", {"health": "metformin"}, sure=0.2) == []
    assert only(guess("metformin twice a day", {"health": "metformin"}, sure=0.3)).value == "metformin"


def test_a_question_needs_more_to_be_learned_from(guess) -> None:  # type: ignore[no-untyped-def]
    assert guess("is the rabbit still called flopsy", {"pet": "flopsy"}, sure=0.6) == []
    assert only(guess("the rabbit goes by flopsy", {"pet": "flopsy"}, sure=0.6)).value == "flopsy"


def test_what_is_written_needs_more_or_is_not_guessed_at(guess) -> None:  # type: ignore[no-untyped-def]
    marks = {"health": "metformin"}
    assert guess("Metformin, twice a day.", marks, sure=0.28) == []
    assert only(guess("Metformin, twice a day.", marks, sure=0.4)).value == "Metformin"
    assert guess("Metformin twice a day!", marks, sure=0.9) == []


def test_of_a_text_that_nobody_says_in_one_go_nothing_is_guessed(guess) -> None:  # type: ignore[no-untyped-def]
    said = "the rabbit goes by flopsy"
    more = " ".join(["hm"] * (candidates.LONGEST - len(said.split())))
    assert only(guess(f"{more} {said}", {"pet": "flopsy"})).value == "flopsy"
    assert guess(f"{more} hm {said}", {"pet": "flopsy"}) == []


def test_what_is_supposed_is_no_fact(guess) -> None:  # type: ignore[no-untyped-def]
    assert guess("if i had a rabbit i'd call it flopsy", {"pet": "flopsy", "thing": "rabbit"}, sure=0.7) == []


def test_a_word_that_takes_a_statement_back_counts_less_than_a_certain_guess(guess) -> None:  # type: ignore[no-untyped-def]
    said, marks = "whatever anybody says bee stings do for my mum", {"allergy": "bee stings", "who": "my mum"}
    assert guess(said, marks, sure=0.9) == []  # what others say counts as much
    text = "if there is one thing bee stings do for my mum"
    assert guess(text, marks, sure=0.7) == []
    assert only(guess(text, marks, sure=0.8)).value == "bee stings"
    supposed, quoted = (Candidate("refused", reason, text) for reason in ("supposed", "quotation"))
    assert [one.outcome for one in guess(text, marks, told=[supposed], sure=0.8)] == ["refused"]
    assert "learned" in [one.outcome for one in guess(text, marks, told=[supposed], sure=0.9)]
    assert [one.outcome for one in guess(text, marks, told=[quoted], sure=0.9)] == ["refused"]


def test_words_that_point_back_are_kept_with_what_they_point_to(guess) -> None:  # type: ignore[no-untyped-def]
    one = only(guess("the one thing i can't abide it's leaf blowers", {"dislikes": "leaf blowers"}))
    assert one.text == "the one thing i can't abide it's leaf blowers"
    own = only(guess("the shop was shut and i can't abide leaf blowers", {"dislikes": "leaf blowers"}))
    assert own.text == "i can't abide leaf blowers"


def test_a_few_words_that_nobody_asked_for_tell_nothing(guess) -> None:  # type: ignore[no-untyped-def]
    assert guess("ten", {"age": "ten"}) == []
    assert only(guess("ten", {"age": "ten"}, before=DialogueContext(question=True, asked=("age",)))).value == "ten"
    assert guess("it's sixty six right now", {"age": "sixty six"}) == []
    assert guess("with gouda", {"likes": "gouda"}) == []
    assert only(guess("gouda any time of the day", {"likes": "gouda"})).value == "gouda"
    assert guess("whatever they say it's the orange one", {"detail": "orange"}) == []
    assert guess("you work as a nurse by now", {"work": "nurse"}) == []
    assert only(guess("off to work as a nurse by now", {"work": "nurse"})).value == "nurse"


def test_what_begins_a_clause_is_the_thing_that_lies_somewhere(guess) -> None:  # type: ignore[no-untyped-def]
    one = only(guess("bedding for visitors is in the ottoman", {"location": "ottoman"}))
    assert (one.thing, one.value) == ("bed for visitor", "in the ottoman")
    assert guess("the neighbours is in the ottoman", {"location": "ottoman"}) == []


def test_a_relatives_pet_is_no_relative(guess) -> None:  # type: ignore[no-untyped-def]
    one = only(guess("my brother has got a tortoise instead", {"pet": "tortoise", "who": "my brother"}))
    assert (one.slot, one.subject, one.value) == ("pet", "brother", "tortoise")


def test_an_intolerance_is_an_allergy(guess) -> None:  # type: ignore[no-untyped-def]
    assert only(guess("though i am lactose intolerant since may", {"health": "lactose"})).slot == "allergy"
    assert only(guess("though i am so dizzy since may", {"health": "dizzy"})).slot == "health"


def test_a_pet_has_no_job(guess) -> None:  # type: ignore[no-untyped-def]
    known = DialogueContext(names={"rex": PersonRef("dog", pet=True), "ben": PersonRef("brother", relation="brother")})
    assert guess("rex does a bit of plumbing", {"work": "plumbing", "who": "rex"}, before=known) == []
    assert only(guess("ben does a bit of plumbing", {"work": "plumbing", "who": "ben"}, before=known)).slot == "work"


def test_a_colour_that_was_spoken_of_lies_nowhere(guess) -> None:  # type: ignore[no-untyped-def]
    text, marks, colour = "on the coat rack", {"location": "coat rack"}, ("favourite", "colour")
    assert guess(text, marks, before=DialogueContext(thing=colour, asked=colour)) == []
    assert only(guess(text, marks, before=DialogueContext(thing=("leash",)))).thing == "leash"


def test_what_is_of_somebody_in_the_family_is_theirs(guess) -> None:  # type: ignore[no-untyped-def]
    one = only(guess("no walnuts for my sister ever", {"allergy": "walnuts", "who": "my sister"}))
    assert (one.slot, one.subject, one.value) == ("allergy", "sister", "walnuts")
    assert one.text == "no walnuts for my sister ever"


def test_who_is_named_alone_is_meant(guess) -> None:  # type: ignore[no-untyped-def]
    marks = {"allergy": "walnuts"}
    assert only(guess("no walnuts for my sister ever", marks)).subject == "sister"
    assert only(guess("no walnuts for me my sister says it is fine", marks)).subject == ""
    assert only(guess("no walnuts in this house ever for my sake", marks)).subject == ""


def test_who_stands_right_before_a_value_is_meant(guess) -> None:  # type: ignore[no-untyped-def]
    known = DialogueContext(names={"damon": PersonRef("damon")})
    text = "before you read me any recipes damon's coeliac so yeah"
    assert only(guess(text, {"health": "coeliac"}, before=known)).subject == "damon"
    assert only(guess("i go with damon to pilates", {"activity": "pilates"}, before=known)).subject == ""


def test_articles_alone_are_no_value(guess) -> None:  # type: ignore[no-untyped-def]
    assert guess("my book is the best of all", {"favourite": "the", "thing": "book"}) == []
    assert only(guess("my book is the best of all", {"favourite": "the best", "thing": "book"})).value == "the best"


def test_a_no_that_contradicts_is_not_part_of_what_is_right(guess) -> None:  # type: ignore[no-untyped-def]
    one = only(guess("no my cormorant goes by hubert", {"pet": "hubert", "thing": "cormorant"}))
    assert (one.value, one.text) == ("hubert", "my cormorant goes by hubert")


def test_a_pronoun_is_of_whom_was_spoken(guess) -> None:  # type: ignore[no-untyped-def]
    text, marks = "and she swells up from walnuts", {"allergy": "walnuts"}
    sister = DialogueContext(person=PersonRef("sister", "my sister", "sister"))
    one = only(guess(text, marks, before=sister))
    assert (one.subject, one.text) == ("sister", "my sister: she swells up from walnuts")
    assert guess(text, marks) == []


def test_a_name_is_of_whom_was_introduced(guess) -> None:  # type: ignore[no-untyped-def]
    text, marks = "micah does not get on with walnuts", {"allergy": "walnuts", "who": "micah"}
    known = DialogueContext(names={"micah": PersonRef("son", relation="son")})
    assert only(guess(text, marks, before=known)).subject == "son"
    assert guess(text, marks, sure=0.6) == []


def test_of_whom_nobody_introduced_it_is_learned_where_it_is_sure(guess) -> None:  # type: ignore[no-untyped-def]
    assert only(guess("micah's allergic to walnuts", {"allergy": "walnuts", "who": "micah's"})).subject == "micah"
    assert only(guess("the boy swells from walnuts", {"allergy": "walnuts", "who": "the boy"})).subject == "son"
    assert guess("she swells up from walnuts", {"allergy": "walnuts", "who": "she"}) == []
    assert guess("my neighbour swells from walnuts", {"allergy": "walnuts", "who": "my neighbour"}) == []


def test_what_a_template_took_waits_where_the_model_does_not_believe_it(guess) -> None:  # type: ignore[no-untyped-def]
    taken = Candidate("learned", "stated", "my favourite food is poo", "favourite", value="poo", thing="food")
    assert only(guess("my favourite food is poo", {}, [taken], doubted=True)).outcome == "waiting"
    assert only(guess("my favourite food is poo", {}, [taken])) == taken
    asked = replace(taken, reason="asked")
    assert only(guess("my favourite food is poo", {}, [asked], doubted=True)) == asked


def test_a_speaker_in_between_is_the_speaker(guess) -> None:  # type: ignore[no-untyped-def]
    marks = {"who": "my mum", "work": "nurse", "work 2": "cook"}
    found = guess("my mum works as a nurse and i do as a cook", marks)
    assert [(one.subject, one.value) for one in found] == [("mum", "nurse"), ("", "cook")]


def test_a_thing_is_what_the_value_belongs_to(guess) -> None:  # type: ignore[no-untyped-def]
    one = only(guess("green is my shade of wool", {"favourite": "green", "thing": "wool"}))
    assert (one.slot, one.thing, one.value) == ("favourite", "wool", "green")


def test_a_place_is_of_what_was_named_before(guess) -> None:  # type: ignore[no-untyped-def]
    text, marks = "up in the rafters now", {"location": "in the rafters"}
    assert only(guess(text, marks, before=DialogueContext(thing=("christmas", "lights")))).thing == "christma light"


def test_templates_come_first_where_both_say_the_same(guess) -> None:  # type: ignore[no-untyped-def]
    told = Candidate("learned", "stated", "i love jazz", "likes", "", "jazz", "jazz", (0, 11))
    assert guess("i love jazz", {"likes": "jazz"}, [told]) == [told]


def test_a_guess_of_another_slot_takes_the_place_of_what_a_template_took(guess) -> None:  # type: ignore[no-untyped-def]
    told = Candidate("learned", "stated", "he drives a school bus", "detail", "", "car", "school bus", (0, 22))
    one = only(guess("i drive a school bus", {"work": "school bus"}, [replace(told, text="i drive a school bus")]))
    assert one.slot == "work"


def test_what_was_asked_for_is_typed_by_a_guess(guess) -> None:  # type: ignore[no-untyped-def]
    text = "remember the fuses um red toolbox"
    told = Candidate("kept", "asked", "the fuses um red toolbox", thing="the fuses um red toolbox")
    one = only(guess(text, {"location": "red toolbox", "thing": "fuses"}, [told]))
    assert (one.outcome, one.reason, one.slot, one.text) == ("learned", "asked", "location", told.text)
    assert guess(text, {}, [told]) == [told]


def test_what_is_put_right_in_the_same_breath_is_not_learned(guess) -> None:  # type: ignore[no-untyped-def]
    text = "the passports go in the desk no wait in the filing cabinet"
    marks = {"thing": "passports", "location": "in the desk", "location 2": "in the filing cabinet"}
    assert only(guess(text, marks)).value == "in the filing cabinet"


def test_what_is_put_right_is_not_learned_in_any_case(guess) -> None:  # type: ignore[no-untyped-def]
    text = "metformin for me no wait the other one"
    assert guess(text, {"health": "metformin"}) == []
    assert only(guess("metformin for me and the other one", {"health": "metformin"})).value == "metformin"


def test_what_a_template_took_and_is_put_right_at_once_is_not_learned(guess) -> None:  # type: ignore[no-untyped-def]
    told = Candidate(
        "learned", "stated", "my dentist is mister albers", "detail", "", "dentist", "mister albers", (0, 27)
    )
    assert guess("my dentist is mister albers no wait ahlers", {}, [told]) == []
    later = "my dentist is mister albers and he is kind no wait he is rude"
    assert guess(later, {}, [told]) == [told]


def test_a_birthday_is_a_day(guess) -> None:  # type: ignore[no-untyped-def]
    assert guess("big party for me on next saturday", {"birthday": "next saturday"}) == []
    assert only(guess("big party for me on march third", {"birthday": "march third"})).slot == "birthday"


@pytest.mark.parametrize(
    ("slot", "text", "taken", "marks", "sure", "value"),
    [
        ("likes", "i love gin in anything", "gin in anything", {"likes": "gin"}, 0.9, "gin"),
        ("likes", "i love gin in anything", "gin in anything", {"likes": "gin"}, 0.7, "gin in anything"),
        ("location", "my pen is in the mug", "in the mug", {"location": "mug", "thing": "pen"}, 0.9, "in the mug"),
        ("work", "well i am just a cook at a pub", "just a cook at a pub", {"work": "cook"}, 0.9, "cook at a pub"),
        (
            "home",
            "we live on elm street in york",
            "elm street in york",
            {"home": "elm street", "home ": "york"},
            0.9,
            "elm street in york",
        ),
    ],
)
def test_a_sure_guess_says_where_a_value_begins_and_ends(  # type: ignore[no-untyped-def]
    guess, slot: str, text: str, taken: str, marks: dict[str, str], sure: float, value: str
) -> None:
    told = Candidate("learned", "stated", text, slot, thing="gin in anyth", value=taken, span=(0, len(text)))
    assert only(guess(text, marks, told=[told], sure=sure)).value == value


def test_what_is_cut_is_found_by_what_is_left_of_it(guess) -> None:  # type: ignore[no-untyped-def]
    text = "i love gin in anything"
    told = Candidate("learned", "stated", text, "likes", thing="gin in anyth", value="gin in anything", span=(0, 22))
    assert only(guess(text, {"likes": "gin"}, told=[told])).thing == "gin"


def test_a_value_stands_where_its_own_clause_does() -> None:
    known, text = loader.for_language("en-US"), "no figs today i hate figs"
    told = Candidate("learned", "stated", "i hate figs", "dislikes", value="figs", span=(14, 25))
    assert place_of(known, known.words_of(text), told) == (5, 6)
    assert place_of(known, known.words_of(text), replace(told, value="plums")) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ab heute bin ich im chor", True),
        ("bin ich im chor", False),
        ("und bin ich im chor", False),
        ("dann hat lea einen hund", True),
        ("hat lea einen hund", False),
        ("Hat Lea einen Hund? Ich spiele nämlich im Orchester", True),
    ],
)
def test_where_a_verb_stands_before_its_subject_its_clause_asks(
    monkeypatch: pytest.MonkeyPatch, text: str, told: bool
) -> None:
    monkeypatch.setattr(candidates.tagging, "for_language", lambda _: Last())
    monkeypatch.setattr(calibration, "for_language", lambda _: None)
    before = DialogueContext(names={"lea": PersonRef("lea")})
    assert (
        bool(
            candidates.add_tagger_candidates(
                LanguageResources(languages.for_language("de"), loader.for_language("de")), text, before, []
            )
        )
        is told
    )


class Last:
    """Takes the last word for what somebody does."""

    def told(self, seen: Sequence[TokenFeatures], hints: Sequence[TemplateSpan]) -> TaggerOutput:
        return TaggerOutput([Guess("activity", len(seen) - 1, len(seen), 0.9)])


@pytest.mark.parametrize(
    ("text", "job", "value"),
    [
        ("i'm a mechanic over at the bus depot", "mechanic", "mechanic over at the bus depot"),
        ("i'm a lawyer for the city council and i ski", "lawyer", "lawyer for the city council"),
        ("i'm a nurse at saint mary's", "nurse", "nurse at saint mary's"),
        ("i'm a nurse at the moment", "nurse", "nurse"),
        ("i'm a nurse for thirty years", "nurse", "nurse"),
        ("i'm a nurse at heart", "nurse", "nurse at heart"),
        ("i'm a cook at the old pub out in the far west fields", "cook", "cook at the old pub"),
        ("i'm a nurse", "nurse", "nurse"),
    ],
)
def test_a_job_is_kept_with_where_it_is_done(guess, text: str, job: str, value: str) -> None:  # type: ignore[no-untyped-def]
    assert only(guess(text, {"work": job})).value == value


def test_a_workplace_behind_a_job_is_no_job_of_its_own(guess) -> None:  # type: ignore[no-untyped-def]
    found = guess("i'm a cook at the pub", {"work": "cook", "work place": "pub"})
    assert [one.value for one in found] == ["cook at the pub"]
    assert only(guess("i like the cook at the pub", {"likes": "cook"})).value == "cook"


def test_what_it_is_that_nobody_spoke_of_is_not_the_speaker_s(guess) -> None:  # type: ignore[no-untyped-def]
    assert guess("it's newark there's always a parade", {"home": "newark"}) == []
    assert only(guess("we live up north it's newark", {"home": "newark"})).value == "newark"
    assert only(guess("it's newark", {"home": "newark"}, before=DialogueContext(question=True))).value == "newark"


def test_nothing_lies_in_itself(guess) -> None:  # type: ignore[no-untyped-def]
    before = DialogueContext(thing=("dryer",))
    assert guess("they're in the dryer i think so", {"location": "in the dryer"}, before=before) == []
    assert only(guess("they're in the hall i think so", {"location": "in the hall"}, before=before)).thing == "dryer"
