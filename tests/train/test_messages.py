import pytest
from firstpage.train.messages import MOST_CHARACTERS, is_chore, query_of
from hypothesis import given
from hypothesis import strategies as st

QUESTIONS = """
Fix the stale cache on reload
Correctly handle query parameters on s3:// urls
Fix test client that drops its cookies
Add max_bytes parameter to read_until
Remove trailing slash of routes
Use type of the field in errors
Support f-strings in the formatter
Fix line lengths of nested brackets
Test client drops all cookies
Sort candidates by their score
Docs button opens the wrong page
fix(cache): keep what was read
Import hooks are called twice
Remove defaults filter for namespace
Lint rules are applied twice
""".strip().split("\n")

CHORES = """
Fix typo in the docs of the parser
Fixed some typos in comments
Run black on the code base
Fix all flake8 lint errors
Make flake8 happy
Reformat code with black 22.1
Remove trailing whitespace
Remove unused imports
Sort imports
PEP8 adjustments in this module
Update docs for the new client
Add tests for the new client
Added test coverage for the parser
docs: explain how it works at length
chore(ci): run it on each push
style: one line for each argument
[docs] mention the other parser here
Update contributors and release notes
More typing for the utilities
Convert legacy string formatting to f-strings: isort
Cosmetics
Minor cleanup
""".strip().split("\n")


@pytest.mark.parametrize("subject", QUESTIONS)
def test_what_is_asked_is_a_query(subject):
    assert query_of(f"{subject}\n\nWith a body of a few words.") == (
        f"{subject}\n\nWith a body of a few words.",
        "",
    )


@pytest.mark.parametrize("subject", CHORES)
def test_chores_are_none(subject):
    assert query_of(f"{subject}\n\nWith a body of a few words.") == ("", "chore")


@pytest.mark.parametrize(
    "subject", ['Revert "Mend it"', "Bump version to 1.2.3", "Release 1.2.3", "fixup! Mend the cache"]
)
def test_what_asks_nothing_is_none(subject):
    assert query_of(f"{subject}\n\nWith a body of a few words.") == ("", "asks nothing")


@pytest.mark.parametrize(
    "message",
    [
        "",
        "\n \n",
        "Fixes #12",
        "#12, #13",
        "GH-12",
        "PROJ-123",
        "Closes: https://example.org/i/1",
        "Mend it",
        "漢",
        "Fix #12345\n\nSigned-off-by: A Person <a@example.org>",
        "12345",
        "(#12)",
    ],
)
def test_tickets_and_a_few_words_ask_nothing(message):
    query, reason = query_of(message)
    assert query == ""
    assert reason in {"few words", "chore"}


@pytest.mark.parametrize(
    "line",
    [
        "Closes #7",
        "- Fixes: #12, #13 and #14",
        "Fixes GH-12.",
        "Refs https://example.org/issues/1",
        "----------",
        "See merge request group/project!12",
        "- [x] I have read the guide",
        "[skip ci]",
        "<!-- Thank you! -->",
        "Original-commit-link: https://example.org/c/1",
        "* [pre-commit.ci] auto fixes",
        "* Merge branch 'main' into x",
        "* update docs",
        "* Fix typo",
        "* Keep the cache after a reload (#12)",
        "* ",
        "A. Person <a@example.org>",
        "Co-authored-by: A Person <a@example.org>",
        "git-svn-id: https://example.org/svn@12",
    ],
)
def test_lines_that_keep_books_go(line):
    message = f"Keep the cache after a reload (#12)\n\nIt was lost.\n\n{line}\n"
    assert query_of(message) == ("Keep the cache after a reload\n\nIt was lost.", "")


@pytest.mark.parametrize(
    "line",
    [
        "See the cache for #7 and why",
        "Fixes the cache of #12",
        "- the cache is lost",
        "    indented = code",
        "2 + 2",
        "Before: the cache is lost",
        "> quoted text of the issue",
        "Traceback (most recent call last):",
    ],
)
def test_lines_that_tell_something_stay(line):
    message = f"Keep the cache after a reload\n\nIt was lost.\n{line}"
    assert query_of(message) == (message, "")


def test_an_issue_quoted_in_a_squashed_message_is_kept_whole():
    issue = (
        "Cache is stale on Windows\n\n## Steps\n\n1. Start it\n2. Reload\n\n```python\nimport cache\n\n\n"
        "cache.get('x')\n```\n\n> It says: stale!\n\nTraceback (most recent call last):\n"
        "  File \"a.py\", line 3, in <module>\nKeyError: 'x'"
    )
    query, _ = query_of(
        f"{issue}\n\n* fix tests\n\n* address review comments\n\nCo-authored-by: B <b@example.org>"
    )
    assert query == issue.replace("\n\n\n", "\n\n")


@pytest.mark.parametrize(
    "heading",
    [
        "Merge pull request #12 from someone/topic",
        "Merge branch 'topic' into 'main'",
        "Merge PR #12 into main",
        "Merged in topic (pull request #3)",
        "Merge #12",
        "Merge remote-tracking branch 'a/b'",
    ],
)
def test_a_merge_request_is_what_stands_under_its_heading(heading):
    body = "Keep the cache after a reload\n\nIt was lost."
    assert query_of(f"{heading}\n\n{body}\n\nSee merge request a/b!12", merge=True) == (body, "")
    assert query_of(f"{heading}\n", merge=True) == ("", "merge")
    assert query_of(f"{heading}\n\nConflicts:\n\ta/b.py\n\tc.py\n", merge=True) == ("", "merge")
    assert query_of(f"{heading}\n\n# Conflicts:\n#\ta/b.py\n", merge=True) == ("", "merge")


def test_merge_is_also_a_word():
    assert query_of("Merge sort is slow on sorted input", merge=True) == (
        "Merge sort is slow on sorted input",
        "",
    )


@pytest.mark.parametrize(
    "subject",
    [
        "{} (fix #12)",
        "{}. Closes #7",
        "{} (#3) (#4)",
        "{} [GH-12]",
        "{} -- refs PROJ-1",
        "[MRG+1] {}",
        "[WIP]: {} (#1)",
    ],
)
def test_a_subject_loses_its_tickets_and_the_state_of_its_review(subject):
    assert query_of(subject.format("Keep the cache after a reload")) == ("Keep the cache after a reload", "")


def test_a_conversion_s_notes_are_cut_off():
    assert query_of("Move the renderer to a package\n\n--HG--\nextra : convert_revision : 12") == (
        "Move the renderer to a package",
        "",
    )


def test_what_is_too_long_to_be_asked_is_none():
    assert query_of("Keep the cache after a reload\n\n" + "word " * MOST_CHARACTERS) == ("", "long")
    assert query_of("Keep the cache after a reload\n\n" + "word " * 3000)[1] == ""


@given(st.text(st.sampled_from("ab#1(), \n*-:/.[]<>!'\"漢\udc80\r")))
def test_whatever_the_message_there_is_either_a_query_or_a_reason(message):
    query, reason = query_of(message)
    assert bool(query) != bool(reason)
    if query:
        assert query == query.strip()
        assert query_of(query) == (query, "")  # nothing is left to take out
    assert is_chore(message) in {True, False}


@pytest.mark.parametrize(
    "text", ["* " * 20_000, "#1, " * 20_000, "fix " * 20_000, "<!--" * 20_000, "(#1" * 20_000]
)
def test_long_messages_take_no_long_time(text):
    query_of(f"{text}\n{text}")
