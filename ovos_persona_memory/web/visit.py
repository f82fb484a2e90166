"""One visit of the page: what was asked for, and how it is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email import message_from_bytes
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.responses import HTMLResponse, RedirectResponse, Response

from ovos_persona_memory.errors import PersonaMemoryError
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Scope
from ovos_persona_memory.version import __version__
from ovos_persona_memory.web import texts
from ovos_persona_memory.web.network import is_loopback
from ovos_persona_memory.web.shared import Shared
from ovos_persona_memory.web.texts import Texts

MOST_FIELDS = 3000
THEMES = ("auto", "light", "dark")


@dataclass
class Visit:
    """One request, read; for one thread."""

    app: Shared
    method: str
    path: str
    query: Mapping[str, str]
    """What stands behind the ? of the address; of a name that stands twice the last."""
    headers: Mapping[str, str]
    cookies: Mapping[str, str]
    texts: Texts
    places: Mapping[str, str] = field(default_factory=dict)
    """Parts of the path that are named."""
    form: Mapping[str, Sequence[str]] = field(default_factory=dict)
    body: bytes = b""
    peer: str = ""

    @property
    def memory(self) -> MemoryClient:
        """The memory, as its owner reaches it."""
        return self.app.memory

    @property
    def now(self) -> float:
        """Seconds since the epoch."""
        return self.app.clock()

    @property
    def is_part(self) -> bool:
        """Whether a part of a page is asked for, to be put in place by htmx."""
        return self.headers.get("hx-request") == "true" and self.headers.get("hx-history-restore-request") != "true"

    @property
    def current(self) -> str:
        """The page that is open, as a path: where one comes back to."""
        if self.is_part:
            parts = urlsplit(self.headers.get("hx-current-url", ""))
            return _own_path(f"{parts.path}?{parts.query}" if parts.query else parts.path) or "/"
        return self.address(notice="") if self.method == "GET" else _own_path(self.given("back")) or "/"

    @property
    def theme(self) -> str:
        """auto, light or dark."""
        wanted = self.cookies.get("theme", "")
        return wanted if wanted in THEMES else THEMES[0]

    def asked(self, name: str) -> str:
        """A field of the address, without blanks around it; empty where there is none."""
        return self.query.get(name, "").strip()

    def given(self, name: str) -> str:
        """A field of the form that was sent; empty where there is none."""
        return (self.form.get(name) or [""])[-1].strip()

    def all_given(self, name: str) -> list[str]:
        """Every value of a field of the form."""
        return [one for one in self.form.get(name) or () if one]

    def number(self, name: str, most: int = 1_000_000) -> int:
        """A whole number in the address, 0 where there is none."""
        text = self.asked(name)
        return min(int(text), most) if text.isdecimal() and len(text) < 10 else 0

    def scope(self) -> Scope:
        """Whose records are asked for by the fields person, persona, session and room; everybody's unless given."""
        return Scope(
            user_id=self.asked("person") or None,
            persona_id=self.asked("persona") or None,
            session_id=self.asked("session") or None,
            site_id=self.asked("room") or None,
        )

    def address(self, **changed: object) -> str:
        """This address with other fields; those that are empty are left out."""
        fields = {**self.query, **changed}
        kept = {name: str(value) for name, value in fields.items() if value not in ("", None, 0)}
        return f"{self.path}?{urlencode(kept)}" if kept else self.path

    def page(self, template: str, code: int = 200, **values: Any) -> Response:
        """A whole page."""
        return self._html(template, code, self._frame() | values)

    def part(self, template: str, code: int = 200, **values: Any) -> Response:
        """A part of a page."""
        return self._html(template, code, values)

    def back(self, to: str = "", notice: str = "") -> Response:
        """After a change: the page that ``to`` names, or the one that was left, with a notice (name of a text)."""
        target = to or _own_path(self.given("back")) or self.current
        if notice:
            target += ("&" if "?" in target else "?") + urlencode({"notice": notice})
        if self.is_part:
            return Response(status_code=204, headers={"HX-Redirect": target})
        return RedirectResponse(target, 303)

    def _frame(self) -> dict[str, Any]:
        """What every whole page shows around its own."""
        try:
            setting, problem = self.memory.capture(Scope()), ""
        except PersonaMemoryError as error:
            setting, problem = None, error.reason
        notice = f"notice_{self.asked('notice')}"
        return {
            "capture": setting,
            "problem": problem,
            "languages": [(tag, Texts(tag)("language")) for tag in texts.offered()],
            "is_open": not is_loopback(self.app.config.web.host),
            "version": __version__,
            "notice": notice if self.texts.has(notice) else "",
        }

    def _html(self, template: str, code: int, values: Mapping[str, Any]) -> Response:
        rendered = self.app.templates.get_template(template).render(**self.app.words(self.texts), visit=self, **values)
        headers = {"Content-Language": self.texts.tag, "Vary": "Accept-Language, Cookie, HX-Request"}
        return HTMLResponse(rendered, code, headers)


View = Callable[[Visit], Response]


def _own_path(address: str) -> str:
    """An address as a path of this page; empty where it leads elsewhere."""
    parts = urlsplit(address)
    own = address.startswith("/") and not address.startswith("//") and "\\" not in address
    return address if own and not parts.netloc and address.isprintable() else ""


def query_of(text: str) -> dict[str, str]:
    """The fields behind the ? of an address."""
    return {name: values[-1] for name, values in parse_qs(text, True, max_num_fields=100).items()}


def form_of(kind: str, body: bytes) -> dict[str, list[str]]:
    """The fields of a form that was sent; of a file its text. ValueError where it cannot be read."""
    if kind.startswith("multipart/form-data"):
        return _fields_of_parts(kind, body)
    if not kind.startswith("application/x-www-form-urlencoded"):
        return {}
    return parse_qs(body.decode("utf-8"), True, max_num_fields=MOST_FIELDS)


def _fields_of_parts(kind: str, body: bytes) -> dict[str, list[str]]:
    whole = message_from_bytes(b"Content-Type: " + kind.encode("latin-1") + b"\r\n\r\n" + body)
    fields: dict[str, list[str]] = {}
    for part in whole.get_payload() if whole.is_multipart() else ():
        name = part.get_param("name", header="content-disposition")  # type: ignore[union-attr]  # parts are messages
        held = part.get_payload(decode=True)  # type: ignore[union-attr]  # likewise
        if isinstance(name, str) and isinstance(held, bytes):
            fields.setdefault(name, []).append(held.decode("utf-8"))
    return fields
