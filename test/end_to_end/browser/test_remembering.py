"""Remembering in a browser: off and on for everybody, a person, a room and a session, and plain to see."""

from __future__ import annotations

import re
import time

from playwright.sync_api import Page, expect

from ovos_persona_memory.records import Scope

from ..conftest import wait_until
from .conftest import Owner


def heard(owner: Owner, session: str) -> list[str]:
    return [one.text or "" for one in owner.memory.turns(Scope(session, None))]


def test_paused_for_everybody_nothing_is_kept_and_every_page_says_so(page: Page, owner: Owner) -> None:
    page.goto("/remembering")
    expect(page.get_by_text("On: what is said is kept and used.")).to_be_visible()
    expect(page.locator(".banner")).to_have_count(0)
    everybody = page.locator("section").filter(has_text="For everybody")
    everybody.get_by_role("combobox").select_option(label="One hour")
    everybody.get_by_role("button", name="Keep nothing new").click()
    expect(page.locator(".banner")).to_contain_text("Remembering is paused: nothing new is kept. until Today")
    setting = owner.memory.capture()
    assert setting.until and abs(setting.until - time.time() - 3600) < 60
    for area in ("/", "/known", "/review", "/people", "/preview", "/forget", "/move", "/health"):
        page.goto(area)
        expect(page.locator(".banner")).to_contain_text("Remembering is paused")
    owner.say("this is not for you", "paused-1")
    page.get_by_role("link", name="Change this").click()
    everybody.get_by_role("button", name="Remember", exact=True).click()
    expect(page.locator(".banner")).to_have_count(0)
    owner.say("this is for you", "paused-1")
    wait_until(lambda: heard(owner, "paused-1") == ["this is for you"], "what is said after it")


def test_switched_off_nothing_kept_is_used(page: Page, owner: Owner) -> None:
    page.goto("/remembering")
    everybody = page.locator("section").filter(has_text="For everybody")
    everybody.get_by_role("button", name="Switch off").click()
    expect(page.locator(".banner")).to_contain_text("Memory is off: nothing is kept, and nothing kept is used.")
    setting = owner.memory.capture()
    assert (setting.write, setting.read, setting.until) == (False, False, None)
    everybody.get_by_role("button", name="Remember", exact=True).click()
    expect(page.get_by_text("On: what is said is kept and used.")).to_be_visible()
    setting = owner.memory.capture()
    assert (setting.write, setting.read) == (True, True)


def test_guests_in_a_room_leave_no_trace_and_other_rooms_do(page: Page, owner: Owner) -> None:
    owner.say("first of all", "guest-0", "study")
    wait_until(lambda: bool(heard(owner, "guest-0")), "what is said before")
    page.goto("/remembering")
    some = page.locator("section").filter(has_text="For a person, a room or a session")
    some.get_by_role("combobox", name="For", exact=True).select_option(label="Room")
    some.get_by_label("Name").fill("study")
    some.get_by_role("button", name="Switch off").click()
    expect(page.get_by_text(re.compile("Room study: Off"))).to_be_visible()
    owner.say("a secret of the guests", "guest-1", "study")
    owner.say("and elsewhere", "guest-2", "kitchen")
    wait_until(lambda: bool(heard(owner, "guest-2")), "what is said elsewhere")
    assert heard(owner, "guest-1") == []
    some.get_by_role("combobox", name="For", exact=True).select_option(label="Room")
    some.get_by_label("Name").fill("study")
    some.get_by_role("button", name="Remember", exact=True).click()
    expect(page.get_by_text(re.compile("Room study"))).to_have_count(0)


def test_a_person_and_a_session_are_paused_alone(page: Page, owner: Owner) -> None:
    page.goto("/remembering")
    some = page.locator("section").filter(has_text="For a person, a room or a session")
    some.get_by_label("Name").fill("mia")
    some.get_by_role("button", name="Keep nothing new").click()
    expect(page.get_by_text(re.compile("Person mia: Paused"))).to_be_visible()
    assert not owner.memory.capture(Scope(user_id="mia"), person=True).write
    assert owner.memory.capture(Scope(user_id="ada"), person=True).write
    some.get_by_label("Name").fill("mia")
    some.get_by_role("button", name="Remember", exact=True).click()
    expect(page.get_by_text(re.compile("Person mia"))).to_have_count(0)
    some.get_by_role("combobox", name="For", exact=True).select_option(label="Session")
    some.get_by_label("Name").fill("quiet-1")
    some.get_by_role("button", name="Keep nothing new").click()
    expect(page.get_by_text("It is changed.")).to_be_visible()
    owner.say("not in this session", "quiet-1")
    owner.say("but in this", "quiet-2")
    wait_until(lambda: bool(heard(owner, "quiet-2")), "what is said in another session")
    assert heard(owner, "quiet-1") == []


def test_retention_and_exclusions_are_told(page: Page) -> None:
    page.goto("/remembering")
    kept = page.locator("section").filter(has_text="How long it is kept")
    expect(kept).to_contain_text("Until it is forgotten")
    expect(kept).to_contain_text("Skills left out")
    expect(kept).to_contain_text("mycroft.conf")
