"""The cross-encoder on a model so small that it is made here."""

import json
import shutil

import numpy as np
import pytest
import torch
from firstpage.core.errors import InputError
from firstpage.core.items import Item, Query
from firstpage.core.values import evaluate
from firstpage.eval.localisation import Plan, run
from firstpage.eval.tasks import Task
from firstpage.readers import value_functions
from firstpage.readers.cross_encoder import CrossEncoder, documents, told
from firstpage.readers.mentions import term_weights
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder as Model


def item(path, content):
    return Item(path, path, content, {"path": path})


ITEMS = [
    item("app/views.py", "def index_view(): ...\n"),
    item("app/cache.py", "class CacheStore:\n    def clear(self): ...\n"),
    item("empty.py", ""),
    item("od\udcffd.py", "x = 1  # \udcff\n"),
]
QUERY = Query("ba do ku")


@pytest.fixture
def folder(bert, tmp_path):
    """Of a cross-encoder whose weights nobody trained."""
    torch.manual_seed(1)
    made = tmp_path / "model"
    Model(str(bert), num_labels=1).save_pretrained(str(made))
    return made


def test_every_item_has_a_value_that_depends_on_the_query(folder):
    first = evaluate(CrossEncoder(folder), Query("ba do ku"), ITEMS)
    other = evaluate(CrossEncoder(folder), Query("ku ku ku ku"), ITEMS)
    assert first.shape == (4,)
    assert ((first > 0) & (first < 1)).all()
    assert not np.allclose(first, other)


def test_it_is_asked_for_by_its_folder(folder):
    assert isinstance(value_functions.create(f"cross-encoder@{folder}"), CrossEncoder)
    with pytest.raises(InputError, match="'cross-encoder' needs its weights: name their folder"):
        value_functions.create("cross-encoder")


def test_an_item_is_worth_its_best_document(folder):
    function, query = CrossEncoder(folder), Query("CacheStore")
    alone = [
        function.outputs(query, [Item("x", text, None)]) for text in documents(term_weights(query), ITEMS[1])
    ]
    assert function.outputs(query, []).shape == (0,)
    assert len(alone) == 2
    assert function.outputs(query, ITEMS[1:2]).shape == (1,)


@pytest.mark.parametrize("text", ["", "  \n", "x" * 100_000, "\udcff stale"])
def test_any_query_has_finite_values(folder, text):
    assert np.isfinite(evaluate(CrossEncoder(folder), Query(text), ITEMS)).all()


def test_of_a_file_the_outline_and_the_two_chunks_are_read_that_share_most_with_the_query():
    functions = [f"def part_{name}():\n" + f"    {name} = 1\n" * 60 for name in ("one", "two", "three")]
    read = documents(term_weights(Query("three and then one")), item("a.py", "\n\n".join(functions)))
    assert read[0].startswith("a py\n")
    assert len(read) == 3
    assert {text.split("\n")[1] for text in read[1:]} == {"def part_three():", "def part_one():"}


def test_of_a_long_query_title_prose_and_code_are_read_each_in_its_measure():
    query = Query(
        "\n\n" + "Stale" * 1000 + "\n\n" + "prose " * 1000 + "\n\n```\n" + "code() " * 1000 + "\n```\n"
    )
    title, prose, code = told(query).split("\n")
    assert (title, len(prose), len(code)) == ("Stale" * 60, 600, 300)
    assert set(prose.split()) == {"prose"}


def test_damaged_weights_are_refused_by_their_folder(folder, tmp_path):
    cut = tmp_path / "cut"
    shutil.copytree(folder, cut)
    weights = cut / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(InputError, match=f"cross-encoder in {cut} cannot be read"):
        CrossEncoder(cut).values(QUERY, ITEMS)


def test_weights_that_are_not_finite_are_refused(folder):
    weights = load_file(folder / "model.safetensors")
    next(iter(weights.values()))[0] = float("nan")
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(InputError, match="has numbers that are not finite"):
        CrossEncoder(folder).values(QUERY, ITEMS)


def test_a_model_of_several_outputs_is_refused(bert, tmp_path):
    Model(str(bert), num_labels=3).save_pretrained(str(tmp_path / "three"))
    with pytest.raises(InputError, match="has 3 outputs, not one"):
        CrossEncoder(tmp_path / "three").values(QUERY, ITEMS)


def test_another_architecture_is_refused(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "no-such-model"}))
    with pytest.raises(InputError, match="cannot be read"):
        CrossEncoder(folder).values(QUERY, ITEMS)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no cross-encoder; name the `model` of a training"):
        CrossEncoder(tmp_path)


def test_processes_of_a_benchmark_rank_with_it(folder, repository):
    commit = repository.commit("first", {"a.py": "def ba(): ...\n", "b.py": "def ku(): ...\n"})
    name = f"cross-encoder@{folder}"
    value_functions.create(name)  # as the command does, before it starts the processes
    tasks = [Task(str(number), "o/n", commit, "ba do ku", ["a.py"]) for number in range(2)]
    plan = Plan(["grep"], [name], [1000], [".py"])
    cells = [
        cell for _, some in run(tasks, {"o/n": repository.folder / ".git"}, plan, jobs=2) for cell in some
    ]
    assert [(cell.error, len(cell.ranks)) for cell in cells] == [("", 1), ("", 1)]
