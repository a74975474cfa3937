"""``firstpage select`` as a person runs it, on what real tools print."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

NOTE = re.compile(
    r"\[firstpage: page (?P<page>\d+) of (?P<pages>\d+), (?P<shown>\d+) of (?P<all>\d+) items shown, "
    r"(?P<left>\d+) left.*\]"
)
QUESTION = "the cache is stale after a reload"


def cost(page: bytes) -> int:
    """Tokens by chars4."""
    return -(-len(page.decode("utf-8", "surrogateescape")) // 4)


@pytest.fixture(scope="session")
def shop(make_repository):
    """A repository of forty files; of all, the body of ``shop/m17.py`` is what `QUESTION` is about."""
    repository = make_repository()
    files = {f"shop/m{number:02}.py": f"import os\n\nPRICE = {number}\n" for number in range(38)}
    files["shop/m17.py"] = (
        "import os\n\ndef reload_cache():\n    drop_stale(cache)  # stale cache after reload\n"
    )
    files["shop/cache.py"] = "import os\n\nSIZE = 3\n"
    files["notes of 'today'.md"] = "import nothing\n"
    repository.commit("Open the shop", files)
    return repository


@pytest.fixture(scope="session")
def hits(shop) -> str:
    return shop.git("grep", "-n", "import") + "\n"


def test_the_page_of_a_search_starts_with_the_file_that_the_query_is_about(firstpage, hits):
    done = firstpage("select", "--query", QUESTION, "--budget", "100", given=hits)
    *rows, last = done.lines
    assert (done.status, done.err) == (0, "")
    assert rows[0] == "shop/cache.py:1:import os"
    assert set(rows) < set(hits.splitlines())
    note = NOTE.fullmatch(last)
    assert note is not None
    assert (note["page"], int(note["shown"]), int(note["left"])) == ("1", len(rows), 40 - len(rows))
    assert note["all"] == "40"
    assert last.endswith("left: --page 2]")
    assert cost(done.out) <= 100


def test_with_a_root_the_bodies_are_read_and_rank_first(firstpage, hits, shop):
    asked = ("select", "-q", "drop_stale reload", "-b", "100", "-f", "hybrid", "--json")
    without, within = (
        json.loads(firstpage(*asked, *more, given=hits).out) for more in ((), ("--root", shop.folder))
    )
    assert within["items"][0]["path"] == "shop/m17.py"
    assert within["items"][0]["value"] > 0
    assert all(item["value"] == 0 for item in without["items"])
    assert within["items"][0]["text"] == "shop/m17.py:1:import os"  # the body is scored, not shown


def test_nothing_outside_the_root_is_read(firstpage, shop, tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "secret.py").write_text("drop_stale reload")
    (tmp_path / "root" / "link.py").symlink_to("../secret.py")
    (tmp_path / "root" / "inside.py").write_text("drop_stale reload")
    listed = f"link.py\n../secret.py\n{tmp_path}/secret.py\n/etc/hostname\ninside.py\n"
    asked = ("select", "-q", "drop_stale reload", "-f", "hybrid", "--json")
    done = firstpage(*asked, "--root", tmp_path / "root", given=listed)
    values = {item["path"]: item["value"] for item in json.loads(done.out)["items"]}
    assert len(values) == 5
    assert [path for path, value in values.items() if value] == ["inside.py"]


@pytest.mark.parametrize(("options", "first"), [((), "shop/cache.py"), (("--root", "."), "shop/m17.py")])
def test_the_learned_ranker_goes_by_bodies_where_it_has_them_and_by_paths_else(
    firstpage, shop, options, first
):
    listed = shop.git("ls-files", "*.py") + "\n"
    asked = ("select", "-q", QUESTION, "-b", "60", "-f", "fused", *options)
    assert firstpage(*asked, given=listed, cwd=shop.folder).lines[0] == first


def test_names_with_a_nul_after_each_stay_so(firstpage, shop):
    listed = subprocess.run(
        ["find", ".", "-name", "*.py", "-print0"], cwd=shop.folder, capture_output=True, check=True
    ).stdout
    done = firstpage("select", "-q", QUESTION, "-b", "80", given=listed)
    *names, note, nothing = done.out.split(b"\0")
    assert names[0] == b"./shop/cache.py"
    assert set(names) < set(listed.split(b"\0"))
    assert NOTE.fullmatch(note.decode())
    assert (nothing, b"\n" in done.out) == (b"", False)


@pytest.mark.parametrize("options", [[], ["-z"]])
def test_odd_names_are_read_and_shown_as_git_writes_them(firstpage, repository, options):
    names = ["new\nline.py", 'quo"te.py', "tab\t.py", "ünï.py", "sp ace.py", "stale.py"]
    repository.commit("Add odd names", dict.fromkeys(names, "x") | {"tab\t.py": "def reload(): stale()"})
    listed = subprocess.run(
        ["git", "ls-files", *options], cwd=repository.folder, capture_output=True, check=True
    ).stdout
    asked = ("select", "-q", "reload stale", "--form", "paths", "--root", repository.folder, "--json")
    shown = json.loads(firstpage(*asked, given=listed).out)
    assert {item["path"] for item in shown["items"]} == set(names)
    assert shown["items"][0]["path"] == "tab\t.py"
    end = "\0" if options else "\n"
    *texts, note, nothing = shown["text"].split(end)
    assert sorted(texts) == sorted(listed.decode().split(end)[:-1])
    assert (NOTE.fullmatch(note) is not None, nothing) == (True, "")


@pytest.fixture(scope="session")
def patch(shop) -> bytes:
    for number in range(12):
        (shop.folder / f"shop/m{number:02}.py").write_text(f"import os\n\nPRICE = {number}  # stale\n")
    (shop.folder / "shop/m05.py").write_text("import os\n\ndef cache():\n    return 'stale reload'\n")
    made = subprocess.run(["git", "diff"], cwd=shop.folder, capture_output=True, check=True).stdout
    shop.git("checkout", "--quiet", ".")
    return made


def test_a_page_of_a_diff_still_applies(firstpage, shop, patch):
    done = firstpage("select", "-q", "the cache after a reload", "-b", "200", given=patch)
    assert done.out.startswith(b"diff --git a/shop/m05.py b/shop/m05.py\n")
    shown = done.out.count(b"diff --git")
    assert 0 < shown < 12
    check = ["git", "apply", "--numstat", "--check", "-"]
    applied = subprocess.run(check, cwd=shop.folder, input=done.out, capture_output=True, check=True)
    assert applied.stdout.count(b"\n") == shown
    assert cost(done.out) <= 200


def test_over_all_pages_every_item_is_shown_exactly_once(firstpage, hits):
    asked = ("select", "-q", QUESTION, "-b", "90", "--json")
    first = json.loads(firstpage(*asked, given=hits).out)
    pages = [first] + [
        json.loads(firstpage(*asked, "--page", str(number), given=hits).out)
        for number in range(2, first["pages"] + 1)
    ]
    assert len(pages) >= 3
    shown = [item["text"] for page in pages for item in page["items"]]
    assert sorted(shown) == sorted(hits.splitlines())
    assert [page["left"] for page in pages] == [
        40 - sum(len(earlier["items"]) for earlier in pages[: number + 1]) for number in range(len(pages))
    ]
    assert all(page["tokens"] == cost(page["text"].encode()) <= 90 for page in pages)
    beyond = firstpage(*asked, "--page", str(len(pages) + 1), given=hits)
    assert beyond.is_refused(f"there is no page {len(pages) + 1}; the answer has {len(pages)} pages")


def test_json_tells_what_the_text_shows(firstpage, hits):
    asked = ("select", "-q", QUESTION, "-b", "100", "-f", "bm25")
    shown, told = firstpage(*asked, given=hits), json.loads(firstpage(*asked, "--json", given=hits).out)
    assert told["text"].encode() == shown.out
    assert [item["text"] for item in told["items"]] == shown.lines[:-1]
    assert (told["page"], told["form"], told["budget"]) == (1, "hits", 100)
    assert (told["tokens_by"], told["value_function"]) == ("chars4", "bm25")
    assert told["tokens"] == cost(shown.out)
    values = [item["value"] for item in told["items"]]
    assert values == sorted(values, reverse=True)
    assert sum(item["cost"] for item in told["items"]) <= 100


def test_an_item_is_printed_whole_whatever_it_costs(firstpage):
    given = json.dumps([{"n": 1, "body": "x" * 4000}, {"n": 2}])
    page = firstpage("select", "-q", "x", "-b", "60", given=given)
    assert b"--item 1 (" in page.out
    assert b"xxxx" not in page.out
    whole = firstpage("select", "-q", "x", "-b", "60", "--item", "1", given=given)
    *items, note = json.loads(whole.out)
    assert items == [{"n": 1, "body": "x" * 4000}]
    assert note == {"firstpage": "[firstpage: item 1 alone, the last above the budget]"}
    told = json.loads(firstpage("select", "-q", "x", "-b", "60", "--item", "1", "--json", given=given).out)
    assert (told["page"], [item["id"] for item in told["items"]]) == (None, ["1"])
    assert firstpage("select", "-q", "x", "--item", "9", given=given).is_refused("the answer has no item '9'")
    fits = firstpage("select", "-q", "x", "-b", "60", "--item", "2", given=given)
    assert json.loads(fits.out) == [{"n": 2}]


def test_all_items_above_the_budget_are_reached_by_following_the_notes(firstpage):
    given = "".join(f"src/{letter}.py:1:{letter * 2000}\n" for letter in "abcde") + "src/f.py:2:stale\n"
    asked = ("select", "-q", "stale", "-b", "100", "-f", "hybrid")
    said = firstpage(*asked, given=given).lines[-1]
    assert "5 items are above the budget: --item 1 (503 tokens), then 2, 3 and 2 more]" in said
    shown = []
    while more := re.search(r"above the budget: (--item \d+) ", said):
        *hits, said = firstpage(*asked, *more[1].split(), given=given).lines
        shown += hits
    assert shown == given.splitlines()[:5]
    assert said == "[firstpage: item 5 alone, the last above the budget]"


def test_the_learned_ranker_s_notes_lead_to_all_items_too(firstpage):
    given = "".join(f"src/{letter}.py:1:{letter * 2000}\n" for letter in "abcde") + "src/f.py:2:stale\n"
    asked = ("select", "-q", "stale", "-b", "100", "-f", "fused")
    page, said = firstpage(*asked, given=given).lines
    assert page == "src/f.py:2:stale"
    shown = []
    while more := re.search(r"above the budget: (--item \d+) ", said):
        *hits, said = firstpage(*asked, *more[1].split(), given=given).lines
        shown += hits
    assert sorted(shown) == given.splitlines()[:5]
    assert said.endswith("alone, the last above the budget]")


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    """A proxy that nobody listens at, and an empty cache."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "empty"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


def test_without_the_vocabulary_chars4_counts_if_asked_to_and_that_is_said(firstpage, no_network):
    pytest.importorskip("tiktoken")
    asked = ("select", "-q", "x", "--tokens", "tiktoken:p50k_edit", "--json")
    assert firstpage(*asked, given="a.py\n").is_refused("is not on this machine", status=1)
    done = firstpage(*asked, "--fall-back", given="a.py\n")
    assert (done.status, json.loads(done.out)["tokens_by"]) == (0, "chars4")
    assert done.err.startswith(
        "firstpage: chars4 counts instead: the vocabulary of tiktoken's 'p50k_edit' is"
    )
    assert done.err.count("\n") == 1


def test_a_missing_package_and_an_unknown_encoding_are_refused_in_any_case(in_process, monkeypatch):
    asked = ("select", "-q", "x", "--fall-back", "--tokens")
    if importlib.util.find_spec("tiktoken"):
        assert in_process(*asked, "tiktoken:nonsense", given="a.py\n").is_refused("no encoding 'nonsense'")
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    done = in_process(*asked, "tiktoken:o200k_base", given="a.py\n")
    assert done.is_refused("pip install 'firstpage[tokens]'", status=1)


def test_a_query_that_starts_with_an_at_sign_is_written_with_two(firstpage):
    done = firstpage("select", "-q", "@@cache", "-f", "bm25", "--json", given="src/a.py\nsrc/cache.py\n")
    told = json.loads(done.out)["items"]
    assert told[0]["path"] == "src/cache.py"
    assert told[0]["value"] > 0


def test_a_budget_that_holds_the_whole_answer_is_enough(firstpage):
    done = firstpage("select", "-q", "x", "-b", "30", given="a.py\nb.py\n")
    assert sorted(done.lines[:-1]) == ["a.py", "b.py"]
    assert done.lines[-1] == "[firstpage: page 1 of 1, 2 of 2 items shown, 0 left]"


def test_the_query_may_come_from_a_file_and_the_answer_too(firstpage, hits, tmp_path):
    (tmp_path / "issue.txt").write_bytes(QUESTION.encode() + b"\n\nIt is caf\xe9.\n")
    (tmp_path / "answer").write_text(hits)
    done = firstpage("select", "-q", "@issue.txt", "-b", "100", "answer", cwd=tmp_path)
    assert done.lines[0] == "shop/cache.py:1:import os"


def test_a_budget_in_another_counter_holds_too(firstpage, hits):
    done = firstpage("select", "-q", QUESTION, "-b", "200", "--tokens", "rows", given=hits)
    assert sum(30 + max(1, len(line) // 4) for line in done.lines) <= 200


# What each of these gives, note and all, with a budget that holds everything.
INPUTS = {
    "binary bytes": bytes(range(256)) * 4 + b"\n",
    "invalid UTF-8": b"src/caf\xe9.py\nsrc/\xff\xfe.py\nsrc/a.py\n",
    "CRLF": b"src/a.py\r\nsrc/b.py\r\n",
    "Windows paths": b"C:\\src\\a.py\nC:\\src\\b.py\nlib\\c.py\n",
    "a thousand equal items": b"src/a.py\n" * 1000,
    "no newline at the end": b"src/a.py\nsrc/b.py",
    "half a surrogate pair in UTF-8": b"src/\xed\xa0\x80.py\nsrc/b.py\n",
    "JSON": b'{"total": 2, "items": [{"a": 1}, {"a": "\\ud800"}]}\n',
    "a carriage return in a line": b"src/a.py:1:x\ry\nsrc/b.py:2:z\n",
}


@pytest.mark.parametrize("given", INPUTS.values(), ids=INPUTS)
def test_what_fits_comes_through_byte_for_byte(firstpage, given):
    done = firstpage("select", "-q", "nothing of this", "-b", "100000", "-f", "fifo", given=given)
    kept = [line for line in re.split(rb"(?<=[\n\0])", done.out) if b"[firstpage: " not in line]
    assert (done.status, done.err) == (0, "")
    if given.startswith(b"{"):
        assert b'"items": [{"a": 1}, {"a": "\\ud800"}]' in done.out
    else:
        assert b"".join(kept).rstrip(b"\r\n") == given.rstrip(b"\r\n")
    assert done.out.count(b"[firstpage: page 1 of 1, ") == 1


@pytest.mark.parametrize("given", [b"", b"\r\n\r\n", b"[]"])
def test_an_empty_answer_is_an_empty_page(firstpage, given):
    done = firstpage("select", "-q", "anything", given=given)
    assert (done.status, done.err) == (0, "")
    assert b"[firstpage: page 1 of 1, 0 of 0 items shown, 0 left]" in done.out


def test_a_megabyte_on_one_line_is_named_and_had_alone(firstpage):
    given = b"src/a.py:1:" + b"x" * 1_000_000 + b"\nsrc/b.py:2:stale\n"
    done = firstpage("select", "-q", "stale", given=given)
    assert done.lines[0] == "src/b.py:2:stale"
    assert "1 item is above the budget: --item 1 (2500" in done.lines[-1]
    alone = firstpage("select", "-q", "stale", "--item", "1", given=given).out
    assert alone == given[:1_000_012] + b"[firstpage: item 1 alone, the last above the budget]\n"


def test_a_thousand_equal_items_keep_their_order(firstpage):
    done = firstpage("select", "-q", "of the and", "-b", "100", "--json", given="same.py\n" * 1000)
    told = json.loads(done.out)
    assert [item["id"] for item in told["items"]] == [
        str(place) for place in range(1, len(told["items"]) + 1)
    ]
    assert told["left"] == 1000 - len(told["items"]) > 0


@pytest.mark.parametrize("function", ["hybrid", "priority_kw"])
def test_a_query_of_stop_words_alone_is_answered(firstpage, function, hits):
    done = firstpage("select", "-q", "the of and", "-b", "100", "-f", function, given=hits)
    assert (done.status, done.err) == (0, "")
    assert len(done.lines) > 1


REFUSED = {
    "an unknown function": (["-f", "hybird"], ["value function 'hybird'", "did you mean 'hybrid'?"]),
    "an unknown form": (["--form", "path"], ["'path' is no form", "did you mean 'paths'?"]),
    "an unknown counter": (["--tokens", "char4"], ["'char4' is no token counter", "use chars4"]),
    "an unknown option": (["--bugdet", "9"], ["--bugdet", "--budget"]),
    "a budget below the last line": (["-b", "10"], ["the budget of 10 tokens", "give at least "]),
    "a budget that is no number": (["-b", "many"], ["--budget", "'many'"]),
    "a negative budget": (["-b", "-1"], ["--budget"]),
    "page 0": (["--page", "0"], ["--page"]),
    "an item and a page": (["--item", "1", "--page", "1"], ["--item", "--page"]),
    "page 2 of 1": (["--page", "2"], ["there is no page 2; the answer has 1 page"]),
    "an array in no JSON": (["--array", "/items"], ["JSON"]),
    "a missing query file": (["-q", "@nowhere"], ["--query cannot read the file 'nowhere': No such file"]),
    "a folder as query": (["-q", "@."], ["--query cannot read the file '.'"]),
    "a file as folder": (["-q", "@answer/x"], ["--query cannot read the file 'answer/x'"]),
    "a missing answer": (["nowhere"], ["'nowhere'", "No such file"]),
    "a folder as answer": (["."], ["'.'", "directory"]),
    "a link to itself": (["loop"], ["'loop'"]),
    "a missing root": (["--root", "nowhere"], ["--root must name a folder", "'nowhere'"]),
    "a file as root": (["--root", "answer"], ["--root must name a folder", "'answer'"]),
    "two answers": (["answer", "answer"], ["answer"]),
}


@pytest.mark.parametrize(("options", "said"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_one_sentence(in_process, tmp_path, options, said):
    (tmp_path / "answer").write_text("a.py\nb.py\n")
    (tmp_path / "loop").symlink_to("loop")
    query = [] if "-q" in options else ["-q", "x"]
    assert in_process("select", *query, *options, given="a.py\nb.py\n", cwd=tmp_path).is_refused(*said)


def test_without_a_query_the_option_is_named(firstpage):
    assert firstpage("select", given="a.py\n").is_refused("--query")


def test_the_least_budget_that_is_named_is_enough(firstpage, hits):
    said = firstpage("select", "-q", "x", "-b", "1", given=hits).err
    least = re.search(r"give at least (\d+)", said)
    assert least is not None
    done = firstpage("select", "-q", "x", "-b", least[1], given=hits)
    assert done.status == 0
    assert cost(done.out) <= int(least[1])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_is_named(firstpage, tmp_path):
    (tmp_path / "answer").write_text("a.py\n")
    (tmp_path / "answer").chmod(0)
    assert firstpage("select", "-q", "x", tmp_path / "answer").is_refused("Permission denied")


def test_an_array_is_found_by_its_place_or_the_places_are_listed(firstpage):
    given = json.dumps({"data": {"items": [{"t": "one"}, {"t": "stale"}], "labels": ["a"] * 50}})
    done = firstpage("select", "-q", "stale", "--array", "data.items", "-f", "bm25", "--json", given=given)
    assert [json.loads(item["text"]) for item in json.loads(done.out)["items"]] == [
        {"t": "stale"},
        {"t": "one"},
    ]
    wrong = firstpage("select", "-q", "x", "--array", "/data/item", given=given)
    assert wrong.is_refused("the JSON has no 'item' at '/data'", "'items', 'labels'")
    assert firstpage("select", "-q", "x", "--array", "/data", given=given).is_refused("no array at '/data'")


def test_a_function_of_another_package_is_used_and_its_faults_are_sentences(firstpage, plug_in, hits):
    plug_in("last", "return list(range(len(items)))")
    plug_in("wrong", "return [float('nan')] * len(items)")
    plug_in("fails", "raise KeyError('a\\nb')")
    done = firstpage("select", "-q", "x", "-b", "60", "-f", "last", given=hits)
    assert done.lines[0] == hits.splitlines()[-1]
    wrong = firstpage("select", "-q", "x", "-f", "wrong", given=hits)
    assert wrong.is_refused("'wrong' gave the value nan to the item", status=1)
    assert firstpage("select", "-q", "x", "-f", "fails", given=hits).is_refused("KeyError", status=1)


def test_a_page_can_be_paged_again(firstpage, hits):
    first = firstpage("select", "-q", QUESTION, "-b", "200", given=hits)
    again = firstpage("select", "-q", QUESTION, "-b", "200", given=first.out)
    assert again.lines[:-1] == first.lines[:-1]
    note = NOTE.fullmatch(again.lines[-1])
    assert note is not None
    assert (note["pages"], int(note["all"])) == ("1", len(first.lines) - 1)


def test_the_answer_is_read_in_any_folder(firstpage, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    assert firstpage("select", "-q", "b", given="a.py\nb.py\n", cwd=tmp_path / "empty").lines[0] == "b.py"


def test_json_names_what_is_above_the_budget_and_does_not_print_it(firstpage):
    big = "x" * 5000
    done = firstpage("select", "-q", "small", "-b", "100", "--json", given=f"small\n\n{big}\n")
    report = json.loads(done.out)
    assert [row["text"] for row in report["items"]] == ["small"]
    assert [(row["id"], row["cost"]) for row in report["oversized"]] == [("2", 1251)]
    assert big not in done.out.decode()
