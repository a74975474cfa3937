"""``firstpage mine history``, ``swebench`` and ``evidence`` as a person runs them."""

import json

import pytest
from firstpage.train.rows import read_rows

TASK = {
    "instance_id": "o__n-1", "repo": "o/n", "base_commit": "1" * 40,
    "problem_statement": "The cache is stale", "patch": "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n",
}  # fmt: skip
DOCUMENT = {
    "doc_id": "d1", "title": "T", "text": "The cache is kept.",
    "questions": [{"id": "q1", "question": "What is kept?", "evidence": [], "spans": [[4, 9]]}],
}  # fmt: skip


@pytest.fixture
def grown(repository):
    repository.commit("The root asks nothing", {"a.py": "0"})
    repository.commit("Keep the cache after a reload", {"a.py": "1"})
    repository.commit("Fix a typo in the cache", {"a.py": "2"})
    return repository


def queries(path):
    return [(row["repo"], row["query"]) for _, row in read_rows(path)]


def test_history_tells_how_many_rows_and_why_not(firstpage, grown, tmp_path):
    done = firstpage("mine", "history", "--repo", grown.folder, "--out", "rows.jsonl.gz", cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert done.lines[0].startswith("1 rows of 3 commits, ")
    assert [line.split() for line in done.lines[1:]] == [["1", "chore"], ["1", "root"]]
    assert queries(tmp_path / "rows.jsonl.gz") == [("repo", "Keep the cache after a reload")]


@pytest.mark.parametrize(
    "address",
    ["https://github.com/own/named.git", "git@github.com:own/named.git", "ssh://git@x.org/a/own/named/"],
)
def test_history_names_a_repository_by_its_origin(firstpage, grown, tmp_path, address):
    grown.git("remote", "add", "origin", address)
    assert firstpage("mine", "history", "--repo", grown.folder, "--out", tmp_path / "r.jsonl").status == 0
    assert queries(tmp_path / "r.jsonl")[0][0] == "own/named"


def test_history_takes_several_repositories_and_names_for_them(firstpage, grown, make_repository, tmp_path):
    other = make_repository()
    other.commit("The root asks nothing", {"b.py": "0"})
    other.commit("Forget the cache after a reload", {"b.py": "1"})
    done = firstpage(
        "mine", "history", "--repo", f"a/b={grown.folder}", "--repo", f"c/d={other.folder}",
        "--out", tmp_path / "r.jsonl", "--commits", "2", "--suffix", ".py", "--json",
    )  # fmt: skip
    summary = json.loads(done.out)
    assert (summary["rows"], summary["commits"], list(summary["repositories"])) == (2, 4, ["a/b", "c/d"])
    assert [repo for repo, _ in queries(tmp_path / "r.jsonl")] == ["a/b", "c/d"]


def test_history_refuses_what_cannot_be_used(in_process, grown, repository, tmp_path):
    def mine(*arguments):
        return in_process("mine", "history", *arguments)

    out = tmp_path / "r.jsonl"
    assert mine("--repo", "none", "--out", out).is_refused("there is no repository at none")
    assert mine("--repo", "a/b=", "--out", out).is_refused("must be a folder, or a name and a folder")
    assert mine("--repo", grown.folder, "--out", tmp_path).is_refused("is a folder; name a file")
    assert mine("--repo", grown.folder, "--repo", grown.folder, "--out", out).is_refused("given twice")
    assert mine("--repo", f"django/django={grown.folder}", "--out", out).is_refused(
        "'django/django' is held out for SWE-bench Verified", "nothing is trained on it"
    )
    assert mine("--out", out).is_refused("--repo")
    assert not out.exists()


def test_swebench_writes_a_row_a_task(firstpage, tmp_path):
    (tmp_path / "tasks.jsonl").write_text(json.dumps(TASK))
    done = firstpage("mine", "swebench", "--tasks", "tasks.jsonl", "--out", "rows.jsonl", cwd=tmp_path)
    assert (done.status, done.err, done.lines) == (0, "", ["1 rows of 1 tasks"])
    assert queries(tmp_path / "rows.jsonl") == [("o/n", "The cache is stale")]


def test_swebench_leaves_out_or_refuses_what_is_held_out(firstpage, grown, tmp_path):
    held_out = TASK | {"instance_id": "b", "repo": "pydicom/pydicom"}
    base = grown.git("rev-parse", "HEAD")
    (tmp_path / "tasks.jsonl").write_text(
        f"{json.dumps(TASK | {'base_commit': base})}\n{json.dumps(held_out)}\n"
    )
    (tmp_path / "repos").mkdir()
    for name in ("o__n", "pydicom__pydicom"):
        (tmp_path / "repos" / name).symlink_to(grown.folder)
    arguments = ["mine", "swebench", "--tasks", tmp_path / "tasks.jsonl", "--out", tmp_path / "r.jsonl"]
    assert firstpage(*arguments).is_refused("line 2: 'pydicom/pydicom' is held out for")
    assert json.loads(firstpage(*arguments, "--leave-out", "--json").out)["dropped"] == {"held out": 1}
    done = firstpage(*arguments, "--leave-out", "--repos", tmp_path / "repos")
    assert [line.split(maxsplit=1) for line in done.lines] == [["1", "rows of 2 tasks"], ["1", "held out"]]
    assert firstpage(*arguments, "--for", "fusion", "--json").status == 0
    assert firstpage(*arguments, "--for", "all").is_refused("all")
    assert firstpage(*arguments, "--repos", tmp_path / "none").is_refused("--repos")


def test_evidence_writes_a_row_a_question(firstpage, tmp_path):
    (tmp_path / "set.jsonl").write_text(json.dumps(DOCUMENT))
    done = firstpage("mine", "evidence", "--set", "set.jsonl", "--out", "rows.jsonl", cwd=tmp_path)
    assert (done.status, done.err, done.lines) == (0, "", ["1 rows of 1 questions, 1 documents"])
    part = next(read_rows(tmp_path / "rows.jsonl"))[1]["split"]
    other = "dev" if part == "train" else "train"
    arguments = ["mine", "evidence", "--set", "set.jsonl", "--out", "r.jsonl", "--split"]
    assert firstpage(*arguments, part, "--json", cwd=tmp_path).status == 0
    assert firstpage(*arguments, other, cwd=tmp_path).is_refused("makes a row (other split 1)")


def test_evidence_refuses_what_cannot_be_used(in_process, tmp_path):
    def mine(content):
        (tmp_path / "set.jsonl").write_text(content)
        return in_process("mine", "evidence", "--set", tmp_path / "set.jsonl", "--out", tmp_path / "r.jsonl")

    assert mine("").is_refused("makes a row (it is empty)")
    assert mine("{").is_refused("set.jsonl, line 1 is no JSON")
    assert mine(json.dumps(DOCUMENT | {"doc_id": "loogle-shortdep_qa-1"})).is_refused("held out for LooGLE")


def test_help_names_the_three_commands(firstpage):
    done = firstpage("mine", "--help")
    assert [word for word in ("history", "swebench", "evidence") if f"  {word} " in done.out.decode()] == [
        "history", "swebench", "evidence",
    ]  # fmt: skip
