"""Files that a tool has missed: found in the commit, marked, and paid from the same budget."""

import json

import anyio
import pytest
from firstpage.core.items import Query
from firstpage.readers import value_functions
from firstpage.serve.mcp.additions import Finder, unlisted
from firstpage.serve.mcp.catalog import Catalog
from firstpage.serve.mcp.config import proxy_config
from firstpage.serve.mcp.desk import Asked, Desk

FILES = {
    "src/cache.py": "def reload_cache():\n    return stale\n",
    "src/store.py": "def store():\n    return cache\n",
    "lib/disk.py": "def write():\n    return 1\n",
    "docs/cache.md": "the cache\n",
}


def finder(root, **more):
    return Finder(str(root), "bm25", value_functions.create("hybrid"), **more)


def test_the_best_files_of_the_commit_come_first(repository):
    repository.commit("first", FILES)
    root = repository.folder
    assert finder(root).found(Query("reload the stale cache"))[:2] == [
        f"{root}/src/cache.py",
        f"{root}/src/store.py",
    ]
    assert finder(root).found(Query("nothing like it, xyzzy")) == []


def test_a_folder_in_a_work_tree_has_its_own_files_alone(repository):
    repository.commit("first", FILES | {"src2/cache.py": "def reload_cache(): ...\n"})
    found = finder(repository.folder / "src").found(Query("reload the stale cache"))
    assert found == [f"{repository.folder}/src/cache.py", f"{repository.folder}/src/store.py"]


def test_files_that_are_gone_are_not_added_and_a_new_commit_is_seen(repository):
    repository.commit("first", FILES)
    finds = finder(repository.folder)
    (repository.folder / "src/cache.py").unlink()
    assert f"{repository.folder}/src/cache.py" not in finds.found(Query("reload the stale cache"))
    repository.commit("second", {"src/new.py": "def reload_cache(): stale\n"})
    assert finds.found(Query("reload the stale cache"))[0] == f"{repository.folder}/src/new.py"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("nothing", ["/r/src/a.py", "/r/b.py"]),
        ("src/a.py:3: x", ["/r/b.py"]),
        ("/r/src/a.py\n/r/b.py", []),
        ("./src/a.py", ["/r/b.py"]),
        ("ab.py src/aXpy", ["/r/src/a.py", "/r/b.py"]),
        ('{"path":"src/a.py"}', ["/r/b.py"]),
    ],
)
def test_what_the_tool_listed_is_not_added(said, left):
    assert unlisted(["/r/src/a.py", "/r/b.py"], [said], "/r", 5) == left
    assert unlisted(["/r/src/a.py", "/r/b.py"], [said], "/r", 1) == left[:1]


def delivered(root, result, **rule):
    rule = {"root": str(root), "candidates": "wide"} | rule
    keys = {
        "server": {"command": ["x"]},
        "value_function": "hybrid",
        "budget": 300,
        "tools": {"search": rule},
    }

    async def main():
        desk = Desk(proxy_config(keys), Catalog())
        params = {"name": "search", "arguments": {"query": "reload the stale cache"}}
        asked = Asked({"id": 1, "method": "tools/call", "params": params}, 0)
        desk.begin(asked)
        body = {"jsonrpc": "2.0", "id": 1, "result": result}
        return json.loads(await desk.answered(asked, json.dumps(body), body))["result"]

    return anyio.run(main)


def text(said):
    return {"content": [{"type": "text", "text": said}]}


def test_a_search_gets_the_files_that_it_missed(repository):
    repository.commit("first", FILES)
    blocks = delivered(repository.folder, text("src/store.py:2: cache"))["content"]
    assert [block["text"].split("\n") for block in blocks] == [
        ["src/store.py:2: cache"],
        ["[firstpage: 1 file that the tool did not list, found by the query in the commit HEAD:]",
         f"{repository.folder}/src/cache.py"],
    ]  # fmt: skip


def test_a_long_search_gets_them_within_its_budget(repository):
    repository.commit("first", FILES)
    result = delivered(repository.folder, text("\n".join(f"other/file_{n}.py" for n in range(400))))
    assert len(json.dumps(result, separators=(",", ":"))) <= 1200
    assert "src/cache.py" in result["content"][1]["text"]
    assert "page 1 of" in result["content"][-1]["text"]


def test_no_more_are_added_than_the_rule_allows(repository):
    repository.commit("first", FILES)
    few = delivered(repository.folder, text("none"), add=1)["content"][1]["text"]
    assert few.count("\n") == 1
    assert delivered(repository.folder, text("none"), add=0) == text("none")


def test_where_files_cannot_be_found_the_result_is_delivered_without(repository, capsys):
    assert delivered(repository.folder, text("none")) == text("none")  # there is no commit yet
    assert "no files are added to the result of the tool 'search'" in capsys.readouterr().err
