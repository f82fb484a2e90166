"""The timeline in a browser: looking back, narrowing, deleting, and what appears as it is spoken."""

from __future__ import annotations

import datetime as dt
import re
import time
from collections.abc import Callable
from zoneinfo import ZoneInfo

from playwright.sync_api import Locator, Page, expect

from ovos_persona_memory.records import Scope, Turn

from .conftest import ZONE, Owner


def talks(page: Page) -> Locator:
    return page.locator("#feed article")


def days_ago(number: int) -> str:
    """A day where the device is."""
    return (dt.datetime.now(ZoneInfo(ZONE)).date() - dt.timedelta(days=number)).isoformat()


def test_the_newest_talks_come_by_day_with_what_the_device_did(page: Page, picture: Callable[..., None]) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", name="Timeline", level=1)).to_be_visible()
    picture(page, "timeline")
    expect(page.get_by_role("region").first.get_by_role("heading", level=2)).to_have_text(re.compile("Today|Yesterday"))
    newest = page.locator(".turn time").all_inner_texts()
    page.get_by_role("link", name="Older").click()
    expect(page.get_by_role("link", name="Newer")).to_be_visible()
    assert page.locator(".turn time").all_inner_texts() != newest
    page.get_by_role("link", name="Newer").click()
    expect(page.get_by_role("link", name="Newer")).to_have_count(0)
    page.get_by_role("textbox", name="Day").fill(days_ago(3))
    expect(page.get_by_text(re.compile("The device did: .*skill · done")).first).to_be_visible()
    page.get_by_role("textbox", name="Day").fill(days_ago(-3))
    expect(page.locator(".deed")).to_have_count(0)


def test_it_is_narrowed_by_person_day_room_persona_and_session(page: Page) -> None:
    page.goto("/")
    page.get_by_role("combobox", name="Person").select_option("ben")
    expect(talks(page).filter(has_text="mia")).to_have_count(0)
    expect(talks(page).filter(has_text="Ben").first).to_be_visible()
    page.get_by_text("More filters").click()
    page.get_by_role("textbox", name="Room").fill("study")
    page.get_by_role("textbox", name="Room").press("Enter")
    expect(talks(page).filter(has_text="study").first).to_be_visible()
    expect(talks(page).filter(has_text="bedroom")).to_have_count(0)
    page.get_by_role("textbox", name="Persona").fill("Scribe")
    page.get_by_role("textbox", name="Persona").press("Tab")
    expect(talks(page).filter(has_not_text="Scribe")).to_have_count(0)
    expect(talks(page).filter(has_text="Scribe").first).to_be_visible()
    page.get_by_role("link", name="Show everything").click()
    expect(page.get_by_role("link", name="Show everything")).to_have_count(0)
    page.get_by_text("More filters").click()
    page.get_by_role("textbox", name="Session").fill("talk-0500")
    page.get_by_role("button", name="Show").click()
    expect(talks(page)).to_have_count(1)
    page.goto("/")
    past = days_ago(9)
    page.get_by_role("textbox", name="Day").fill(past)
    expect(page.locator("#feed section")).to_have_count(1)
    expect(talks(page).first.locator("time").first).to_have_attribute("datetime", re.compile(f"^{past}"))
    page.get_by_role("textbox", name="Day").fill("2001-01-01")
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()


def test_what_is_said_in_two_rooms_at_once_is_two_talks(page: Page, owner: Owner) -> None:
    at = time.time() - 60.0
    for number, (room, text) in enumerate(
        (("attic", "one"), ("cellar", "two"), ("attic", "three"), ("cellar", "four"))
    ):
        said = Turn("user", f"the {room} says {text}", at=at + number)
        owner.memory.record([said], Scope(f"both-{room}", "noah", site_id=room))
    page.goto("/?person=noah")
    expect(talks(page)).to_have_count(2)
    expect(talks(page).first.locator(".words")).to_have_text(["the cellar says two", "the cellar says four"])
    page.goto("/?person=noah&persona=Scribe")
    expect(talks(page)).to_have_count(0)


def test_a_deleted_turn_vanishes_and_comes_back_when_it_is_undone(page: Page, owner: Owner) -> None:
    scope = Scope("undone-1", "ada", site_id="kitchen")
    [id, other] = owner.memory.record([Turn("user", "the velvet curtain fell"), Turn("user", "it was red")], scope)
    page.goto("/?session=undone-1")
    page.get_by_role("button", name="Delete: the velvet curtain fell").click()
    expect(page.get_by_text("To be deleted: 1")).to_be_visible()
    expect(page.get_by_text("the velvet curtain fell")).to_have_count(0)
    expect(page.get_by_text("it was red")).to_be_visible()
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("the velvet curtain fell")).to_be_visible()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert {one.id for one in owner.memory.turns(scope)} == {id, other}


def test_what_is_said_appears_as_it_is_spoken_but_not_while_it_is_paused(page: Page, owner: Owner) -> None:
    page.goto("/")
    expect(page.get_by_text("New talk appears here as it is spoken.")).to_be_visible()
    with page.expect_response("**/live"):
        page.reload()
    owner.say("a kettle sings", "live-1")
    expect(page.locator("#live-feed").get_by_text("a kettle sings")).to_be_visible()
    expect(page.get_by_text("New here: 1")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    owner.say("a clock ticks", "live-1")
    until = time.monotonic() + 10
    while owner.memory.turns(Scope("live-1"), limit=5)[-1].text != "a clock ticks" and time.monotonic() < until:
        page.wait_for_timeout(50)
    page.wait_for_timeout(800)  # longer than what is told together is gathered
    expect(page.get_by_text("a clock ticks")).to_have_count(0)
    page.get_by_role("combobox", name="Person").select_option("ben")
    expect(page.get_by_role("button", name="Go on")).to_have_count(0)
    with page.expect_response("**/live"):
        page.get_by_role("link", name="Show everything").click()
    page.get_by_role("button", name="Pause").click()
    with page.expect_response("**/live"):
        page.get_by_role("button", name="Go on").click()
    owner.say("a door creaks", "live-1")
    expect(page.locator("#live-feed").get_by_text("a door creaks")).to_be_visible()


def test_markup_in_what_was_said_is_text(page: Page, owner: Owner) -> None:
    said = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    owner.memory.record([Turn("user", said)], Scope("script-1", "ada"))
    page.goto("/?session=script-1")
    expect(page.get_by_text(said)).to_be_visible()
    page.goto("/")
    with page.expect_response("**/live"):
        page.reload()
    owner.say(said, "script-2")
    expect(page.locator("#live-feed").get_by_text(said)).to_be_visible()
    assert page.locator("main img, main script").count() == 0
    assert "owned" not in page.title()
