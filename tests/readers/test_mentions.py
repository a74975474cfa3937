import numpy as np
import pytest
from firstpage.core.items import Query
from firstpage.readers.mentions import CODE, TITLE, PathFinder, name_weights, term_weights


def test_a_term_of_the_title_weighs_more():
    weights = term_weights(Query("cache\nthe query"))
    assert weights["cache"] == weights["query"] + TITLE


def test_prose_saturates():
    assert term_weights(Query("title\ncache cache cache"))["cache"] == 2.0


@pytest.mark.parametrize("code", ["```\ncache\n```", "~~~\ncache\n~~~", "    cache", "\tcache", ">>> cache"])
def test_code_weighs_less_than_prose(code):
    assert term_weights(Query(f"title\nprose\n{code}\n"))["cache"] == CODE


def test_a_fence_that_never_closes_runs_to_the_end():
    assert term_weights(Query("title\n```\na\ncache"))["cache"] == CODE


def test_what_an_issue_template_says_is_dropped():
    weights = term_weights(Query("title\n<!-- search first -->\n### Expected behaviour\nit works"))
    assert not {"search", "expected", "behaviour"} & weights.keys()
    assert {"it", "works"} <= weights.keys()


def test_a_comment_in_code_is_no_heading():
    assert "expected" in term_weights(Query("title\n```\n# expected\n```"))


def test_a_heading_that_is_the_title_counts():
    assert term_weights(Query("# Stale cache"))["stale"] == TITLE


def test_identifiers_are_read_by_their_parts_and_as_they_are():
    assert {"get", "query", "set", "get_queryset"} <= term_weights(Query("x\nget_QuerySet")).keys()


def test_a_name_weighs_the_more_the_less_it_reads_like_prose():
    weights = name_weights(Query("get_it QuerySet HTTP Model model"))
    assert (
        weights["get_it"] == weights["QuerySet"] == weights["HTTP"] > weights["Model"] > weights["model"] > 0
    )


@pytest.mark.parametrize("text", ["", " \n\n", "!?", "\ud800", "```", "<!--"])
def test_a_query_without_words_has_no_weights(text):
    assert term_weights(Query(text)) == {}
    assert name_weights(Query(text)) == {}


@pytest.mark.parametrize(
    "text",
    [
        "see pkg/cache.py.",
        "see `cache.py`",
        "https://github.com/o/r/blob/2.x-line/src/pkg/cache.py#L447",
        'File "/usr/lib/python3/site-packages/pkg/cache.py", line 3',
        "C:\\work\\pkg\\cache.py:12",
        "./pkg/cache.py",
    ],
)
def test_a_file_is_found_however_it_is_named(text):
    assert PathFinder(["src/pkg/cache.py", "src/pkg/query.py"]).named(text).tolist() == [1.0, 0.0]


def test_a_name_means_the_paths_that_share_most_of_it():
    assert PathFinder(["a/x.py", "b/x.py"]).named("lib/a/x.py").tolist() == [1.0, 0.0]


def test_slashes_and_backslashes_are_one():
    finder = PathFinder(["a\\x.py", "b/x.py", "x.py"])
    assert finder.named("lib/a/x.py").tolist() == [1.0, 0.0, 0.0]
    assert finder.named("c:\\b\\x.py").tolist() == [0.0, 1.0, 0.0]
    assert finder.named("x.py").tolist() == pytest.approx([1 / 3] * 3)


def test_a_name_that_fits_several_files_is_shared():
    assert PathFinder(["a/x.py", "b/x.py"]).named("x.py").tolist() == [0.5, 0.5]


def test_several_items_of_one_file_do_not_share_its_name():
    assert PathFinder(["a/x.py", "a/x.py", "b.py"]).named("x.py").tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("text", ["", "cache", "x.pyc", ".", "/", "ab/x.p", "\ud800.py", "1.2.3"])
def test_what_names_no_file_finds_none(text):
    finder = PathFinder(["a/x.py", "", "b/cache.py"])
    assert finder.named(text).tolist() == [0.0, 0.0, 0.0]
    assert finder.frames(text).tolist() == [0.0, 0.0, 0.0]


TRACEBACK = """Traceback (most recent call last):
  File "/site/pkg/main.py", line 1, in <module>
    run()
  File "/site/pkg/cache.py", line 2, in run
    get()
  File "/usr/lib/python3/types.py", line 3, in get
TypeError
"""


def test_the_innermost_frame_of_the_files_is_worth_most():
    finder = PathFinder(["pkg/main.py", "pkg/cache.py", "pkg/types.py"])
    assert finder.frames(TRACEBACK).tolist() == [0.5, 1.0, 0.0]


def test_frames_as_pytest_prints_them_are_read():
    text = "pkg/main.py:3: in run\n    get()\npkg/cache.py:4: TypeError"
    assert PathFinder(["pkg/main.py", "pkg/cache.py"]).frames(text).tolist() == [0.5, 1.0]


def test_a_frame_of_the_file_name_alone_is_not_enough():
    assert PathFinder(["types.py"]).frames(TRACEBACK).tolist() == [0.0]


def test_no_paths_find_nothing():
    assert PathFinder([]).named("x.py").shape == (0,)
    assert PathFinder([]).frames(TRACEBACK).shape == (0,)


@pytest.mark.parametrize(
    "part", ["a", "a/", "a.", "`", "<!--", " ", "\n", "# \n", 'File "', ">", "x.py:1:\n", "\\"]
)
def test_a_query_of_100_000_characters_has_finite_weights_and_names_no_file(part):
    query = Query(part * (100_000 // len(part)))
    finder = PathFinder([f"pkg/folder{number}/__init__.py" for number in range(1000)])
    assert np.isfinite([*term_weights(query).values(), *name_weights(query).values()]).all()
    assert not finder.named(query.text).any()
    assert not finder.frames(query.text).any()
