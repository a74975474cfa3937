import json

import numpy as np
import pytest
from click.testing import CliRunner
from firstpage.core.errors import InputError
from firstpage.core.items import Item, Query
from firstpage.core.values import ranking
from firstpage.eval.ablation import GRID, SHOWN_DEPTHS, SWEEP, ablate, ablation_tables, choose, ranks_with
from firstpage.eval.tasks import Task
from firstpage.readers.hybrid import WEIGHTS, Hybrid, Weights
from firstpage.scripts import bench_hybrid

FILES = {
    "pkg/cache.py": "class Cache:\n    def purge(self): ...\n",
    "pkg/query.py": "cache.purge()\ncache.purge()\n",
    "tests/test_cache.py": "def test_purge(): Cache().purge(); cache.purge()\n",
}
# In the one repository what defines a name is to be changed, in the other what uses it.
GOLD = {"a/defines": "pkg/cache.py", "b/uses": "pkg/query.py"}
QUERY = "Purge fails\nwith no entries: purge"


@pytest.fixture
def measured(make_repository):
    """Two tasks a repository, and where the repositories are."""
    tasks, places = [], {}
    for name, gold in GOLD.items():
        repository = make_repository()
        commit = repository.commit("first", FILES)
        places[name] = repository.folder
        tasks += [Task(f"{name}-{number}", name, commit, QUERY, (gold,)) for number in (1, 2)]
    return tasks, places


def test_every_weight_is_swept_from_0_without_its_default_and_stands_in_the_grid():
    names = list(Weights.__dataclass_fields__)
    assert list(SWEEP) == list(GRID) == names
    for name in names:
        assert SWEEP[name][0] == 0
        assert getattr(WEIGHTS, name) not in SWEEP[name]


def test_ranks_are_those_of_hybrid():
    items = [Item(path, path, content, {"path": path}) for path, content in FILES.items()]
    settings = [WEIGHTS, Weights(definitions=0), Weights(k1=0, title=0, test=1), Weights(code=0, path=2)]
    for gold in FILES:
        found = ranks_with(Query(QUERY), items, [gold], settings)
        for rank, weights in zip(found, settings, strict=True):
            order = ranking(Hybrid(weights).values(Query(QUERY), items))
            assert items[order[int(rank) - 1]].id == gold
    assert np.isinf(ranks_with(Query(QUERY), items, ["nowhere.py"], settings)).all()
    assert np.isinf(ranks_with(Query(QUERY), [], ["pkg/cache.py"], settings)).all()


@pytest.mark.parametrize(
    ("ranks", "best"),
    [
        ([[2, 2], [1, 9]], 1),  # p1 first
        ([[1, 9], [1, 4]], 1),  # then p@5
        ([[1, 9], [1, 8]], 1),  # then the mean reciprocal rank
        ([[1, np.inf], [1, np.inf]], 0),  # of equals the first
    ],
)
def test_choose(ranks, best):
    assert choose(np.array(ranks, dtype=np.float64)) == best


def test_each_repository_is_ranked_with_what_the_others_choose(measured):
    tasks, places = measured
    done = []
    summary = ablate(
        tasks, places, 1, lambda: done.append(1), {"definitions": [1]}, {"path": [0.3], "definitions": [0, 1]}
    )
    assert len(done) == summary["tasks"] == 4
    assert summary["errors"] == {}
    assert summary["found"]["rate"] == 1
    assert [row["chosen"] for row in summary["repositories"]] == [
        {"path": 0.3, "definitions": 0},  # of those that use a name
        {"path": 0.3, "definitions": 1},
    ]
    assert summary["held_out"]["any"]["1"]["rate"] == 0
    assert summary["best"]["any"]["1"] == summary["best"]["any"]["1"] | {"rate": 0.5, "macro": 0.5}
    assert summary["default"]["won"] == summary["default"]["lost"] == 0
    (swept,) = summary["sweep"]
    assert (swept["weight"], swept["value"], swept["won"], swept["lost"]) == ("definitions", 1, 2, 2)
    assert summary["grid"]["settings"] == 2
    assert list(summary["default"]["any"]) == [str(depth) for depth in SHOWN_DEPTHS]
    assert "| definitions 1" in ablation_tables(summary)


def test_a_task_that_cannot_be_measured_is_a_miss(measured):
    tasks, places = measured
    tasks[0] = Task("lost", tasks[0].repo, "f" * 40, QUERY, tasks[0].gold)
    summary = ablate(tasks, places, 1, lambda: None, {}, {"definitions": [0, 1]})
    assert list(summary["errors"]) == ["lost"]
    assert summary["default"]["any"]["50"]["hits"] == 3


def test_one_repository_leaves_nothing_to_choose_on(measured):
    tasks, places = measured
    with pytest.raises(InputError, match="takes tasks of two"):
        ablate(tasks[:2], places, 1, lambda: None)


def test_the_command(measured, tmp_path, monkeypatch):
    tasks, places = measured
    rows = [
        {"instance_id": task.instance_id, "repo": task.repo, "base_commit": task.base_commit,
         "problem_statement": task.query,
         "patch": f"--- a/{task.gold[0]}\n+++ b/{task.gold[0]}\n@@ -1 +1 @@\n-1\n+2\n"}
        for task in tasks
    ]  # fmt: skip
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "repos.yaml").write_text("".join(f"{name}: {place}\n" for name, place in places.items()))
    monkeypatch.setattr(
        bench_hybrid,
        "ablate",
        lambda *given: ablate(*given, sweep={"path": [0]}, grid={"definitions": [0, 1]}),
    )
    arguments = [
        "--tasks",
        str(tmp_path / "tasks.jsonl"),
        "--repos",
        str(tmp_path / "repos.yaml"),
        "--jobs",
        "1",
    ]
    out = tmp_path / "out"
    shown = CliRunner().invoke(bench_hybrid.command, [*arguments, "--out", str(out)], catch_exceptions=False)
    assert "| path 0" in shown.stdout
    assert (out / "table.md").read_text() in shown.stdout
    summary = json.loads((out / "summary.json").read_text())
    assert list(summary["provenance"]["data"]) == ["tasks.jsonl"]
    shown = CliRunner().invoke(bench_hybrid.command, [*arguments, "--json"], catch_exceptions=False)
    assert json.loads(shown.stdout)["sweep"] == summary["sweep"]
