"""The preview and the health of the memory, in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from ovos_persona_memory.records import Scope

from .conftest import Owner


def test_the_preview_shows_the_messages_their_tokens_and_why(
    page: Page, owner: Owner, picture: Callable[..., None]
) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto("/preview")
    expect(page.get_by_role("heading", name="See what a persona sees")).to_be_visible()
    page.get_by_label("What would be said").fill("what is my cat called")
    page.get_by_role("combobox", name="Person").select_option("ada")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".messages li").first).to_contain_text('"my cat is called Bob"')
    expect(page.locator(".messages li").last).to_contain_text("what is my cat called")
    expect(page.get_by_text(re.compile(r"Estimated tokens: [1-9]\d*"))).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="has all that was asked for")).to_contain_text(
        re.compile(r"\d\.\d\d")
    )
    assert [one.text for one in owner.memory.turns(Scope(user_id="ada"), limit=500)].count("what is my cat called") == 0
    picture(page, "preview-dark")


def test_the_preview_of_another_person_shows_nothing_of_the_first(page: Page) -> None:
    page.goto("/preview")
    page.get_by_label("What would be said").fill("what is my cat called")
    page.get_by_role("combobox", name="Person").select_option("ben")
    page.get_by_label("What would be said").press("Enter")
    expect(page.get_by_text("Nothing that is remembered surely bears on this sentence.")).to_be_visible()
    expect(page.get_by_text("Bob")).to_have_count(0)


def test_health_tells_figures_draws_them_and_looks_for_trouble(
    page: Page, owner: Owner, picture: Callable[..., None]
) -> None:
    page.goto("/health")
    expect(page.get_by_text("All is well.")).to_be_visible()
    said = page.locator(".figures div").filter(has_text="Things said").locator("dd").inner_text()
    assert int(re.sub(r"\D", "", said)) >= 10_000
    expect(page.locator(".plots canvas")).to_have_count(2)
    drawn = "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(one => one)"
    assert page.locator(".plots canvas").first.evaluate(drawn)
    assert page.locator(".plots canvas").last.evaluate(drawn)
    expect(page.locator(".plots")).to_contain_text("Said on each day of the last month")
    days = page.evaluate("fetch('/health/figures?days=yes').then(answer => answer.json())")["days"]
    assert len(days) == 30 and min(one["turns"] for one in days[1:-1]) > 100
    expect(page.get_by_role("row").filter(has_text="status")).to_contain_text(re.compile(r"\d"))
    page.locator(".figures").evaluate("one => one.scrollIntoView()")
    picture(page, "health")
    expect(page.locator("#audit")).to_be_empty()
    page.get_by_role("button", name="Look now").click()
    expect(page.locator("#audit")).to_contain_text("Secrets: 0")
    assert page.url.endswith("/health")
