import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from firstpage.core.errors import InputError
from firstpage.core.items import Item, Query
from firstpage.core.values import evaluate
from firstpage.readers.bi_encoder import COLUMNS as NEURAL
from firstpage.readers.fused import Fused, features
from firstpage.train.columns import GROUPS, Ranked, is_among
from firstpage.train.config import FusionConfig, read_config
from firstpage.train.fusion import ablate, log_odds, train_fusion

pytest.importorskip("lightgbm")

NAMES = ("cache", "view", "store", "page", "token", "disk")


@pytest.fixture
def mined(make_repository, tmp_path):
    """Two repositories whose commits each mend the file that their messages name, and rows of them."""
    rows, places = [], {}
    for repo in ("some/one", "some/two"):
        made = make_repository()
        places[repo] = made.folder
        files = {f"app/{name}.py": f"class {name.title()}Thing:\n    size = 0\n" for name in NAMES}
        parent = made.commit("Begin with everything", files)
        for number in range(24):
            name = NAMES[number % len(NAMES)]
            changed = {f"app/{name}.py": f"class {name.title()}Thing:\n    size = {number + 1}\n"}
            query = f"The {name} is of the wrong size, see {name.title()}Thing number {number}"
            commit = made.commit(query, changed)
            rows.append({
                "source": "swebench" if number % 2 else "history", "id": f"{repo}-{number}", "repo": repo,
                "commit": commit, "parent": parent, "query": query, "tests": [], "beside": [],
                "files": [{"path": f"app/{name}.py", "lines": [[2, 3]], "functions": []}],
            })  # fmt: skip
            parent = commit
    file = tmp_path / "rows.jsonl.gz"
    file.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return file, places


def config(file, tmp_path, **settings):
    small = {"models": 2, "trees": 20, "leaves": 4, "least_in_leaf": 2, "folds": 2}
    return FusionConfig(**{"rows": (str(file),), "out": str(tmp_path / "out"), **small, **settings})


def test_trained_trees_rank_what_the_query_is_about_first(mined, tmp_path):
    file, places = mined
    steps = []
    record = train_fusion(config(file, tmp_path), places, progress=lambda *step: steps.append(step))
    commit, answer = record["commit"], record["answer"]
    assert (commit["tasks"], commit["issues"]) == (48, 24)
    assert answer["issues"] == 72  # in each of three forms
    assert 72 < answer["tasks"] <= 96
    assert commit["cross_validated"]["1"] > 80
    assert steps[-1] == (48, 48)
    items = [
        Item(path, path, f"class {name}Thing: ...", {"path": path})
        for name in ("Cache", "View", "Token")
        for path in [f"app/{name.lower()}.py"]
    ]
    values = evaluate(Fused(tmp_path / "out" / "model"), Query("TokenThing is of no size"), items)
    assert values.argmax() == 2


def test_the_same_settings_give_the_same_bytes(mined, tmp_path):
    file, places = mined
    for out in ("one", "two"):
        train_fusion(config(file, tmp_path, out=str(tmp_path / out)), places)
    for name in ("commit.json", "answer.json"):
        one, two = ((tmp_path / out / "model" / name).read_bytes() for out in ("one", "two"))
        assert one == two


def test_what_is_done_is_not_done_again_and_other_settings_need_overwrite(mined, tmp_path):
    file, places = mined
    first = train_fusion(config(file, tmp_path), places)
    assert train_fusion(config(file, tmp_path), places, progress=lambda *_: pytest.fail("again")) == first
    with pytest.raises(InputError, match="another 'trees'"):
        train_fusion(config(file, tmp_path, trees=5), places)
    assert train_fusion(config(file, tmp_path, trees=5), places, overwrite=True)["settings"]["trees"] == 5


def test_columns_that_are_left_out_are_in_no_tree(mined, tmp_path):
    file, places = mined
    train_fusion(config(file, tmp_path, leave_out=("defines", "content", "name")), places)
    kept = json.loads((tmp_path / "out" / "model" / "commit.json").read_text())
    assert not [name for name in kept["columns"] if name.startswith(("defines", "content"))]
    assert not {"name", "name of title", "name/best"} & set(kept["columns"])
    assert {"path", "named", "names"} <= set(kept["columns"])


def test_rows_whose_commits_are_not_there_are_left_out_and_counted(mined, tmp_path):
    file, places = mined
    rows = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    for row in rows[:5]:
        row["parent"] = "0" * 40
    file.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    record = train_fusion(config(file, tmp_path), places)
    assert (record["commit"]["tasks"], record["commit"]["left_out"]) == (43, 5)


@pytest.mark.parametrize(
    ("names", "told"),
    [(("histroy",), "no column is called 'histroy'"), (sum(GROUPS.values(), ())[:-3], "no column;")],
)
def test_columns_that_cannot_be_left_out_are_named(mined, tmp_path, names, told):
    with pytest.raises(InputError, match=f"leave_out: .*{told}"):
        train_fusion(config(mined[0], tmp_path, leave_out=names), mined[1])


def test_commits_that_are_fetched_later_are_no_longer_left_out(mined, tmp_path):
    file, places = mined
    rows = file.read_bytes()
    lost = [json.loads(line) for line in gzip.decompress(rows).splitlines()]
    lost[0]["parent"] = "0" * 40
    file.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in lost).encode()))
    assert train_fusion(config(file, tmp_path), places)["commit"]["left_out"] == 1
    file.write_bytes(rows)
    with pytest.raises(InputError, match="another 'data'"):  # other rows at the same path
        train_fusion(config(file, tmp_path), places)
    assert train_fusion(config(file, tmp_path), places, overwrite=True)["commit"]["left_out"] == 0


def test_values_are_as_likely_as_they_say():
    draw = np.random.default_rng(1)
    scored = []
    for number in range(200):
        scores = draw.normal(0, 3, 20)
        right = draw.random(20) < 1 / (1 + np.exp(-(0.5 * scores - 2)))
        scored.append((Ranked(str(number), "o/n", np.zeros((20, 0), np.float32), right, True), scores))
    slope, shift = log_odds(scored)
    assert (round(slope, 1), round(shift)) == (0.5, -2)


@pytest.mark.parametrize("right", [[True, False], [False, False], [True, True]])
def test_scores_that_say_nothing_keep_their_order(right):
    task = Ranked("1", "o/n", np.zeros((2, 0), np.float32), np.array(right), True)
    for scores in ([-1.0, 1.0], [0.0, 0.0], [1.0, -1.0]):
        slope, shift = log_odds([(task, np.array(scores))])
        assert slope > 0
        assert np.isfinite([slope, shift]).all()
    assert log_odds([]) == (1.0, 0.0)


def test_of_a_single_repository_trees_are_trained_and_nothing_is_measured(mined, tmp_path):
    file, places = mined
    rows = [line for line in gzip.decompress(file.read_bytes()).splitlines() if b"some/one" in line]
    file.write_bytes(gzip.compress(b"\n".join(rows)))
    record = train_fusion(config(file, tmp_path), places)
    assert (record["commit"]["tasks"], record["commit"]["cross_validated"]) == (24, {})
    assert np.isfinite(
        evaluate(Fused(tmp_path / "out" / "model"), Query("x"), [Item("1", "a", None, {"path": "a"})])
    ).all()


def test_an_encoder_that_cannot_be_read_stops_the_training(mined, tmp_path):
    file, places = mined
    with pytest.raises(InputError, match="cannot be read"):
        train_fusion(config(file, tmp_path, encoder=str(tmp_path / "none")), places)


def test_without_each_group_trees_are_trained_of_the_same_columns(mined, tmp_path):
    file, places = mined
    settings = config(file, tmp_path, trees=5)
    whole = train_fusion(settings, places)
    told = ablate(settings, places)
    assert told.keys() == GROUPS.keys() - {"meaning"}  # there is no encoder here
    assert (tmp_path / "out" / "without_history" / "model" / "commit.json").is_file()
    assert not (tmp_path / "out" / "without_history" / "features").exists()
    every = whole["commit"]["columns"]
    for group, record in told.items():
        left = set(every) - set(record["commit"]["columns"])
        assert left == {name for name in every if is_among(name, GROUPS[group])}
        assert left


def test_every_column_is_of_a_group():
    items = [Item(path, path, "x = 1", {"path": path}) for path in ("a.py", "b.py")]
    every = [*features(Query("x"), items, Path("none"), needed=()), *NEURAL]
    grouped = {name: [group for group, names in GROUPS.items() if is_among(name, names)] for name in every}
    assert [name for name, groups in grouped.items() if len(groups) != 1] == ["hybrid", "hybrid/best"]


def test_rows_of_the_test_set_are_refused(mined, tmp_path):
    file, places = mined
    rows = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    rows[3]["repo"] = "django/django"
    file.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    with pytest.raises(InputError, match="django/django"):
        train_fusion(config(file, tmp_path), {**places, "django/django": places["some/one"]})


def test_a_repository_that_is_not_mapped_is_named(mined, tmp_path):
    file, places = mined
    with pytest.raises(InputError, match="some/two"):
        train_fusion(config(file, tmp_path), {"some/one": places["some/one"]})


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"folds": 1}, "folds"),
        ({"trees": 0}, "trees"),
        ({"rows": ("nowhere.jsonl",)}, "nowhere.jsonl"),
        ({"fold_encoders": ("a",)}, "fold_repositories"),
        ({"fold_encoders": ("a",), "fold_repositories": (("o/n",),)}, "fold_encoders: need an encoder"),
    ],
)
def test_wrong_settings_are_named(mined, tmp_path, settings, told):
    with pytest.raises(InputError, match=told):
        config(mined[0], tmp_path, **settings)


def test_columns_of_a_repository_come_from_the_encoder_that_did_not_see_it(mined, tmp_path):
    made = config(
        mined[0],
        tmp_path,
        encoder="all",
        fold_encoders=("a", "b"),
        fold_repositories=(("some/one",), ("x/y",)),
    )
    assert [made.encoder_of(repo) for repo in ("some/one", "some/two")] == ["a", "all"]


def test_the_recipe_that_comes_with_firstpage_is_read(monkeypatch, tmp_path):
    recipe = Path(__file__).parents[2] / "configs" / "fusion_cpu_small.yaml"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out" / "rows").mkdir(parents=True)
    for name in ("dev", "history"):
        (tmp_path / "out" / "rows" / f"{name}.jsonl.gz").touch()
    assert read_config(recipe, FusionConfig).trees == 300
