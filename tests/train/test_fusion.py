import gzip
import json
from pathlib import Path

import pytest
from firstpage.core.errors import InputError
from firstpage.core.items import Item, Query
from firstpage.core.values import evaluate
from firstpage.readers.fused import Fused
from firstpage.train.config import FusionConfig, read_config
from firstpage.train.fusion import train_fusion

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
    assert (record["tasks"], record["issues"]) == (48, 24)
    assert record["cross_validated"]["1"] > 80
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
    one, two = ((tmp_path / out / "model" / "fused.json").read_bytes() for out in ("one", "two"))
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
    train_fusion(config(file, tmp_path, leave_out=("defines", "content")), places)
    kept = json.loads((tmp_path / "out" / "model" / "fused.json").read_text())
    assert not [name for name in kept["columns"] if name.startswith(("defines", "content"))]
    assert "path" in kept["columns"]


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
