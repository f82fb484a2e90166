"""The page for everyone, in a browser: axe-core, the keyboard alone, large text, small screens, either direction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from ovos_persona_memory.records import Scope, Turn

from .conftest import Owner

AREAS = (
    *("/", "/?session=no-such-session", "/known?person=ada", "/known?q=what+is+my+cat+called", "/review", "/people"),
    *("/people?from=ben&into=ada", "/preview", "/preview?say=what+is+my+cat+called&person=ada", "/remembering"),
    *("/forget", "/forget?way=person&person=ada", "/move", "/health", "/api", "/nothing-here"),
)
"""Every page, with something in it and without."""
DESKTOP, PHONE, ZOOMED = ({"width": 1280, "height": 800}, {"width": 390, "height": 844}, {"width": 640, "height": 400})
"""Windows, pixels. Zoomed: that of the desktop at 200 %."""
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
TURN = "direction => { document.documentElement.dir = direction }"
"""No language that is shipped runs from right to left: the page is told so, as a language would."""
UNFOLD = "() => [...document.querySelectorAll('details')].slice(0, 3).forEach(one => { one.open = true })"
SETTLED = "() => !document.querySelector('.htmx-request, .htmx-settling, .htmx-swapping')"
SMALL = """() => [...document.querySelectorAll('a, button, summary, select, input:not([type=hidden]), textarea')]
  .filter(one => one.checkVisibility({visibilityProperty: true}) && !one.closest('.skip, p:not(.small), pre'))
  .map(one => [one.closest('label.tick') || one, one])
  .filter(([box, _]) => { const {width, height} = box.getBoundingClientRect(); return width < 44 || height < 44 })
  .map(([_, one]) => one.outerHTML.slice(0, 120))"""
"""What can be clicked, not in the middle of a sentence, and is smaller than 44 pixels."""
WIDTHS = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"


def violations(page: Page, *rules: str) -> list[str]:
    """What axe-core finds wrong: by these rules, or all that are of WCAG 2.2 AA or good practice."""
    found: dict[str, Any] = page.evaluate("rules => axe.run(rules)", {"runOnly": list(rules)} if rules else RULES)
    return [f"{one['id']}: {node['html'][:160]}" for one in found["violations"] for node in one["nodes"]]


def sideways(page: Page) -> list[str]:
    """How far the page can be scrolled sideways, in either direction of writing."""
    found = []
    for direction in ("rtl", "ltr"):
        page.evaluate(TURN, direction)
        content, window = page.evaluate(WIDTHS)
        if content > window:
            found.append(f"{direction} at {window}: by {content - window}")
    return found


@pytest.fixture(scope="module")
def shown(owner: Owner) -> Iterator[Page]:
    """One page for all that is looked at, which stays still."""
    with owner.context(reduced_motion="reduce") as context:
        context.add_init_script(f"window.addEventListener('load', () => {{ {Axe().axe_script} }})")
        yield context.new_page()


@pytest.mark.parametrize("area", AREAS)
def test_a_page_has_no_violation_is_wide_enough_and_easy_to_hit(shown: Page, area: str) -> None:
    page = shown
    page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]  # it is one
    page.emulate_media(color_scheme="light")
    page.goto(area)
    page.evaluate(UNFOLD)
    page.wait_for_function(SETTLED)
    wrong, small, wide = {"light": violations(page)}, page.evaluate(SMALL), sideways(page)
    page.emulate_media(color_scheme="dark")
    wrong["dark"] = violations(page, "color-contrast")
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]  # it is one
    small, wide = small + page.evaluate(SMALL), wide + sideways(page)
    page.evaluate(TURN, "rtl")
    wrong["dark, phone, from right to left"] = violations(page)
    page.set_viewport_size(ZOOMED)  # type: ignore[arg-type]  # it is one
    wide += sideways(page)
    page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]  # it is one
    page.evaluate("document.documentElement.style.fontSize = '212.5%'")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    wide += sideways(page)
    assert not any(wrong.values()), wrong
    assert small == []
    assert wide == []


def test_what_is_wrong_would_be_found(shown: Page) -> None:
    shown.emulate_media(color_scheme="light")
    shown.goto("/known?person=ada")
    assert (violations(shown), shown.evaluate(SMALL), sideways(shown)) == ([], [], [])
    shown.evaluate("document.querySelector('#q').closest('label').replaceWith(document.querySelector('#q'))")
    shown.evaluate("document.querySelector('#q').removeAttribute('placeholder')")
    shown.evaluate("document.querySelector('.lead').style.color = '#ccc'")
    shown.evaluate(
        "document.querySelector('#items .acts > form button').style.cssText = 'min-block-size: 0; block-size: 20px'"
    )
    shown.evaluate("document.querySelector('h1').style.inlineSize = '200vw'")
    found = " ".join(violations(shown))
    assert "color-contrast" in found
    assert "label" in found
    assert len(shown.evaluate(SMALL)) == 1
    assert len(sideways(shown)) >= 1


def test_the_door_is_for_everyone_too(owner: Owner) -> None:
    for theme in ("light", "dark"):
        with owner.context(storage_state=None, color_scheme=theme, viewport=PHONE) as context:
            page = context.new_page()
            page.goto("/enter")
            page.evaluate(Axe().axe_script)
            assert violations(page) == []
            assert page.evaluate(SMALL) == []


def test_nothing_moves_for_who_wants_it_still(owner: Owner) -> None:
    script = """() => { const box = document.createElement('div'); box.className = 'live-new';
      document.querySelector('main').append(box); return getComputedStyle(box).animationName }"""
    for wanted, name in (("reduce", "none"), ("no-preference", "arrive")):
        with owner.context(reduced_motion=wanted) as context:
            page = context.new_page()
            page.goto("/")
            assert page.evaluate(script) == name


def tab_to(page: Page, role: str, name: str) -> None:
    """Press Tab until this has the focus, which can be seen."""
    wanted = page.get_by_role(role, name=name).first  # type: ignore[arg-type]  # roles are literals there
    for _ in range(80):
        page.keyboard.press("Tab")
        if wanted.evaluate("one => one === document.activeElement"):
            style = wanted.evaluate("one => getComputedStyle(one).outlineStyle")
            assert style == "solid", f"the focus on {name} cannot be seen"
            return
    raise AssertionError(f"{name} is not reached with the keyboard")


def test_with_the_keyboard_alone_something_is_found_deleted_and_put_back(page: Page, owner: Owner) -> None:
    owner.memory.remember("the harp is in the cellar", Scope(user_id="zoe"), "harp", lang="en-US")
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    tab_to(page, "link", "What I know")
    page.keyboard.press("Enter")
    page.wait_for_url("**/known")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skips the menu
    tab_to(page, "searchbox", "Search")
    page.keyboard.type("where is the harp")
    expect(page.locator("#items li")).to_have_count(1)
    tab_to(page, "button", "Delete")
    page.keyboard.press("Enter")
    expect(page.locator("#items li")).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#items li")).to_have_count(1)
    assert owner.memory.get("harp", Scope(user_id="zoe")) is not None


def test_forgetting_on_a_phone(owner: Owner, picture: Callable[..., None]) -> None:
    owner.memory.record([Turn("user", "the anchor of the barge is new")], Scope("phone-1", "ada"))
    with owner.context(viewport=PHONE, has_touch=True, is_mobile=True, device_scale_factor=2) as context:
        page = context.new_page()
        page.goto("/forget")
        page.get_by_label("One session").tap()
        page.get_by_role("textbox", name="Session").fill("phone-1")
        page.get_by_role("button", name="Show what would go").tap()
        expect(page.get_by_text("the anchor of the barge is new")).to_be_visible()
        picture(page, "forget-phone")
