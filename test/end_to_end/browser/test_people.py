"""The people in a browser: who is known, and one person out of two names."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from ovos_persona_memory.records import Scope, Turn

from .conftest import Owner


def test_everybody_is_listed_with_what_is_kept_of_each(page: Page) -> None:
    page.goto("/people")
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="ada", exact=True))
    expect(row).to_contain_text(re.compile(r"2\D\d\d\d"))
    row.get_by_role("link", name=re.compile("What I know")).click()
    expect(page.get_by_text("my cat is called Bob").first).to_be_visible()
    expect(page.get_by_text("i work at the harbour")).to_have_count(0)


def test_two_names_become_one_person_after_it_was_shown(page: Page, owner: Owner) -> None:
    memory = owner.memory
    memory.record([Turn("user", "the sledge is red"), Turn("user", "and fast")], Scope("merge-1", "alicia"))
    memory.remember("alicia likes plums", Scope(user_id="alicia"), "plums")
    memory.record([Turn("user", "the canoe is green")], Scope("merge-2", "alice"))
    page.goto("/people")
    page.get_by_label("Everything of").select_option("alicia")
    page.get_by_label("becomes the memory of").select_option("alice")
    page.get_by_role("button", name="Show what would move").click()
    expect(page.get_by_role("heading", name="This would move from alicia to alice")).to_be_visible()
    expect(page.get_by_text("Things said: 2 · Memories: 1")).to_be_visible()
    page.get_by_role("link", name="Cancel").click()
    assert len(memory.turns(Scope(user_id="alicia"))) == 2
    page.get_by_label("Everything of").select_option("alicia")
    page.get_by_label("becomes the memory of").select_option("alice")
    page.get_by_role("button", name="Show what would move").click()
    page.get_by_role("button", name="Move it for good").click()
    expect(page.get_by_text("It is moved.")).to_be_visible()
    expect(page.get_by_role("rowheader", name="alicia")).to_have_count(0)
    assert memory.turns(Scope(user_id="alicia")) == []
    assert {one.text for one in memory.turns(Scope(user_id="alice"))} == {
        *("the sledge is red", "and fast", "the canoe is green")
    }


def test_nobody_is_merged_with_themselves(page: Page, owner: Owner) -> None:
    page.goto("/people")
    page.get_by_label("Everything of").select_option("ada")
    page.get_by_label("becomes the memory of").select_option("ada")
    page.get_by_role("button", name="Show what would move").click()
    expect(page.get_by_text("Choose two different people.")).to_be_visible()
    expect(page.get_by_role("button", name="Move it for good")).to_have_count(0)
    owner.complaints.clear()  # the browser notes the refusal
