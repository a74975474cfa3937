import os
from pathlib import Path

import pytest
from firstpage.core.errors import InputError
from firstpage.core.items import Item
from firstpage.core.root import READ_BYTES, Root


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("body")
    (tmp_path / "secret.py").write_text("secret")
    (tmp_path / "root-twin").mkdir()
    (tmp_path / "root-twin" / "a.py").write_text("secret")
    return root


def test_a_listed_file_is_read_when_its_content_is_asked_for(folder):
    item = Root(folder).fill(Item("1", "src/a.py", metadata={"path": "src/a.py"}))
    (folder / "src" / "a.py").write_text("changed since")
    assert item.content == "changed since"


def test_an_absolute_path_inside_the_folder_is_read(folder):
    assert Root(folder).read(str(folder / "src" / "a.py")) == "body"


@pytest.mark.parametrize("path", ["../secret.py", "src/../../secret.py", "../root-twin/a.py", "/etc/passwd"])
def test_nothing_outside_the_folder_is_read(folder, path):
    assert Root(folder).read(path) is None


def test_links_are_followed_only_inside_the_folder(folder):
    os.symlink("../../secret.py", folder / "src" / "out.py")
    os.symlink("..", folder / "src" / "up")
    os.symlink("a.py", folder / "src" / "in.py")
    os.symlink("loop", folder / "loop")
    root = Root(folder)
    assert root.read("src/out.py") is None
    assert root.read("src/up/../../secret.py") is None
    assert root.read("loop") is None
    assert root.read("src/in.py") == "body"


def test_a_folder_that_becomes_a_link_after_the_check_is_not_followed(folder, monkeypatch):
    resolve = Path.resolve
    (folder / "one" / "two").mkdir(parents=True)
    (folder / "one" / "two" / "a.py").write_text("body")
    (folder.parent / "two").mkdir()
    (folder.parent / "two" / "a.py").write_text("secret")

    def swap(path: Path, strict: bool = False) -> Path:
        real = resolve(path, strict)
        if (folder / "one").is_dir() and path != folder:
            (folder / "one").rename(folder / "away")
            os.symlink("..", folder / "one")
        return real

    root = Root(folder)
    assert root.read("one/two/a.py") == "body"
    monkeypatch.setattr(Path, "resolve", swap)
    assert root.read("one/two/a.py") is None
    assert (folder / "one" / "two" / "a.py").read_text() == "secret"


def test_systems_that_cannot_open_part_by_part_read_all_the_same(folder, monkeypatch):
    monkeypatch.setattr(os, "supports_dir_fd", set())
    assert Root(folder).read("src/a.py") == "body"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs Linux")
def test_a_file_that_opens_and_cannot_be_read_has_no_content():
    before = os.listdir("/proc/self/fd")
    assert Root("/proc/self").read("mem") is None
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize("path", ["", ".", "src", "missing.py", "nul\0.py", "x" * 5000])
def test_what_is_no_readable_file_has_no_content(folder, path):
    assert Root(folder).read(path) is None


def test_a_pipe_does_not_hang(folder):
    os.mkfifo(folder / "pipe")
    assert Root(folder).read("pipe") is None


def test_binary_files_have_no_content_and_long_ones_are_read_in_part(folder):
    (folder / "b.bin").write_bytes(b"\x7fELF\0\0")
    (folder / "long.txt").write_text("x" * (READ_BYTES + 5))
    (folder / "latin.txt").write_bytes(b"caf\xe9")
    root = Root(folder)
    assert root.read("b.bin") is None
    assert len(root.read("long.txt")) == READ_BYTES
    assert root.read("latin.txt") == "caf\ufffd"


def test_an_item_without_a_path_stays_as_it_is(folder):
    item = Item("1", "some text", content="kept")
    assert Root(folder).fill(item) is item


def test_a_root_that_is_no_folder_is_named(folder):
    with pytest.raises(InputError, match="--root must name a folder"):
        Root(folder / "src" / "a.py")
