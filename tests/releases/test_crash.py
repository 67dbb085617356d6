"""A process killed after the spend: the answer is in the ledger, is given again, and costs nothing more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import hetdp
from tests.documents.pages import ROOT
from tests.releases.worlds import make_ledger, poll_mechanism, spent_by_class

KILLED_SCRIPT = """
import os, signal, sys
from importlib import import_module
from tests.releases.worlds import poll_mechanism
module = import_module("hetdp.releases.release")
module._write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
module.release(poll_mechanism(), "two", ledger=sys.argv[1], record=sys.argv[2])
print("shown")
"""


def test_a_kill_after_the_spend_counts_as_spent_and_loses_nothing(tmp_path):
    ledger = make_ledger(tmp_path)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-c", KILLED_SCRIPT, str(tmp_path / "a.ledger"), str(tmp_path / "record.json")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, ""), done.stderr
    assert spent_by_class(ledger)["pupils"] == "1"
    (answer,) = ledger.history()[-1].answers
    again = hetdp.release(poll_mechanism(), "none", ledger=ledger, record=tmp_path / "record.json")
    assert again.repeated
    assert again.answer == (1 if answer else 2)
    assert spent_by_class(ledger)["pupils"] == "1"
    assert hetdp.verify_record(tmp_path / "record.json", ledger=ledger).valid
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ledger", "record.json"]
