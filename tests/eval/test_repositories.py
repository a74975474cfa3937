import subprocess
from pathlib import Path

import pytest
from firstpage.core.errors import InputError, RunError
from firstpage.core.git import GitStore
from firstpage.eval import repositories
from firstpage.eval.repositories import clone_repositories, find_repositories


@pytest.mark.parametrize(
    "folder",
    [
        "owner__name", "owner__name.git", "owner/name", "owner/name.git", "name", "name.git",
    ],
)  # fmt: skip
def test_a_clone_is_found_under_each_spelling_of_its_name(tmp_path, folder):
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "other").mkdir()
    assert find_repositories(tmp_path, ["owner/name"]) == {"owner/name": tmp_path / folder}


def test_the_fullest_spelling_wins(tmp_path):
    for folder in ("name", "owner/name", "owner__name"):
        (tmp_path / folder).mkdir(parents=True)
        assert find_repositories(tmp_path, ["owner/name"]) == {"owner/name": tmp_path / folder}


def test_a_short_name_that_two_repositories_share_is_neither_s(tmp_path):
    for folder in ("x", "a__x", "y"):
        (tmp_path / folder).mkdir()
    with pytest.raises(InputError, match=r"lacks b/x;"):
        find_repositories(tmp_path, ["a/x", "b/x", "b/y"])
    assert find_repositories(tmp_path, iter(["b/x", "b/y", "b/x"])) == {
        "b/x": tmp_path / "x",
        "b/y": tmp_path / "y",
    }


@pytest.mark.parametrize(
    "name",
    ["/etc", "../other", "o/..", "./x", "o/", "/x", "x", "o/a/b", "o/a b", "o\\a", "o/a\n", "", "../../x"],
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, name):
    (tmp_path / "repos.yaml").write_text("o/a: b\n")
    for where in (tmp_path, tmp_path / "repos.yaml"):
        with pytest.raises(InputError, match="must be owner/name, and") as raised:
            find_repositories(where, ["o/a", name])
        assert "\n" not in str(raised.value)
    with pytest.raises(InputError, match="must be owner/name"):
        clone_repositories([name], lambda name, percent: pytest.fail("cloned"))


def test_a_map_gives_folders_seen_from_its_file_or_absolute_ones(tmp_path):
    (tmp_path / "maps").mkdir()
    for folder in ("clones/one", "two"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "maps" / "repos.yaml").write_text(
        f"o/one: ../clones/one\no/two: {tmp_path / 'two'}\no/x: y\n"
    )
    found = find_repositories(tmp_path / "maps" / "repos.yaml", ["o/one", "o/two"])
    assert {name: place.resolve() for name, place in found.items()} == {
        "o/one": tmp_path / "clones" / "one",
        "o/two": tmp_path / "two",
    }


def test_all_missing_names_are_listed(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "a").write_text("a file is no clone")
    with pytest.raises(InputError, match=r"lacks o/a, o/c; clone them there as owner__name"):
        find_repositories(tmp_path, ["o/c", "o/b", "o/a"])


def test_a_map_that_names_a_missing_folder_lacks_that_repository(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "repos.yaml").write_text("o/a: nowhere\no/b: b\n")
    with pytest.raises(InputError, match="lacks o/a, o/c;"):
        find_repositories(tmp_path / "repos.yaml", ["o/a", "o/b", "o/c"])


def test_what_is_neither_folder_nor_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"a folder of clones or a YAML map, and '.*nowhere' is neither"):
        find_repositories(tmp_path / "nowhere", ["o/a"])


@pytest.mark.parametrize("content", ["a: [b", "a: b: c", "\tx", "key: \x00"])
def test_broken_yaml_is_one_line(tmp_path, content):
    (tmp_path / "repos.yaml").write_text(content)
    with pytest.raises(InputError, match=r"repos\.yaml' is no YAML file: ") as raised:
        find_repositories(tmp_path / "repos.yaml", ["o/a"])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", ["", "just text", "- o/a", "o/a: 1", "o/a: [b]", "1: b", "o/a:"])
def test_yaml_that_is_no_map_of_names_to_folders_is_refused(tmp_path, content):
    (tmp_path / "repos.yaml").write_text(content)
    with pytest.raises(InputError, match="must map each owner/name to one folder"):
        find_repositories(tmp_path / "repos.yaml", ["o/a"])


@pytest.fixture
def remote(repository, tmp_path, monkeypatch) -> str:
    """The commit of a repository that is cloned as ``o/name``."""
    commit = repository.commit("Add files", {"a.py": "a", "b.py": "b"})
    (tmp_path / "remotes" / "o").mkdir(parents=True)
    repository.folder.rename(tmp_path / "remotes" / "o" / "name")
    monkeypatch.setattr(repositories, "GITHUB", f"file://{tmp_path}/remotes/{{}}")
    return commit


def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "repositories"  # as tests/conftest.py sets it


def test_a_repository_is_cloned_into_the_cache_with_its_progress(remote, tmp_path):
    told: list[tuple[str, int]] = []
    found = clone_repositories(["o/name"], lambda name, percent: told.append((name, percent)))
    assert found == {"o/name": cache(tmp_path) / "o__name.git"}
    with GitStore(found["o/name"]) as store:
        assert [file.path for file in store.files(remote)] == ["a.py", "b.py"]
    assert told
    assert {name for name, _ in told} == {"o/name"}
    assert [percent for _, percent in told] == sorted(percent for _, percent in told)
    assert told[-1][1] == 100


def test_a_clone_is_whole_whatever_repository_the_environment_names(remote, tmp_path, monkeypatch):
    with monkeypatch.context() as hook:
        hook.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
        hook.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "elsewhere" / "objects"))
        (place,) = clone_repositories(["o/name"], lambda name, percent: None).values()
    assert not (tmp_path / "elsewhere").exists()
    with GitStore(place) as store:
        assert [file.path for file in store.files(remote)] == ["a.py", "b.py"]


def test_a_clone_is_not_made_twice(remote, tmp_path):
    first = clone_repositories(["o/name"], lambda name, percent: None)
    told: list[int] = []
    assert clone_repositories(["o/name"], lambda name, percent: told.append(percent)) == first
    assert told == []


def test_what_a_killed_run_left_is_replaced(remote, tmp_path):
    part = cache(tmp_path) / "o__name.git.part"
    part.mkdir(parents=True)
    (part / "HEAD").write_text("half")
    (place,) = clone_repositories(["o/name"], lambda name, percent: None).values()
    with GitStore(place) as store:
        assert store.commit() == remote
    assert [path.name for path in cache(tmp_path).iterdir()] == ["o__name.git"]


def test_a_clone_that_fails_says_why_and_what_else_to_do(remote, tmp_path):
    with pytest.raises(RunError, match=r"o/gone cannot be cloned \(fatal: .*\); give --repos") as raised:
        clone_repositories(["o/gone"], lambda name, percent: None)
    assert "\n" not in str(raised.value)
    assert list(cache(tmp_path).iterdir()) == []


def test_a_broken_remote_leaves_no_clone_behind(remote, tmp_path):
    objects = tmp_path / "remotes" / "o" / "name" / ".git" / "objects"
    blob = subprocess.run(
        ["git", "rev-parse", f"{remote}:a.py"], cwd=objects.parent, capture_output=True, text=True, check=True
    ).stdout.strip()
    (objects / blob[:2] / blob[2:]).unlink()
    with pytest.raises(RunError, match="cannot be cloned"):
        clone_repositories(["o/name"], lambda name, percent: None)
    assert not (cache(tmp_path) / "o__name.git").exists()
