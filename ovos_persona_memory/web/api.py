"""The verbs as JSON, and the document that describes them."""

from __future__ import annotations

from functools import lru_cache
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.responses import Response

from ovos_persona_memory.errors import BY_CODE, PersonaMemoryError
from ovos_persona_memory.protocol import requests, topics
from ovos_persona_memory.records import Unfit
from ovos_persona_memory.version import __version__
from ovos_persona_memory.web.answers import ANSWERS
from ovos_persona_memory.web.visit import View, Visit

WITHIN_S = 60.0
STATUS = {
    "not_allowed": 403,
    "unknown_entry": 404,
    "unknown_verb": 404,
    "no_answer": 503,
    "internal": 500,
}
"""From the code of an error to the status of its answer; those of the store are 503, and all others 422."""
UNREADABLE, UNFIT = 400, 422
"""Statuses of an invalid request: it has not the form that the description gives, or it has and cannot be done."""


def verb(visit: Visit) -> Response:
    """One verb: its fields are the body, its answer is that of the owner's door."""
    name = visit.places["verb"]
    if name not in topics.VERBS:
        return refusal(PersonaMemoryError(f"there is no verb {name[:80]!r}"), 404, "unknown_verb")
    kind = visit.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        return refusal(PersonaMemoryError("the body must be application/json"), 415, "invalid")
    try:
        data = msgspec.json.decode(visit.body or b"{}")
    except (msgspec.MsgspecError, RecursionError) as error:
        return refusal(PersonaMemoryError(f"the body is no JSON: {str(error)[:200]}"), 400, "invalid")
    if not isinstance(data, dict):
        return refusal(PersonaMemoryError("the body must be an object"), 400, "invalid")
    named = data.pop("request_id", None)
    asked = {field: _whole(value) for field, value in data.items()}
    answer = visit.app.transport.carry(name, asked, WITHIN_S)
    return _json(answer if named is None else {**answer, "request_id": named}, status_of(name, asked, answer))


def _whole(value: Any) -> Any:
    """A number like 5.0 as 5: in JSON both are whole numbers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def status_of(verb: str, asked: dict[str, Any], answer: dict[str, Any]) -> int:
    """The HTTP status of the answer to what was asked."""
    if answer.get("ok") is True:
        return 200
    code = str(answer.get("error"))
    if code == "invalid" and not _has_form(verb, asked):
        return UNREADABLE
    return STATUS.get(code, 503 if code.startswith("store") else UNFIT)


def _has_form(verb: str, asked: dict[str, Any]) -> bool:
    """Whether a request is as the description of the API has it; that an empty text is refused, it does not tell."""
    try:
        msgspec.convert(asked, requests.FIELDS[verb])
    except msgspec.ValidationError as error:
        return isinstance(error.__cause__, Unfit)
    return True


def refusal(error: PersonaMemoryError, status: int, code: str | None = None) -> Response:
    """An answer that says why not."""
    return _json({"ok": False, "error": code or error.code, "reason": error.reason}, status)


def openapi(_: Visit) -> Response:
    """The description of the API, for programs."""
    return Response(_document(), media_type="application/json")


def described(visit: Visit) -> Response:
    """The description of the API, for people."""
    return visit.page("api.html", verbs=_verbs())


def _verbs() -> list[tuple[str, str, list[tuple[str, bool]]]]:
    """Each verb with its sentence and its fields, and whether each is needed."""
    return [
        (
            name,
            (requests.FIELDS[name].__doc__ or "").strip(),
            [(one.name, one.required) for one in msgspec.structs.fields(requests.FIELDS[name])],
        )
        for name in topics.VERBS
    ]


@lru_cache(maxsize=1)
def _document() -> bytes:
    asked = [requests.FIELDS[name] for name in topics.VERBS]
    answered = [kind for name in topics.VERBS for kind in ANSWERS[name].values()]
    found, components = msgspec.json.schema_components([*asked, *answered], ref_template="#/components/schemas/{name}")
    schemas = iter(found)
    bodies = {name: next(schemas) for name in topics.VERBS}
    answers = {name: _answered({field: next(schemas) for field in ANSWERS[name]}) for name in topics.VERBS}
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "ovos-persona-memory",
                "version": __version__,
                "description": "The verbs of the owner's door (docs/bus.md). Send the token as a bearer token.",
            },
            "security": [{"token": []}],
            "paths": {f"/api/{name}": {"post": _operation(name, bodies[name], answers[name])} for name in topics.VERBS},
            "components": {
                "schemas": {**components, "Refusal": _REFUSAL},
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
        }
    )


def _answered(fields: dict[str, Any]) -> dict[str, Any]:
    """The schema of an answer with these fields."""
    every = {"ok": {"const": True}, "took_ms": {"type": "number"}, **fields}
    return {"type": "object", "properties": every, "required": list(every)}


_REFUSAL = {
    "type": "object",
    "properties": {
        "ok": {"const": False},
        "error": {"enum": sorted({*BY_CODE, "invalid"})},
        "reason": {"type": "string"},
    },
    "required": ["ok", "error", "reason"],
}


def _operation(name: str, body: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    refused = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}}
    statuses = (400, 401, 403, 404, 408, 413, 415, 421, 422, 429, 500, 503)
    refusals = {str(status): {"description": HTTPStatus(status).phrase, **refused} for status in statuses}
    return {
        "operationId": name,
        "summary": (requests.FIELDS[name].__doc__ or name).strip(),
        "requestBody": {
            "required": any(field.required for field in msgspec.structs.fields(requests.FIELDS[name])),
            "content": {"application/json": {"schema": body}},
        },
        "responses": {
            "200": {"description": "The answer.", "content": {"application/json": {"schema": answer}}},
            **refusals,
        },
    }


def _json(answer: dict[str, Any], status: int) -> Response:
    return Response(msgspec.json.encode(answer), status, media_type="application/json")


ADDRESSES: tuple[tuple[str, str, View], ...] = (
    ("GET", "/api", described),
    ("GET", "/api/openapi.json", openapi),
    ("POST", "/api/{verb}", verb),
)
