"""Being let in, leaving, and how the page looks in this browser."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from ovos_persona_memory.web.access import BROWSER_S, MustWait
from ovos_persona_memory.web.guard import COOKIE, cookie_of
from ovos_persona_memory.web.texts import Texts, chosen
from ovos_persona_memory.web.visit import THEMES, View, Visit

YEAR_S = 365 * 86400


def enter(visit: Visit) -> Response:
    """The form for the token; with a good ticket in the address the browser is let in at once."""
    if ticket := visit.asked("ticket"):
        if visit.app.access.spend(ticket):
            # a redirect would still count as coming from wherever the link was, and a strict cookie stay at home
            return _let_in(visit, visit.part("entered.html"))
        return _form(visit, "entry_link_used", 403)
    return _form(visit)


def enter_with_token(visit: Visit) -> Response:
    """Let the browser in that sends the token."""
    try:
        if visit.app.access.is_token(visit.given("token"), visit.peer):
            return _let_in(visit, RedirectResponse("/", 303))
    except MustWait as wait:
        answer = _form(visit, "entry_wait", 429, seconds=int(wait.wait_s) + 1)
        answer.headers["Retry-After"] = str(int(wait.wait_s) + 1)
        return answer
    return _form(visit, "entry_wrong", 403)


def leave(visit: Visit) -> Response:
    """Put this browser out."""
    visit.app.access.put_out(cookie_of(dict(visit.headers)))
    answer = RedirectResponse("/enter", 303)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def looks(visit: Visit) -> Response:
    """Keep the language and the theme that were chosen."""
    answer = visit.back()
    spoken = chosen(visit.given("lang"), visit.headers.get("accept-language", ""))
    theme = visit.given("theme") if visit.given("theme") in THEMES else THEMES[0]
    for name, value in (("lang", spoken.tag), ("theme", theme)):
        answer.set_cookie(name, value, max_age=YEAR_S, httponly=True, samesite="strict")
    return answer


def _let_in(visit: Visit, answer: Response) -> Response:
    cookie = visit.app.access.let_in()
    answer.set_cookie(COOKIE, cookie, max_age=int(BROWSER_S), httponly=True, samesite="strict")
    return answer


def _form(visit: Visit, problem: str = "", status: int = 200, **slots: object) -> Response:
    texts: Texts = visit.texts
    return visit.part("enter.html", status, problem=texts(problem, **slots) if problem else "")


ADDRESSES: tuple[tuple[str, str, View], ...] = (
    ("GET", "/enter", enter),
    ("POST", "/enter", enter_with_token),
    ("POST", "/leave", leave),
    ("POST", "/looks", looks),
)
