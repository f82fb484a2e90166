"""The skill in a real ovos-core, among skills of others, with the daemon and Scribe: what it says, and what it does."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from benchmarks.quality.play_utterances import LabelledUtterance, play
from support.assistants import Assistant
from support.servers.bus import Wire, wait_until
from support.servers.ports import free_port


@pytest.fixture
def assistant(speaking: Assistant) -> Assistant:
    """The one of all such tests: each talks in sessions of its own."""
    return speaking


@pytest.fixture(autouse=True)
def nothing_is_left(assistant: Assistant) -> Iterator[None]:
    """Each test begins with an empty memory that is switched on."""
    with assistant.owner() as owner:
        owner.capture(write=True, read=True)
        owner.forget(everything=True)
    yield


def bytes_of(assistant: Assistant) -> bytes:
    """All that is in the data folder, beside the assistant's own settings and logs."""
    return b"".join(path.read_bytes() for path in assistant.data.iterdir() if path.is_file())


def says(assistant: Assistant, *utterances: str, lang: str = "en-US") -> list[str]:
    """What is said to each utterance, in a session of its own, its sentences with a blank between them."""
    return [" ".join(replies) for replies in assistant.talk(f"s{free_port()}", *utterances, lang=lang)]


def test_what_is_told_is_said_back_and_found(assistant: Assistant) -> None:
    assert says(assistant, "remember that the bins go out on Tuesday", "what do you know about me") == [
        "I'll remember: the bins go out on Tuesday.",
        "You told me today: the bins go out on Tuesday.",
    ]


def test_what_is_asked_behind_a_word_that_another_skill_listens_for_is_answered(assistant: Assistant) -> None:
    _, reply, said_back = says(
        assistant, "the spare fuse is in the tea tin", "say where's the spare fuse", "say toast is ready"
    )
    assert reply == "You told me today: the spare fuse is in the tea tin."
    assert said_back == "toast is ready"


def test_a_question_that_holds_a_word_for_stop_is_answered(assistant: Assistant) -> None:
    told, asked = "el trabajo del doctor murguía es para el viernes", "y para qué día era el trabajo del doctor murguía"
    # the first question in a language that the device does not speak waits for its word lists, too long for this
    *_, reply = says(assistant, told, asked, asked, lang="es-ES")
    assert reply == f"Me dijiste hoy: {told}."


def test_what_was_learned_is_read_beside_what_was_asked_to_be_kept(assistant: Assistant) -> None:
    *_, reply = says(
        assistant, "remember that the bins go out on Tuesday", "my cat is called Bob", "what do you know about me"
    )
    assert reply in (
        "You told me today: the bins go out on Tuesday. Also: my cat is called Bob.",
        "You told me today: my cat is called Bob. Also: the bins go out on Tuesday.",
    )


def test_what_is_wrong_is_corrected_and_why_gives_the_words(assistant: Assistant) -> None:
    replies = says(
        assistant, "remember that the bins go out on Tuesday", "that's wrong it's Wednesday", "why do you know that"
    )
    assert replies[1:] == [
        "I have corrected that: the bins go out on Wednesday.",
        "You told me today, in these words: the bins go out on Wednesday.",
    ]
    with assistant.owner() as owner:
        assert [entry.text for entry in owner.list()] == ["the bins go out on Wednesday"]
    assert says(assistant, "when do the bins go out") == ["You told me today: the bins go out on Wednesday."]


ASKED = "I'll forget this: my cormorant is called Grimaldi. Say yes to delete it, no to keep it."
TOLD, FORGET = "remember that my cormorant is called Grimaldi", "forget everything about my cormorant"


def test_after_a_yes_the_words_are_nowhere_in_the_data_folder(assistant: Assistant) -> None:
    assert says(assistant, TOLD)
    assert b"Grimaldi" in bytes_of(assistant)
    assert says(assistant, FORGET, "yes please") == [ASKED, "I have forgotten everything about your cormorant."]
    left = bytes_of(assistant)
    assert b"rimaldi" not in left
    assert b"ormorant" not in left


def test_a_request_to_forget_that_no_intent_engine_knows_is_logged_without_its_words_too(assistant: Assistant) -> None:
    replies = says(assistant, TOLD, "um get rid of all that stuff about my cormorant would you", "no")
    assert replies[1:] == [ASKED, "All right, I have kept everything."]
    assert b"Grimaldi" in bytes_of(assistant)
    assert b"get rid of" not in bytes_of(assistant)


def test_a_no_right_after_something_was_spoken_of_corrects_it(assistant: Assistant) -> None:
    replies = says(assistant, TOLD, "no my cormorant is called Hubert", "what do you know about me")
    assert replies[1:] == [
        "I have corrected that: my cormorant is called Hubert.",
        "You told me today: my cormorant is called Hubert.",
    ]


def test_a_no_right_after_something_was_told_is_answered_with_what_is_right_now(assistant: Assistant) -> None:
    replies = says(assistant, "my birthday is on the fifth of may", "no it's on the sixth of may", "no that is wrong")
    assert replies[1] == "I have corrected that: my birthday is on the sixth of may."
    assert replies[2] == "Tell me the whole sentence as it should be."


def test_a_no_to_somebody_else_corrects_nothing(assistant: Assistant) -> None:
    assert says(assistant, TOLD, "tell me a joke", "no my cormorant is called Hubert")[2] != ""
    with assistant.owner() as owner:
        assert [entry.text for entry in owner.list()] == ["my cormorant is called Grimaldi"]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("no", "All right, I have kept everything."),
        ("forget it", "All right, I have kept everything."),
        ("stop", "All right, I have kept everything."),
        ("maybe later", "That was neither yes nor no, so I have kept everything."),
        ("yes but keep the name", "All right, I have kept everything."),
    ],
)
def test_without_a_clear_yes_nothing_is_deleted_and_it_says_so(assistant: Assistant, reply: str, answer: str) -> None:
    assert says(assistant, TOLD, FORGET, reply)[1:] == [ASKED, answer]
    with assistant.owner() as owner:
        assert [entry.text for entry in owner.list()] == ["my cormorant is called Grimaldi"]


def test_another_question_in_place_of_an_answer_is_answered_and_nothing_is_deleted(assistant: Assistant) -> None:
    *_, reply = says(assistant, TOLD, FORGET, "who made you")
    assert reply.startswith("That was neither yes nor no, so I have kept everything. ")
    assert "OpenVoiceOS" in reply


def test_three_at_a_time_then_say_more(assistant: Assistant) -> None:
    told = [f"remember that the {thing} is in the cellar" for thing in ("saw", "drill", "ladder", "rope", "paint")]
    *_, first, more = says(assistant, *told, "what do you know about me", "say more")
    assert (first.count("You told me today"), first.count("Also: ")) == (1, 2)
    assert first.endswith("There is more. Say: go on, to hear the rest.")
    assert (more.count("You told me today"), more.count("Also: ")) == (1, 1)


def test_guest_mode_writes_nothing_and_says_nothing(assistant: Assistant) -> None:
    replies = says(
        assistant,
        "remember that my cat is called Bob",
        "guest mode on for two hours",
        "what do you know about me",
        "remember that my dog is called Rex",
        "is guest mode on",
        "guest mode off",
        "what do you know about me",
    )
    assert replies[1:] == [
        "Guest mode is on for two hours. Until then I write nothing down, and I use nothing that I remember.",
        "Guest mode is on: I write nothing down, and I use nothing that I remember.",
        "I am not remembering anything at the moment.",
        "Guest mode is on for two hours more.",
        "Guest mode is off. I remember again.",
        "You told me today: my cat is called Bob.",
    ]


def test_a_daemon_that_does_not_answer_is_told_within_a_second_or_so(assistant: Assistant) -> None:
    assert says(assistant, "what do you know about me") == ["You have not asked me to remember anything yet."]
    with assistant.without_daemon(), Wire(assistant.port) as wire:
        began = time.monotonic()
        reached = play(wire, LabelledUtterance("en-US", "remember that my emu is called Ella", "remember"), 1)
        took_s = time.monotonic() - began
    assert reached.spoken == "My memory is not answering, so I have not kept that."
    assert took_s < 5.0  # a second for the memory, the rest for the assistant on a busy machine
    with assistant.owner() as owner:
        # what arrived while it slept is carried out, and taken back
        wait_until(lambda: owner.list() == [] and b"emu is called" not in bytes_of(assistant), "the taking back")
    assert says(assistant, "remember that my emu is called Ella") == ["I'll remember: my emu is called Ella."]


def test_forgetting_a_time_reads_back_how_much_and_takes_it_all(assistant: Assistant) -> None:
    replies = says(assistant, TOLD, "forget the last five minutes", "yes")
    assert re.match(r"I'll forget [a-z ]+ things from this time: the last five minutes\. Say yes ", replies[1])
    assert replies[2] == "I have forgotten what was said in this time: the last five minutes."
    assert b"rimaldi" not in bytes_of(assistant)


def test_forget_that_takes_what_was_told_last(assistant: Assistant) -> None:
    replies = says(assistant, TOLD, "forget that", "yes", "what do you know about me")
    assert replies[1:] == [
        "I'll forget this: my cormorant is called Grimaldi. Say yes to delete it, no to keep it.",
        "I have forgotten this: my cormorant is called Grimaldi.",
        "You have not asked me to remember anything yet.",
    ]
    assert b"rimaldi" not in bytes_of(assistant)


def test_forget_everything_leaves_nothing(assistant: Assistant) -> None:
    replies = says(assistant, TOLD, "forget everything", "yes", "forget everything")
    assert replies[2] == "I have forgotten everything: what you told me, and what we said."
    with assistant.owner() as owner:
        assert owner.list() == []
    assert b"rimaldi" not in bytes_of(assistant)


def test_it_speaks_german(assistant: Assistant) -> None:
    replies = says(
        assistant,
        "merk dir dass die Tonnen am Dienstag raus müssen",
        "was weißt du über mich",
        "vergiss alles über die Tonnen",
        "ja",
        "was weißt du über mich",
        lang="de-DE",
    )
    assert replies == [
        "Ich merke mir: die Tonnen am Dienstag raus müssen.",
        "Du hast mir heute gesagt: die Tonnen am Dienstag raus müssen.",
        "Ich vergesse dies: die Tonnen am Dienstag raus müssen. Sag ja, um es zu löschen, nein, um es zu behalten.",
        "Ich habe alles dazu vergessen: die Tonnen.",
        "Du hast mich noch nicht gebeten, mir etwas zu merken.",
    ]


@pytest.mark.parametrize("utterance", ["remember to buy milk", "what did I just say", "forget it", "who are you"])
def test_phrases_of_others_are_left_to_them(assistant: Assistant, utterance: str) -> None:
    with Wire(assistant.port) as wire:
        assert play(wire, LabelledUtterance("en-US", utterance, None), 0).intent is None
