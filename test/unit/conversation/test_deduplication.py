"""What a persona is told already is not recalled."""

from __future__ import annotations

from ovos_persona_memory.conversation.deduplication import without_repeats
from ovos_persona_memory.conversation.window import Window, window
from ovos_persona_memory.records import ContextMessage, Hit, Role, ToolCall


def hit(text: str, role: Role = "user", speaker: str | None = None) -> Hit:
    return Hit(text, "turn", text, 1.0, True, "because", 0.0, role=role, speaker=speaker)


def fresh(*texts: str, history: tuple[ContextMessage, ...] = (), summary: str = "") -> list[str]:
    return [one.text for one in without_repeats([hit(text) for text in texts], history, summary)]


def test_what_a_message_or_the_summary_holds_goes_whatever_its_case_and_marks() -> None:
    assert fresh("My cat, Bob!", "my dog", history=(ContextMessage("user", "that is my cat bob there"),)) == ["my dog"]
    assert fresh("My cat, Bob!", "my dog", summary="of my cat Bob") == ["my dog"]


def test_part_of_a_word_is_not_held() -> None:
    assert fresh("fact 1", history=(ContextMessage("user", "fact 10"),)) == ["fact 1"]


def test_the_same_words_stay_once() -> None:
    assert fresh("my cat is Bob", "My cat is Bob.") == ["my cat is Bob"]
    assert fresh("my cat is Bob", "cat") == ["my cat is Bob"]


def test_the_longer_of_two_texts_of_one_speaker_stays_in_the_place_of_the_better() -> None:
    assert fresh("Bob", "my dog", "my cat is Bob") == ["my cat is Bob", "my dog"]
    assert fresh("Bob", "cat", "my dog", "my cat is Bob") == ["my cat is Bob", "my dog"]


def test_a_persons_words_are_not_replaced_by_the_assistant_that_repeats_them() -> None:
    told = [hit("my cat is Bob"), hit("You told me: my cat is Bob.", role="assistant")]
    assert without_repeats(told, [], "") == told[:1]


def test_words_in_the_arguments_of_a_call_and_in_its_result_are_told() -> None:
    call = ContextMessage(
        "assistant", "", tool_calls=(ToolCall("1", "add", {"all": [{"content": "bins on\nTuesday"}]}),)
    )
    result = ContextMessage("tool", '{"found": [{"text": "the cat\\nis Bob"}]}', tool_call_id="1")
    assert fresh("bins on Tuesday", "the cat is Bob", "my dog", history=(call, result)) == ["my dog"]


def test_a_result_that_is_no_json_is_read_as_it_is() -> None:
    deep = ContextMessage("tool", "[" * 99999 + " the cat", tool_call_id="1")
    assert fresh("the cat", "my dog", history=(deep,)) == ["my dog"]


def test_a_text_of_which_the_window_shows_the_ends_is_told() -> None:
    long = "the story of the cat " + " ".join(f"word{n}" for n in range(100)) + " ended well for all"
    cut = tuple(window([ContextMessage("user", long), ContextMessage("assistant", "I see")], Window(max_tokens=60)))
    assert " […] " in cut[0].text
    assert fresh(long, "my dog", history=cut) == ["my dog"]


def test_of_two_answers_that_were_joined_and_shortened_neither_is_recalled_where_an_end_of_it_shows() -> None:
    first, second = (" ".join(f"{name}{n}" for n in range(60)) for name in ("first", "second"))
    joined = ContextMessage("assistant", f"{first}\n{second}")
    cut = tuple(window([ContextMessage("user", "go on"), joined], Window(max_tokens=80)))
    assert fresh(first, second, "my dog", history=cut) == ["my dog"]


def test_a_message_shortened_to_a_few_letters_is_known_again_and_no_other() -> None:
    long = "characteristically, my cat is called Bob and my dog is called Rex, uncharacteristically"
    messages = [ContextMessage("user", long), ContextMessage("assistant", "nice")]
    shown = tuple(window(messages, Window(max_tokens=7)))
    assert [message.role for message in shown] == ["user", "assistant"]
    assert shown[0].text.startswith("char") and len(shown[0].text) < 30
    assert fresh(long, "character is everything", history=shown) == ["character is everything"]
