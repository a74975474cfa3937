import shutil
from pathlib import Path

import pytest
from firstpage.core.errors import InputError
from firstpage.scripts.figures import TABLES, main, table

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
