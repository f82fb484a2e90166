"""Times on the command line."""

from __future__ import annotations

import pytest
import rich_click as click

from ovos_persona_memory.cli.time_format import as_moment, as_span_s, format_time, parse_time, span_s

NOW = 1_763_750_000.0


@pytest.mark.parametrize(
    ("text", "seconds"), [("30m", 1800), ("2h", 7200), ("1.5d", 129600), ("1w", 604800), ("10 S", 10), ("2", None)]
)
def test_a_span_is_a_number_with_its_unit(text: str, seconds: float | None) -> None:
    assert span_s(text) == seconds


def test_a_span_is_a_time_ago() -> None:
    assert parse_time("2h", NOW) == NOW - 7200


@pytest.mark.parametrize("text", ["2025-11-21T18:33:20Z", "2025-11-21T19:33:20+01:00", "2025-11-21 18:33:20+00:00"])
def test_iso_8601_keeps_its_zone(text: str) -> None:
    assert parse_time(text, NOW) == NOW


def test_a_time_without_a_zone_is_local() -> None:
    assert format_time(parse_time("2025-11-21T18:33", NOW)) == "2025-11-21 18:33"
    assert format_time(parse_time("2025-11-21", NOW)) == "2025-11-21 00:00"


@pytest.mark.parametrize("text", ["yesterday", "", "2h30", "2025-13-01"])
def test_what_is_no_time_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(click.BadParameter, match="2h"):
        as_moment(text)
    with pytest.raises(click.BadParameter, match="30m"):
        as_span_s(text)
