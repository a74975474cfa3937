import os
import signal
import sqlite3
import subprocess
import sys
from functools import partial

import pytest
from firstpage.core.errors import RunError
from firstpage.readers.database import CacheFile, cache_folder

SCHEMA = "CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value BLOB NOT NULL)"
SELECT = "SELECT key, value FROM kept WHERE key"
KEYS = [f"key {number}" for number in range(1_200)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "caches" / "a.sqlite"


@pytest.fixture
def file(path):
    with CacheFile(path, SCHEMA) as opened:
        yield opened


def write(file, keys=KEYS):
    with file.transaction() as database:
        database.executemany(
            "INSERT OR REPLACE INTO kept VALUES (?, ?)", ((key, key.encode() * 40) for key in keys)
        )


def read(file, keys=KEYS):
    return dict(file.rows(SELECT, keys))


def write_and_read(file):
    write(file)
    return read(file)


def is_whole(found, keys=KEYS):
    return found == {key: key.encode() * 40 for key in keys}


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("FIRSTPAGE_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("FIRSTPAGE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "firstpage"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", os.fspath(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "firstpage"


def test_what_is_written_is_there_the_next_time(path):
    with CacheFile(path, SCHEMA) as file:
        file.run(partial(write, file))
    with CacheFile(path, SCHEMA) as file:
        assert is_whole(file.run(partial(read, file)))


@pytest.mark.parametrize("count", [0, 1, 499, 500, 501, 1_200])
def test_any_number_of_keys_may_be_asked_for_and_unknown_ones_have_no_row(file, count):
    write(file)
    assert is_whole(read(file, [*KEYS[:count], "unknown"]), KEYS[:count])


def test_a_block_that_fails_writes_nothing(file):
    def fail():
        with file.transaction() as database:
            database.execute("INSERT INTO kept VALUES ('a', 'b')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert read(file, ["a"]) == {}
    write(file)  # and the next one begins as ever
    assert is_whole(read(file))


def test_a_file_is_closed_at_the_end_of_a_block(path):
    with CacheFile(path, SCHEMA) as file:
        pass
    with pytest.raises(sqlite3.ProgrammingError):
        file.database.execute("SELECT 1")
    file.close()


def test_a_folder_that_cannot_be_made_is_named_with_the_remedy(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match=r"the cache in .*file/a cannot be used .*FIRSTPAGE_CACHE"):
        CacheFile(tmp_path / "file" / "a" / "b.sqlite", SCHEMA)


def test_a_file_that_cannot_be_written_is_named_with_the_remedy_and_stays(file):
    write(file)
    file.database.execute("PRAGMA query_only=ON")
    with pytest.raises(RunError, match=r"the cache in .*caches cannot be used .*FIRSTPAGE_CACHE"):
        file.run(partial(write, file, ["another"]))
    file.database.execute("PRAGMA query_only=OFF")
    assert is_whole(read(file))


DAMAGES = {
    "no database": lambda body: b"no database at all" * 100,
    "cut short": lambda body: body[: len(body) // 2],
    "cut within a page": lambda body: body[:5000],
    "a word of the first page": lambda body: body[:100] + b"\xff" * 60 + body[160:],
    "all pages but the first": lambda body: body[:4096] + b"\xab" * (len(body) - 4096),
}


@pytest.fixture
def filled(path):
    """The path of a file with all keys in it."""
    with CacheFile(path, SCHEMA) as file:
        write(file)
    return path


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_made_anew(filled, damage):
    filled.write_bytes(damage(filled.read_bytes()))
    with CacheFile(filled, SCHEMA) as file:
        assert is_whole(file.run(partial(write_and_read, file)))
    with CacheFile(filled, SCHEMA) as file:
        assert is_whole(file.run(partial(read, file)))


def test_damage_that_shows_while_it_is_open_is_told_before_the_work_is_done_again(filled):
    with CacheFile(filled, SCHEMA) as file:
        file.database.execute("PRAGMA cache_size=0")
        with filled.open("r+b") as stored:
            stored.seek(4096)
            stored.write(b"\xab" * (filled.stat().st_size - 4096))
        told = []
        assert file.run(partial(read, file), lambda: told.append(file.database)) == {}
        assert told == [file.database]
        assert is_whole(file.run(partial(write_and_read, file), pytest.fail))


def test_work_that_fails_by_itself_is_not_done_again(file):
    done = []

    def work():
        done.append(1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        file.run(work, pytest.fail)
    assert done == [1]


@pytest.mark.parametrize("pages", [0, 2, 10])
def test_a_full_disk_is_told_and_memory_takes_its_place(file, path, caplog, pages):
    (size,) = file.database.execute("PRAGMA page_count").fetchone()
    file.database.execute(f"PRAGMA max_page_count={size + pages}")
    told = []
    assert is_whole(file.run(partial(write_and_read, file), lambda: told.append(1)))
    assert is_whole(file.run(partial(read, file), pytest.fail))
    assert told == [1]
    (message,) = caplog.messages
    assert "database or disk is full" in message
    assert str(path.parent) in message


# Opens the file given, and then, by its word: writes all, or stops for good before its transaction ends.
WORKER = f"""
import sys, time
from pathlib import Path
from firstpage.readers.database import CacheFile
file = CacheFile(Path(sys.argv[1]), {SCHEMA!r})
def work():
    with file.transaction() as database:
        for number in range(1_200):
            row = (f"key {{number}}", f"key {{number}}".encode() * 40)
            database.execute("INSERT OR REPLACE INTO kept VALUES (?, ?)", row)
        if sys.argv[2] == "stop":
            print("inside", flush=True)
            time.sleep(600)
    keys = (f"key {{number}}" for number in range(1_200))
    return len(list(file.rows("SELECT * FROM kept WHERE key", keys)))
print(file.run(work))
"""


def start(path, word):
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(path), word], stdout=subprocess.PIPE, text=True
    )


def test_a_kill_inside_a_transaction_loses_that_one_alone(path):
    with CacheFile(path, SCHEMA) as file:
        write(file, ["before"])
    writer = start(path, "stop")
    assert writer.stdout.readline() == "inside\n"
    writer.kill()
    assert writer.wait() == -signal.SIGKILL
    with CacheFile(path, SCHEMA) as file:
        assert is_whole(file.run(partial(read, file, ["before", *KEYS])), ["before"])
        assert is_whole(file.run(partial(write_and_read, file)))


@pytest.mark.parametrize("content", [None, b"no database at all" * 100], ids=["new", "damaged"])
def test_processes_that_open_one_file_at_once_all_get_it(path, content):
    path.parent.mkdir()
    if content:
        path.write_bytes(content)
    racing = [start(path, "write") for _ in range(6)]
    assert [one.communicate()[0] for one in racing] == ["1200\n"] * 6
    with CacheFile(path, SCHEMA) as file:
        assert is_whole(read(file))
