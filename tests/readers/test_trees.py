import json
from pathlib import Path

import numpy as np
import pytest
from firstpage.core.errors import InputError
from firstpage.readers.trees import as_json, from_json, load_trees

lightgbm = pytest.importorskip("lightgbm")


@pytest.fixture(scope="module")
def booster():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(600, 5))
    rows[rng.random(rows.shape) < 0.3] = 0.0  # as most signals of most files are
    wanted = (rows[:, 0] + rows[:, 1] * rows[:, 2] > 0.3).astype(int)
    data = lightgbm.Dataset(rows, wanted, group=[20] * 30)
    settings = {
        "objective": "lambdarank",
        "num_leaves": 7,
        "min_data_in_leaf": 5,
        "verbose": -1,
        "num_threads": 1,
    }
    return lightgbm.train(settings, data, 40), rows


def dumped(booster) -> str:
    return as_json("abcde", [tree["tree_structure"] for tree in booster.dump_model()["tree_info"]])


def test_sums_are_what_lightgbm_predicts(booster):
    model, rows = booster
    np.testing.assert_allclose(from_json(dumped(model)).sums(rows), model.predict(rows), atol=1e-9)


def test_a_row_at_a_threshold_goes_left(booster):
    model, _ = booster
    trees = from_json(dumped(model))
    at = np.zeros((1, 5))
    at[0, trees.feature[0, 0]] = trees.threshold[0, 0]
    np.testing.assert_allclose(trees.sums(at), model.predict(at), atol=1e-9)


def test_no_rows_have_no_sums(booster):
    assert from_json(dumped(booster[0])).sums(np.zeros((0, 5))).shape == (0,)


def test_a_tree_that_is_one_leaf_gives_its_value_to_all():
    trees = from_json(as_json(["a"], [{"leaf_value": 0.25}]))
    assert trees.sums(np.zeros((3, 1))).tolist() == [0.25] * 3


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: "{}",
        lambda text: json.dumps({**json.loads(text), "trees": []}),
        lambda text: text.replace('"value":[', '"value":[NaN,', 1),
        lambda text: json.dumps({**json.loads(text), "columns": ["a"]}),
        lambda text: json.dumps(
            {**json.loads(text), "trees": [{**json.loads(text)["trees"][0], "left": [99] * 13}]}
        ),
    ],
)
def test_damaged_weights_are_refused_by_name(booster, damage, tmp_path: Path):
    file = tmp_path / "fused.json"
    file.write_text(damage(dumped(booster[0])))
    with pytest.raises(InputError, match=r"fused\.json"):
        load_trees(file)


def test_weights_that_are_not_there_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="none"):
        load_trees(tmp_path / "none")
