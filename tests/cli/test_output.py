"""Data on standard output, words on standard error."""

from __future__ import annotations

import sys

import pytest

from hetdp.cli.output import Bar, Output, as_json, write_lines
from hetdp.errors import UsageError


def test_quiet_leaves_out_words_but_never_data(capsys):
    out = Output(Bar(()), quiet=True)
    out.say("words")
    out.emit(["data"])
    assert capsys.readouterr() == ("data\n", "")


def test_json_has_no_token_that_is_none():
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json({"p": float("nan")})


def test_a_name_that_is_no_unicode_is_escaped(hetdp):
    ended = hetdp("boundary", "nowhere\udcff.json", "--json")
    assert ended.code == 3
    assert ended.err.startswith("hetdp: nowhere\\udcff.json: ")
    assert ended.document["error"]["faults"][0]["where"] == "nowhere\udcff.json"


def test_without_standard_output_data_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(UsageError, match="cannot write to standard output: it is closed"):
        write_lines(["data"])
