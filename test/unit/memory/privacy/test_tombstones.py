"""What was forgotten is known again without its words."""

from __future__ import annotations

from ovos_persona_memory.memory.privacy.tombstones import KEY, Tombstones
from ovos_persona_memory.records import Entry, Turn
from ovos_persona_memory.stores.inmemory.store import InMemoryStore


class Noted:
    """A ledger whose clock stands at 1000 s."""

    def __init__(self) -> None:
        self.store = InMemoryStore()
        self.now = 1000.0
        self.ledger = self.opened()

    def opened(self) -> Tombstones:
        return Tombstones(self.store, lambda: self.now)


def test_a_text_is_known_again_in_other_marks_and_without_its_lead() -> None:
    noted = Noted()
    assert not noted.ledger.was_forgotten("ada", "my cat is called Bob", "en-US")
    noted.ledger.note([Turn("user", "Remember that my cat is called Bob!", user_id="ada", lang="en-US")])
    for text in ("my cat is called Bob", "My cat, is called BOB.", "remember that my cat is called Bob"):
        assert noted.ledger.was_forgotten("ada", text, "en-US"), text
    assert not noted.ledger.was_forgotten("ada", "my cat is called Rob", "en-US")
    assert not noted.ledger.was_forgotten("bob", "my cat is called Bob", "en-US"), "another person's words"
    assert noted.opened().was_forgotten("ada", "my cat is called Bob", "en-US"), "after a restart"


def test_each_sentence_is_known_again() -> None:
    noted = Noted()
    noted.ledger.note([Turn("user", "It is late. My cat is called Bob.", user_id="ada")])
    assert noted.ledger.was_forgotten("ada", "my cat is called bob", None)
    assert noted.ledger.was_forgotten("ada", "it is late my cat is called bob", None)


def test_what_is_asked_for_anew_may_be_learned_again() -> None:
    noted = Noted()
    noted.ledger.note([Entry("k", "my cat is called Bob", user_id="ada")])
    noted.ledger.lift("ada", "remember that my cat is called Bob", "en-US")
    assert not noted.ledger.was_forgotten("ada", "my cat is called Bob", "en-US")


def test_only_what_was_said_before_it_was_forgotten_comes_late() -> None:
    noted = Noted()
    noted.ledger.note([Turn("user", "lights on", user_id="ada")])
    assert noted.ledger.came_late("ada", "lights on", None, 999.0)
    assert not noted.ledger.came_late("ada", "lights on", None, 1000.0)
    assert not noted.ledger.came_late("ada", "lights off", None, 999.0)
    assert not noted.ledger.came_late("ada", "lights on", None, None)


def test_an_utterance_is_known_by_its_id_for_good() -> None:
    noted = Noted()
    noted.ledger.note([Turn("user", "hello", utterance_id="u-1"), Turn("user", "hello")])
    assert noted.ledger.knows("u-1")
    assert not noted.ledger.knows("u-2")
    assert not noted.ledger.knows(None)


def test_a_request_comes_again_only_where_something_was_forgotten_since() -> None:
    noted = Noted()
    noted.ledger.note_answered(b"one")
    assert not noted.ledger.is_answered(b"one")
    noted.now += 1
    noted.ledger.note([])
    noted.now += 1
    noted.ledger.note_answered(b"two")
    for known in (noted.ledger, noted.opened()):
        assert [known.is_answered(request) for request in (b"one", b"two", b"three")] == [True, False, False]


YEARS = 5 * 365 * 86400.0


def put_right() -> Noted:
    """A ledger in which something was forgotten while its clock ran ahead; now it stands at 2000 s."""
    noted = Noted()
    noted.now += YEARS
    noted.ledger.note_answered(b"ahead")
    noted.ledger.note([Turn("user", "lights on", user_id="ada")])
    noted.now = 2000.0
    return noted


def test_what_is_said_after_the_clock_was_put_right_is_news() -> None:
    ledger = put_right().ledger
    assert not ledger.came_late("ada", "lights on", None, 1999.5)


def test_what_comes_late_may_have_been_said_before_a_clock_that_ran_ahead_forgot_it() -> None:
    ledger = put_right().ledger
    assert ledger.came_late("ada", "lights on", None, 1500.0)


def test_which_requests_come_again_is_told_by_their_order_whatever_the_clock_says() -> None:
    noted = put_right()
    noted.ledger.note_answered(b"since")
    for known in (noted.ledger, noted.opened()):
        assert [known.is_answered(request) for request in (b"ahead", b"since")] == [True, False]
    noted.ledger.note([])
    assert noted.ledger.is_answered(b"since")


def test_nothing_textual_is_kept_and_each_store_has_a_key_of_its_own() -> None:
    one, other = Noted(), Noted()
    for noted in (one, other):
        noted.ledger.note([Turn("user", "xylophone", user_id="ada", utterance_id="u-1")])
    assert one.store.state(KEY) != other.store.state(KEY)
    assert "xylophone" not in repr(vars(one.store)) + repr(vars(one.store.ledger_store)) + repr(vars(one.ledger))


def test_a_key_whose_transaction_was_undone_is_kept_with_the_next() -> None:
    noted = Noted()
    try:
        with noted.store.transaction():
            noted.ledger.note([Turn("user", "one", user_id="ada")])
            raise ZeroDivisionError
    except ZeroDivisionError:
        assert noted.store.state(KEY) is None
    noted.ledger.note([Turn("user", "two", user_id="ada")])
    assert noted.opened().was_forgotten("ada", "two", None)
    assert not noted.opened().was_forgotten("ada", "one", None)
