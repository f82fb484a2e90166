"""Being let in and out in a browser, and how the page looks there."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from .conftest import Owner


def test_a_link_of_the_command_lets_in_once_and_signing_out_puts_out(owner: Owner) -> None:
    owner.complaints.clear()
    link = owner.command("web")
    with owner.context(storage_state=None) as stranger:
        page = stranger.new_page()
        page.goto("/known")
        expect(page.get_by_role("heading", name="Open your memory")).to_be_visible()
        page.goto(link)
        expect(page.get_by_role("heading", name="Timeline")).to_be_visible()
        assert "ticket" not in page.url
        assert page.evaluate("document.cookie") == ""
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Open your memory")).to_be_visible()
        page.goto("/known")
        expect(page.get_by_role("heading", name="Open your memory")).to_be_visible()
    assert owner.complaints == []
    with owner.context(storage_state=None) as another:
        page = another.new_page()
        page.goto(link)
        expect(page.get_by_text("This link was used already or is too old.")).to_be_visible()
        page.goto("/")
        expect(page.get_by_role("heading", name="Timeline")).to_have_count(0)


def test_the_token_lets_in_and_another_does_not(owner: Owner) -> None:
    token = owner.command("web", "--token")
    with owner.context(storage_state=None) as stranger:
        page = stranger.new_page()
        page.goto("/enter")
        page.get_by_label("Or enter the token").fill("wrong")
        page.get_by_role("button", name="Open").click()
        expect(page.get_by_text("That is not the token.")).to_be_visible()
        page.get_by_label("Or enter the token").fill(token)
        page.get_by_role("button", name="Open").click()
        expect(page.get_by_role("heading", name="Timeline")).to_be_visible()


def test_language_and_look_are_chosen_and_stay(page: Page) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    page.goto("/known")
    light = page.evaluate(ground)
    page.get_by_role("combobox", name="Language").select_option("de-DE")
    page.get_by_role("combobox", name="Look").select_option("dark")
    page.get_by_role("button", name="Use").click()
    expect(page.get_by_role("heading", name="Was ich weiß", level=1)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "de-DE")
    assert page.evaluate(ground) != light
    page.goto("/health")
    expect(page.get_by_role("heading", name="Zustand")).to_be_visible()
    page.emulate_media(color_scheme="light")
    assert page.evaluate(ground) != light
