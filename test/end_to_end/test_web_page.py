"""The owner's page of a real daemon, over HTTP: what it shows, what it changes, and who is let in."""

from __future__ import annotations

import http.client
import json
import re
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode

import pytest
from ovos_bus_client import Message, MessageBusClient
from support.servers.ports import free_port

from ovos_persona_memory.protocol import MemoryClient, topics
from ovos_persona_memory.records import Scope, Turn

from .conftest import Address, Daemon, own_environment, wait_until, write_settings

pytest.importorskip("uvicorn", reason="the extra web is not installed")
pytest.importorskip("starlette", reason="the extra web is not installed")

ADA = Scope(user_id="ada", session_id="kitchen-1", site_id="kitchen")


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass
class Browser:
    """A browser at the page, with its cookie."""

    port: int
    data: Path
    home: Path
    cookie: str = ""
    more: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: str | bytes = b"", **headers: str) -> Answer:
        """One request, as it is given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body or None, named)
            answer = connection.getresponse()
            got = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, got, answer.read().decode())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        """A page."""
        return self.ask("GET", path, cookie=self.cookie, **self.more, **headers)

    def post(self, path: str, form: Mapping[str, str | Sequence[str]] | None = None, **headers: str) -> Answer:
        """A form that is sent, as a browser does."""
        kind = {"content_type": "application/x-www-form-urlencoded", "origin": f"http://127.0.0.1:{self.port}"}
        return self.ask("POST", path, urlencode(form or {}, True), cookie=self.cookie, **kind, **self.more, **headers)

    def command(self, *words: str) -> str:
        """What the command line answers."""
        command = [sys.executable, "-m", "ovos_persona_memory", *words, "--data", str(self.data)]
        done = subprocess.run(
            command, env=own_environment(self.home), capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def enter(self) -> Browser:
        """Be let in by the token."""
        answer = self.post("/enter", {"token": (self.data / "web.token").read_text("utf-8").strip()})
        assert answer.status == 303
        self.cookie = answer.headers["set-cookie"].split(";")[0]
        return self


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, bus_address: Address) -> Iterator[Browser]:
    """A page with a daemon that most tests share; the browser is nobody's."""
    home, port = tmp_path_factory.mktemp("home"), free_port()
    write_settings(home, persona_memory={"announce": False, "web": {"port": port}})
    process = Daemon(home, home / "data", bus_address)
    try:
        wait_until(process.is_ready, "the start of the daemon")
        browser = Browser(port, process.data, home)
        wait_until(lambda: is_served(browser), "the page")
        yield browser
    finally:
        process.end()


@pytest.fixture
def page(served: Browser) -> Iterator[tuple[Browser, MemoryClient]]:
    """A browser that was not let in yet, and an empty memory that is switched on."""
    with MemoryClient.over_door(served.data) as memory:
        memory.capture(write=True, read=True)
        memory.forget(Scope.everyone(), everything=True)
        yield Browser(served.port, served.data, served.home), memory


@pytest.fixture
def own_page(daemon: Callable[..., Daemon], tmp_path: Path) -> Iterator[tuple[Browser, MemoryClient]]:
    """The same with a daemon of its own, which may be killed and has recorded nothing yet."""
    port = free_port()
    process = daemon(settings={"web": {"port": port}})
    browser = Browser(port, process.data, tmp_path / "home0")
    wait_until(lambda: is_served(browser), "the page")
    with MemoryClient.over_door(process.data) as memory:
        yield browser, memory


def is_served(browser: Browser) -> bool:
    try:
        return browser.ask("GET", "/healthz").status == 200
    except OSError:
        return False


def seen(html: str) -> str:
    """The text of a page as somebody reads it, its runs of white space as one blank."""
    words: list[str] = []
    parser = HTMLParser()
    parser.handle_data = words.append  # type: ignore[method-assign]  # all that is wanted of it
    parser.feed(re.sub(r"<(script|style).*?</\1>", "", html, flags=re.DOTALL))
    return " ".join(" ".join(words).split())


AREAS = ("/", "/known", "/review", "/preview", "/remembering", "/forget", "/move", "/health", "/api")


def test_a_link_of_the_command_lets_one_browser_in_once(page: tuple[Browser, MemoryClient]) -> None:
    browser, _ = page
    assert (browser.get("/").status, browser.get("/").headers["location"]) == (303, "/enter")
    assert browser.get("/enter").status == 200
    link = browser.command("web").split(str(browser.port), 1)[1]
    entered = browser.ask("GET", link)
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert browser.ask("GET", link).status == 403
    browser.cookie = cookie.split(";")[0]
    assert browser.get("/").status == 200
    assert browser.post("/leave").status == 303
    assert browser.get("/").status == 303


def test_the_token_lets_in_and_is_the_owners_alone(page: tuple[Browser, MemoryClient]) -> None:
    browser, _ = page
    token = browser.command("web", "--token")
    assert stat.S_IMODE((browser.data / "web.token").stat().st_mode) == 0o600
    assert browser.post("/enter", {"token": "wrong"}).status == 403
    entered = browser.post("/enter", {"token": token})
    assert entered.status == 303
    browser.cookie = entered.headers["set-cookie"].split(";")[0]
    assert browser.get("/").status == 200


def test_every_area_opens_in_an_empty_memory_and_says_what_to_do(page: tuple[Browser, MemoryClient]) -> None:
    browser, _ = page
    browser.enter()
    for area in AREAS:
        answer = browser.get(area)
        assert answer.status == 200, area
        assert re.search(r"<main[^>]*>.*<h1>", answer.text, re.DOTALL), area
        assert "style=" not in answer.text and "onclick" not in answer.text, area
    assert "Say something to your assistant" in seen(browser.get("/").text)
    assert "Nothing is known yet" in seen(browser.get("/known").text)


@pytest.mark.parametrize("tag", ["de-DE", "fr-FR"])
def test_the_page_speaks_the_browsers_language(page: tuple[Browser, MemoryClient], tag: str) -> None:
    browser, _ = page
    browser.enter()
    told = {"de-DE": "Was ich weiß", "fr-FR": "Ce que je sais"}[tag]
    answer = browser.get("/", accept_language=f"{tag[:2]};q=0.9, xx")
    assert f'lang="{tag}"' in answer.text
    assert told in seen(answer.text)
    looks = browser.post("/looks", {"lang": tag, "theme": "dark", "back": "/known"})
    assert looks.headers["location"] == "/known"
    browser.cookie += f"; lang={tag}; theme=dark"
    assert 'data-theme="dark"' in browser.get("/").text
    assert told in seen(browser.get("/").text)


def test_what_was_said_stands_in_the_timeline_and_a_deletion_can_be_undone(page: tuple[Browser, MemoryClient]) -> None:
    browser, memory = page
    browser.enter()
    [id] = memory.record([Turn("user", "the velvet curtain <b>fell</b>", lang="en-US")], ADA)
    memory.record([Turn("user", "the chair is new", lang="en-US")], Scope(session_id="hall-2", site_id="hall"))
    shown = browser.get("/").text
    assert "velvet curtain &lt;b&gt;fell" in shown
    assert "<b>fell" not in shown
    for narrow, found in (("person=ada", 1), ("room=hall", 0), ("session=kitchen-1", 1), ("day=2001-01-01", 0)):
        assert browser.get(f"/?{narrow}").text.count("velvet curtain &lt;b") >= found, narrow
        assert ("velvet" in browser.get(f"/?{narrow}").text) is bool(found), narrow
    deleted = browser.post("/delete", {"ids": id, "person": "ada", "back": "/"})
    assert deleted.status == 303
    assert "velvet" not in browser.get("/").text
    undo = re.search(r"/undo/(\w+)", browser.get("/").text)
    assert undo
    browser.post(f"/undo/{undo[1]}", {"back": "/"})
    assert "velvet" in browser.get("/").text
    assert memory.turn(id, Scope.everyone()) is not None


def test_a_deletion_that_is_not_undone_is_carried_out(page: tuple[Browser, MemoryClient]) -> None:
    browser, memory = page
    browser.enter()
    [id] = memory.record([Turn("user", "the velvet curtain fell", lang="en-US")], ADA)
    [other] = memory.record([Turn("user", "a walrus sang", lang="en-US")], Scope(session_id="s2"))
    part = browser.post("/delete", {"ids": id, "person": "ada"}, hx_request="true")
    assert part.status == 200
    assert f'id="item-{id}" hx-swap-oob="delete"' in part.text
    browser.post("/delete", {"session": "s2", "person": "household"})
    assert memory.turn(id, Scope.everyone()) is not None
    wait_until(lambda: memory.turn(id, Scope.everyone()) is None, "the deletion")
    wait_until(lambda: memory.turn(other, Scope.everyone()) is None, "the deletion of the session")
    wait_until(lambda: not (browser.data / "web.going").exists(), "the end of waiting")
    files = b"".join(path.read_bytes() for path in browser.data.rglob("*") if path.is_file())
    assert b"velvet" not in files
    assert b"walrus" not in files


def test_what_is_known_is_added_found_changed_and_marked(page: tuple[Browser, MemoryClient]) -> None:
    browser, memory = page
    browser.enter()
    memory.record([Turn("user", "i live in Lisbon", lang="en-US")], ADA)
    wait_until(lambda: bool(memory.facts.list(Scope(user_id="ada"))), "the learning")
    added = browser.post("/known/add", {"text": "the plumber is called Joe", "person": "ada", "private": "on"})
    assert added.headers["location"] == "/known?notice=kept"
    listed = browser.get("/known").text
    assert "Joe" in listed
    assert "Lisbon" in listed
    found = browser.get("/known?q=who+is+the+plumber", hx_request="true", hx_target="items").text
    assert "Joe" in found
    assert "<html" not in found
    [entry] = memory.list(Scope(user_id="ada"))
    assert entry.private == 1
    about = {"key": entry.key, "person": "ada", "id": entry.id, "kind": "memory"}
    browser.post("/known/edit", {**about, "text": "the plumber is called Jim"})
    browser.post("/known/mark", {**about, "mark": "pinned", "value": "on"})
    browser.post("/known/mark", {**about, "mark": "private", "value": "off"})
    [entry] = memory.list(Scope(user_id="ada"))
    assert (entry.text, entry.private, entry.metadata["pinned"]) == ("the plumber is called Jim", 0, True)
    [fact] = memory.facts.list(Scope(user_id="ada"))
    pin = {"id": fact.id, "kind": "fact", "person": "ada", "mark": "pinned"}
    browser.post("/known/mark", {**pin, "value": "on"})
    assert "pinned" in memory.facts.list(Scope(user_id="ada"))[0].topics
    browser.post("/known/mark", {**pin, "value": "off"})
    assert memory.facts.list(Scope(user_id="ada"))[0].topics == fact.topics
    origin = seen(browser.get(f"/known/{fact.id}?person=ada").text)
    assert "Said by ada, Today" in origin
    assert "i live in Lisbon" in origin
    assert browser.get("/known/nothing").status == 404
    assert browser.post("/known/add", {"text": "  "}).status == 400


def test_several_memories_become_one(page: tuple[Browser, MemoryClient]) -> None:
    browser, memory = page
    browser.enter()
    ids = [memory.remember(text, Scope(user_id="ada")).id for text in ("the tap drips", "the tap is in the bath")]
    foreign = memory.remember("the roof leaks", Scope(user_id="bob")).id
    assert browser.post("/known/join", {"ids": [ids[0], foreign]}).status == 400
    form = browser.post("/known/join", {"ids": ids})
    assert "the tap drips\nthe tap is in the bath" in form.text
    browser.post("/known/join", {"ids": ids, "person": "ada", "text": "the tap in the bath drips"})
    wait_until(
        lambda: [one.text for one in memory.list(Scope(user_id="ada"))] == ["the tap in the bath drips"], "the joining"
    )


def test_the_preview_shows_what_a_persona_would_get_and_counts_as_no_use(page: tuple[Browser, MemoryClient]) -> None:
    browser, memory = page
    browser.enter()
    kept = memory.remember("the bins go out on Tuesday", Scope(), lang="en-US")
    shown = seen(browser.get("/preview?say=when+do+the+bins+go+out").text)
    assert '"the bins go out on Tuesday"' in shown
    assert re.search(r"Estimated tokens: \d+", shown)
    origin = memory.why(Scope(), id=kept.id)
    assert origin is not None
    assert origin.used is None


def test_forgetting_shows_the_words_first_and_takes_just_those(page: tuple[Browser, MemoryClient]) -> None:
    browser, memory = page
    browser.enter()
    memory.remember("the parrot is green", Scope(), lang="en-US")
    memory.remember("the tortoise is old", Scope(), lang="en-US")
    shown = browser.get("/forget?way=about&about=parrot").text
    assert "the parrot is green" in shown
    assert "tortoise" not in shown
    until = re.search(r'name="until" value="([\d.]+)"', shown)
    assert until
    memory.remember("a parrot came later", Scope(), lang="en-US")
    browser.post("/forget", {"way": "about", "about": "parrot", "until": until[1]})
    wait_until(lambda: len(memory.list(Scope())) == 2, "the forgetting")
    assert {one.text for one in memory.list(Scope())} == {"the tortoise is old", "a parrot came later"}
    assert browser.get("/forget?way=about").status == 400
    assert browser.get("/forget?way=session").status == 400


def test_what_is_uncertain_is_decided(page: tuple[Browser, MemoryClient]) -> None:
    browser, memory = page
    browser.enter()
    memory.record([Turn("user", "i think i put my keys in the drawer", lang="en-US")], ADA)
    memory.remember("she may like tea", Scope(), lang="en-US", status="draft")
    wait_until(lambda: bool(memory.facts.list(Scope(user_id="ada"), "waiting")), "the learning")
    [waiting] = memory.facts.list(Scope(user_id="ada"), "waiting")
    [draft] = memory.list(Scope(), status="draft")
    shown = seen(browser.get("/review").text)
    assert waiting.text in shown
    assert "she may like tea" in shown
    browser.post("/review", {"id": waiting.id, "person": "ada", "answer": "yes"})
    browser.post("/review", {"kind": "draft", "key": draft.key, "person": "household", "answer": "no"})
    assert [one.text for one in memory.facts.list(Scope(user_id="ada"))] == [waiting.text]
    assert [one.status for one in memory.list(Scope())] == ["discard"]


def test_what_was_replaced_can_be_put_back(page: tuple[Browser, MemoryClient]) -> None:
    browser, memory = page
    browser.enter()
    memory.record([Turn("user", "i live in Lisbon", lang="en-US"), Turn("user", "i live in Porto", lang="en-US")], ADA)
    wait_until(lambda: bool(memory.facts.list(Scope(user_id="ada"), "superseded")), "the learning")
    shown = browser.get("/review").text
    assert "i live in Lisbon" in shown
    assert "i live in Porto" in shown
    form = dict(re.findall(r'name="(id|text|person|speech)" value="([^"]*)"', shown))
    assert browser.post("/review/put-back", form).status == 303
    assert [one.value for one in memory.facts.list(Scope(user_id="ada"))] == ["Lisbon"]


def test_remembering_is_switched_and_every_page_says_so(page: tuple[Browser, MemoryClient]) -> None:
    browser, memory = page
    browser.enter()
    browser.post("/remembering", {"switch": "pause", "span": "hour"})
    setting = memory.capture()
    assert (setting.write, setting.read) == (False, True)
    assert setting.until is not None
    assert abs(setting.until - time.time() - 3600) < 60
    for area in AREAS:
        assert "Remembering is paused" in seen(browser.get(area).text), area
    browser.post("/remembering", {"switch": "on"})
    assert "Remembering is paused" not in seen(browser.get("/").text)
    browser.post("/remembering", {"switch": "off", "place": "room", "name": "attic"})
    assert not memory.capture(Scope(site_id="attic"), site=True).write
    assert memory.capture().write
    assert browser.post("/remembering", {"switch": "off", "place": "person"}).status == 400


def test_what_is_exported_is_taken_in_elsewhere_once(
    page: tuple[Browser, MemoryClient], daemon: Callable[..., Daemon], tmp_path: Path
) -> None:
    browser, memory = page
    browser.enter()
    said = [Turn("user", f"sentence number {n}", at=1_700_000_000.0 + n, lang="en-US") for n in range(1200)]
    memory.record(said[:1000], ADA, learn=False)
    memory.record(said[1000:], ADA, learn=False)
    memory.remember("the bins go out on Tuesday", Scope(user_id="ada"), "bins", lang="en-US")
    lines = browser.get("/move/export.jsonl").text.splitlines()
    read = [json.loads(line) for line in lines]
    assert [one["text"] for one in read if one["kind"] == "turn"] == [turn.text for turn in said]
    assert [one["key"] for one in read if one["kind"] == "memory"] == ["bins"]
    assert "- the bins go out on Tuesday (ada)" in browser.get("/move/export.md").text
    some = "\n".join([*lines[:3], lines[-1], "{broken", '{"kind": "turn"}'])
    port = free_port()
    process = daemon(data=tmp_path / "other", settings={"web": {"port": port}})
    elsewhere = Browser(port, process.data, tmp_path / "home1")
    wait_until(lambda: is_served(elsewhere), "the other page")
    elsewhere.enter()
    with MemoryClient.over_door(process.data) as other:
        for dry, turns in (("on", 0), ("", 3), ("", 3)):
            outcome = seen(sent_file(elsewhere, some, dry).text)
            assert "Things said: 3 · Memories: 1" in outcome
            assert "Line 5" in outcome
            assert "Line 6" in outcome
            assert len(other.turns(Scope.everyone())) == turns
        kept = other.turns(Scope(user_id="ada"))
        assert [(one.text, one.at, one.session_id) for one in kept] == [
            (turn.text, turn.at, "kitchen-1") for turn in said[:3]
        ]
        assert [one.key for one in other.list(Scope(user_id="ada"))] == ["bins"]


def sent_file(browser: Browser, text: str, dry: str) -> Answer:
    mark = "----mark"
    fields = [('name="file"; filename="memory.jsonl"', text), ('name="dry"', dry)]
    parts = [f"--{mark}\r\nContent-Disposition: form-data; {name}\r\n\r\n{value}\r\n" for name, value in fields]
    kind = {"content_type": f"multipart/form-data; boundary={mark}", "origin": f"http://127.0.0.1:{browser.port}"}
    return browser.ask("POST", "/move/import", "".join(parts) + f"--{mark}--\r\n", cookie=browser.cookie, **kind)


def test_health_tells_the_figures_and_looks_for_trouble(page: tuple[Browser, MemoryClient]) -> None:
    browser, memory = page
    browser.enter()
    memory.record([Turn("user", "the lamp is on", lang="en-US")], ADA)
    assert "All is well." in seen(browser.get("/health").text)
    samples = json.loads(browser.get("/health/figures").text)["samples"]
    assert samples[-1]["turns"] == 1
    assert "Doubles : 0" in seen(browser.get("/health/audit").text)


def test_what_is_said_appears_as_it_is_spoken(own_page: tuple[Browser, MemoryClient], bus_address: Address) -> None:
    browser, _ = own_page
    browser.enter()
    connection = http.client.HTTPConnection("127.0.0.1", browser.port, timeout=20)
    connection.request("GET", "/live", headers={"cookie": browser.cookie})
    stream = connection.getresponse()
    assert stream.getheader("content-type", "").startswith("text/event-stream")
    assert stream.readline() == b"retry: 3000\n"
    said = MessageBusClient(host=bus_address[0], port=bus_address[1])
    said.run_in_thread()
    assert said.connected_event.wait(10)
    context = {"session": {"session_id": "live-1", "site_id": "kitchen"}}
    said.emit(Message("recognizer_loop:utterance", {"utterances": ["a <i>kettle</i> sings"], "lang": "en-US"}, context))
    told = b""
    while b"\n\n" not in told.partition(b"event: recorded")[2]:
        told += stream.readline()
    said.close()
    connection.close()
    event = json.loads(told.partition(b"event: recorded\ndata: ")[2])
    assert "a &lt;i&gt;kettle&lt;/i&gt; sings" in event["html"]
    assert event["number"] == 1


def test_the_api_answers_as_the_owners_door_does(page: tuple[Browser, MemoryClient]) -> None:
    browser, memory = page
    token = browser.command("web", "--token")
    memory.remember("the bins go out on Tuesday", Scope(), "bins")

    def ask(verb: str, body: str, **headers: str) -> tuple[int, dict[str, object]]:
        kind = {"content_type": "application/json", "authorization": f"Bearer {token}", **headers}
        answer = browser.ask("POST", f"/api/{verb}", body, **kind)
        return answer.status, json.loads(answer.text)

    status, answer = ask("get", '{"key": "bins", "request_id": "r1"}')
    assert (status, answer["request_id"]) == (200, "r1")
    assert answer["memory"]["text"] == "the bins go out on Tuesday"  # type: ignore[index]  # it is an object
    assert ask("get", "{}")[0] == 400
    assert ask("session.clear", "{}")[0] == 422
    assert ask("list", '{"limit": 1.0}')[0] == 200
    assert ask("list", '{"limit": 1.5}')[0] == 400
    assert ask("update", '{"key": "nothing", "text": "x"}')[0] == 404
    assert ask("nothing", "{}") == (404, {"ok": False, "error": "unknown_verb", "reason": "there is no verb 'nothing'"})
    for body, expected in (("{", 400), ("[1]", 400), ("x" * 70000, 413), ('{"key": "\\ud83d"}', 400)):
        assert ask("get", body)[0] == expected, body[:20]
    assert ask("get", "{}", content_type="text/plain")[0] == 415
    assert ask("get", "{}", authorization="Bearer wrong")[0] == 401
    assert ask("get", "{}", authorization="Basic eDp5")[0] == 401


def test_the_api_describes_every_verb(page: tuple[Browser, MemoryClient]) -> None:
    browser, _ = page
    browser.enter()
    document = json.loads(browser.get("/api/openapi.json").text)
    assert document["openapi"].startswith("3.1")
    assert list(document["paths"]) == [f"/api/{verb}" for verb in topics.VERBS]
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert named <= document["components"]["schemas"].keys()
    recall = document["components"]["schemas"]["RecallAsked"]
    assert recall["required"] == ["question"]


def test_deletions_that_wait_are_carried_out_after_a_kill(
    own_page: tuple[Browser, MemoryClient], daemon: Callable[..., Daemon]
) -> None:
    browser, memory = own_page
    browser.enter()
    [id] = memory.record([Turn("user", "the velvet curtain fell", lang="en-US")], ADA)
    browser.post("/delete", {"ids": id, "person": "ada"})
    os_process = Path("/proc") / str(_daemon_pid(browser.data))
    subprocess.run(["kill", "-9", os_process.name], check=True)
    wait_until(lambda: not os_process.exists() or "Z" in (os_process / "stat").read_text(), "the end of the daemon")
    again = daemon(data=browser.data, settings={"web": {"port": browser.port}})
    with MemoryClient.over_door(again.data) as other:
        wait_until(lambda: other.turn(id, Scope.everyone()) is None, "the deletion")
    assert browser.get("/").status == 200  # the browser is still let in


def _daemon_pid(data: Path) -> int:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if str(data).encode() in words and b"run" in words:
            return int(path.parent.name)
    raise AssertionError("no daemon runs")


def test_no_page_is_served_where_it_is_switched_off(daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    process = daemon(settings={"web": {"enabled": False}})
    with MemoryClient.over_door(process.data) as memory:
        assert memory.status()["web"] is None
    assert not (process.data / "web.token").exists()


def test_a_port_that_is_taken_leaves_the_daemon_at_work(
    page: tuple[Browser, MemoryClient], daemon: Callable[..., Daemon], tmp_path: Path
) -> None:
    browser, _ = page
    other = daemon(data=tmp_path / "other", settings={"web": {"port": browser.port}})
    with MemoryClient.over_door(other.data) as memory:
        assert memory.status()["web"] is None
        assert memory.remember("it still remembers", Scope()).key
    assert "cannot be served" in other.said()


def test_many_pages_at_once_are_all_answered(page: tuple[Browser, MemoryClient]) -> None:
    browser, memory = page
    browser.enter()
    memory.record([Turn("user", "the lamp is on", lang="en-US")], ADA)
    statuses: list[int] = []

    def visit() -> None:
        statuses.extend(browser.get(area).status for area in ("/", "/known", "/health"))

    visitors = [threading.Thread(target=visit) for _ in range(8)]
    for one in visitors:
        one.start()
    for one in visitors:
        one.join()
    assert statuses == [200] * 24


def test_a_page_on_every_address_says_that_there_is_no_tls(daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    port = free_port()
    process = daemon(settings={"web": {"port": port, "host": "0.0.0.0", "names": ["memory.lan"]}})
    browser = Browser(port, process.data, tmp_path / "home0")
    wait_until(lambda: is_served(browser), "the page")
    assert browser.get("/").status == 303
    browser.enter()
    assert "the connection is not encrypted" in seen(browser.get("/").text)
    assert browser.get("/", host="memory.lan").status == 200
    assert browser.get("/", host="another.lan").status == 421
    assert "there is no TLS" in process.said()
