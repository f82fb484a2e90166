"""Taking along in a browser: to a file and back, backups and what they put back."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

from playwright.sync_api import Page, expect

from ovos_persona_memory import stores
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Scope, Turn

from ..conftest import wait_until
from .conftest import Owner

PAUSE_S = 2.0
LEO = Scope("move-1", "leo", site_id="hall")


def saved(page: Page, button: str, folder: Path) -> Path:
    """What the browser downloads after a click."""
    with page.expect_download() as started:
        page.get_by_role("button", name=button).click()
    file = folder / started.value.suggested_filename
    started.value.save_as(file)
    return file


def test_a_person_is_exported_for_programs_and_to_read(page: Page, owner: Owner, tmp_path: Path) -> None:
    owner.memory.record([Turn("user", "the gong is made of *brass*")], LEO)
    owner.memory.remember("leo has a gong", LEO, "gong")
    owner.memory.remember("the secret of somebody else", Scope(user_id="lea"), "other")
    page.goto("/move?person=leo")
    page.get_by_role("combobox", name="Person").select_option("leo")
    lines = [json.loads(line) for line in saved(page, "For programs (JSONL)", tmp_path).read_text().splitlines()]
    assert {(one["kind"], one["text"]) for one in lines} >= {
        *(("turn", "the gong is made of *brass*"), ("memory", "leo has a gong"))
    }
    assert {one["user_id"] for one in lines} == {"leo"}
    told = saved(page, "To read (Markdown)", tmp_path).read_text()
    assert r"the gong is made of \*brass\*" in told
    assert "somebody else" not in told


def test_a_file_is_tried_first_and_then_taken_in_once(page: Page, owner: Owner, tmp_path: Path) -> None:
    turn = {"kind": "turn", "id": "t1", "role": "user", "text": "a barge went by", "at": 1.76e9, "user_id": "moe"}
    file = tmp_path / "memory.jsonl"
    file.write_text(json.dumps({**turn, "session_id": "move-2"}) + "\nnonsense\n")
    page.goto("/move")
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Only try").click()
    expect(page.get_by_role("heading", name="This would be taken in")).to_be_visible()
    expect(page.get_by_text("Things said: 1")).to_be_visible()
    expect(page.get_by_text("Line 2")).to_be_visible()
    assert owner.memory.turns(Scope(user_id="moe")) == []
    for _ in range(2):
        page.get_by_label("File").set_input_files(file)
        page.get_by_role("button", name="Take it in").click()
        expect(page.get_by_role("heading", name="This was taken in")).to_be_visible()
        assert [one.text for one in owner.memory.turns(Scope(user_id="moe"))] == ["a barge went by"]


def renewed(memory: MemoryClient) -> bool:
    """Whether no backup holds what was forgotten; asked after a pause, as they are written anew in a quiet moment."""
    time.sleep(PAUSE_S)
    return not any(one["stale"] for one in memory.status()["backups"])


def test_a_backup_is_made_downloaded_put_back_and_deleted(page: Page, owner: Owner, tmp_path: Path) -> None:
    memory = owner.memory
    # what a deletion takes ten seconds after it was asked for has the backups written anew, as the memory is then
    wait_until(lambda: not (owner.daemon.data / "web.going").exists(), "the deletions of other tests")
    wait_until(lambda: renewed(memory), "the backups that are written anew")
    memory.remember("before the backup", LEO, "before")
    page.goto("/move")
    others = page.get_by_role("button", name=re.compile("^Put back")).count()
    page.get_by_role("button", name="Back up now").click()
    expect(page.get_by_text("It is backed up.")).to_be_visible()
    with page.expect_download() as started:
        page.get_by_role("link", name=re.compile("^Download")).first.click()
    started.value.save_as(tmp_path / "taken.backup")
    assert stores.counts_in(tmp_path / "taken.backup", None)["turns"] >= 10_000
    memory.remember("after the backup", LEO, "after")
    page.get_by_role("button", name=re.compile("^Put back")).first.click()
    expect(page.get_by_text(re.compile(r"Things said: 10\D\d\d\d"))).to_be_visible()
    page.get_by_role("link", name="Cancel").click()
    assert memory.get("after", LEO) is not None
    page.get_by_role("button", name=re.compile("^Put back")).first.click()
    page.get_by_role("button", name="Put it in place").click()
    expect(page.get_by_text("The backup is in place.")).to_be_visible(timeout=20_000)
    assert memory.get("after", LEO) is None
    assert memory.get("before", LEO) is not None
    owner.say("talk goes on", "move-3")
    wait_until(lambda: bool(memory.turns(Scope("move-3"))), "what is said after it")
    page.goto("/?session=move-3")
    expect(page.get_by_text("talk goes on")).to_be_visible()
    # what was there before is a backup by itself: the newest
    page.goto("/move")
    expect(page.get_by_role("button", name=re.compile("^Put back"))).to_have_count(others + 2)
    page.get_by_role("button", name=re.compile("^Put back")).first.click()
    page.get_by_role("button", name="Put it in place").click()
    expect(page.get_by_text("The backup is in place.")).to_be_visible(timeout=20_000)
    assert memory.get("after", LEO) is not None


def test_backups_are_deleted(page: Page, owner: Owner) -> None:
    page.goto("/move")
    page.get_by_role("button", name="Back up now").click()
    expect(page.get_by_text("It is backed up.")).to_be_visible()
    while page.get_by_role("button", name=re.compile("^Delete")).count():
        page.get_by_role("button", name=re.compile("^Delete")).first.click()
        expect(page.get_by_text("The backup is deleted.")).to_be_visible()
    expect(page.get_by_text("There is no backup yet.")).to_be_visible()
    assert list((owner.daemon.data / "backups").iterdir()) == []
