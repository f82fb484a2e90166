"""The verbs as JSON, and the document that describes them."""

from __future__ import annotations

from functools import lru_cache
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.responses import Response

from ovos_persona_memory.errors import BY_CODE, PersonaMemoryError
from ovos_persona_memory.protocol import requests, topics
from ovos_persona_memory.version import __version__
from ovos_persona_memory.web.visit import View, Visit

WITHIN_S = 60.0
STATUS = {
    "invalid": 400,
    "not_allowed": 403,
    "unknown_entry": 404,
    "unknown_verb": 404,
    "no_answer": 503,
    "internal": 500,
}
"""From the code of an error to the status of its answer; those of the store are 503, and all others 422."""


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
    answer = visit.app.transport.carry(name, {field: _whole(value) for field, value in data.items()}, WITHIN_S)
    return _json(answer if named is None else {**answer, "request_id": named}, status_of(answer))


def _whole(value: Any) -> Any:
    """A number like 5.0 as 5: in JSON both are whole numbers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def status_of(answer: dict[str, Any]) -> int:
    """The HTTP status of an answer."""
    if answer.get("ok") is True:
        return 200
    code = str(answer.get("error"))
    return STATUS.get(code, 503 if code.startswith("store") else 422)


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
    structs = [requests.FIELDS[name] for name in topics.VERBS]
    schemas, components = msgspec.json.schema_components(structs, ref_template="#/components/schemas/{name}")
    components = {**components, "Refusal": _REFUSAL}
    paths = {
        f"/api/{name}": {"post": _operation(name, schema)} for name, schema in zip(topics.VERBS, schemas, strict=True)
    }
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "ovos-persona-memory",
                "version": __version__,
                "description": "The verbs of the owner's door (docs/bus.md). Send the token as a bearer token.",
            },
            "security": [{"token": []}],
            "paths": paths,
            "components": {
                "schemas": components,
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
        }
    )


_REFUSAL = {
    "type": "object",
    "properties": {
        "ok": {"const": False},
        "error": {"enum": sorted({*BY_CODE, "invalid"})},
        "reason": {"type": "string"},
    },
    "required": ["ok", "error", "reason"],
}


def _operation(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    refused = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}}
    statuses = (400, 401, 403, 404, 408, 413, 415, 421, 422, 429, 500, 503)
    answers = {str(status): {"description": HTTPStatus(status).phrase, **refused} for status in statuses}
    done = {"type": "object", "properties": {"ok": {"const": True}}, "required": ["ok"]}
    return {
        "operationId": name,
        "summary": (requests.FIELDS[name].__doc__ or name).strip(),
        "requestBody": {
            "required": any(field.required for field in msgspec.structs.fields(requests.FIELDS[name])),
            "content": {"application/json": {"schema": schema}},
        },
        "responses": {
            "200": {"description": "The answer.", "content": {"application/json": {"schema": done}}},
            **answers,
        },
    }


def _json(answer: dict[str, Any], status: int) -> Response:
    return Response(msgspec.json.encode(answer), status, media_type="application/json")


ADDRESSES: tuple[tuple[str, str, View], ...] = (
    ("GET", "/api", described),
    ("GET", "/api/openapi.json", openapi),
    ("POST", "/api/{verb}", verb),
)
