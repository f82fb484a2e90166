"""What every store promises about finding: the same as the plain scan."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovos_persona_memory.records import Entry, Scope, Selection, Status, Turn
from ovos_persona_memory.stores.base.store import ExcludedTurn, FoundRecord, NeighbourTurn, Statistics, Store

Say = Callable[..., Turn]
Keep = Callable[..., Entry]
BOTH = frozenset({"turn", "memory"})
TURN, MEMORY = frozenset({"turn"}), frozenset({"memory"})
ODD = [
    '"',
    "'",
    "*",
    "a*",
    "c_d",
    "_",
    "a-b",
    "NEAR",
    "OR",
    "(",
    ":",
    "^",
    "\x01",
    "\N{GRINNING FACE}",
    "日本語",
    "ünï",
    "Cat",
]
WORDS = [*"abcdefgh", *ODD]


def ids(found: list[FoundRecord]) -> list[str]:
    return [item.record.id for item in found]


def same(store: Store, words: list[str], scope: Scope, kinds: frozenset[str], limit: int) -> None:
    """The store's own answer is that of the plain scan: records, order, words and scores."""
    fast, plain = store.search(words, scope, kinds, limit), Store.search(store, words, scope, kinds, limit)
    assert [item.record for item in fast] == [item.record for item in plain]
    assert [item.words for item in fast] == [item.words for item in plain]
    assert [item.score for item in fast] == pytest.approx([item.score for item in plain], abs=1e-9)


def fill(store: Store, seed: int, steps: int) -> random.Random:
    """Adds, changes and deletes at random."""
    rng = random.Random(seed)
    for step in range(steps):
        text = " ".join(rng.choices(WORDS, k=rng.randrange(7)))
        where = {
            "user_id": rng.choice("xy"),
            "session_id": rng.choice("st"),
            "persona_id": rng.choice([None, "p", "q"]),
        }
        turn = Turn(role="user", text=text, at=float(step), id=f"{seed}-{step}", site_id=rng.choice("kl"), **where)
        action = rng.random()
        if action < 0.6:
            store.add_turn(turn, text)
        elif action < 0.8:
            status: Status = rng.choice(["draft", "accepted", "accepted", "discard"])
            key = rng.choice("mnopq")
            store.put_entry(Entry(key, text, id=turn.id, updated_at=float(step), status=status, **where), text)
        elif action < 0.9 and (known := store.turn(f"{seed}-{rng.randrange(step)}")):
            store.change_turn(replace(known, text=text, user_id=where["user_id"]), text)
        else:
            store.delete(Selection(Scope(user_id=rng.choice("xy")), ids=(f"{seed}-{rng.randrange(step + 1)}",)))
    return rng


SCOPES = [
    Scope.everyone(),
    Scope(user_id="x"),
    Scope(user_id="y", session_id="s"),
    Scope(user_id="x", persona_id="p"),
    Scope(user_id="x", session_id="t", persona_id="q", site_id="k"),
    Scope(user_id=None, site_id="l"),
    Scope(user_id="nobody"),
    Scope(user_id="x", status="accepted"),
    Scope(user_id=None, status="draft"),
    Scope(user_id="y", session_id="s", persona_id="p", status="discard"),
]


@pytest.mark.parametrize("seed", range(3))
def test_a_search_equals_the_plain_scan(store: Store, seed: int, open_again: Callable[[], Store]) -> None:
    with store.transaction():
        rng = fill(store, seed, 250)
    for scope in SCOPES:
        for kinds in (BOTH, TURN, MEMORY):
            for limit in (1, 5, 300):
                same(store, rng.sample(WORDS, rng.randint(1, 6)), scope, kinds, limit)
    same(open_again(), WORDS, Scope.everyone(), BOTH, 300)


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0 "), min_size=1))),
    asked=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0 "), min_size=1)),
)
def test_any_word_at_all_is_found_whole(store: Store, texts: list[list[str]], asked: list[str]) -> None:
    store.delete(Selection(Scope()))
    for number, words in enumerate(texts):
        text = " ".join(words)
        if not store.turn(f"h{number}"):
            store.add_turn(Turn(role="user", text=text, at=1.0, id=f"h{number}"), text)
    same(store, asked + [word for words in texts for word in words][:3], Scope(), BOTH, 50)


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_word_is_one_word(store: Store, say: Say, odd: str) -> None:
    say(f"{odd} b", id="whole")
    say("a b c d cat", id="parts")
    assert ids(store.search([odd], Scope(), BOTH, 5)) == ["whole"]


def test_a_word_of_great_length_is_found(store: Store, say: Say) -> None:
    say("x" * 50_000, id="long")
    say("x" * 40_000, id="shorter")
    assert ids(store.search(["x" * 50_000], Scope(), BOTH, 5)) == ["long"]


def test_the_score_is_that_of_the_book(store: Store, say: Say) -> None:
    """Robertson and Zaragoza 2009, section 3.4, with k1 1.2 and b 0.75, worked out here by hand."""
    for text in ("cat cat dog", "cat bird", "bird fish mouse owl", ""):
        say(text)
    found = store.search(["cat"], Scope(), BOTH, 9)
    rarity, mean = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5)), 9 / 4
    expected = [
        rarity * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length / mean)) for times, length in ((2, 3), (1, 2))
    ]
    assert [item.score for item in found] == pytest.approx(expected, abs=1e-12)


def test_a_document_holds_at_least_one_of_the_words(store: Store, say: Say) -> None:
    say("cat dog", id="both")
    say("dog", id="one")
    say("bird", id="none")
    found = store.search(["cat", "dog", "cat", "fish"], Scope(), BOTH, 5)
    assert [(item.record.id, item.words) for item in found] == [
        ("both", frozenset({"cat", "dog"})),
        ("one", frozenset({"dog"})),
    ]


@pytest.mark.parametrize("words", [[], [""], ["absent"]])
def test_nothing_asked_or_held_finds_nothing(store: Store, say: Say, words: list[str]) -> None:
    say("cat")
    say("")
    assert store.search(words, Scope(), BOTH, 5) == []


def test_equal_scores_put_memories_first_then_the_newer(store: Store, say: Say, keep: Keep) -> None:
    say("cat", id="t1")
    keep("a", "cat", id="m1")
    keep("b", "cat", id="m2")
    say("cat", id="t2")
    assert ids(store.search(["cat"], Scope(), BOTH, 9)) == ["m2", "m1", "t2", "t1"]
    assert ids(store.search(["cat"], Scope(), BOTH, 3)) == ["m2", "m1", "t2"]
    assert ids(store.search(["cat"], Scope(), TURN, 9)) == ["t2", "t1"]
    assert ids(store.search(["cat"], Scope(), MEMORY, 1)) == ["m2"]
    assert store.search(["cat"], Scope(), frozenset(), 9) == store.search(["cat"], Scope(), BOTH, 0) == []


def test_what_others_say_changes_nothing(store: Store, say: Say) -> None:
    for text in ("cat dog", "cat", "bird dog"):
        say(text, user_id="ada")
    before = store.search(["cat", "dog"], Scope(user_id="ada"), BOTH, 9)
    for _ in range(20):
        say("cat cat cat dog mouse", user_id="bob")
    assert store.search(["cat", "dog"], Scope(user_id="ada"), BOTH, 9) == before
    store.delete(Selection(Scope(user_id="bob")))
    assert store.search(["cat", "dog"], Scope(user_id="ada"), BOTH, 9) == before


def test_a_scope_narrows_before_the_limit(store: Store, say: Say) -> None:
    say("cat and a long way round to it", session_id="mine", persona_id="p")
    for _ in range(50):
        say("cat", session_id="other", persona_id="q")
    for scope in (Scope(session_id="mine"), Scope(persona_id="p")):
        assert len(store.search(["cat"], scope, BOTH, 3)) == 1


def test_a_deleted_document_counts_no_longer(store: Store, say: Say) -> None:
    for text in ("cat", "cat dog", "dog"):
        say(text)
    before = store.search(["cat", "dog"], Scope(), BOTH, 9)
    for number in range(5):
        say("cat dog fish", id=f"gone-{number}")
    store.delete(Selection(Scope(), ids=tuple(f"gone-{number}" for number in range(5))))
    assert store.search(["cat", "dog"], Scope(), BOTH, 9) == before
    assert store.search(["fish"], Scope(), BOTH, 9) == []


def test_a_changed_document_is_found_by_its_new_words_only(store: Store, say: Say, keep: Keep) -> None:
    turn = say("cat cat")
    keep("key", "cat bird")
    store.change_turn(replace(turn, text="dog"), "dog")
    keep("key", "dog bird")
    assert store.search(["cat"], Scope(), BOTH, 9) == []
    assert len(store.search(["dog"], Scope(), BOTH, 9)) == 2
    same(store, ["dog", "bird"], Scope(), BOTH, 9)


def test_documents_are_read_with_their_words(store: Store, say: Say, keep: Keep) -> None:
    turn, entry = say("cat", user_id="ada"), keep("key", "dog", user_id="bob")
    assert sorted(words for _, words in store.documents(Scope.everyone(), BOTH)) == ["cat", "dog"]
    assert list(store.documents(Scope(user_id="ada"), BOTH)) == [(turn, "cat")]
    assert list(store.documents(Scope.everyone(), MEMORY)) == [(entry, "dog")]


def test_common_words_of_a_large_store_still_find_the_scope(store: Store) -> None:
    """More documents than a search reads: those of an old session are found all the same."""
    with store.transaction():
        for number in range(3000):
            session = "old" if number < 5 else "new"
            turn = Turn(role="user", text="cat dog", at=1.0, id=f"{number}", session_id=session, persona_id=session)
            store.add_turn(turn, "cat dog")
    assert ids(store.search(["cat", "dog"], Scope(session_id="old"), BOTH, 3)) == ["4", "3", "2"]
    assert ids(store.search(["cat", "dog"], Scope(persona_id="old"), BOTH, 3)) == ["4", "3", "2"]
    assert ids(store.search(["cat", "dog"], Scope(), BOTH, 2)) == ["2999", "2998"]


# what is left out

Answers = list[tuple[list[tuple[str, float, frozenset[str]]], Statistics, list[str]]]


def excluded(store: Store, turns: list[Turn]) -> list[ExcludedTurn]:
    words = {record.id: words for record, words in store.documents(Scope.everyone(), TURN)}
    return [ExcludedTurn(turn.seq, turn.user_id, turn.lang, words[turn.id]) for turn in turns]


def answers(store: Store, without: list[ExcludedTurn], port: Any = None) -> Answers:
    """What the store says of everything in each scope; ``port``: by whose methods, None: by its own."""
    of = port or type(store)
    found: Answers = []
    for scope in SCOPES:
        for asked in (WORDS[:3], WORDS[3:9], WORDS):
            hits = of.search(store, asked, scope, BOTH, 300, without)
            best = of.search(store, asked, scope, TURN, 4, without)
            known = of.statistics(store, asked, scope.user_id or "x", without)
            newest = of.newest_words(store, scope, TURN, 7, without)
            found.append(([(hit.record.id, hit.score, hit.words) for hit in (*hits, *best)], known, newest))
    return found


def same_answers(one: Answers, other: Answers) -> None:
    for (hits, known, newest), (other_hits, other_known, other_newest) in zip(one, other, strict=True):
        assert [(hit[0], hit[2]) for hit in hits] == [(hit[0], hit[2]) for hit in other_hits]
        assert [hit[1] for hit in hits] == pytest.approx([hit[1] for hit in other_hits], abs=1e-9)
        assert (known.documents, known.frequency) == (other_known.documents, other_known.frequency)
        assert known.mean_length == pytest.approx(other_known.mean_length, abs=1e-9)
        assert newest == other_newest


def talk_around(store: Store, without: list[ExcludedTurn]) -> list[list[NeighbourTurn]]:
    gone = {one.seq for one in without}
    turns = [turn for turn in store.turns(Scope.everyone()) if turn.seq not in gone]
    of_persona = [turn for turn in turns if turn.persona_id != "q"]
    return [*store.around(turns, 2, without=without), *store.around(of_persona, 1, "p", without)]


@pytest.mark.parametrize("seed", range(3))
def test_what_is_left_out_counts_nowhere(store: Store, seed: int) -> None:
    """As in the plain scan, and as if the turns had been deleted."""
    with store.transaction():
        rng = fill(store, seed + 10, 120)
    turns = store.turns(Scope.everyone())
    chosen = {turn.id: turn for turn in (*rng.sample(turns, 5), *turns[-2:])}
    without = excluded(store, list(chosen.values()))
    before, beside = answers(store, without), talk_around(store, without)
    same_answers(before, answers(store, without, Store))
    store.delete(Selection(Scope.everyone(), ids=tuple(chosen)))
    same_answers(before, answers(store, []))
    assert beside == talk_around(store, [])


def test_a_language_of_what_is_left_out_alone_is_not_spoken(store: Store) -> None:
    hei = store.add_turn(Turn("user", "hei", at=1.0, id="1", user_id="anna", lang="fi-FI"), "hei")
    ciao = store.add_turn(Turn("user", "ciao", at=2.0, id="2", user_id="anna", lang="it-IT"), "ciao")
    store.put_entry(Entry("k", "salve", id="3", user_id="anna", lang="it-IT"), "salve")
    tom = store.add_turn(Turn("user", "moi", at=3.0, id="4", user_id="tom", lang="fi-FI"), "moi")
    assert store.languages("anna", excluded(store, [hei, ciao])) == {"it-IT"}
    assert store.languages("tom", excluded(store, [hei])) == {"fi-FI"}
    assert store.languages("anna", excluded(store, [tom])) == {"fi-FI", "it-IT"}
    store.add_turn(Turn("user", "terve", at=4.0, id="5", user_id="anna", lang="fi-FI"), "terve")
    assert store.languages("anna", excluded(store, [hei, ciao])) == {"fi-FI", "it-IT"}


def test_the_latest_turns_come_with_their_words_newest_first(store: Store, say: Say) -> None:
    for number in range(4):
        say(f"word{number}", session_id="ab"[number % 2])
    say("of another", user_id="tom")
    assert [(turn.text, words) for turn, words in store.latest("household", 2)] == [
        ("word3", "word3"),
        ("word2", "word2"),
    ]
    assert [turn.text for turn, _ in store.latest(None, 2)] == ["of another", "word3"]
    assert store.latest("nobody", 2) == []


# the languages of a user, and the newest words


def test_the_languages_of_a_user_are_those_of_their_turns_and_memories(store: Store) -> None:
    assert store.languages("anna") == frozenset()
    store.add_turn(Turn("user", "hei", at=1.0, id="1", user_id="anna", lang="fi-FI"), "hei")
    assert store.languages("anna") == {"fi-FI"}
    store.put_entry(Entry("k", "ciao", id="2", user_id="anna", lang="it-IT"), "ciao")
    store.add_turn(Turn("user", "hallo", at=2.0, id="3", user_id="tom", lang="de-DE"), "hallo")
    store.add_turn(Turn("user", "no tag", at=3.0, id="4", user_id="anna"), "no tag")
    assert store.languages("anna") == {"fi-FI", "it-IT"}
    assert store.languages("tom") == {"de-DE"}


def test_the_newest_words_are_those_in_scope_newest_first(store: Store, say: Say, keep: Keep) -> None:
    for number in range(5):
        say(f"word{number}", session_id="a" if number % 2 else "b")
    keep("key", "kept")
    say("others", user_id="tom")
    assert store.newest_words(Scope(), TURN, 3) == ["word4", "word3", "word2"]
    assert store.newest_words(Scope("a"), TURN, 9) == ["word3", "word1"]
    assert len(store.newest_words(Scope(), BOTH, 9)) == 6
    assert store.newest_words(Scope(user_id="nobody"), BOTH, 9) == []


@pytest.mark.parametrize(
    ("word", "part"),
    [
        ("infrastructure", "struct"),
        ("kubernetes", "kub"),
        ("dishwasher", "washer"),
        ("الكتاب", "كتاب"),
        ("c_d%e", "_d%"),
    ],
)
def test_a_part_of_a_word_finds_the_words_that_hold_it(
    store: Store, say: Say, keep: Keep, word: str, part: str
) -> None:
    say(f"the {word} works")
    say("nothing like it")
    say(f"of another {word}", user_id="tom")
    keep("key", f"{word} kept")
    assert store.newest_words(Scope(), BOTH, 9, (), [part]) == [f"{word} kept", f"the {word} works"]
    assert store.newest_words(Scope(), TURN, 9, (), ["absent", part]) == [f"the {word} works"]
    assert store.newest_words(Scope(), BOTH, 9, (), ["absent"]) == []


@pytest.mark.parametrize("seed", range(2))
def test_parts_of_words_equal_the_plain_scan(store: Store, seed: int) -> None:
    with store.transaction():
        rng = fill(store, seed + 20, 120)
    left_out = excluded(store, store.turns(Scope.everyone())[-2:])
    for scope in SCOPES:
        for parts in (["a"], ["ca", "_"], ["日本", "\N{GRINNING FACE}"], rng.sample(WORDS, 3)):
            for without in ([], left_out):
                plain = Store.newest_words(store, scope, BOTH, 7, without, parts)
                assert store.newest_words(scope, BOTH, 7, without, parts) == plain
