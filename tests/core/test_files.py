import os
import stat
from pathlib import Path

import pytest
from firstpage.core.errors import RunError
from firstpage.core.files import write_atomically


def test_text_is_written_as_utf8_with_its_line_ends(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.txt", "é\r\n\n")
    assert (tmp_path / "a.txt").read_bytes() == "é\r\n\n".encode()


def test_missing_folders_are_made_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_atomically(str(tmp_path / "new" / "deep" / "a.bin"), b"\x00\xff")
    assert [path.name for path in (tmp_path / "new" / "deep").iterdir()] == ["a.bin"]


def test_a_file_is_replaced_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old and longer")
    path.chmod(0o640)
    write_atomically(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_new_file_gets_the_permissions_that_open_would_give(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.txt", "a")
    (tmp_path / "b.txt").write_text("b")
    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "b.txt").stat().st_mode


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError])
def test_a_stop_half_way_leaves_the_old_file_alone(tmp_path: Path, monkeypatch, stop) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def interrupted(_: int) -> None:
        raise stop

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises((KeyboardInterrupt, RunError)):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"cannot write '.*b.txt'"):
        write_atomically(tmp_path / "file" / "b.txt", "b")
