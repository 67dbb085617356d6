"""The small shared modules: threads, progress, precision, isolation, interrupts, DuckDB, frames, words and errors."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hetdp import duck, errors, frames, isolation, precision, progress, text, threads
from hetdp.errors import BudgetError, Fault, HetdpError, InputError, UsageError
from hetdp.interrupts import delay_interrupts

# Threads, progress, precision, isolation, interrupts ------------------------------------------------------------------


def test_few_entries_and_one_core_need_no_thread(monkeypatch):
    def work(size: int) -> list[tuple[int, bool]]:
        done: list[tuple[int, bool]] = []
        here = threading.get_ident()
        threads.run_in_threads(lambda at: done.append((at, threading.get_ident() == here)), range(1, 9), size)
        return sorted(done)

    for cores, size in ((3, threads.FEWEST_FOR_THREADS - 1), (1, threads.FEWEST_FOR_THREADS)):
        monkeypatch.setattr(threads, "CORES", cores)
        assert work(size) == [(at, True) for at in range(1, 9)]
    monkeypatch.setattr(threads, "CORES", 3)
    assert [at for at, _ in work(threads.FEWEST_FOR_THREADS)] == list(range(1, 9))


def test_as_many_pieces_as_cores_are_worked_on_at_the_same_time(monkeypatch):
    monkeypatch.setattr(threads, "CORES", 3)
    met, places = threading.Barrier(3, timeout=540), []
    threads.run_in_threads(lambda _: places.append(met.wait()), range(1, 7))  # fewer than three would wait in vain
    assert sorted(places) == [0, 0, 1, 1, 2, 2]


def test_an_error_of_a_piece_is_raised(monkeypatch):
    monkeypatch.setattr(threads, "CORES", 2)
    with pytest.raises(ZeroDivisionError):
        threads.run_in_threads(lambda at: 1 / at, [2, 0.0])


def test_slices_cover_a_sequence():
    assert threads.slices(7, 3) == [slice(0, 3), slice(3, 6), slice(6, 7)]
    assert threads.slices(6, 3) == [slice(0, 3), slice(3, 6)]
    assert threads.slices(0, 3) == []


def test_a_wait_is_explained_once_in_a_notebook_without_a_listener(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_explained", set())
    monkeypatch.setattr(progress, "_listener", None)
    progress.explain_wait("compiling a")
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    for words in ("compiling a", "compiling a", "compiling b"):
        progress.explain_wait(words)
    assert capsys.readouterr().err == "hetdp: compiling a\nhetdp: compiling b\n"
    assert progress.current_stage() == "compiling b"
    heard: list[str] = []
    before = progress.set_listener(heard.append)
    progress.explain_wait("compiling c")
    assert (before, heard, capsys.readouterr().err) == (None, ["compiling c"], "")


def test_the_precision_is_restored_even_after_an_error():
    context = SimpleNamespace(prec=53)
    assert precision.compute_at_precision(context, 200, lambda more: context.prec + more, 1) == 201
    assert context.prec == 53
    with pytest.raises(ZeroDivisionError):
        precision.compute_at_precision(context, 200, lambda: 1 / 0)
    assert context.prec == 53
    with pytest.raises(ZeroDivisionError), precision.restore_precision(context):
        context.prec = 1 / 0
    with precision.restore_precision(context):
        context.prec = 99
    assert context.prec == 53
    for renew in (precision._renew_lock, isolation._renew_lock):
        before = (precision._lock, isolation._lock)
        renew()
        assert (precision._lock, isolation._lock) != before


def test_a_hidden_file_does_not_exist_for_a_while(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a").write_text("")
    Path("b").write_text("")
    with isolation.ignore_file("a"):
        assert [os.path.exists(name) for name in ("a", "b", "c")] == [False, True, False]  # noqa: PTH110
    assert os.path.exists("a")  # noqa: PTH110


def test_no_path_of_another_process_depends_on_the_working_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"own{os.pathsep}{os.pathsep}/far")
    found = isolation.python_environment()
    package = str(Path(isolation.__file__).parents[1])
    assert found["PYTHONPATH"].split(os.pathsep) == [package, str(tmp_path / "own"), "/far"]
    assert found["PYTHONSAFEPATH"] == "1"
    assert isolation.python_command("x") == [sys.executable, "-P", "x"]


def test_the_first_signal_is_delivered_when_the_block_has_finished():
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: received.append(number))
    try:
        with delay_interrupts():
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGTERM)
            assert received == []
        assert received == [signal.SIGTERM]
        signal.raise_signal(signal.SIGTERM)
        assert len(received) == 2
    finally:
        signal.signal(signal.SIGTERM, before)


# DuckDB ---------------------------------------------------------------------------------------------------------------


def test_a_complaint_of_duckdb_is_one_short_sentence():
    long = duck._fault_of("Invalid Input Error: " + "x" * 300, "t.csv", "rule")
    assert (long.what, long.where, long.value) == ("cannot be read:", "t.csv", "x" * 200)
    assert duck._fault_of("plain words.", "t.csv", "rule").value == "plain words."
    assert duck._fault_of("\n  \n", "t.csv", "rule").what == "cannot be read"
    row = duck._fault_of("CSV Error on Line: 7\nOriginal Line\nExpected Number of Columns: 2.\n", "t.csv", "rule")
    assert (row.where, row.value) == ("t.csv row 6", "Expected Number of Columns: 2")


def test_patterns_and_quotes_are_escaped():
    assert duck.exact_path(Path("/a*b?[c]")) == "/a[*]b[?][[]c]"
    assert duck.quote_text("it's") == "'it''s'"


def test_texts_are_numbered_by_their_known_places():
    with duck.connection() as database:
        database.execute(
            "CREATE TEMP TABLE sheet AS SELECT * FROM"
            " (VALUES ('b', 'x'), (NULL, 'a'), ('z', 'a'), ('a', 'y'), ('z', 'b')) t(c, d)"
        )
        (one, words), (two, others) = duck.encode_texts(database, ["c", "d"], ["a", "b", "a"])
        assert [words[at] for at in one.tolist()] == ["b", None, "z", "a", "z"]
        assert [others[at] for at in two.tolist()] == ["x", "a", "a", "y", "b"]
        assert (words, others) == (["a", "b", "a", None, "z"], ["a", "b", "a", "x", "y"])
        assert duck.distinct_texts(database, "c") == ["b", None, "z", "a"]


def hidden(fault: Exception, curator: bool) -> InputError:
    with pytest.raises(InputError) as refusal, duck.hide_details("t.csv", curator):
        raise fault
    return refusal.value


def test_the_words_of_duckdb_are_shown_to_a_curator_only():
    public, shown = (hidden(ValueError("\n\nrow 7: Ann\nmore"), curator).faults[0] for curator in (False, True))
    assert (public.what, public.value, public.hint) == ("cannot be read", "", duck.CURATOR_HINT)
    assert (shown.what, shown.value, shown.hint) == ("cannot be read:", "row 7: Ann", "")
    assert hidden(ValueError(), True).faults[0].what == "cannot be read"
    assert "memory" in hidden(MemoryError(), False).faults[0].what
    with pytest.raises(UsageError), duck.hide_details("t.csv", False):
        raise UsageError("a", "b")
    with pytest.raises(KeyboardInterrupt), duck.hide_details("t.csv", False):
        raise RuntimeError(duck.INTERRUPTED)


def test_a_worker_reports_its_own_lack_of_memory(monkeypatch):
    monkeypatch.setenv(duck.MEMORY, "1GB")
    with pytest.raises(MemoryError), duck.hide_details("t.csv", False):
        raise MemoryError


def test_an_interrupted_query_is_an_interrupt():
    with pytest.raises(KeyboardInterrupt), duck.connection():
        raise RuntimeError("Query interrupted")
    with pytest.raises(RuntimeError, match="other"), duck.connection():
        raise RuntimeError("other")
    with pytest.raises(InputError), duck.report_faults("t", "rule"):
        raise ValueError("x")


def test_the_folder_for_what_does_not_fit_in_memory_is_removed_by_its_process_only(tmp_path):
    folder = tmp_path / "spill"
    folder.mkdir()
    duck._remove(str(folder), os.getpid() + 1)
    assert folder.exists()
    duck._remove(str(folder), os.getpid())
    assert not folder.exists()


# Frames ---------------------------------------------------------------------------------------------------------------


def test_a_table_has_named_columns():
    named = np.zeros(2, dtype=[("a", "i4"), ("b", "f8")])
    assert frames.is_frame(named)
    assert not frames.is_frame(np.zeros(2))
    assert not frames.is_frame([1])
    assert frames.column_names({"a": []}) == ["a"]
    assert frames.column_names(named) == ["a", "b"]
    assert frames.column_names(np.zeros(2)) is frames.column_names([1]) is None

    class Lazy:
        def compute(self) -> None:
            pass

    with pytest.raises(UsageError, match="Lazy is a plan for a table"):
        frames.column_names(Lazy())


# Words ----------------------------------------------------------------------------------------------------------------


def test_eighty_characters_of_a_value_are_shown():
    assert text.format_value("x" * 78) == "'" + "x" * 78 + "'"
    assert text.format_value("x" * 79) == "'" + "x" * 78 + "…"
    assert text.format_value(np.array([1, 2])) == "array([1, 2])"
    assert text.format_type(UsageError("a", "b")) == "a UsageError"  # said as in "use"
    assert text.format_type(OSError()) == "an OSError"
    assert text.pluralize(0, "edge") == "0 edges"


def test_unprintable_characters_are_escaped():
    assert text.escape_unprintable("a\u2003b\u200b") == "a b\\u200b"
    assert text.escape_json('{"a":\n"\x7f"}') == '{"a":\n"\\u007f"}'
    assert text.escape_json("é") == "é"


def test_close_names_are_nearly_as_close_as_the_closest():
    assert text.closest("abcdefghij", ["abcdefghix", "abcdexxxxx"], 3) == ["abcdefghix"]
    assert text.closest("abcd", ["abce", "abcf", "abcg", "abch"], 3) == ["abch", "abcg", "abcf"]
    assert text._share_of_ends("abc", "abc") == 1.0
    assert text._share_of_ends("abXcd", "abYcd") == 0.8
    assert text._share_of_ends("", "") == 0.0
    assert text._share_of_ends("aa", "aaa") == pytest.approx(2 / 3)


# Errors ---------------------------------------------------------------------------------------------------------------


def test_a_refused_spend_names_twenty_classes():
    names = [f"c{at:02}" for at in range(30)]
    assert "1 of 1 account ('pupils') would exceed" in str(BudgetError("s", 1, 1, ["pupils"]))
    assert "2 of 3 accounts would exceed" in str(BudgetError("s", 2, 3))
    assert "'c19') would exceed" in str(BudgetError("s", 30, 30, names))


def test_errors_keep_their_parts():
    error = errors.LedgerError("a.ledger", "it is locked", "nothing was spent")
    assert (error.place, error.what, error.rule, error.spent) == (
        "a.ledger",
        "it is locked",
        "nothing was spent",
        False,
    )
    lost = errors.ClusterError("lost", "why", "wait")
    assert (str(lost), lost.hint) == ("lost; why. Hint: wait", "wait")
    assert errors.VerificationError(None, "own words").args == ("own words",)
    assert "compromise" not in str(errors.NoExtensionError("w", None))
    assert HetdpError().__reduce__() == (HetdpError, ())


def test_faults_that_name_the_file_are_not_repeated():
    own, within = Fault("empty", "a.csv", "", "it has rows"), Fault("empty", "row 1", "", "it has rows")
    assert str(InputError("a.csv", [own])) == "a.csv: empty; it has rows."
    assert str(InputError("a.csv", [own, within])).splitlines()[1:] == [
        "  empty; it has rows.",
        "  row 1: empty; it has rows.",
    ]
    named = Fault("empty", "a.csv row 1", "", "it has rows")
    assert str(InputError("a.csv", [named])) == "a.csv: row 1: empty; it has rows."
    assert own.place_and_value() == "a.csv"
    exactly = [Fault("odd", f"row {at}", str(at), "even") for at in range(6)]
    assert str(InputError("t", exactly)).splitlines()[-1] == "    and 3 more"


def test_no_more_lines_than_allowed_are_listed():
    for count in (errors.SHOWN_LINES, errors.SHOWN_LINES + 1):
        kinds: list[Any] = [Fault(f"kind {at}", "here", "", "rule") for at in range(count)]
        lines = str(InputError("t", kinds)).splitlines()
        assert len(lines) == count + 1
        assert ("  and 1 more" in lines) is (count > errors.SHOWN_LINES)
