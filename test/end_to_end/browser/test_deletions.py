"""What is deleted in a browser and not undone is gone ten seconds later, everywhere, and nothing else is."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from ovos_persona_memory.records import Scope, Turn

from ..conftest import wait_until
from .conftest import Owner

SCOPE = Scope("gone-1", "wim")
TURNS = ("a walrus sang", "it was loud")
MEMORIES = {
    "harp": "the harpsichord is in the attic",
    "roof": "the roof leaks",
    "parrot": "the parrakeet is green",
    "tortoise": "the tortoise is old",
}


def test_deletions_that_nobody_undoes_take_what_was_chosen_and_nothing_else(page: Page, owner: Owner) -> None:
    memory = owner.memory
    ids = memory.record([Turn("user", text) for text in TURNS], SCOPE)
    [whole] = memory.record([Turn("user", "a heron stood there")], Scope("gone-2", "wim"))
    for key, text in MEMORIES.items():
        memory.remember(text, Scope(user_id="wim"), key, lang="en-US")
    page.goto("/move")
    page.get_by_role("button", name="Back up now").click()
    expect(page.get_by_text("It is backed up.")).to_be_visible()
    backups = owner.daemon.data / "backups"
    assert holds(owner, b"harpsichord")

    page.goto("/?session=gone-1")
    page.get_by_role("button", name="Delete: a walrus sang").click()
    expect(page.get_by_text("To be deleted: 1")).to_be_visible()
    page.goto("/?session=gone-2")
    page.get_by_role("button", name="Delete this talk").click()
    expect(page.get_by_text("A talk is to be deleted.")).to_be_visible()
    expect(page.locator("article")).to_have_count(0)
    page.goto("/known?person=wim")
    page.get_by_label("Choose: the harpsichord is in the attic").check()
    page.get_by_role("button", name="Delete what is chosen").click()
    expect(page.get_by_text("To be deleted: 1")).to_have_count(2)
    page.goto("/forget?way=about&about=parrakeet&person=wim")
    page.get_by_role("button", name="Forget it for good").click()
    expect(page.locator(".toast")).to_have_count(4)
    assert memory.turn(ids[0], Scope.everyone()) and memory.turn(whole, Scope.everyone()), "not before ten seconds"
    assert len(memory.list(Scope(user_id="wim"))) == len(MEMORIES)

    wait_until(lambda: not (owner.daemon.data / "web.going").exists(), "the deletion")
    assert [one.id for one in memory.turns(Scope(user_id="wim"))] == [ids[1]]
    assert {one.key for one in memory.list(Scope(user_id="wim"))} == {"roof", "tortoise"}
    expect(page.locator(".toast")).to_have_count(0, timeout=15_000)
    wait_until(lambda: not any(holds(owner, word) for word in (b"walrus", b"heron", b"harpsichord")), "the last byte")
    assert list(backups.iterdir()), "the backups are there, without it"
    assert holds(owner, b"tortoise")
    page.goto("/known?person=wim")
    expect(page.get_by_text(re.compile("harpsichord|parrakeet"))).to_have_count(0)


def holds(owner: Owner, word: bytes) -> bool:
    """Whether a word stands in any file of the memory, its backups among them."""
    return any(word in path.read_bytes() for path in owner.daemon.data.rglob("*") if path.is_file())
