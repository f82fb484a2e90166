"""What somebody does not have, is not or does not fear is no fact; what they do without is one."""

from __future__ import annotations

import pytest

from ovos_persona_memory.evaluation.fact_scores import LearnedFact, measure_learning
from ovos_persona_memory.evaluation.labelled_talk import LabelledFact, LabelledTalk, TalkTurn

ANYTHING = LabelledFact("t", "mood", "moods count, too")


def learned_from(tag: str, text: str) -> list[LearnedFact]:
    return measure_learning([LabelledTalk(tag, [TalkTurn("t", "user", text, person="ann")], [ANYTHING])]).learned


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("en-US", "i'm not afraid of the dark"),
        ("en-US", "i'm never afraid of spiders"),
        ("en-US", "i don't hate mondays"),
        ("en-US", "i don't mind olives"),
        ("en-US", "spiders don't scare me"),
        ("en-US", "i don't have asthma"),
        ("en-US", "i haven't got diabetes thank god"),
        ("en-US", "my dad doesn't have a hearing aid"),
        ("en-US", "i have no nut allergy"),
        ("en-US", "i'm no vegetarian"),
        ("en-US", "teal is not my favourite colour"),
        ("en-US", "i'm not sad"),
        ("de-DE", "ich hab keine angst vor gewitter"),
        ("de-DE", "ich hasse montage nicht"),
        ("de-DE", "oliven stören mich nicht"),
        ("de-DE", "ich hab kein asthma"),
        ("de-DE", "ich hab keine nussallergie"),
        ("de-DE", "mein papa hat kein hörgerät"),
        ("de-DE", "ich bin kein vegetarier"),
        ("de-DE", "blau ist nicht meine lieblingsfarbe"),
        ("de-DE", "ich bin nicht müde"),
    ],
)
def test_what_is_denied_is_no_fact(tag: str, text: str) -> None:
    assert learned_from(tag, text) == []


@pytest.mark.parametrize(
    ("tag", "text", "slot", "value"),
    [
        ("en-US", "i'm afraid of the dark", "dislikes", "the dark"),
        ("en-US", "i'm not a big fan of olives", "dislikes", "olives"),
        ("en-US", "ah no i hate mustard you know that well", "dislikes", "mustard"),
        ("en-US", "i have asthma", "health", "asthma"),
        ("en-US", "my dad has a hearing aid", "health", "hearing aid"),
        ("en-US", "i can't do without my inhaler", "health", "inhaler"),
        ("en-US", "i can't have gluten", "diet", "gluten"),
        ("en-US", "teal is my favourite colour", "favourite", "teal"),
        ("en-US", "i'm so sad", "mood", "sad"),
        ("de-DE", "ich hab angst vor gewitter", "dislikes", "gewitter"),
        ("de-DE", "ich mag spinat nicht", "dislikes", "spinat"),
        ("de-DE", "ich mag keinen fisch", "dislikes", "fisch"),
        ("de-DE", "na ich nicht mir graust vor karpfen", "dislikes", "karpfen"),
        ("de-DE", "ich hab asthma", "health", "asthma"),
        ("de-DE", "meine oma isst kein fleisch", "diet", "fleisch"),
        ("de-DE", "ich bin so müde", "mood", "müde"),
    ],
)
def test_its_twin_and_what_is_done_without_are(tag: str, text: str, slot: str, value: str) -> None:
    assert [(one.slot, one.value) for one in learned_from(tag, text)] == [(slot, value)]


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("de-DE", "wir haben keine milch mehr"),
        ("de-DE", "ich hab keinen kaffee mehr"),
        ("en-US", "we have no milk left"),
        ("en-US", "i'm at the dentist"),
        ("en-US", "i'm at the hairdresser"),
        ("de-DE", "ich bin beim zahnarzt"),
    ],
)
def test_what_has_run_out_is_no_diet_and_who_is_at_the_dentist_s_has_no_job_there(tag: str, text: str) -> None:
    assert learned_from(tag, text) == []


@pytest.mark.parametrize(
    ("tag", "text", "slot"),
    [
        ("de-DE", "ich trink keine milch mehr", "diet"),
        ("en-US", "i'm a dentist", "work"),
        ("de-DE", "ich bin zahnarzt", "work"),
        ("de-DE", "ich arbeite beim zahnarzt", "work"),
    ],
)
def test_who_drinks_none_has_a_diet_and_who_is_one_a_job(tag: str, text: str, slot: str) -> None:
    assert [one.slot for one in learned_from(tag, text)] == [slot]
