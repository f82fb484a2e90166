"""The days on which somebody does something."""

from __future__ import annotations

import pytest

from ovos_persona_memory.records import Scope
from test.unit.extraction.test_dialogue_state import Home


def activities(*said: str, lang: str = "en-US") -> list[str | None]:
    """What is known to be done after one person said all of this, the oldest first."""
    home = Home(lang=lang)
    for text in said:
        home.say("ann", text)
    return [value for slot, _, value in home.facts("ann") if slot == "activity"]


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("i do pilates on mondays and fridays", "pilates on mondays and fridays"),
        ("every tuesday i play chess", "chess, every tuesday"),
        ("on sunday mornings i play tennis", "tennis, sunday mornings"),
        ("i play chess", "chess"),
    ],
)
def test_an_activity_holds_its_days(said: str, value: str) -> None:
    assert [one and one.replace("play ", "") for one in activities(said)] == [value]


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("ich spiele jeden donnerstag darts", "donnerstag"),
        ("ich gehe immer montags zum schach", "montags"),
        ("dienstags habe ich chor", "dienstags"),
        ("am mittwoch bin ich immer beim yoga", "mittwoch"),
    ],
)
def test_in_german(said: str, day: str) -> None:
    assert [day in (one or "") for one in activities(said, lang="de-DE")] == [True]


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ("ich habe montags judo", "judo ist jetzt nicht mehr montags sondern dienstags", "judo, dienstags"),
        ("ich habe montags judo", "das ist verlegt judo ist ab sofort am donnerstag", "judo, donnerstag"),
        ("ich gehe mittwochs zum chor", "der chor ist jetzt immer donnerstags", "chor, donnerstags"),
        ("ich spiele jeden montag darts", "darts ist jetzt nicht mehr montags sondern dienstags", "darts, dienstags"),
    ],
)
def test_what_has_moved_in_german(before: str, after: str, value: str) -> None:
    assert activities(before, after, lang="de-DE") == [value]


def test_two_activities_have_days_of_their_own() -> None:
    assert activities("on mondays i play chess and i play tennis on fridays")[-1] == "tennis on fridays"


@pytest.mark.parametrize(
    "said",
    [
        "chess is on thursdays now",
        "chess isn't on mondays any more it's on thursdays",
        "my chess is not mondays any more it's thursdays",
        "they've moved chess from mondays to thursdays",
    ],
)
def test_what_has_moved_takes_the_place_of_the_day_before(said: str) -> None:
    assert activities("i play chess on mondays", said) == ["chess, thursdays"]


@pytest.mark.parametrize(
    "said",
    [
        "the dentist appointment isn't on monday it's on thursday now",
        "she isn't here on mondays any more she comes on thursdays",
        "is chess on thursdays now",
        "if chess was on thursdays now i could come",
    ],
)
def test_what_nobody_does_every_week_has_no_days(said: str) -> None:
    assert not any("thursday" in (one or "") for one in activities("i play chess on mondays", said))


def test_what_has_moved_is_told_and_found_with_its_days() -> None:
    home = Home()
    home.say("ann", "i play chess on mondays")
    home.say("ann", "chess isn't on mondays any more it's on thursdays", after_s=100)
    (fact,) = home.memory.facts.list(Scope(user_id="ann"))
    assert fact.text == "chess isn't on mondays any more it's on thursdays"
    scope = Scope(user_id="ann")
    hits = home.memory.recall("when do i play chess", scope)
    assert [hit.text for hit in hits if hit.answers] == [fact.text]
    assert [hit for hit in home.memory.recall("when do i play cricket", scope) if hit.answers] == []


def test_what_is_said_again_without_its_day_keeps_it() -> None:
    assert activities("i play chess on mondays", "i play chess") == ["chess on mondays"]


def test_a_day_is_put_right() -> None:
    home = Home()
    home.say("ann", "i play chess on mondays")
    home.say("ann", "tuesdays not mondays")
    known = home.memory.facts.list(Scope(user_id="ann"))
    assert [(one.slot, one.value) for one in known] == [("activity", "chess, tuesdays")]


def test_a_thing_with_a_day_of_every_week_is_done_then() -> None:
    home = Home("de-DE")
    home.say("ann", "die probe ist immer am donnerstag")
    assert home.facts("ann") == [("activity", "", "probe, donnerstag")]


def test_what_people_do_every_week_needs_no_more_than_its_day() -> None:
    assert activities("tonight before my pottery class it's every friday") == ["pottery class, every friday"]
    assert activities("is my pottery class every friday") == []
    assert activities("tonight before my cousin's visit it's every friday") == []


@pytest.mark.parametrize(
    ("lang", "once", "always"),
    [
        ("en-US", "it's wednesday and i have library and gym", "i have library and gym on wednesdays"),
        ("en-US", "we're going camping in august", "we always go camping in august"),
        ("de-DE", "nächste woche geh ich schwimmen", "jede woche geh ich schwimmen"),
        ("de-DE", "im august fahren wir nach spanien", "im august fahren wir immer nach spanien"),
    ],
)
def test_what_is_done_one_time_is_no_activity(lang: str, once: str, always: str) -> None:
    assert activities(once, lang=lang) == []
    assert activities(always, lang=lang) != []


def test_one_day_of_what_is_done_every_week_is_its_day_in_german() -> None:
    assert activities("am montag hab ich klettern", lang="de-DE") == ["klettern, montag"]
    assert activities("montags hab ich chor", "am dienstag hab ich chor", lang="de-DE") == ["chor, dienstag"]
    assert activities("am freitag ist chorprobe", lang="de-DE") == []


def test_on_a_day_somebody_does_what_is_theirs() -> None:
    assert activities("it's tuesday i'm off for my ocean swim back by eight") == ["ocean swim"]
    assert activities("it's thursday i've got choir before school now as well as gym after") == ["choir"]
