"""How cells are compared: moments, and spellings of a text."""

from __future__ import annotations

from hetdp.tables.comparison import group_similar_names, instant, moment_of, spelling_pattern


def test_moments_are_iso_dates_and_times():
    assert str(moment_of(" 2024-02-29 ")) == "2024-02-29"
    assert moment_of("2023-02-29") is moment_of("0000-01-01") is moment_of("2024-01-31T24:00") is None
    assert moment_of("9999-12-31").next_day == "10000-01-01"
    assert moment_of("2023-12-31").next_day == "2024-01-01"
    assert moment_of("2024-01-31T12:00").begin.hour == 12
    assert moment_of("2024-01-31").begin.hour == 0
    assert instant("1970-01-01T00:00:01Z") == 10**6
    assert instant("1970-01-01T00:00:01") is instant("1970-01-01") is instant(None) is instant("x") is None


def test_runs_of_letters_with_many_spellings_have_no_pattern():
    assert spelling_pattern("s" * 8) is not None
    assert spelling_pattern("s" * 9) is None
    assert spelling_pattern("a") == "[aA]"
    assert group_similar_names(["a", "b"]) == []
