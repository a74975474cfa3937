import json

import pytest
from firstpage.core.errors import InputError
from firstpage.train.functions import Hunk
from firstpage.train.rows import read_rows
from firstpage.train.swebench import count_tasks, mine_swebench, patched, repositories_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

BODY = "class Cache:\n    def get(self):\n        return 1\n\n    def put(self):\n        return 2\n"
PATCH = """\
diff --git a/src/cache.py b/src/cache.py
--- a/src/cache.py
+++ b/src/cache.py
@@ -1,6 +1,7 @@
 class Cache:
     def get(self):
-        return 1
+        return None
\x20
     def put(self):
         return 2
+        # end
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+x
diff --git a/tests/test_cache.py b/tests/test_cache.py
--- a/tests/test_cache.py
+++ b/tests/test_cache.py
@@ -1 +1 @@
-0
+1
"""


def task(**fields):
    return {
        "instance_id": "o__n-1",
        "repo": "o/n",
        "base_commit": "1" * 40,
        "problem_statement": "The cache is stale\r\n\r\nIt forgets.\n",
        "patch": PATCH,
    } | fields


@pytest.fixture
def mine(tmp_path):
    def run(*tasks, **options):
        path = tmp_path / "tasks.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in tasks))
        summary = mine_swebench([path], tmp_path / "rows.jsonl", **options)
        return [row for _, row in read_rows(tmp_path / "rows.jsonl")], summary

    return run


def test_a_row_is_the_issue_and_what_the_patch_changes(mine):
    rows, summary = mine(task())
    assert rows == [
        {
            "source": "swebench",
            "id": "o__n-1",
            "repo": "o/n",
            "commit": "",
            "parent": "1" * 40,
            "query": "The cache is stale\n\nIt forgets.",
            "files": [{"path": "src/cache.py", "lines": [[3, 4], [7, 7]], "functions": []}],
            "tests": ["tests/test_cache.py"],
            "beside": [],
        }
    ]
    assert summary == {"tasks": 1, "rows": 1, "dropped": {}}


def test_functions_are_told_where_the_repository_is_at_hand(mine, repository):
    base = repository.commit("The root", {"src/cache.py": BODY})
    (row,), _ = mine(task(base_commit=base), repositories={"o/n": repository.folder})
    assert row["files"][0]["functions"] == [
        {"name": "Cache.get", "start": 2, "end": 4},
        {"name": "Cache.put", "start": 5, "end": 7},
    ]
    (row,), _ = mine(
        task(base_commit=base, patch=PATCH.replace("src/", "lib/")), repositories={"o/n": repository.folder}
    )
    assert row["files"][0]["functions"] == []
    with pytest.raises(InputError, match="has no commit"):
        mine(task(), repositories={"o/n": repository.folder})


def test_what_is_held_out_is_refused_or_left_out(mine, repository, hold_out):
    with pytest.raises(InputError, match=r"tasks.jsonl, line 2: 'django/django' is held out for SWE-bench"):
        mine(task(), task(instance_id="b", repo="django/django"))
    rows, summary = mine(task(), task(instance_id="b", repo="django/django"), leave_out=True)
    assert ([row["id"] for row in rows], summary["dropped"]) == (["o__n-1"], {"held out": 1})
    hold_out({"base_commits": ["1" * 40]}, development=True)
    with pytest.raises(
        InputError, match=r"is one of held/out, held out for a test; nothing is trained on it"
    ):
        mine(task())
    assert mine(task(), purpose="fusion")[1]["rows"] == 1
    hold_out({"base_commits": [repository.commit("A base", {"src/cache.py": BODY})]})
    with pytest.raises(InputError, match=r"'o/n' holds commit"):
        mine(task(), repositories={"o/n": repository.folder})
    assert mine(task(), repositories={"o/n": repository.folder}, leave_out=True)[1]["rows"] == 1


def test_tasks_without_text_or_source_files_make_no_row(mine):
    new = "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+x\n"
    summary = mine(
        task(),
        task(instance_id="b", problem_statement=" \n"),
        task(instance_id="c", patch=new),
        task(instance_id="d", patch=""),
    )[1]
    assert summary == {
        "tasks": 4,
        "rows": 1,
        "dropped": {"no source file that existed before": 2, "no text": 1},
    }
    with pytest.raises(InputError, match=r"makes a row \(no text 1\)"):
        mine(task(problem_statement=""))


@pytest.mark.parametrize("field", ["instance_id", "repo", "base_commit", "problem_statement", "patch"])
def test_a_missing_field_is_named(mine, field):
    with pytest.raises(InputError, match=f"line 1 needs the field '{field}', a string"):
        mine(task(**{field: None}))


def test_broken_and_empty_files_and_repeated_tasks_are_refused(mine, tmp_path):
    with pytest.raises(InputError, match="line 2 repeats the task 'o__n-1'"):
        mine(task(), task())
    with pytest.raises(InputError, match="makes a row"):
        mine()
    (tmp_path / "broken.jsonl").write_text('{"instance_id": ')
    with pytest.raises(InputError, match="line 1 is no JSON"):
        count_tasks([tmp_path / "broken.jsonl"])


def test_tasks_are_counted_and_their_repositories_named(tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([task(), task(instance_id="b", repo="a/b")]))
    assert count_tasks([path]) == 2
    assert repositories_of([path]) == ["a/b", "o/n"]


@pytest.mark.parametrize(
    ("patch", "found"),
    [
        ("--- a/x.py\n+++ b/x.py\n@@ -5,0 +6,2 @@\n+a\n+    b\n", {"x.py": [Hunk(6, 6, 0)]}),
        (
            "--- a/x.py\n+++ b/x.py\n@@ -5,2 +5,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n",
            {"x.py": [Hunk(6, 7)]},
        ),
        ("--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,3 @@\n a\n+\n+    b\n c\n", {"x.py": [Hunk(2, 2, 4)]}),
        ("--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n a\n--- b\n+++ c\n d\n", {"x.py": [Hunk(2, 3)]}),
        (
            "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1 @@\n a\n-b\n@@ -9 +8 @@\n-c\n+d\n",
            {"x.py": [Hunk(2, 3), Hunk(9, 10)]},
        ),
        (
            "diff --git a/old.py b/new.py\nsimilarity index 90%\nrename from old.py\nrename to new.py\n"
            "--- a/old.py\n+++ b/new.py\n@@ -1 +1 @@\n-a\n+b\n",
            {"old.py": [Hunk(1, 2)]},
        ),
        (
            "diff --git a/x.py b/x.py\ndeleted file mode 100644\n"
            "--- a/x.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
            {"x.py": [Hunk(1, 2)]},
        ),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", {}),
        ('--- "a/\\303\\244.py"\n+++ "b/\\303\\244.py"\n@@ -1 +1 @@\n-a\n+b\n', {"ä.py": [Hunk(1, 2)]}),
        ("no patch", {}),
        ("", {}),
    ],
)
def test_patches_are_read_in_the_numbers_of_the_old_file(patch, found):
    assert patched(patch) == found


lines = st.lists(st.sampled_from(["a", "b", "    c", ""]), max_size=12)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines, lines)
def test_a_patch_by_git_with_and_without_context_tells_the_same(make_repository, before, after):
    if before == after:
        return
    repository = make_repository()
    repository.commit("Before", {"a.py": "".join(f"{one}\n" for one in before)})
    repository.commit("After", {"a.py": "".join(f"{one}\n" for one in after)})
    wide, narrow = (
        patched(repository.git("diff", f"-U{context}", "HEAD^", "HEAD") + "\n") for context in (3, 0)
    )
    assert wide == narrow
