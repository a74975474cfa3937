"""``firstpage value-functions`` as a person runs it."""

import json

from firstpage.readers import DEFAULT, value_functions


def test_each_function_is_listed_with_what_it_does_and_the_default_is_marked(firstpage):
    done = firstpage("value-functions")
    assert (done.status, done.err) == (0, "")
    assert [line.split()[0] for line in done.lines] == value_functions.names()
    assert all(len(line.split(maxsplit=1)[1]) > 10 for line in done.lines)
    assert [line.split()[0] for line in done.lines if line.endswith("(default)")] == [DEFAULT]


def test_json_tells_the_same(firstpage):
    rows = json.loads(firstpage("value-functions", "--json").out)
    assert [row["name"] for row in rows] == value_functions.names()
    lines = firstpage("value-functions").lines
    assert all(row["about"] in line for row, line in zip(rows, lines, strict=True))


def test_those_of_other_packages_are_named_with_their_package(firstpage, plug_in):
    plug_in("mine", "return [1.0] * len(items)")
    last = firstpage("value-functions").lines[-1]
    assert last.startswith("mine ")
    assert last.endswith("  A function of a test. [mine-plug-in]")
    assert json.loads(firstpage("value-functions", "--json").out)[-1] == {
        "name": "mine",
        "package": "mine-plug-in",
        "about": "A function of a test.",
    }


def test_one_that_cannot_be_loaded_says_why_and_hides_no_other(firstpage, plug_in):
    plug_in("broken", "return this is no Python")
    done = firstpage("value-functions")
    assert done.status == 0
    assert len(done.lines) == len(value_functions.names()) + 1
    assert "'broken' of the package 'broken-plug-in' cannot be loaded: " in done.lines[-1]
    named = firstpage("select", "-q", "x", "-f", "broken", given="a.py\n")
    assert named.is_refused("'broken' of the package 'broken-plug-in' cannot be loaded: ", status=1)
