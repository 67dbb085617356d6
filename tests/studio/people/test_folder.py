"""The opened folder: no name leads out of it, and nothing in it is replaced by accident."""

from __future__ import annotations

import pytest

from hetdp.errors import UsageError
from hetdp.studio.people.folder import OpenedFolder


@pytest.mark.parametrize(
    "name",
    [
        *("../plan.json", "/plan.json", "a/b.json", "a\\b.json", "..json", ".hidden.json", "-o.json", "~.json"),
        *(
            "",
            " ",
            ".json",
            "plan",
            "plan.csv",
            "plan.json/",
            "a:b.json",
            "a\nb.json",
            "a\0b.json",
            "x" * 200 + ".json",
        ),
        *("plan\u202e.json", "C:plan.json", 'a"b.json', "*.json"),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, name):
    with pytest.raises(UsageError):
        OpenedFolder(tmp_path).place(name, (".json",))


def test_a_file_to_save_gets_the_ending_that_it_needs(tmp_path):
    folder = OpenedFolder(tmp_path)
    assert folder.place_to_save(" my plan ", ".json") == tmp_path / "my plan.json"
    assert folder.place_to_save("plan.json", ".json") == tmp_path / "plan.json"
    for name in ("plan.csv", "../plan", "", "-o"):
        with pytest.raises(UsageError):
            folder.place_to_save(name, ".json")


def test_links_and_folders_are_neither_listed_nor_used(tmp_path):
    outside = tmp_path / "outside.csv"
    outside.write_text("id\n1\n")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link.csv").symlink_to(outside)
    (inside / "folder.csv").mkdir()
    (inside / "real.csv").write_text("id\n1\n")
    (inside / ".hidden.csv").write_text("id\n1\n")
    (inside / "notes.txt").write_text("id\n1\n")
    folder = OpenedFolder(inside)
    assert folder.tables() == ["real.csv"]
    for name in ("link.csv", "folder.csv"):
        with pytest.raises(UsageError):
            folder.place(name, (".csv",))
        with pytest.raises(UsageError):
            folder.existing(name, (".csv",))
    assert folder.existing("real.csv", (".csv",)) == inside / "real.csv"
    assert folder.folders() == ["folder.csv"]


def test_a_free_name_belongs_to_no_file_and_not_even_to_a_dangling_link(tmp_path):
    folder = OpenedFolder(tmp_path)
    assert folder.free_name("Möve/../x", ".json") == "Möve----x.json"
    (tmp_path / "plan.json").write_text("")
    (tmp_path / "plan-2.json").symlink_to(tmp_path / "nowhere")
    assert folder.free_name("plan", ".json") == "plan-3.json"
