import subprocess
import sys
import venv

import pytest
from firstpage.core.errors import InputError
from firstpage.core.registry import Registry
from firstpage.core.values import ValueFunction
from firstpage.readers import DEFAULT, value_functions

PLUGIN = {
    "pyproject.toml": """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "firstpage-shortest"
version = "1.0"
[project.entry-points."firstpage.value_functions"]
shortest = "firstpage_shortest:Shortest"
broken = "firstpage_shortest:Broken"
fifo = "firstpage_shortest:Shortest"
[tool.setuptools]
py-modules = ["firstpage_shortest"]
""",
    "firstpage_shortest.py": '''
class Shortest:
    """The shorter the better."""

    name = "shortest"

    def values(self, query, items):
        import numpy as np

        return np.array([1 / (1 + len(item.text)) for item in items])


class Broken:
    def __init__(self):
        raise ValueError("its model is missing")
''',
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A new environment that sees this one's packages and has the plug-in installed."""
    folder = tmp_path_factory.mktemp("third-party")
    for name, text in PLUGIN.items():
        (folder / name).write_text(text)
    venv.create(folder / "env", with_pip=False, symlinks=True)
    python = folder / "env" / "bin" / "python"
    (site,) = (folder / "env" / "lib").glob("python*/site-packages")
    here = [path for path in sys.path if path.endswith("site-packages")]
    (site / "shared.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in here))
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index",
         "--no-build-isolation", folder],
        check=True,
    )  # fmt: skip

    def firstpage(*arguments: str, answer: str = "") -> subprocess.CompletedProcess[str]:
        call = "from firstpage.scripts.cli import main; main()"
        return subprocess.run([python, "-c", call, *arguments], input=answer, capture_output=True, text=True)

    return firstpage


def test_a_value_function_of_another_package_is_used_by_its_name(environment):
    done = environment("select", "-q", "anything", "-f", "shortest", answer="long/path.py\na.py\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n")[:2] == ["a.py", "long/path.py"]


def test_it_is_listed_with_its_package(environment):
    done = environment("value-functions")
    assert "shortest          The shorter the better. [firstpage-shortest]" in done.stdout


def test_one_that_cannot_be_made_is_named_with_its_package_in_one_sentence(environment):
    done = environment("select", "-q", "anything", "-f", "broken", answer="a.py\n")
    assert done.returncode == 1
    assert done.stderr == (
        "firstpage: the value function 'broken' of the package 'firstpage-shortest' cannot be loaded: "
        "its model is missing\n"
    )


def test_a_name_of_firstpages_own_stays_its_own(environment):
    done = environment("select", "-q", "anything", "-f", "fifo", answer="long/path.py\na.py\n")
    assert done.stdout.split("\n")[:2] == ["long/path.py", "a.py"]


OUR_OWN = ["fifo", "random", "reversed", "priority_kw", "priority_kw_plus", "priority_all", "bm25", "hybrid"]


@pytest.mark.parametrize("name", OUR_OWN)
def test_every_name_makes_a_value_function_of_that_name(name):
    function = value_functions.create(name)
    assert isinstance(function, ValueFunction)
    assert function.name == name
    assert name in value_functions.names()
    assert value_functions.origin(name) == "firstpage"


def test_the_default_is_registered():
    assert DEFAULT in value_functions.names()


@pytest.mark.parametrize(
    ("wrong", "right"), [("hybird", "hybrid"), ("priority-kw", "priority_kw"), ("BM25", "bm25")]
)
def test_an_unknown_name_is_answered_with_the_nearest(wrong, right):
    with pytest.raises(InputError, match=f"there is no value function '{wrong}'; did you mean '{right}'"):
        value_functions.create(wrong)


def test_a_name_near_nothing_is_answered_with_all_names():
    registry: Registry[object] = Registry("firstpage.nothing", "thing", {"alpha": "x:y", "beta": "x:y"})
    with pytest.raises(InputError, match="there is no thing 'zzz'; there are alpha, beta"):
        registry.create("zzz")


def test_what_is_not_installed_is_not_listed_and_says_why_when_it_is_asked_for():
    registry = Registry(
        "firstpage.none", "thing", {"list": "builtins:list", "set": "builtins:set"}, unlisted=("set",)
    )
    assert registry.names() == ["list"]
    assert registry.create("set") == set()
    with pytest.raises(InputError, match="no thing 'lst'; did you mean 'list'"):
        registry.create("lst")


def test_weights_of_a_folder_take_the_place_of_those_that_ship():
    registry = Registry("firstpage.none", "thing", {"path": "pathlib:Path"}, {"path": "pathlib:Path"})
    assert (str(registry.create("path")), str(registry.create("path@some/where"))) == (".", "some/where")
