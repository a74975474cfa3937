"""``firstpage mine negatives`` as a person runs it."""

import json

import pytest
from firstpage.scripts.cli import cli
from firstpage.train.rows import read_rows

CACHE = "class Cache:\n    def reload(self):\n        return 'stale'\n"


@pytest.fixture
def mined(firstpage, repository, tmp_path):
    """Rows of a repository with one commit that asks something, and the map that names it."""
    repository.commit(
        "The root asks nothing",
        {"cache.py": CACHE, "page.py": "def page(cache):\n    return 'reload'\n", "token.py": "token = 1\n"},
    )
    repository.commit("The cache is stale after a reload", {"cache.py": CACHE.replace("stale", "new")})
    done = firstpage(
        "mine", "history", "--repo", f"o/n={repository.folder}", "--out", "rows.jsonl", cwd=tmp_path
    )
    assert done.status == 0
    (tmp_path / "repos.yaml").write_text(f"o/n: {repository.folder}\n")
    return tmp_path


def arguments(folder, *more):
    rows, repos, out = (folder / name for name in ("rows.jsonl", "repos.yaml", "examples.jsonl.gz"))
    return ["mine", "negatives", "--rows", rows, "--repos", repos, "--out", out, *more]


def examples(folder):
    return [row for _, row in read_rows(folder / "examples.jsonl.gz")]


def test_it_tells_what_became_of_the_rows_and_of_which_kinds_the_negatives_are(firstpage, mined):
    done = firstpage(*arguments(mined))
    assert (done.status, done.err) == (0, "")
    assert done.lines[0].startswith("1 examples of 1 rows, 1 pairs, ")
    assert done.lines[0].endswith(" rows a minute")
    assert done.lines[1] == "2 negatives; 0 files too near to be dense ones"
    assert [line.split() for line in done.lines[2:]] == [["1", "bm25"], ["1", "folder"]]
    (example,) = examples(mined)
    assert (example["repo"], example["kinds"]) == ("o/n", ["bm25", "folder"])
    assert "stale" in example["positive"]


def test_its_options_reach_the_recipe(firstpage, mined):
    done = firstpage(
        *arguments(mined), "--kinds", "folder, folder", "--negatives", "1", "--documents", "outlines",
        "--seed", "3", "--per-repo", "1", "--suffix", ".py", "--json",
    )  # fmt: skip
    summary = json.loads(done.out)
    assert (summary["negatives"], summary["repositories"]["o/n"]["examples"]) == ({"folder": 1}, 1)
    assert len(examples(mined)[0]["negatives"]) == 1


def test_pairs_alone_are_mined_without_kinds(firstpage, mined):
    done = firstpage(*arguments(mined, "--kinds", "none"))
    assert (done.status, done.lines[1]) == (0, "0 negatives; 0 files too near to be dense ones")
    assert [(row["negatives"], row["kinds"]) for row in examples(mined)] == [([], [])]


def test_a_model_brings_dense_negatives(mined, bi_encoder, capfd):
    asked = [
        *map(str, arguments(mined, "--model", bi_encoder, "--kinds", "dense", "--margin", "9", "--json"))
    ]
    written = []
    for _ in range(2):
        cli.main(asked, standalone_mode=False)
        captured = capfd.readouterr()
        assert (json.loads(captured.out)["negatives"], captured.err) == ({"dense": 1}, "")
        written.append((mined / "examples.jsonl.gz").read_bytes())
    assert written[0] == written[1]


def test_what_cannot_be_used_is_refused(in_process, mined):
    def run(*more):
        return in_process(*arguments(mined, *more))

    assert run("--kinds", "bm26").is_refused("there is no kind 'bm26' of negatives; there are bm25, dense")
    assert run("--kinds", "bm25,dense").is_refused("--kinds dense needs --model")
    assert run("--kinds", ",").is_refused("--kinds names no kind; there are bm25, dense")
    assert run("--kinds", "none,bm25").is_refused("there is no kind 'none' of negatives")
    assert run("--model", mined / "none").is_refused("--model", "is no folder")
    assert run("--margin", "0").is_refused("--margin")
    assert run("--negatives", "0").is_refused("--negatives")
    assert run("--rows", mined / "none.jsonl").is_refused("cannot read", "none.jsonl")
    (mined / "repos.yaml").write_text("o/m: here\n")
    assert run().is_refused("lacks o/n")
    (mined / "rows.jsonl").write_text('{"source": "evidence"}\n')
    assert run().is_refused("rows.jsonl, line 1 needs the field 'id'")
    assert not (mined / "examples.jsonl.gz").exists()


def test_another_repository_than_the_rows_are_of_makes_no_example(in_process, mined, make_repository):
    other = make_repository()
    other.commit("Another", {"cache.py": "0"})
    (mined / "repos.yaml").write_text(f"o/n: {other.folder}\n")
    assert in_process(*arguments(mined)).is_refused("no row makes an example (missing commit 1)")


def test_development_tasks_are_for_fusion_alone(firstpage, mined):
    text = (mined / "rows.jsonl").read_text().replace('"o/n"', '"pydicom/pydicom"')
    (mined / "rows.jsonl").write_text(text)
    (mined / "repos.yaml").write_text((mined / "repos.yaml").read_text().replace("o/n", "pydicom/pydicom"))
    assert firstpage(*arguments(mined)).is_refused("line 1: 'pydicom/pydicom' is held out for")
    assert firstpage(*arguments(mined, "--for", "fusion")).status == 0


def test_its_help_is_listed(firstpage):
    assert "negatives" in firstpage("mine", "--help").out.decode()
    assert "--margin" in firstpage("mine", "negatives", "--help").out.decode()
