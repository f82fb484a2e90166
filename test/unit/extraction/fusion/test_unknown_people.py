"""Who is spoken of in a household and is none of it."""

from __future__ import annotations

import pytest

from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext, PersonRef
from ovos_persona_memory.extraction.pipeline import ExtractionContext, extract
from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.records import Turn

EN, DE = "en-US", "de-DE"
NOBODY = DialogueContext()
KNOWN = DialogueContext(
    names={"priya": PersonRef("wife", relation="wife"), "leni": PersonRef("tochter", relation="tochter")}
)


def told(lang: str, text: str, before: DialogueContext = NOBODY) -> list[Candidate]:
    return extract(Turn("user", text, at=1.0, lang=lang), ExtractionContext(before=before))


def learned(lang: str, text: str, before: DialogueContext = NOBODY) -> list[tuple[str | None, str, str | None]]:
    return [(one.slot, one.subject, one.value) for one in told(lang, text, before) if one.outcome == "learned"]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "priya is allergic to kiwi"),
        (EN, "priya's allergic to eggs so no omelette"),
        (DE, "die leni ist allergisch gegen erdbeeren"),
        (DE, "leni mag keine tomaten"),
        (DE, "lenis mama ist polizistin"),
        (DE, "die mutter von leni arbeitet bei der post"),
        (DE, "lenis kaninchen heißt hoppel"),
    ],
)
def test_what_is_told_of_somebody_nobody_introduced_is_not_learned(lang: str, text: str) -> None:
    assert learned(lang, text) == []


@pytest.mark.parametrize(
    ("lang", "text", "fact"),
    [
        (EN, "priya is allergic to kiwi", ("allergy", "wife", "kiwi")),
        (DE, "die leni ist allergisch gegen erdbeeren", ("allergy", "tochter", "erdbeeren")),
        (DE, "leni mag keine tomaten", ("dislikes", "tochter", "tomaten")),
    ],
)
def test_of_whom_the_household_knows_it_is(lang: str, text: str, fact: tuple[str, str, str]) -> None:
    assert fact in learned(lang, text, KNOWN)


def test_it_waits_for_review() -> None:
    assert [one.outcome for one in told(EN, "priya hates olives")] == ["waiting"]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "my yoga instructor has a pug"),
        (EN, "my hairdresser lives above a flower shop"),
        (EN, "the other mechanic has shingles"),
        (DE, "unser dirigent ist aus ungarn"),
        (DE, "der hausmeister hat zwölf kinder"),
        (DE, "mein kollege fährt einen alten saab"),
        (EN, "a boy in my class has a ferret"),
        (DE, "eine freundin von mir ist nach bregenz gezogen"),
        (DE, "ein freund von mir arbeitet als pilot"),
    ],
)
def test_nothing_is_learned_of_those_whom_people_only_meet(lang: str, text: str) -> None:
    assert learned(lang, text) == []


@pytest.mark.parametrize(
    ("lang", "text", "fact"),
    [
        (EN, "my boss is called frank", ("detail", "", "frank")),
        (EN, "our babysitter is called maddie", ("detail", "", "maddie")),
        (EN, "my best friend is named dashiell", ("detail", "", "dashiell")),
        (EN, "my sister has a pug", ("pet", "sister", "pug")),
        (EN, "i'm a mechanic and i have shingles", ("health", "", "shingles")),
        (DE, "mein kletterpartner heißt rolf", ("detail", "", "rolf")),
        (DE, "unser dachdecker heißt herr brandt", ("detail", "", "herr brandt")),
        (DE, "meine beste freundin heißt merle", ("detail", "", "merle")),
        (DE, "meine schwiegermutter heißt gerda", ("family", "", "gerda")),
        (DE, "meine schwester hat drei hunde", ("pet", "schwester", "hunde")),
    ],
)
def test_but_their_names_are_and_what_the_family_is(lang: str, text: str, fact: tuple[str, str, str]) -> None:
    assert any(one == fact or (one[:2] == fact[:2] and (one[2] or "").endswith(fact[2])) for one in learned(lang, text))


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "i live in um hang on the phone"),
        (EN, "my doctor's called um no it's gone"),
        (DE, "ich wohne in äh wie heißt das noch"),
        (EN, "remember that um it's gone"),
    ],
)
def test_where_somebody_breaks_off_nothing_is_learned(lang: str, text: str) -> None:
    assert [one for one in told(lang, text) if one.outcome in ("learned", "kept")] == []


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "how do you say i am allergic to shellfish in polish"),
        (EN, "dear sir i am a teacher and i live in boston"),
        (EN, "page ten i have a little sister and her name is wen"),
        (EN, "i take three pills a day says the bear"),
        (EN, "oh great i just love waiting for the bus"),
        (EN, "i have a pony named steve yeah right"),
        (DE, "was heißt auf italienisch ich habe drei kinder"),
        (DE, "bilde einen satz mit gern ich esse gern fisch"),
        (DE, "auf der tasse steht ich bin ein morgenmuffel"),
        (DE, "im theaterstück bin ich zahnarzt"),
        (DE, "mein hund heißt bello tralala"),
    ],
)
def test_what_is_read_out_acted_mocked_or_taken_back_is_not_learned(lang: str, text: str) -> None:
    assert learned(lang, text) == []


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "i am allergic to shellfish"),
        (EN, "i am a teacher and i live in boston"),
        (EN, "i just love waiting tables"),
        (DE, "ich habe drei kinder"),
        (DE, "ich esse gern fisch"),
        (DE, "mein hund heißt bello"),
    ],
)
def test_the_same_in_earnest_is(lang: str, text: str) -> None:
    assert learned(lang, text) != []
