import subprocess
from itertools import pairwise

import pytest
from firstpage.core.errors import RunError
from firstpage.core.git import GitStore
from firstpage.train.changes import blobs_of, commits, count_commits, hunks, setting, sizes
from firstpage.train.functions import Hunk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def changed(folder, commit="HEAD", paths=()):
    with GitStore(folder) as store:
        pair = (store.commit(commit), store.commit(f"{commit}^"))
        return hunks(store, [pair], paths)


def only(found):
    (one,) = found.values()
    return one


def test_commits_come_newest_first_with_their_files(repository):
    root = repository.commit("The root", {"a.py": "0", "b.py": "0", "gone.py": "0"})
    name = repository.commit("A change\n\nWith a body.", {"a.py": "1", "new.py": "1", "gone.py": None})
    with GitStore(repository.folder) as store:
        newest, oldest = commits(store, name)
        assert count_commits(store, name) == 2
        assert count_commits(store, name, 1) == len(list(commits(store, name, 0, 1))) == 1
        assert [one.name for one in commits(store, name, 1)] == [root]
        assert sizes(store, [newest.changes[0].blobs[0], "1" * 40]) == {newest.changes[0].blobs[0]: 1}
        assert sizes(store, []) == {}
    assert (newest.name, newest.parents, newest.author) == (name, [root], "A Person")
    assert newest.message == "A change\n\nWith a body.\n"
    assert [(one.status, one.path, one.regular) for one in newest.changes] == [
        ("M", "a.py", True), ("D", "gone.py", False), ("A", "new.py", False),
    ]  # fmt: skip
    assert (oldest.parents, {one.status for one in oldest.changes}) == ([], {"A"})


def test_a_merge_is_seen_from_its_first_parent(repository):
    repository.commit("The root", {"a.py": "0", "b.py": "0"})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit("On the side", {"b.py": "side"})
    repository.git("checkout", "--quiet", "main")
    repository.commit("On the main line", {"a.py": "main"})
    repository.git("merge", "--quiet", "--no-ff", "--message", "Merge branch 'topic'", "topic")
    with GitStore(repository.folder) as store:
        merge = next(commits(store, store.commit()))
        found = hunks(store, [(merge.name, merge.parents[0])])
    assert len(merge.parents) == 2
    assert [one.path for one in merge.changes] == ["b.py"]
    assert list(found) == [merge.changes[0].blobs]


@pytest.mark.parametrize(
    "path", ["line\nbreak.py", 'quo"te.py', "tab\t.py", ":1.py", "sp ace/ünï.py", "*.py", "-x.py"]
)
def test_paths_come_through_whatever_is_in_them(repository, path):
    repository.commit("Add it", {path: "0\n", "other.py": "0\n"})
    repository.commit("Change it", {path: "1\n", "other.py": "1\n"})
    with GitStore(repository.folder) as store:
        change = next(one for one in next(commits(store, store.commit())).changes if one.path == path)
        assert list(blobs_of(store, store.commit("HEAD^"), [path]).items()) == [(path, change.blobs[0])]
    assert only(changed(repository.folder, paths=[path])) == [Hunk(1, 2)]


def test_links_are_no_regular_files(repository):
    repository.commit("The root", {"a.py": "0"})
    (repository.folder / "link.py").symlink_to("a.py")
    repository.commit("Link it", {})
    (repository.folder / "link.py").unlink()
    (repository.folder / "link.py").symlink_to("b.py")
    repository.commit("Link another", {})
    with GitStore(repository.folder) as store:
        assert [one.regular for one in next(commits(store, store.commit())).changes] == [False]
        assert blobs_of(store, store.commit(), ["link.py", "none.py"]) == {}


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", [Hunk(2, 3)]),
        ("a\nb\nc\n", "a\nc\n", [Hunk(2, 3)]),
        ("a\nb\n", "a\n\n    x\nb\n", [Hunk(2, 2, 4)]),
        ("a\nb\n", "a\n\tx\nb\n", [Hunk(2, 2, 8)]),
        ("a\nb\n", "x\na\nb\n", [Hunk(1, 1, 0)]),
        ("a\nb\n", "a\nb\nx\n", [Hunk(3, 3, 0)]),
        ("a\nb", "a\nB", [Hunk(2, 3)]),
        ("a\n", "", [Hunk(1, 2)]),
        ("", "    x\n", [Hunk(1, 1, 4)]),
        ("index 12..34\n@@ -1 +1 @@\n", "index 12..34\n-- a\n++ b\n", [Hunk(2, 3)]),
        ("a\r\nb\r\n", "a\r\nB\r\n", [Hunk(2, 3)]),
    ],
)
def test_places_are_in_the_numbers_of_the_parent(repository, before, after, found):
    repository.commit("Before", {"a.py": before})
    repository.commit("After", {"a.py": after})
    assert only(changed(repository.folder)) == found


def test_an_added_blank_line_tells_no_indentation_of_the_next_file(repository):
    repository.commit("Before", {"a.py": "a\n", "b.py": "    b\n"})
    repository.commit("After", {"a.py": "a\n\n\n", "b.py": "    b\n        x\n"})
    assert sorted(changed(repository.folder).values(), key=str) == [[Hunk(2, 2, 0)], [Hunk(2, 2, 8)]]


def test_white_space_alone_is_no_change(repository):
    repository.commit("Before", {"a.py": "if x:\n  y\n", "b.py": "b\n"})
    repository.commit("After", {"a.py": "if x:\n        y\n", "b.py": "B\n"})
    assert len(changed(repository.folder)) == 1


def test_a_person_s_settings_change_nothing(repository):
    repository.commit("Before", {"a.py": "a\nb\nc\n", ".gitattributes": "*.py -diff\n"})
    repository.commit("After", {"a.py": "a\nB\nc\n"})
    for name, value in (
        ("color.ui", "always"), ("diff.noprefix", "true"), ("diff.context", "9"), ("diff.renames", "copies"),
        ("diff.external", "false"), ("diff.interHunkContext", "9"), ("core.quotePath", "true"),
        ("log.showSignature", "true"), ("format.pretty", "oneline"), ("log.diffMerges", "combined"),
        ("diff.ignoreSubmodules", "none"), ("log.showRoot", "true"), ("diff.algorithm", "patience"),
    ):  # fmt: skip
        repository.git("config", name, value)
    assert only(changed(repository.folder)) == [Hunk(2, 3)]
    with GitStore(repository.folder) as store:
        assert [one.message for one in commits(store, store.commit())] == ["After\n", "Before\n"]
        assert setting(store, "color.ui") == "always"
        with pytest.raises(RunError):
            setting(store, "no.such")


def test_a_missing_blob_fails_its_own_comparison_alone(repository):
    repository.commit("Before", {"a.py": "a\n", "b.py": "b\n"})
    repository.commit("After", {"a.py": "A\n", "b.py": "B\n"})
    with GitStore(repository.folder) as store:
        change = next(commits(store, store.commit())).changes[0]
        blob = change.blobs[0]
        (store.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
        assert blob not in sizes(store, [*change.blobs])
    assert changed(repository.folder) is None
    assert only(changed(repository.folder, paths=["b.py"])) == [Hunk(1, 2)]


def test_objects_of_a_partial_clone_are_looked_up_without_fetching(repository, tmp_path):
    repository.commit("Before", {"a.py": "a\n"})
    repository.commit("After", {"a.py": "A\n"})
    repository.git("config", "uploadpack.allowFilter", "true")
    address = f"file://{repository.folder}"
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--bare", "--filter=blob:none", address, clone], check=True)
    with GitStore(clone) as store:
        change = next(commits(store, store.commit())).changes[0]
        assert sizes(store, change.blobs) == {}
        assert len(sizes(store, [store.commit(), *change.blobs])) == 1


def test_a_history_that_is_cut_off_is_told(repository):
    repository.commit("The root", {"a.py": "0"})
    repository.commit("A change", {"a.py": "1"})
    with GitStore(repository.folder) as store:
        tree = repository.git("rev-parse", "HEAD^{tree}")
        (store.git_dir / "objects" / tree[:2] / tree[2:]).unlink()
        with pytest.raises(RunError, match=r"the history of .* cannot be read"):
            list(commits(store, store.commit()))


lines = st.lists(st.sampled_from("abcd"), max_size=12)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines, lines)
def test_what_lies_outside_of_the_places_is_in_both_files(make_repository, before, after):
    if before == after:
        return
    repository = make_repository()
    repository.commit("Before", {"a.py": "".join(f"{one}\n" for one in before)})
    repository.commit("After", {"a.py": "".join(f"{one}\n" for one in after)})
    found = only(changed(repository.folder))
    assert all(1 <= one.start <= one.end <= len(before) + 1 for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    removed = {number for one in found for number in range(one.start, one.end)}
    kept = [one for number, one in enumerate(before, 1) if number not in removed]
    rest = iter(after)
    assert all(one in rest for one in kept)  # in this order
    assert len(after) == len(kept) or found
