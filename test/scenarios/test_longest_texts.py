"""What the longest texts cost: steps are counted, as nobody can count on seconds."""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from ovos_persona_memory.extraction import Candidate, DialogueContext, ExtractionContext, extract
from ovos_persona_memory.extraction.reader.encoder import LONGEST
from ovos_persona_memory.extraction.reader.model import Utterance
from ovos_persona_memory.extraction.reader.reader import model
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.protocol import MAX_TEXT
from ovos_persona_memory.records import ContextRequest, Heard, Scope, Turn
from ovos_persona_memory.search.recall import MOST_WORDS
from ovos_persona_memory.skill.intent_matching import MatchedIntent, understood
from ovos_persona_memory.skill.memory_skill import INTENTS
from ovos_persona_memory.skill.phrasing import time_words
from ovos_persona_memory.text import languages, secret_detection, tells_secret
from ovos_persona_memory.text.languages import SENTENCE_WORDS, UNDERSTOOD_CHARACTERS, UNDERSTOOD_WORDS, beginning
from ovos_persona_memory.text.tag_questions import statement_asked_about

pytestmark = pytest.mark.full

SHIPPED = languages.shipped()
MONKEY = "marmalade monkey organ jar"
WORDS = [f"{one}{two}" for one in "bcdfghklmnprstvwz" for two in ("olm", "anx", "urt", "ipf", "ezzi", "oggle", "ummer")]
DATA = Path(__file__).parents[1] / "data"
ENGLISH = languages.for_language("en-US")
TOLD = "my cat is called bob and i live in lisbon and my sister works as a nurse and i hate olives"
NOBODY = DialogueContext()
GERMAN = "meine katze heißt bob und ich wohne in lissabon und meine schwester arbeitet als ärztin und ich hasse oliven"
ODD = {
    "one word": "a" * MAX_TEXT,
    "and": "and " * (MAX_TEXT // 4),
    "digits": "1234567890" * (MAX_TEXT // 10),
    "single digits": "1 2 3 4 5 6 7 8 9 0 " * (MAX_TEXT // 20),
    "marks": "?!.,;" * (MAX_TEXT // 5),
    "commas": "a, " * (MAX_TEXT // 3),
    "brackets": "([" * (MAX_TEXT // 2),
    "blanks": "a" + " " * (MAX_TEXT - 2) + "b",
    "stops": ". " * (MAX_TEXT // 2),
    "emoji": "\U0001f600" * MAX_TEXT,
    "accents": "e\u0301" * (MAX_TEXT // 2),
    "thai": ("ฉันอาศัยอยู่ที่กรุงเทพ" * MAX_TEXT)[:MAX_TEXT],
    "chinese": ("我住在北京我的猫叫小白" * MAX_TEXT)[:MAX_TEXT],
    "links": "http://" * (MAX_TEXT // 7),
    "secrets": "my pin " * (MAX_TEXT // 7),
}


def said_in(lang: str, words: int) -> str:
    """So many words that tell facts, one behind the other, without a full stop."""
    path = DATA / "facts" / f"{lang}.json"
    told = [{"en-US": TOLD, "de-DE": GERMAN}.get(lang, "")]
    if path.is_file():
        told = [one["text"] for one in json.loads(path.read_text("utf-8"))["tells"]]
    spoken = cycle(word for text in told for word in re.sub(r"[.,;:?!]", "", text).split())
    return " ".join(islice(spoken, words))


def again(said: str, words: int) -> str:
    """So many words of what somebody says again and again."""
    return " ".join(islice(cycle(said.split()), words))


def steps(work: Callable[..., object], *given: Any) -> int:
    """How many functions something calls with what it is given, Python's and C's; a search of a regular expression is
    one."""
    count = 0

    def note(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    work(*given)  # what is read once is read
    languages.forget_texts()
    sys.setprofile(note)
    try:
        work(*given)
    finally:
        sys.setprofile(None)
    return count


def judged(text: str, lang: str = "en-US", before: DialogueContext = NOBODY) -> list[Candidate]:
    return extract(Turn("user", text, lang=lang), ExtractionContext(before=before))


# how much of a text is understood


def test_what_anybody_says_is_understood_as_a_whole() -> None:
    for text in ("", "hello", TOLD, f"{TOLD}. " * 2):
        assert beginning(text) is text


def test_of_a_text_without_full_stops_the_first_words_are_understood() -> None:
    text = " ".join(WORDS * 20)
    assert beginning(text) == " ".join((WORDS * 20)[:SENTENCE_WORDS])


def test_of_a_text_of_sentences_more_is_understood() -> None:
    text = ". ".join(" ".join(WORDS[:20]) for _ in range(40))
    assert len(languages.SPELLED.findall(beginning(text))) == UNDERSTOOD_WORDS
    assert text.startswith(beginning(text))
    short = ". ".join(" ".join(WORDS[:20]) for _ in range(10))
    assert beginning(short) is short


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_no_text_is_understood_further_whatever_it_is_made_of(text: str) -> None:
    found = beginning(text)
    assert text.startswith(found)
    assert len(found) <= UNDERSTOOD_CHARACTERS
    assert len(languages.SPELLED.findall(found)) <= UNDERSTOOD_WORDS
    assert beginning(found) == found


def test_no_word_is_cut_in_two_where_blanks_are() -> None:
    text = "extraordinarily " * 200
    assert set(beginning(text).split()) == {"extraordinarily"}


# learning


@pytest.mark.parametrize("lang", SHIPPED)
def test_of_the_longest_text_no_more_is_learned_from_than_of_its_beginning(lang: str) -> None:
    text = said_in(lang, 3040)[:MAX_TEXT]
    most = steps(judged, beginning(text), lang) + steps(tells_secret, text, lang)  # secrets are looked for in all of it
    assert steps(judged, text, lang) < 1.1 * most + 500


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_texts_take_few_steps_to_be_judged(text: str) -> None:
    assert steps(judged, text) < 120_000


@pytest.mark.parametrize("words", ["my cat is called bob and", "my mother lives with ana and", "i live in", "she is"])
def test_what_is_said_again_and_again_takes_steps_in_proportion(words: str) -> None:
    known = DialogueContext({"ana": "sister"})
    texts = (again(words, number) for number in (SENTENCE_WORDS // 4, SENTENCE_WORDS))
    few, many = (steps(judged, text, "en-US", known) for text in texts)
    assert many < 10 * few


@pytest.mark.parametrize("lang", SHIPPED)
def test_what_is_said_on_and_on_takes_steps_in_proportion(lang: str) -> None:
    texts = (said_in(lang, number) for number in (SENTENCE_WORDS // 4, SENTENCE_WORDS))
    few, many = (steps(judged, text, lang) for text in texts)
    assert many < 10 * few


def test_facts_in_the_beginning_of_a_long_text_are_learned() -> None:
    told = judged(f"{TOLD} {'and then we went on ' * 600}")
    assert [(one.slot, one.value) for one in told if one.outcome == "learned"][:2] == [
        ("pet", "bob"),
        ("home", "lisbon"),
    ]


def test_what_stands_where_the_understanding_ends_is_not_learned_by_half() -> None:
    filler = "so they said and then we went on to the next one "
    for before in range(SENTENCE_WORDS - 30, SENTENCE_WORDS + 5):
        text = " ".join([*islice(cycle(filler.split()), before), "i live in new york city", filler * 300])
        homes = {one.value for one in judged(text) if one.slot == "home" and one.outcome == "learned"}
        assert homes <= {"new york city"}, before


def test_who_asks_to_remember_something_is_heard_also_before_a_long_text() -> None:
    told = judged(f"Remember that the spare key is with Mrs Bell. {'And then we went on to the next one. ' * 300}")
    first = told[0]
    assert first.outcome in ("kept", "learned")
    assert (first.reason, first.text) == ("asked", "the spare key is with Mrs Bell")


def test_a_long_text_with_a_secret_at_its_end_teaches_nothing() -> None:
    told = judged(f"{TOLD} {'and then we went on ' * 600} the card is 4111 1111 1111 1111")
    assert [(one.outcome, one.reason) for one in told] == [("refused", "secret")]


def test_of_words_of_any_length_no_more_pieces_are_read_than_of_a_sentence() -> None:
    letters, reader = random.Random(1), model()
    assert reader is not None
    long = tuple("".join(letters.choices("qxzjvk", k=40)) for _ in range(20))
    assert len(reader.pieces(Utterance(long))[0]) <= LONGEST + 1
    assert len(reader.pieces(Utterance(tuple(TOLD.split())))[2]) == len(TOLD.split())


# secrets, and what else reads all of a text


@pytest.mark.parametrize("lang", SHIPPED)
def test_secrets_are_looked_for_in_steps_in_proportion(lang: str) -> None:
    for words in ("pin ", "code ", "safe ", "password is ", "safe is three "):
        texts = ((words * MAX_TEXT)[:length] for length in (MAX_TEXT // 2, MAX_TEXT))
        half, whole = (steps(secret_detection.contains_secret, text, lang) for text in texts)
        assert whole < 2.2 * half + 500, words


def test_a_secret_at_the_end_of_the_longest_text_is_one() -> None:
    text = f"{'we went on ' * 1480}my password is swordfish"
    assert len(text) <= MAX_TEXT
    assert secret_detection.contains_secret(text, "en-US")


SECRETS = {
    "cards": "4012 8888 8888 1881 ",
    "codes": "remember that " + "my bike lock code is 2684, ",
    "passwords": "remember that my password is swordfish ",
}


@pytest.mark.parametrize("text", [*ODD.values(), *SECRETS.values()], ids=[*ODD, *SECRETS])
def test_whatever_is_recorded_is_read_for_facts_only_later(memory: PersonaMemory, text: str) -> None:
    memory.learns_later = True
    files = set[str]()
    sys.setprofile(lambda frame, _event, _arg: files.add(frame.f_code.co_filename))
    try:
        memory.record([Turn("user", (text * MAX_TEXT)[:MAX_TEXT], lang="en-US")], Scope(session_id="s"))
    finally:
        sys.setprofile(None)
    assert any(file.endswith("transcript.py") for file in files)
    assert not any("extraction/reader" in file for file in files)


@pytest.mark.parametrize("text", [*ODD.values(), *SECRETS.values()], ids=[*ODD, *SECRETS])
def test_whatever_is_recorded_takes_few_steps(memory: PersonaMemory, text: str) -> None:
    memory.learns_later = True
    whole = (text * MAX_TEXT)[:MAX_TEXT]
    assert steps(lambda: memory.record([Turn("user", whole, lang="en-US")], Scope(session_id="s"))) < 500_000


# questions


def test_a_long_text_asks_by_its_mark_and_its_first_words_alone() -> None:
    told = "we went on and on " * 600
    assert ENGLISH.is_question(f"{told}?")
    assert ENGLISH.is_question(f"where is the key {told}")
    assert ENGLISH.is_statement(told)
    assert statement_asked_about(f"{told} i don't eat pork do i", "en-US") is None
    assert not ENGLISH.only_asks(f"{told}?\n{told}")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[PersonaMemory]:
    with PersonaMemory.open(tmp_path) as opened:
        yield opened


def test_a_long_question_is_looked_up_by_its_rarest_words(memory: PersonaMemory) -> None:
    pairs = zip(WORDS, [*WORDS[1:], WORDS[0]], strict=True)  # each word twice
    with memory.transaction():
        for number, said in enumerate([*map(" ".join, pairs), MONKEY]):
            memory.record([Turn("user", said, at=1e9 + 3600.0 * number)], Scope(session_id=f"s{number}"))
    question = f"{' '.join(WORDS * 20)} {MONKEY}"
    assert len(WORDS) > MOST_WORDS
    assert [hit.text for hit in memory.recall(question, k=1)] == [MONKEY]


def test_a_long_question_that_was_heard_makes_its_own_words_no_rarer(memory: PersonaMemory) -> None:
    scope = Scope(session_id="s")
    for number in range(3):
        memory.record([Turn("user", f"{MONKEY} {number}", at=1000.0 + number)], scope)
    text = f"{' '.join(WORDS * 4)} {MONKEY}"
    memory.record([Turn("user", text, at=5000.0)], scope, utterance_id="u")  # now each of its words was said
    assert [hit.text[:-2] for hit in memory.recall(text, scope, k=1, at=5000.0, utterance_id="u")] == [MONKEY]


def test_what_a_long_question_costs_does_not_grow_with_it(memory: PersonaMemory) -> None:
    for number in range(40):
        memory.record([Turn("user", " ".join(WORDS[number : number + 8]), at=1000.0 + number)], Scope(session_id="s"))
    strange = random.Random(2)
    words = ["".join(strange.choices("abcdefghiklmnoprstuvwz", k=7)) for _ in range(2000)]
    some, all_of_them = (" ".join([*WORDS, *words[:number]]) for number in (MOST_WORDS, len(words)))
    asked = [ContextRequest(utterance=text[:MAX_TEXT], scope=Scope(session_id="s")) for text in (some, all_of_them)]
    few, many = (steps(memory.context, one) for one in asked)
    each = steps(lambda: [ENGLISH.words(word) for word in words])
    assert many < 2 * few + 3 * each


def test_a_long_question_does_not_answer_itself(memory: PersonaMemory) -> None:
    text = f"{MONKEY} {' '.join(WORDS * 4)}"
    scope = Scope(session_id="s")
    memory.hear(Heard(what="utterance", scope=scope, session_id="s", at=memory._clock(), text=text, lang="en-US"))
    assert memory.context(ContextRequest(utterance=text, scope=scope)).hits == []


# what is meant for the skill


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_texts_are_quickly_known_to_be_for_nobody(text: str) -> None:
    assert steps(understood, text, ENGLISH, INTENTS) < 60_000
    assert understood(text, ENGLISH, INTENTS) is None


@pytest.mark.parametrize("word", ["please", "now", "um", "can you", "remember", "forget that"])
def test_small_words_around_a_request_do_not_multiply_the_work(word: str) -> None:
    few, many = (steps(understood, again(word, number), ENGLISH, INTENTS) for number in (30, 60))
    assert many < 3 * few


def test_who_asks_to_remember_a_long_text_is_understood() -> None:
    text = f"the speech goes {'on and on ' * 900}".strip()
    assert understood(f"remember that {text}", ENGLISH, INTENTS) == MatchedIntent("remember", {"text": text})
    assert understood(f"remember to {text}", ENGLISH, INTENTS) is None
    assert understood(text, ENGLISH, INTENTS) is None


def test_the_time_in_a_long_request_is_found_in_steps_in_proportion() -> None:
    now = datetime(2026, 11, 21, 12)
    texts = (f"forget {'what we said ' * number}yesterday" for number in (10, 40))
    few, many = (steps(time_words, text, ENGLISH, now) for text in texts)
    assert many < 8 * few + 500
