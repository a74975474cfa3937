import shutil
from pathlib import Path

import pytest
from firstpage.core.errors import InputError
from firstpage.scripts.figures import TABLES, _ablation, _generators, main, table

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copy(tmp_path):
    """The documents and results of this project, to be written to."""
    shutil.copy(ROOT / "README.md", tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copytree(ROOT / "eval" / "results", tmp_path / "eval" / "results")
    return tmp_path


def test_the_documents_say_what_the_result_files_say(copy):
    assert main(copy) == []


def test_a_figure_that_was_typed_by_hand_is_put_right(copy):
    readme = copy / "README.md"
    right = readme.read_text(encoding="utf-8")
    row = next(line for line in right.split("\n") if line.startswith("| union, hybrid"))
    readme.write_text(right.replace(row, row.replace("9", "8")), encoding="utf-8")
    assert main(copy) == [readme]
    assert readme.read_text(encoding="utf-8") == right


@pytest.mark.parametrize("name", TABLES)
def test_every_table_can_be_made(name):
    assert table(name, ROOT).startswith("| ")


def test_an_unknown_table_and_a_missing_result_are_named(tmp_path):
    with pytest.raises(InputError, match="no table is called 'lcoate'; there are"):
        table("lcoate", tmp_path)
    with pytest.raises(InputError, match=r"the result file eval/results/speed.json is missing"):
        table("speed", tmp_path)


def test_an_ablation_names_the_group_and_compares_all_with_the_rest():
    rate = {"rate": 0.5, "hits": 1, "interval": [0.1, 0.9]}
    any_gold = dict.fromkeys(("1", "5", "10", "50"), rate)
    names = ("fused@out/model", "fused@out/without_kind_of_file/model", "priority_kw_plus")
    summary = {
        "rankings": [{"function": name, "any": any_gold, "macro_p1": 0.25} for name in names],
        "comparisons": [
            {"function": names[0], "against": name, "difference": 0.02, "b": 3, "c": 1, "p": 0.625,
             "by_task": [0, 0.1], "by_repository": [0, 0.1]}
            for name in names[1:]
        ],
    }  # fmt: skip
    whole, without, other = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in _ablation(summary).splitlines()[2:]
    ]
    assert (whole[0], without[0], other[0]) == (names[0], "without kind of file", "priority_kw_plus")
    assert whole[6:] == ["", "", "", ""]
    assert without[1:8] == ["50.0", "50.0", "50.0", "50.0", "25.0", "+2.0", "3"]


def test_where_the_first_generator_misses_nothing_nothing_is_told_of_what_it_misses():
    rate = {"rate": 1.0, "hits": 2, "interval": [0.3, 1.0]}
    row = {"generator": "grep", "candidates": {"mean": 2.0}, "any": rate, "all": rate, "missed": None}
    assert _generators({"generators": [row]}).splitlines()[2].split()[-2:] == ["–", "|"]
