"""Validation of what callers hand in, by its annotations, before anything is done with it."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import types
import typing
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from ovos_persona_memory.errors import InvalidRequest

P = ParamSpec("P")
T = TypeVar("T")
Check = Callable[[Any], None]
"""Raises Unfit for a value that cannot be used."""

LATEST = 4_102_444_800.0
"""2100-01-01T00:00:00Z, seconds since the epoch: a later time is refused."""
LONGEST_S = 1e11
"""The year 5138; in milliseconds the year 1973, so that no time of today in milliseconds passes for seconds."""
HIGHEST = 2**31 - 1
"""The largest number that every store can hold."""
MAX_DEPTH = 16
"""Nesting levels at most of metadata, of a tool's arguments and of a request."""
MAY_BE_EMPTY = frozenset(
    {"text", "question", "utterance", "query", "topic", "said", "system_prompt", "summary", "description", "persona_id"}
)
"""Fields that may be empty: texts that people say or write, and the persona, of which "" means none. Every other text
is a name, and must not be empty."""
NO_MOMENT = "must be seconds since the epoch, UTC, of the years 1970 to 2099; a greater number may be milliseconds"
NO_SECONDS = "must be seconds, from 0 to 100000000000; a greater number may be milliseconds"
UNCLEAN = "holds a NUL or half a character (a lone surrogate)"


class Unfit(ValueError):
    """A value that cannot be used, and its path inside the argument: ``[0].role``."""

    def __init__(self, problem: str, place: str = "") -> None:
        super().__init__(problem)
        self.problem, self.place = problem, place

    def inside(self, name: str | int) -> Unfit:
        """The same problem, with the path seen from the container that holds the value under this name or index."""
        outer = f"[{name}]" if isinstance(name, int) else f".{name}"
        return Unfit(self.problem, outer + self.place)


def is_clean(text: str) -> bool:
    """Whether a text can be stored: no NUL and no lone surrogate."""
    return "\0" not in text and (text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text if c > "\ud7ff"))


# decorators and checks for callers


def checked(verb: Callable[P, T]) -> Callable[P, T]:
    """Make a method refuse arguments that it cannot use: InvalidRequest, by the name of the parameter.

    What an annotation allows is decided by ``_check_of``; in ``Annotated[str, check]`` the check decides. A record that
    is the whole request (``request``) gives its own fields' names: ``context(ContextRequest(inject="nope"))`` names
    ``inject``.
    """
    plan: list[tuple[str, object, Check]] = []

    @functools.wraps(verb)
    def refusing(*given: P.args, **named: P.kwargs) -> T:
        if not plan:
            plan.extend(_plan(verb))
        name = ""
        try:
            for (name, default, check), value in zip(plan, given):  # noqa: B007, B905  # named where it is refused; fewer may be given
                if value is not default:
                    check(value)
            for name in named:
                _check_named(plan, name, named[name])
        except Unfit as unfit:
            raise _refusal(name, unfit) from None
        return verb(*given, **named)

    return refusing


def refuse_unusable(record: object, field: str = "") -> None:
    """InvalidRequest, by its name in ``field``, for the first field of a record that cannot be used."""
    shape: Any = type(record)
    try:
        _record(shape)(record)
    except Unfit as unfit:
        raise _refusal(field, unfit) from None


def _plan(verb: Callable[..., object]) -> list[tuple[str, object, Check]]:
    """Name, default and check of each positional parameter, in order."""
    hints = typing.get_type_hints(verb, include_extras=True)
    kept = inspect.signature(verb).parameters.values()
    places = [one for one in kept if one.kind is one.POSITIONAL_OR_KEYWORD]
    return [
        (one.name, one.default, (_check_of(hints[one.name], one.name, False) if one.name in hints else None) or _any)
        for one in places
    ]


def _check_named(plan: list[tuple[str, object, Check]], name: str, value: object) -> None:
    for known, default, check in plan:
        if known == name and value is not default:
            check(value)


def _refusal(name: str, unfit: Unfit) -> InvalidRequest:
    field = unfit.place[1:] if name in ("", "request") and unfit.place else name + unfit.place
    return InvalidRequest(field, unfit.problem)


# what an annotation allows


def _any(value: Any) -> None:
    pass


def _check_of(hint: Any, name: str, may_be_empty: bool) -> Check | None:
    """The check of a value with this annotation, in a field of this name; None where anything may pass."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        own: Check = inner[1]
        return own
    if origin in (typing.Union, types.UnionType):
        some = [one for one in inner if one is not type(None)]
        check = _check_of(some[0], name, may_be_empty) if len(some) == 1 else None
        return _or_none(check) if check is not None else None
    if hint is str:
        return _text if may_be_empty or name in MAY_BE_EMPTY else _name
    if hint is float:
        return _moment if name == "at" else _seconds
    if origin is Literal:
        return functools.partial(_one_of, inner)
    if origin is not None and issubclass(origin, Mapping):
        return json
    if origin is not None and issubclass(origin, Collection):
        numbers = inner[0] is float  # an embedding is checked as a whole
        return _each((None if numbers else _check_of(inner[0], name, False)) or _any)
    if origin is Callable:
        return _function
    if dataclasses.is_dataclass(hint):
        shape: Any = hint
        return _record(shape)
    return _PLAIN.get(hint)


def _or_none(check: Check) -> Check:
    def checking(value: Any) -> None:
        if value is not None:
            check(value)

    return checking


@functools.cache
def _record(shape: Any) -> Check:
    """The check of a record: its type, and each field that differs from its default."""
    hints = typing.get_type_hints(shape, include_extras=True)
    every = [
        (field.name, field.default, _check_of(hints[field.name], field.name, field.default == ""))
        for field in dataclasses.fields(shape)
    ]
    plan = [(name, default, check) for name, default, check in every if check is not None]

    def checking(value: Any) -> None:
        if not isinstance(value, shape):
            raise Unfit(f"must be a {shape.__name__}, not {_what(value)}")
        held = value.__dict__
        try:
            for name, default, check in plan:
                one = held[name]
                if one is not default:
                    check(one)
        except Unfit as unfit:
            raise unfit.inside(name) from None

    return checking


def _each(check: Check) -> Check:
    """The check of a list: any collection but a text, a mapping or an iterator."""

    def checking(value: Any) -> None:
        if type(value) not in (list, tuple) and not _is_list(value):
            raise Unfit(f"must be a list, not {_what(value)}")
        number = 0
        try:
            for one in value:
                check(one)
                number += 1
        except Unfit as unfit:
            raise unfit.inside(number) from None

    return checking


def _is_list(value: Any) -> bool:
    return isinstance(value, Collection) and not isinstance(value, (str, bytes, Mapping))


def _text(value: Any) -> None:
    if not isinstance(value, str):
        raise Unfit(f"must be a text, not {_what(value)}")
    refuse_unclean(value)


def refuse_unclean(text: str) -> None:
    """Raise Unfit for a text that cannot be stored."""
    if not is_clean(text):
        raise Unfit(UNCLEAN)


def _name(value: Any) -> None:
    _text(value)
    if not value:
        raise Unfit("must not be empty")


def _count(value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unfit(f"must be a whole number, not {_what(value)}")
    if not 0 <= value <= HIGHEST:
        raise Unfit("must not be below 0" if value < 0 else f"must be at most {HIGHEST}")


def _moment(value: Any) -> None:
    if not _is_number(value) or not 0 <= value <= LATEST:
        raise Unfit(NO_MOMENT)


def _seconds(value: Any) -> None:
    if not _is_number(value) or not 0 <= value <= LONGEST_S:
        raise Unfit(NO_SECONDS)


def _share(value: Any) -> None:
    if not _is_number(value) or not 0 <= value <= 1:
        raise Unfit("must be a number from 0 to 1")


Share = Annotated[float, _share]
"""A number from 0 to 1."""


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _switch(value: Any) -> None:
    if not isinstance(value, bool):
        raise Unfit(f"must be true or false, not {_what(value)}")


def _one_of(values: tuple[object, ...], value: Any) -> None:
    if value not in values:
        raise Unfit(f"{str(value)[:80]!r} is none of {', '.join(map(str, values))}")


def _function(value: Any) -> None:
    if not callable(value):
        raise Unfit(f"must be a function, not {_what(value)}")


_PLAIN: dict[Any, Check] = {bool: _switch, int: _count}


def json(value: Any) -> None:
    """The check of an object as JSON has it: texts, numbers, true, false, null, and lists and objects of these."""
    if not isinstance(value, Mapping):
        raise Unfit(f"must be an object, not {_what(value)}")
    _json(value, 0)


def _json(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise Unfit(f"is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        _text(value)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            _text(name)
            _inside(inner, name, depth)
    elif isinstance(value, (list, tuple)):
        for number, inner in enumerate(value):
            _inside(inner, number, depth)
    elif isinstance(value, float) and not math.isfinite(value):
        raise Unfit("must be a finite number")
    elif value is not None and not isinstance(value, (bool, int, float)):
        raise Unfit(f"is no JSON: {_what(value)}")


def _inside(value: Any, name: str | int, depth: int) -> None:
    try:
        _json(value, depth + 1)
    except Unfit as unfit:
        raise unfit.inside(name) from None


_WORDS = {str: "a text", bool: "true or false", int: "a whole number", float: "a number", type(None): "nothing"}


def _what(value: object) -> str:
    """The type of a value as a phrase for people; never the value itself, which a person may have said."""
    return _WORDS.get(type(value), f"a {type(value).__name__}")
