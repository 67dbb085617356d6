"""Data goes to standard output, messages go to standard error."""

from __future__ import annotations

import sys

import pytest

from hetdp.cli.output import Bar, Output, as_json, write_lines
from hetdp.errors import UsageError


def test_quiet_omits_messages_but_never_data(capsys):
    out = Output(Bar(()), quiet=True)
    out.say("words")
    out.emit(["data"])
    assert capsys.readouterr() == ("data\n", "")


def test_json_contains_no_invalid_token():
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json({"p": float("nan")})


def test_a_name_that_is_not_unicode_is_escaped(hetdp):
    result = hetdp("boundary", "nowhere\udcff.json", "--json")
    assert result.code == 3
    assert result.err.startswith("hetdp: nowhere\\udcff.json: ")
    assert result.document["error"]["faults"][0]["where"] == "nowhere\udcff.json"


def test_without_standard_output_data_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(UsageError, match="cannot write to standard output: it is closed"):
        write_lines(["data"])
