"""Files and folders that processes share: owners, links and files that change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hetdp.errors import ClusterError
from hetdp.partitioned import shared_files
from hetdp.partitioned.shared_files import FileState, file_state, make_folder, open_plain, replace_file, require_real


def test_folders_below_the_root_are_made_for_the_owner_and_links_are_refused(tmp_path):
    require_real(tmp_path, tmp_path / "a" / "b", make=True)
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    require_real(tmp_path, tmp_path / "a" / "b")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "file").write_text("")
    for name in ("link", "link/b", "file"):
        for make in (False, True):
            with pytest.raises(ClusterError, match="is a link or not a folder"):
                require_real(tmp_path, tmp_path / name, make)
    with pytest.raises(OSError, match="nowhere"):
        require_real(tmp_path / "nowhere", tmp_path / "nowhere" / "a", make=True)
    assert not (tmp_path / "nowhere").exists()
    made = {make_folder(tmp_path, "run") for _ in range(2)}
    assert len(made) == 2
    assert all(Path(one).stat().st_mode & 0o777 == 0o700 for one in made)


def test_a_file_appears_whole_for_its_owner_or_not_at_all(tmp_path):
    place = tmp_path / "note"
    with replace_file(place) as draft:
        assert draft.stat().st_mode & 0o777 == 0o600
        draft.write_text("old")
        assert not place.exists()
    with pytest.raises(ZeroDivisionError), replace_file(place) as draft:
        draft.write_text(str(1 / 0))
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]


def test_only_plain_files_with_one_name_are_read(tmp_path):
    (tmp_path / "a").write_text("x")
    with open_plain(tmp_path / "a") as file:
        assert file.read() == b"x"
    os.link(tmp_path / "a", tmp_path / "b")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    for name, words in (("a", "second name"), ("link", "is a link"), ("pipe", "not a plain file")):
        with pytest.raises(ClusterError, match=words):
            open_plain(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        open_plain(tmp_path / "nothing")


def test_another_file_than_at_the_beginning_is_noticed(tmp_path):
    place = tmp_path / "a"
    place.write_text("xy")
    os.utime(place, (1000.75, 1000.75))
    seen = file_state(place)
    assert seen == FileState(str(place), 2, 1000)
    os.utime(place, (1000.25, 1000.25))  # other machines may store whole seconds
    seen.require()
    os.utime(place, (1001, 1001))
    with pytest.raises(ClusterError, match="sees no file"):
        seen.require()
    place.unlink()
    with pytest.raises(ClusterError, match=shared_files.SEEN_RULE):
        seen.require()
