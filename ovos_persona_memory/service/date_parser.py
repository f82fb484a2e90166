"""Date parsing of questions by the language's lists, and by ovos-date-parser where it is installed and they find
none."""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import Any, cast

from ovos_utils.log import LOG

from ovos_persona_memory.text import DaySpan, coming_days, languages, named_days

Extract = Callable[..., Any]
_DIGIT = re.compile(r"\d")
LONGEST = 400
"""Characters at most of a question that is parsed: numbers of four times as many take a tenth of a second
(2026-11-28)."""
AT_MOST_S = 0.5
"""The parser is stopped after this time, seconds: ovos-number-parser 0.24.3a1 reads "le voisin du troisième" for ever
(tried 2026-11-29)."""
PARSED = frozenset({"ca", "da", "de", "en", "es", "fr", "gl", "it", "nl", "pt"})
"""Languages that are passed to the parser. For others 0.29.0 warns and takes 0.2 s to find nothing (tried
2026-11-22)."""


def days(text: str, lang: str, at: datetime) -> list[DaySpan]:
    """See ``named_days``; "three weeks ago" is found too where the parser knows the language.

    Only past days are taken from the parser: "at five" is no day, and it would give tomorrow.
    """
    return _days(text, lang, at, _parser)


def days_at_once(text: str, lang: str, at: datetime) -> list[DaySpan]:
    """As ``days``, but never waits for the parser, which takes seconds to load.

    The first question that needs it starts loading it in the background; until then the language's lists alone are
    used.
    """
    return _days(text, lang, at, _parser_if_loaded)


def _days(text: str, lang: str, at: datetime, parser: Callable[[], Extract | None]) -> list[DaySpan]:
    found = named_days(text, lang, at)
    # of a day to come the parser tells nothing here: "what do I have tomorrow" waits for no import
    needs_none = found or not _may_name_a_day(text, lang) or coming_days(text, languages.for_language(lang), at)
    extract = None if needs_none else parser()
    if extract is None:
        return found
    try:
        parsed = _stopped_in_time(lambda: extract(text, lang=lang, anchorDate=at))
    except Exception as error:  # another project's code may raise anything, and not every language has a parser
        LOG.debug("no date was parsed: %s", type(error).__name__)
        return found
    day = parsed[0].date() if parsed else at.date()
    return [DaySpan(day, day)] if day < at.date() else found


class _StoppedError(Exception):
    """Raised in a parser that takes too long."""


def _stopped_in_time(parse: Callable[[], Any]) -> Any:
    """What ``parse`` gives; whatever it raises, and TimeoutError where it does not end within ``AT_MOST_S``.

    It runs in a thread of its own, in which an exception is raised then: nothing else ends a loop of another's code.
    """
    made: list[Any] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            made.append(parse())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="date", daemon=True)
    thread.start()
    thread.join(AT_MOST_S)
    if thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_StoppedError))
        raise TimeoutError("the parser did not end")
    if raised:
        raise raised[0]
    return made[0]


def _may_name_a_day(text: str, lang: str) -> bool:
    """Whether a text holds a number or a time word: only then is the parser called, which takes milliseconds."""
    spoken = languages.for_language(lang)
    if spoken.primary not in PARSED or len(text) > LONGEST:
        return False
    return bool(_DIGIT.search(text)) or not spoken.time_words.isdisjoint(spoken.words(text))


def _parser_if_loaded() -> Extract | None:
    return None if _loading().is_alive() else _parser()


@cache
def _loading() -> threading.Thread:
    thread = threading.Thread(target=_parser, name="dates", daemon=True)
    thread.start()
    return thread


@cache
def _parser() -> Extract | None:
    try:
        from ovos_date_parser import extract_datetime  # heavy, and an extra: only where a question may need it
    except ImportError:
        return None
    return cast(Extract, extract_datetime)
