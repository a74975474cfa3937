import hashlib
import importlib
import json
import platform
import shlex
import socket
from pathlib import Path

import pytest
from firstpage.eval.provenance import machine, provenance, sha256
from firstpage.eval.statistics import SEED

MODULE = importlib.import_module("firstpage.eval.provenance")


def test_a_result_says_where_it_comes_from(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_bytes(b"data")
    made = provenance(["firstpage", "bench"], 7, [tmp_path / "tasks.jsonl"], {"verified": "ab"})
    assert made["seed"] == 7
    assert made["command"] == "firstpage bench"
    assert made["data"] == {"tasks.jsonl": hashlib.sha256(b"data").hexdigest(), "verified": "ab"}
    assert made["machine"]["python"] == platform.python_version()
    assert "commit" in made or "version" in made
    assert made["date"].endswith("+00:00")
    json.dumps(made)


def test_the_seed_is_the_bootstraps_unless_told() -> None:
    assert provenance("firstpage bench")["seed"] == SEED


def test_nothing_names_this_machine(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("")
    command = [
        "firstpage",
        "--tasks",
        str(tmp_path / "t.jsonl"),
        f"--out={tmp_path / 'out dir'}",
        "C:\\me\\x.gz",
    ]
    made = provenance(command, None, [tmp_path / "t.jsonl"])
    assert made["command"] == "firstpage --tasks t.jsonl '--out=out dir' x.gz"
    assert str(tmp_path) not in json.dumps(made)
    assert socket.gethostname() not in json.dumps(made["machine"])


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        ("-t/home/me/x.jsonl", "-tx.jsonl"),
        ("-t../../me/x.jsonl", "-tx.jsonl"),
        ("../../me/x.jsonl", "x.jsonl"),
        ("~/me/x.jsonl", "x.jsonl"),
        ("--tasks=~/me/x.jsonl", "--tasks=x.jsonl"),
        ("--tasks=me/x=y/z.jsonl", "--tasks=z.jsonl"),
        ("--out=../me/folder/", "--out=folder"),
        ("..\\me\\x.gz", "x.gz"),
        ("--generators", "--generators"),
        ("a,b", "a,b"),
        ("fused,fused@out/without_paths/model", "fused,fused@without_paths/model"),
        ("fused@/home/me/model", "fused@model"),
        ("fused@~/me/model", "fused@model"),
        ("@/home/me/issue.txt", "@issue.txt"),
        ("--generators=a,b", "--generators=a,b"),
        ("-ga,b", "-ga,b"),
        ("-n5", "-n5"),
        ("-", "-"),
        ("verified", "verified"),
    ],
)
def test_of_every_path_only_the_last_name_is_kept(word: str, kept: str) -> None:
    assert shlex.split(provenance(["firstpage", word])["command"]) == ["firstpage", kept]


def test_a_command_may_be_given_whole() -> None:
    assert provenance("firstpage -q 'two words' --root /home/me/repo")["command"] == (
        "firstpage -q 'two words' --root repo"
    )


def test_the_commit_is_that_of_our_own_checkout(repository, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = repository.commit("first", {"eval/provenance.py": "", "eval/results/old.json": "{}"})
    monkeypatch.setattr(MODULE, "__file__", str(repository.folder / "eval" / "provenance.py"))
    assert provenance("x")["commit"] == commit
    assert provenance("x")["modified"] is False
    (repository.folder / "eval" / "results" / "old.json").write_text("a result is no code")
    assert provenance("x")["modified"] is False
    (repository.folder / "new.py").write_text("")
    assert provenance("x")["modified"] is True


def test_a_repository_that_the_environment_names_is_not_ours(make_repository, monkeypatch) -> None:
    ours, theirs = make_repository(), make_repository()
    commit = ours.commit("ours", {"eval/provenance.py": ""})
    theirs.commit("theirs", {"a.py": ""})
    monkeypatch.setattr(MODULE, "__file__", str(ours.folder / "eval" / "provenance.py"))
    monkeypatch.setenv("GIT_DIR", str(theirs.folder / ".git"))
    assert provenance("x")["commit"] == commit
    assert provenance("x")["modified"] is False


def test_a_wheel_inside_somebodys_repository_gives_its_version(repository, monkeypatch) -> None:
    repository.commit("theirs", {"venv/firstpage/eval/provenance.py": ""})
    monkeypatch.setattr(MODULE, "__file__", str(repository.folder / "venv/firstpage/eval/provenance.py"))
    made = provenance("x")
    assert "commit" not in made
    assert made["version"]


def test_a_checkout_without_a_commit_gives_the_version(repository, monkeypatch) -> None:
    monkeypatch.setattr(MODULE, "__file__", str(repository.folder / "eval" / "provenance.py"))
    assert "version" in provenance("x")


def test_a_large_file_is_hashed_in_pieces(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"\0" * 3_000_000)
    assert sha256(tmp_path / "big") == hashlib.sha256(b"\0" * 3_000_000).hexdigest()


def test_the_machine_is_described() -> None:
    assert set(machine()) == {"cpu", "cores", "memory_gib", "python", "platform"}
    assert machine()["cpu"]
