"""What is known, in a browser: found, added, changed, pinned, kept private, joined and deleted."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from ovos_persona_memory.records import ContextRequest, Scope, Turn

from .conftest import Owner


def items(page: Page, text: str = "") -> Locator:
    return page.locator("#items li").filter(has_text=text)


def opened(page: Page, text: str) -> Locator:
    """The item with this text, with all that can be done to it."""
    item = items(page, text)
    item.get_by_text("More").first.click()
    return item


def test_a_search_finds_while_it_is_typed_and_says_why(page: Page, picture: Callable[..., None]) -> None:
    page.goto("/known")
    expect(items(page, "the guest network is called Walnut")).to_have_count(1)
    page.get_by_role("searchbox").press_sequentially("what is my cat called", delay=10)
    expect(items(page).first).to_contain_text("my cat is called Bob")
    expect(items(page).first).to_contain_text("found because:")
    expect(items(page, "harbour")).to_have_count(0)
    expect(page).to_have_url(re.compile("q=what%20is%20my%20cat%20called"))
    page.wait_for_load_state("networkidle")
    expect(opened(page, "my cat is called Bob")).to_contain_text("Said by Ada")
    picture(page, "known")
    page.get_by_role("searchbox").fill("zeppelin")
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    page.get_by_role("searchbox").fill("")
    expect(items(page, "Walnut")).to_have_count(1)


def test_it_is_narrowed_by_person_kind_state_language_source_and_date(page: Page, owner: Owner) -> None:
    owner.memory.remember("die Leiter steht im Keller", Scope(user_id="ben"), "ladder", lang="de-DE")
    page.goto("/known")
    page.get_by_role("combobox", name="Person").first.select_option("ben")
    expect(items(page, "Bob")).to_have_count(0)
    expect(items(page, "i work at the harbour")).to_have_count(1)
    page.get_by_role("combobox", name="Kind").select_option("memory")
    expect(items(page, "harbour")).to_have_count(0)
    expect(items(page, "Leiter")).to_have_count(1)
    page.goto("/known")
    page.get_by_text("More filters").click()
    page.get_by_role("textbox", name="Language of the words").fill("de")
    page.get_by_role("textbox", name="Language of the words").press("Tab")
    expect(items(page)).to_have_count(1)
    page.goto("/known")
    page.get_by_text("More filters").click()
    page.get_by_role("combobox", name="State").select_option("discard")
    expect(items(page)).to_have_text([re.compile("i live in Ghent")])
    page.get_by_role("combobox", name="State").select_option("draft")
    expect(items(page, "keys are in the drawer")).to_have_count(1)
    page.goto("/known")
    page.get_by_text("More filters").click()
    page.get_by_role("textbox", name="Source").fill("mia")
    page.get_by_role("textbox", name="Source").press("Tab")
    expect(items(page, "i live in Delft")).to_have_count(1)
    expect(items(page, "Bob")).to_have_count(0)
    page.get_by_role("textbox", name="Source").fill("")
    page.get_by_label("Since").fill((dt.date.today() + dt.timedelta(days=2)).isoformat())
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()


def test_a_memory_is_added_changed_pinned_and_kept_private(page: Page, owner: Owner) -> None:
    page.goto("/known")
    page.get_by_text("Add a memory").click()
    page.get_by_label("What should be remembered?").fill("the plumber is called Joe")
    page.locator("details.add").get_by_role("combobox", name="Person").select_option("ada")
    page.get_by_role("button", name="Keep").click()
    expect(page.get_by_text("It is kept.")).to_be_visible()
    opened(page, "the plumber is called Joe").get_by_label("Change the words").fill("the plumber is called Jim")
    items(page, "Joe").get_by_role("button", name="Save").click()
    expect(page.get_by_text("It is changed.")).to_be_visible()
    expect(items(page, "Joe")).to_have_count(0)
    owner.memory.remember("the gas meter is behind the shelf", Scope(), "meter", lang="en-US")
    page.goto("/known")
    expect(items(page).first).to_contain_text("gas meter")
    opened(page, "the plumber is called Jim").get_by_role("button", name="Pin to the top").click()
    expect(items(page).first).to_contain_text("the plumber is called Jim")
    opened(page, "the plumber is called Jim").get_by_role("button", name="Make private").click()
    expect(items(page, "the plumber is called Jim")).to_contain_text("private · pinned")
    [entry] = [one for one in owner.memory.list(Scope(user_id="ada")) if "plumber" in one.text]
    assert (entry.private, entry.metadata["pinned"]) == (1, True)
    opened(page, "the plumber is called Jim").get_by_role("button", name="Unpin").click()
    expect(items(page, "the plumber is called Jim")).not_to_contain_text("pinned")


def test_a_fact_is_pinned_and_unpinned(page: Page, owner: Owner) -> None:
    fact = owner.memory.facts.add("my shoe size is 43", Scope(user_id="ada"), lang="en-US")
    page.goto("/known?q=shoe+size")
    opened(page, "my shoe size is 43").get_by_role("button", name="Pin to the top").click()
    expect(items(page, "my shoe size is 43")).to_contain_text("pinned")
    [kept] = [one for one in owner.memory.facts.list(Scope(user_id="ada")) if one.id == fact.id]
    assert "pinned" in kept.topics
    opened(page, "my shoe size is 43").get_by_role("button", name="Unpin").click()
    expect(items(page, "my shoe size is 43")).not_to_contain_text("pinned")


def test_nothing_is_added_without_words(page: Page, owner: Owner) -> None:
    before = len(owner.memory.list(Scope.everyone(), 1000))
    page.goto("/known")
    page.get_by_text("Add a memory").click()
    page.get_by_role("button", name="Keep").click()
    expect(page.get_by_text("It is kept.")).to_have_count(0)
    page.get_by_label("What should be remembered?").fill("   ")
    page.get_by_role("button", name="Keep").click()
    expect(page.get_by_text("Write something first.")).to_be_visible()
    assert len(owner.memory.list(Scope.everyone(), 1000)) == before
    owner.complaints.clear()  # the browser notes the refusal


def test_a_fact_tells_where_it_comes_from_how_it_changed_and_when_it_was_used(page: Page, owner: Owner) -> None:
    page.goto("/known?person=ada")
    cat = opened(page, "my cat is called Bob")
    expect(cat).to_contain_text(re.compile("Said by Ada, (Today|Yesterday), .*kitchen.*my cat is called Bob"))
    page.goto("/known")
    expect(opened(page, "the bins go out on Tuesday")).to_contain_text("Never yet")
    owner.memory.context(ContextRequest("when do the bins go out", Scope("use-1"), lang="en-US"))
    page.reload()
    expect(opened(page, "the bins go out on Tuesday")).to_contain_text("times used: 1")
    [fact] = [one for one in owner.memory.facts.list(Scope(user_id="mia")) if one.value == "Delft"]
    page.goto(f"/known/{fact.id}?person=mia")
    expect(page.locator(".changes")).to_contain_text("learned")
    expect(page.locator(".changes")).to_contain_text("replaced")
    page.get_by_role("link", name="See the talk").click()
    expect(page.get_by_text("i live in Ghent")).to_be_visible()


def test_a_fact_is_corrected_and_keeps_its_history(page: Page, owner: Owner) -> None:
    scope = Scope("correct-1", "olga", site_id="hall")
    owner.memory.record([Turn("user", "i live in Odense", lang="en-US", speaker="Olga")], scope)
    owner.memory.facts.audit(scope)  # it waits until everything is learned
    page.goto("/known?person=olga&kind=fact")
    opened(page, "i live in Odense").get_by_label("Change the words").fill("i live in Vigo")
    items(page, "Odense").get_by_role("button", name="Save").click()
    expect(items(page)).to_have_count(1)
    expect(opened(page, "i live in Vigo").locator("del")).to_have_text("i live in Odense")
    expect(items(page, "i live in Vigo").get_by_text("corrected")).to_be_visible()


def test_several_are_chosen_and_become_one_but_not_one_alone(page: Page, owner: Owner) -> None:
    for key, text in (("tap", "the tap drips"), ("bath", "the tap is in the bath"), ("roof", "the roof leaks")):
        owner.memory.remember(text, Scope(user_id="pia"), key, lang="en-US")
    page.goto("/known?person=pia")
    page.get_by_label("Choose: the tap drips").check()
    page.get_by_role("button", name="Make one of what is chosen").click()
    expect(page.get_by_text("Choose at least two that belong to the same person.")).to_be_visible()
    owner.complaints.clear()  # the browser notes the refusal
    page.goto("/known?person=pia")
    page.get_by_label("Choose: the tap drips").check()
    page.get_by_label("Choose: the tap is in the bath").check()
    page.get_by_role("button", name="Make one of what is chosen").click()
    expect(page.get_by_label("What should be remembered?")).to_have_value(re.compile("drips\n|bath\n"))
    page.get_by_label("What should be remembered?").fill("the tap in the bath drips")
    page.get_by_role("button", name="Keep").click()
    page.goto("/known?person=pia")
    expect(items(page).locator(".words")).to_have_text(["the tap in the bath drips", "the roof leaks"])
    page.get_by_label("Choose: the roof leaks").check()
    page.get_by_role("button", name="Delete what is chosen").click()
    expect(items(page, "the roof leaks")).to_have_count(0)
    page.get_by_role("button", name="Undo").last.click()
    expect(items(page, "the roof leaks")).to_have_count(1)


def test_nothing_chosen_is_nothing_deleted(page: Page, owner: Owner) -> None:
    before = {one.id for one in owner.memory.list(Scope(), 1000)}
    page.goto("/known")
    waiting = page.locator(".toast").count()
    page.get_by_role("button", name="Delete what is chosen").click()
    expect(page.get_by_text("Choose something first.")).to_be_visible()
    assert page.locator(".toast").count() <= waiting
    assert {one.id for one in owner.memory.list(Scope(), 1000)} == before
    owner.complaints.clear()  # the browser notes the refusal
