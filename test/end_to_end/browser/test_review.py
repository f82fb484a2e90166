"""What waits to be decided, in a browser: the uncertain, contradictions side by side, proposals of a model."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from ovos_persona_memory.records import Scope, Turn

from ..conftest import wait_until
from .conftest import PROPOSED, Owner


def card(page: Page, text: str) -> Locator:
    return page.get_by_role("article").filter(has_text=text)


def told(owner: Owner, person: str, *texts: str) -> Scope:
    """What somebody says about themselves, learned."""
    scope = Scope(f"review-{person}", person)
    owner.memory.record([Turn("user", text, lang="en-US", speaker=person.capitalize()) for text in texts], scope)
    owner.memory.facts.audit(scope)  # it waits until everything is learned
    return scope


def test_an_uncertain_fact_holds_when_it_is_right_and_goes_when_it_is_wrong(page: Page, owner: Owner) -> None:
    scope = told(owner, "uma", "i think my scarf is in the car", "i think my boots are in the cellar")
    page.goto("/review")
    expect(card(page, "scarf")).to_contain_text("40 % sure")
    card(page, "scarf").get_by_role("button", name="That is right").click()
    expect(page.get_by_text("Thank you, decided.")).to_be_visible()
    expect(card(page, "scarf")).to_have_count(0)
    card(page, "boots").get_by_role("button", name="That is wrong").click()
    expect(card(page, "boots")).to_have_count(0)
    assert [one.text for one in owner.memory.facts.list(scope)] == ["i think my scarf is in the car"]
    assert owner.memory.facts.list(scope, "waiting") == []


def test_a_draft_is_accepted_or_set_aside(page: Page, owner: Owner) -> None:
    val = Scope(user_id="val")
    for key in ("tea", "mate"):
        owner.memory.remember(f"val may like {key}", val, key, status="draft")
    page.goto("/review")
    card(page, "val may like tea").get_by_role("button", name="That is right").click()
    card(page, "val may like mate").get_by_role("button", name="That is wrong").click()
    expect(card(page, "val may like")).to_have_count(0)
    assert {one.key: one.status for one in owner.memory.list(val)} == {"tea": "accepted", "mate": "discard"}


def test_what_contradicts_stands_side_by_side_and_the_earlier_can_be_put_back(page: Page, owner: Owner) -> None:
    scope = told(owner, "xenia", "i live in Trieste", "i live in Girona")
    page.goto("/review")
    pair = card(page, "i live in Trieste")
    expect(pair.get_by_role("heading")).to_have_text(["Before", "What holds now"])
    before, now = (
        pair.get_by_text(text, exact=True).bounding_box() for text in ("i live in Trieste", "i live in Girona")
    )
    assert before and now
    assert before["y"] == now["y"] and before["x"] + before["width"] < now["x"]
    pair.get_by_role("button", name="The earlier one is right").click()
    expect(page.get_by_text("It is changed.")).to_be_visible()
    wait_until(lambda: [one.value for one in owner.memory.facts.list(scope)] == ["Trieste"], "the change")


def test_a_proposal_of_a_model_is_seen_and_undone(page: Page, owner: Owner) -> None:
    scope = Scope("review-model")
    owner.memory.record([Turn("user", PROPOSED, lang="en-US"), Turn("assistant", "I see.", lang="en-US")], scope)
    owner.memory.introspect(scope)
    wait_until(lambda: any(one.added for one in owner.memory.introspect(scope, look=False)), "the look")
    assert any(one.text == PROPOSED for one in owner.memory.list(Scope()))
    page.goto("/review")
    look = card(page, "Added: 1").first
    look.get_by_role("button", name=re.compile("Undo all of this")).click()
    expect(page.get_by_role("status").get_by_text("Undone.")).to_be_visible()
    assert not any(one.text == PROPOSED for one in owner.memory.list(Scope(), status="accepted"))
    expect(card(page, "Added: 1").get_by_role("button")).to_have_count(0)
