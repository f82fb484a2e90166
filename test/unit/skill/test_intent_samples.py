"""Few wordings of each line, the plainest among them, for engines that are slow."""

from __future__ import annotations

from pathlib import Path

import pytest
from ovos_spec_tools import expand
from padacioso import IntentContainer

from ovos_persona_memory.skill.intent_matching import understood
from ovos_persona_memory.skill.intent_samples import expanded, few, wordings, write_few
from ovos_persona_memory.skill.intents import INTENTS
from ovos_persona_memory.text import languages
from ovos_persona_memory.text.languages import locale_folder


def test_every_wording_is_found_the_plainest_first() -> None:
    line = "[please|can you] forget (that|this [thing])"
    assert sorted(expanded(line)) == sorted(" ".join(one.split()) for one in expand(line))
    assert expanded(line)[0] == "forget that"


def test_few_are_kept_of_a_line_of_many() -> None:
    kept = few(["(a|b|c|d) (a|b|c|d) {x}", "one"])
    assert len(kept) == 4
    assert kept[0] == "a a {x}"
    assert kept[-1] == "one"


def test_a_locale_with_few_wordings(tmp_path: Path) -> None:
    write_few(locale_folder(), tmp_path, ["en-US", "de-AT"])
    given = [
        one for path in (tmp_path / "en-US").glob("*.intent") for one in path.read_text("utf-8").splitlines() if one
    ]
    assert 200 < len(given) < 5_000
    assert {"remember that {text}", "what do you know about me", "forget everything about {topic}"} <= set(given)
    assert "merk dir {text}" in (tmp_path / "de-AT" / "remember.intent").read_text("utf-8").splitlines()
    assert (tmp_path / "de-AT" / "remember_not.voc").is_file()
    assert not (tmp_path / "fr-FR").exists()


def test_an_intent_without_wordings_of_its_own_has_those_it_claims(tmp_path: Path) -> None:
    write_few(locale_folder(), tmp_path, ["en-US"])
    assert "say where {topic}" in (tmp_path / "en-US" / "question.intent").read_text("utf-8").splitlines()


def test_what_another_skill_would_take_whole_is_given_in_every_wording(tmp_path: Path) -> None:
    (tmp_path / "forget.intent").write_text("forget (a|b|c|d|e|f|g|h) {topic}\n", "utf-8")
    (tmp_path / "forget.claims").write_text("# why\n(delete|clear) (a|b|c|d|e|f|g|h) {topic}\n", "utf-8")
    given = wordings(tmp_path, "forget")
    assert sum(one.startswith("forget") for one in given) < 8
    assert {one for one in given if not one.startswith("forget")} == {
        f"{verb} {letter} {{topic}}" for verb in ("delete", "clear") for letter in "abcdefgh"
    }


OTHERS = {
    "ca-ES": "(esborra|elimina|esborra el|esborra les) {kind}",
    "da-DK": "(slet|fjern) (min|den|alle) {kind}",
    "de-DE": "(lösche|entferne|lösche die|lösche das) {kind}",
    "en-US": "(delete|remove|clear|get rid of) (my|the|all|all my) {kind}",
    "es-ES": "(borra|elimina|borra la|borra los) {kind}",
    "fr-FR": "(efface|supprime|efface la|efface les) {kind}",
    "gl-ES": "(borra|elimina|borra a|borra os) {kind}",
    "it-IT": "(cancella|elimina|cancella la|cancella gli) {kind}",
    "nl-NL": "(wis|verwijder|wis de|wis het) {kind}",
    "pt-PT": "(apaga|elimina|apaga a|apaga os) {kind}",
}
"""What the alerts skill says of its "cancel" in these languages."""
FORGOTTEN = {
    "ca-ES": ("esborra tot el que saps de mi", "esborra l'última mitja hora", "esborra tota la memòria"),
    "da-DK": ("slet alt hvad du ved om mig", "slet den sidste halve time", "slet hele hukommelsen"),
    "de-DE": ("lösche alles was du über mich weißt", "lösche die letzte halbe stunde", "lösche das ganze gedächtnis"),
    "en-US": ("delete the last thing i said", "delete the last half hour", "clear all your memories"),
    "es-ES": ("borra todo lo que sabes de mí", "borra la última media hora", "borra tu memoria entera"),
    "fr-FR": ("efface tout ce que tu sais sur moi", "efface la dernière demi-heure", "efface toute ta mémoire"),
    "gl-ES": ("borra todo o que saibas de min", "borra a última media hora", "borra toda a memoria"),
    "it-IT": ("cancella tutto quello che sai di me", "cancella l'ultima mezz'ora", "cancella tutta la memoria"),
    "nl-NL": ("wis alles wat je van me weet", "wis het laatste half uur", "wis je hele geheugen"),
    "pt-PT": ("apaga tudo o que sabes sobre mim", "apaga a última meia hora", "apaga toda a tua memória"),
}


TAGS = [pytest.param(tag, marks=() if tag in ("de-DE", "en-US") else pytest.mark.full) for tag in sorted(OTHERS)]


@pytest.mark.parametrize("tag", TAGS)
def test_who_cancels_alarms_does_not_take_what_is_to_be_forgotten(tag: str) -> None:
    engine = IntentContainer()
    engine.add_intent("others", [OTHERS[tag]])
    for name in ("forget_that", "forget_time", "forget_about", "forget_me", "forget_all"):
        engine.add_intent(name, wordings(locale_folder() / tag, name))
    assert [said for said in FORGOTTEN[tag] if engine.calc_intent(said)["name"] in (None, "others")] == []
    assert engine.calc_intent(OTHERS[tag].partition("|")[0][1:] + " velvet")["name"] in (None, "others")


SAID_BACK = [
    ("fr-FR", "dis {sentence}", "dis oublie ce que je t'ai raconté sur nathalie"),
    ("it-IT", "di {sentence}", "di chi sono le chiavi col moschettone"),
    ("it-IT", "di {sentence}", "di cosa abbiamo parlato lunedì sera"),
    ("it-IT", "dimmi {sentence}", "dimmi tutto quello che sai di zanetti"),
    ("fr-FR", "dis {sentence}", "dis ce que tu sais de nathalie"),
    ("es-ES", "di {sentence}", "di lo que sabes de ousmane"),
    ("gl-ES", "di {sentence}", "di todo o que sabes da festa"),
    ("en-US", "say {sentence}", "say where's the spare fuse"),
    ("en-US", "repeat {sentence}", "repeat what dave told you last night"),
    ("de-DE", "kannst du {sentence} sagen", "kannst du mir den code vom gartentor sagen"),
    ("de-DE", "sage {sentence}", "sage mal wo die leiter steht"),
    ("es-ES", "repite {sentence}", "repite lo que te acabo de contar"),
    ("pt-PT", "fala {sentence}", "fala-me lá do ministro"),
    ("pt-PT", "diz {sentence}", "diz-me lá tudo o que tenho de levar"),
    ("pt-PT", "repete {sentence}", "repete lá o que eu acabei de dizer"),
    ("it-IT", "dimmi {sentence}", "dimmi un po' quando torna lo zio"),
    ("it-IT", "di {sentence}", "di che marca è lo scaldabagno"),
    ("it-IT", "dimmi {sentence}", "dimmi tutto il materiale che ho preso"),
    ("fr-FR", "dis {sentence}", "dis donc j'ai encore droit au pamplemousse"),
    ("nl-NL", "zeg {sentence}", "zeg es wie mijn boor heeft"),
    ("da-DK", "sig {sentence}", "sig lige hvor stigen står"),
    ("ca-ES", "digues {sentence}", "digues-me on és l'escala"),
    ("gl-ES", "repite {sentence}", "repite o que che contei"),
]
"""What the parrot skill says of its "say", and what it would say back."""


@pytest.mark.parametrize(("tag", "others", "said"), SAID_BACK)
def test_who_says_back_what_stands_behind_a_word_does_not_take_what_is_for_the_memory(
    tag: str, others: str, said: str
) -> None:
    engine = IntentContainer()
    engine.add_intent("others", [others])
    ours = ("about", "question", "forget_about")
    for name in ours:
        engine.add_intent(name, wordings(locale_folder() / tag, name))
    assert engine.calc_intent(said)["name"] in ours
    assert engine.calc_intent(others.replace("{sentence}", "xylophon"))["name"] == "others"


@pytest.mark.parametrize("tag", TAGS)
def test_what_is_claimed_from_others_is_understood(tag: str) -> None:
    spoken = languages.for_language(tag)
    for path in (locale_folder() / tag).glob("*.claims"):
        lines = [line for line in path.read_text("utf-8").splitlines() if line[0] != "#" and "{" not in line]
        claimed = {said for line in lines for said in expanded(line)}
        assert claimed <= set(wordings(locale_folder() / tag, path.stem))
        assert [said for said in sorted(claimed) if understood(said, spoken, INTENTS) is None] == []
