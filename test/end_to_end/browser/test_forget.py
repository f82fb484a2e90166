"""Forgetting in a browser: the number and the words come first, and only what was shown goes."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from ovos_persona_memory.records import Scope, Turn

from .conftest import Owner


def show(page: Page, way: str, **fields: str) -> None:
    """Choose how much, and have it shown."""
    page.goto("/forget")
    page.get_by_label(way).check()
    for name, value in fields.items():
        if name == "Person":
            page.get_by_role("combobox", name=name).select_option(value)
        else:
            page.get_by_role("textbox", name=name).fill(value)
    page.get_by_role("button", name="Show what would go").click()


def test_a_span_shows_its_words_and_not_what_is_older(page: Page, owner: Owner) -> None:
    rosa = Scope("forget-1", "rosa")
    owner.memory.record([Turn("user", "the lantern is lit"), Turn("user", "the anchor is old", at=1.7e9)], rosa)
    for way in ("The last five minutes", "The last hour", "The last day"):
        show(page, way, Person="rosa")
        expect(page.get_by_role("heading", name="This would be forgotten: 1")).to_be_visible()
        expect(page.get_by_text("the lantern is lit")).to_be_visible()
        expect(page.get_by_text("the anchor is old")).to_have_count(0)
        page.get_by_role("link", name="Cancel").click()
        expect(page.get_by_role("button", name="Show what would go")).to_be_visible()
    assert len([one for one in owner.memory.turns(rosa) if one.session_id == "forget-1"]) == 2


def test_everything_about_something_is_shown_before_it_goes_and_can_be_undone(page: Page, owner: Owner) -> None:
    sara = Scope("forget-2", "sara")
    owner.memory.remember("the parrot is green", sara, "parrot", lang="en-US")
    owner.memory.remember("the tortoise is old", sara, "tortoise", lang="en-US")
    show(page, "Everything about something", Person="sara", **{"About what?": "parrot"})
    expect(page.get_by_text("the parrot is green")).to_be_visible()
    expect(page.get_by_text("tortoise")).to_have_count(0)
    page.get_by_role("button", name="Forget it for good").click()
    expect(page.get_by_text("It will be deleted in ten seconds, unless you undo it.")).to_be_visible()
    assert len(owner.memory.list(sara)) == 2
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert len(owner.memory.list(sara)) == 2


def test_a_forgotten_person_can_be_undone(page: Page, owner: Owner) -> None:
    tom = Scope("forget-3", "tom")
    owner.memory.record([Turn("user", "the ladder is long"), Turn("user", "and made of ash")], tom)
    show(page, "One person", Person="tom")
    expect(page.get_by_role("heading", name="This would be forgotten: 3")).to_be_visible()
    page.get_by_role("button", name="Forget it for good").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    expect(page.get_by_text("To be deleted: 3")).to_have_count(0)
    assert not (owner.daemon.data / "web.going").exists()
    assert len(owner.memory.turns(tom)) == 2


def test_a_session_and_everything_are_shown_first(page: Page, owner: Owner) -> None:
    show(page, "One session", Session="talk-0004")
    expect(page.get_by_role("heading", name="This would be forgotten: 10")).to_be_visible()
    page.goto("/forget")
    page.get_by_label("Everything", exact=True).check()
    page.get_by_role("button", name="Show what would go").click()
    expect(page.get_by_role("heading", name="This would be forgotten: 1")).to_be_visible()
    expect(page.get_by_text("and more:")).to_be_visible()
    page.get_by_role("link", name="Cancel").click()
    assert owner.memory.turns(Scope("talk-0004", None))


def test_where_there_is_nothing_of_the_kind_nothing_can_be_forgotten(page: Page) -> None:
    show(page, "One session", Session="no-such-session")
    expect(page.get_by_text("There is nothing of the kind.")).to_be_visible()
    expect(page.get_by_role("button", name="Forget it for good")).to_have_count(0)
