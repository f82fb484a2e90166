"""What is kept of an utterance that mentions a secret: the rest of it, and nothing of the secret."""

from __future__ import annotations

import random
import string
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.extraction.redaction import without_secrets
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Heard, Scope, Turn
from ovos_persona_memory.text import languages
from ovos_persona_memory.text.secret_detection import spots, tells_secret

HERE = Scope(session_id="s")
CUT = [
    ("en-US", "we are at grandma's on Sunday and the alarm code is 4711", "we are at grandma's on Sunday"),
    ("en-US", "we are at grandma's on Sunday the alarm code is 4711", "we are at grandma's on Sunday"),
    ("en-US", "the alarm code is 4711 and we are at grandma's on Sunday", "we are at grandma's on Sunday"),
    ("en-US", "the alarm code is 4711 we are at grandma's on Sunday", "we are at grandma's on Sunday"),
    ("en-US", "mum is Ann and my pin is 12 34 she lives in Leeds", "mum is Ann, she lives in Leeds"),
    ("en-US", "we need four eggs and the alarm code is four seven one one", "we need four eggs"),
    ("en-US", "the gate code is 8822, the alarm code is 4711 and grandma comes on Sunday", "grandma comes on Sunday"),
    ("en-US", "my name is Anna and my card number is 4111 1111 1111 1111", "my name is Anna"),
    ("en-US", "let's buy bread the token is ghp_abcdefghijklmnop1234", "let's buy bread"),
    ("en-US", "The password is swordfish. Grandma comes on Sunday.", "Grandma comes on Sunday"),
    ("en-US", "dinner is at eight. the password is red horse, we like the sea", "dinner is at eight"),
    ("en-US", "grandma wrote Anna the alarm code 4711", ""),
    ("de-DE", "die nummer von meinem fahrradschloss ist eins zwei drei vier", ""),
    ("en-US", "remember that the guest wifi password is sunflower", ""),
    ("en-US", "is the alarm code still 4711", ""),
    ("de-DE", "wir sind am sonntag bei oma und der code von der alarmanlage ist 4711", "wir sind am sonntag bei oma"),
    ("de-DE", "wir sind am sonntag bei oma der code von der alarmanlage ist 4711", "wir sind am sonntag bei oma"),
    ("de-DE", "die alarmanlage hat den code eins neun vier vier und am sonntag kommt oma", "am sonntag kommt oma"),
    ("fr-FR", "dimanche nous sommes chez mamie et le code de l'alarme est 4711", "dimanche nous sommes chez mamie"),
    ("fr-FR", "le code du portail est 4711 et dimanche nous allons chez mamie", "dimanche nous allons chez mamie"),
    ("fr-FR", "dimanche nous sommes chez mamie le code de l'alarme est 4711", "dimanche nous sommes chez mamie"),
    ("es-ES", "el domingo estamos con la abuela y el código de la alarma es 4711", "el domingo estamos con la abuela"),
    ("it-IT", "domenica siamo dalla nonna e il codice del cancello è 4711", "domenica siamo dalla nonna"),
    ("nl-NL", "zondag zijn we bij oma en de code van het alarm is 4711", "zondag zijn we bij oma"),
    ("pt-PT", "no domingo estamos com a avó e o código do portão é 4711", "no domingo estamos com a avó"),
    ("da-DK", "på søndag er vi hos mormor og koden til alarmen er 4711", "på søndag er vi hos mormor"),
    ("ca-ES", "diumenge som a casa l'àvia i el codi de la porta és 4711", "diumenge som a casa l'àvia"),
    ("pt-PT", "o código do cofre é 9035 e a gata dorme na sala", "a gata dorme na sala"),
    ("gl-ES", "o código do cofre é 9035 e a gata dorme na sala", "a gata dorme na sala"),
    ("da-DK", "koden til skabet er 9035 og katten hedder Misse", "katten hedder Misse"),
    ("gl-ES", "o domingo estamos coa avoa e o código da porta é 4711", "o domingo estamos coa avoa"),
]
IN_DOUBT = [
    "the password is I love my dog",
    "the password is me and you are cool",
    "the wifi password is 4711 blue and green we are",
    "hunter2 is a word and my password is hunter2",
    "4711 that's the alarm code 4711",
    "and the pin is 4711 ok",
    "my card number starts with four zero one two and it ends in six six three",
    "my card number starts with 4012 and it ends in 663",
    "my card number starts with 4012 and we like it and the rest is six six three",
    "the recovery phrase is apple banana, under the cherry tree, we are done",
    "the recovery phrase is apple banana cherry. wolf stone river lamp.",
]


@pytest.mark.parametrize(("lang", "text", "left"), CUT)
def test_the_clause_that_tells_a_secret_is_cut_out_and_the_rest_is_kept(lang: str, text: str, left: str) -> None:
    assert without_secrets(text, lang) == left


@pytest.mark.parametrize("text", IN_DOUBT)
def test_in_doubt_all_of_it_goes(text: str) -> None:
    assert without_secrets(text, "en-US") == ""


@pytest.mark.parametrize(
    "text", ["what is the wifi password", "the safe is grey", "", "we're at home (really) https://x"]
)
def test_what_tells_no_secret_stays_as_it_is(text: str) -> None:
    assert without_secrets(text, "en-US") == text


RESTS = {
    "en-US": ["we are at grandma's on Sunday", "my cat is called Bob", "dinner is at eight"],
    "de-DE": ["wir sind am sonntag bei oma", "meine katze heißt bob", "das essen ist um acht"],
}
NAMED = {
    "en-US": ["the wifi password is {}", "my pin is {}", "the alarm code is {}", "our gate code is {}"],
    "de-DE": ["das wlan passwort ist {}", "meine pin ist {}", "der code von der alarmanlage ist {}"],
}
JOINED = {"en-US": [" and ", " ", ", ", ". ", " but "], "de-DE": [" und ", " ", ", ", ". ", " aber "]}


def secrets_told(number: int) -> Iterator[tuple[str, str, list[str]]]:
    """Language, utterance and the words of the secret in it, as many as are asked for."""
    rng = random.Random(11)
    while number:
        lang = rng.choice(list(RESTS))
        words = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(5, 9))) for _ in range(rng.randint(1, 3))]
        value = rng.choice([["".join(rng.choices(string.digits, k=rng.randint(4, 8)))], words, [f"{words[0]}42"]])
        told = rng.choice(NAMED[lang]).format(" ".join(value))
        before, behind = (rng.choice(("", one)) for one in rng.choices(RESTS[lang], k=2))
        text = rng.choice(JOINED[lang]).join(piece for piece in (before, told, behind) if piece)
        if tells_secret(text, lang):
            number -= 1
            yield lang, text, value


def test_whatever_is_told_beside_it_no_word_of_a_secret_is_left() -> None:
    for lang, text, value in secrets_told(1500):
        left = languages.fold(without_secrets(text, lang))
        assert set(value).isdisjoint(left), text


def test_however_odd_a_text_is_no_secret_is_left_in_it() -> None:
    bits = ["the alarm code is 4711", "my pin is 1 2 3 4", "the password is swordfish", "(", "https://x.y/z", ", ",
            "...", " - ", "!", "und", "\n", "the safe opens with four eight two six", "GB82 WEST 1234 5698 7654 32",
            "she's", "4111 1111 1111 1111", "“", "my", "the", "code", "die pin ist 4711", "e", "zwei",
            "passwort lautet blau", "[x]", ".", ";"]  # fmt: skip
    rng = random.Random(3)
    for _ in range(1500):
        text = "".join(f"{rng.choice(bits)}{rng.choice(('', ' ', ' '))}" for _ in range(rng.randint(1, 7)))
        for lang in ("en-US", rng.choice(languages.shipped()), None):
            assert not tells_secret(without_secrets(text, lang), lang), text
            assert bool(spots(text, lang)) or not tells_secret(text, lang), text


# what becomes of the turn

MENTIONED, REST, SECRET = "we are at grandma's on Sunday and the alarm code is 47110815", "at grandma's", b"47110815"


def hear(memory: PersonaMemory, what: str, text: str = "", **fields: object) -> None:
    memory.hear(Heard(what, HERE, 1000.0, text, lang="en-US", session_id="s", **fields))  # type: ignore[arg-type]  # as given


def on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_of_a_secret_that_is_heard_no_byte_is_in_a_file_and_the_rest_is_found(tmp_path: Path) -> None:
    with PersonaMemory.open(tmp_path, MemoryConfig(), clock=lambda: 1000.0) as memory:
        hear(memory, "utterance", MENTIONED)
        slots = {"text": MENTIONED, "number": "47110815"}
        hear(memory, "matched", MENTIONED, utterance_id="u1", skill_id="a.skill", intent="note", detail=slots)
        hear(
            memory,
            "tool_call",
            utterance_id="u1",
            detail={"tool": "t", "toolbox": "b", "arguments": {"code": "47110815"}},
        )
        hear(memory, "tool_result", utterance_id="u1", detail={"toolbox": "b"})
        hear(memory, "speech", "47110815, noted", utterance_id="u1", skill_id="a.skill")
        hear(memory, "handled", utterance_id="u1")
        [hit] = memory.recall("where are we on Sunday", kinds={"turn"}, lang="en-US")
        assert REST in hit.text
        assert [(turn.role, turn.text) for turn in memory._store.turns(HERE)] == [
            ("user", "we are at grandma's on Sunday"),
            ("assistant", ""),
        ]
        assert SECRET not in on_disk(tmp_path)
    assert SECRET not in on_disk(tmp_path)


def test_of_a_secret_that_is_handed_in_no_byte_is_in_a_file_and_neither_is_the_answer(tmp_path: Path) -> None:
    code = "47116203"  # so long that no random id holds it
    mentioned = MENTIONED.replace("47110815", code)
    with PersonaMemory.open(tmp_path, MemoryConfig()) as memory:
        said = [Turn("user", mentioned, lang="en-US"), Turn("assistant", f"{code}, noted", lang="en-US")]
        memory.record([*said, Turn("user", "thanks"), Turn("assistant", "welcome")], HERE)
        memory.record(said, Scope("other"), as_passed=True, utterance_id="u9")
        assert [turn.text for turn in memory._store.turns(HERE)] == [
            "we are at grandma's on Sunday",
            "",
            "thanks",
            "welcome",
        ]
        hear(memory, "query", mentioned, persona_id="P")
        hear(memory, "answer", f"{code}, noted", question=mentioned, persona_id="P")
    assert code.encode() not in on_disk(tmp_path)


def test_a_long_request_to_remember_a_secret_is_logged_without_it_too() -> None:
    memory = PersonaMemory.open(config=MemoryConfig(backend="inmemory"))
    asked = f"remember that {'our neighbours are very nice and ' * 6} the wifi password is swordfish"
    memory.record([Turn("user", asked, lang="en-US")], HERE)
    [turn] = memory._store.turns(HERE)
    assert "swordfish" not in turn.text


@pytest.mark.parametrize(
    "text",
    [
        "remember that the code is 4711 and " + "we 1 " * 3200,
        "remember that " + "the code is 4711 and " * 700,
        "remember that " + "my pin 123 and then we went home, " * 480,
        "remember that " + "my pin is " * 1600,
    ],
)
def test_what_is_left_of_the_longest_text_is_found_in_steps_in_proportion(text: str) -> None:
    def steps(part: str) -> int:
        count = 0

        def note(_frame: object, event: str, _arg: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        without_secrets(part, "en-US")
        languages.forget_texts()
        sys.setprofile(note)
        try:
            without_secrets(part, "en-US")
        finally:
            sys.setprofile(None)
        return count

    half, whole = steps(text[: len(text) // 2]), steps(text)
    assert whole < 2.4 * half
    assert whole < 500_000
