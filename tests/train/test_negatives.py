import gzip
import json
import random
import re
import shutil

import pytest
from firstpage.core.errors import InputError
from firstpage.train import negatives as module
from firstpage.train.examples import Recipe, Tally
from firstpage.train.history import mine_histories
from firstpage.train.negatives import mine_negatives, rows_by_repository
from firstpage.train.similarity import Similarity

CACHE = "import os\n\n\nclass Cache:\n    def reload(self):\n        return 'stale'\n"
FILES = {
    "src/cache.py": CACHE,
    "src/page.py": "def page(cache):\n    return 'a page of the cache, reload it'\n",
    "src/token.py": "def token():\n    return 'parse token'\n",
    "src/disk/write.py": "def write():\n    return 'keep the stale disk'\n",
    "lib/query.py": "def query():\n    return 'the query of a store'\n",
    "tests/test_cache.py": "from src.cache import Cache  # reload the stale cache\n",
    "vendor/cache.py": "# reload the stale cache\n",
}
QUERY = "The cache is stale after a reload"


@pytest.fixture
def grown(repository):
    """``lib/query.py`` changed together with the cache once; the last commit changes the cache alone."""
    repository.commit("The root asks nothing", FILES)
    repository.commit(
        "Write the query", {"src/cache.py": f"{CACHE}# 1\n", "lib/query.py": "query = 'store'\n"}
    )
    repository.commit(QUERY, {"src/cache.py": f"{CACHE.replace('stale', 'new')}# 1\n"})
    return repository


def row(repository, *paths, query=QUERY, commit="HEAD", lines=((5, 6),), tests=(), beside=(), repo="o/n"):
    name = repository.git("rev-parse", commit)
    return {
        "source": "history", "id": name[:12], "repo": repo, "commit": name,
        "parent": repository.git("rev-parse", f"{commit}~1"), "query": query,
        "files": [{"path": path, "lines": [list(pair) for pair in lines], "functions": []} for path in paths],
        "tests": list(tests), "beside": list(beside),
    }  # fmt: skip


@pytest.fixture
def mine(tmp_path):
    """Mines rows; the examples and the summary."""

    def run(repository, *rows, out="examples.jsonl", model=None, progress=None, **options):
        kinds = options.pop("kinds", [kind for kind in Recipe().kinds if model or kind != "dense"])
        asked = {}
        for one in rows:
            asked.setdefault(one["repo"], []).append(one)
        places = dict.fromkeys(asked, getattr(repository, "folder", repository))
        recipe = Recipe(kinds=kinds, **options)
        summary = mine_negatives(asked, places, tmp_path / out, model, recipe, progress=progress)
        content = (tmp_path / out).read_bytes()
        content = gzip.decompress(content) if out.endswith(".gz") else content
        return [json.loads(line) for line in content.splitlines()], summary

    return run


def path_of(document):
    """The path in a document's header."""
    header = document.partition("\n")[0]
    return next(path for path in sorted(FILES, key=len, reverse=True) if path in header)


def paths_by_kind(example):
    found = {}
    for kind, document in zip(example["kinds"], example["negatives"], strict=True):
        found.setdefault(kind, []).append(path_of(document))
    return found


def test_an_example_is_a_query_the_chunk_that_was_changed_and_others(mine, grown):
    (example,), summary = mine(grown, row(grown, "src/cache.py"))
    assert list(example) == ["source", "id", "repo", "query", "positive", "negatives", "kinds"]
    assert (example["source"], example["repo"], example["query"]) == ("history", "o/n", QUERY)
    assert path_of(example["positive"]) == "src/cache.py"
    assert "return 'stale'" in example["positive"]  # of the parent commit
    assert paths_by_kind(example) == {
        "bm25": ["src/page.py", "src/disk/write.py"],
        "folder": ["src/token.py"],
        "cochanged": ["lib/query.py", "tests/test_cache.py"],
    }
    assert (summary["rows"], summary["pairs"], summary["examples"]) == (1, 1, 1)
    assert summary["negatives"] == {"bm25": 2, "cochanged": 2, "folder": 1}


@pytest.mark.parametrize(
    ("kind", "paths"),
    [
        ("bm25", {"src/page.py", "src/disk/write.py", "lib/query.py", "tests/test_cache.py"}),
        ("folder", {"src/page.py", "src/token.py"}),
        (
            "cochanged",
            {"lib/query.py", "src/page.py", "src/token.py", "src/disk/write.py", "tests/test_cache.py"},
        ),
    ],
)
def test_each_kind_finds_its_own(mine, grown, kind, paths):
    asked = row(grown, "src/cache.py", query=f"{QUERY}, query")
    (example,), _ = mine(grown, asked, kinds=[kind])
    assert set(example["kinds"]) == {kind}
    assert set(map(path_of, example["negatives"])) == paths


def test_dense_negatives_are_the_nearest_below_the_margin(mine, grown, bi_encoder):
    asked = row(grown, "src/cache.py", query=f"{QUERY}: a token, the query and a page")
    (near,), summary = mine(grown, asked, kinds=["dense"], model=bi_encoder, margin=9.0)
    assert (set(near["kinds"]), summary["too_near"]) == ({"dense"}, 0)
    (below,), summary = mine(grown, asked, kinds=["dense"], model=bi_encoder)
    assert summary["too_near"] > 0
    assert len(below["negatives"]) + summary["too_near"] == len(near["negatives"])
    assert below["negatives"] == [one for one in near["negatives"] if one in below["negatives"]]


def test_the_margin_holds_for_dense_negatives_alone(mine, grown, bi_encoder):
    query = f"{QUERY}: a token, the query and a page"
    asked = row(grown, "src/cache.py", query=query)
    (example,), summary = mine(grown, asked, model=bi_encoder, margin=0.9)
    cosine, *others = Similarity(bi_encoder).cosines(query, [example["positive"], *example["negatives"]])
    limit = cosine - 0.1 * abs(cosine)
    assert all(one <= limit for kind, one in zip(example["kinds"], others, strict=True) if kind == "dense")
    assert any(one > limit for kind, one in zip(example["kinds"], others, strict=True) if kind == "bm25")
    assert summary["too_near"] > 0


def test_dense_negatives_are_those_of_sentence_transformers(mine, grown, bi_encoder):
    datasets = pytest.importorskip("datasets")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import mine_hard_negatives

    query = "a stale cache, the reload of a token, the query of a page"
    asked = row(grown, "src/cache.py", query=query)
    (every,), _ = mine(grown, asked, kinds=["dense"], model=bi_encoder, margin=9.0)
    (example,), _ = mine(grown, asked, kinds=["dense"], model=bi_encoder)
    mined = mine_hard_negatives(
        datasets.Dataset.from_dict({"query": [query], "positive": [example["positive"]]}),
        SentenceTransformer(str(bi_encoder)), corpus=every["negatives"], relative_margin=0.05,
        num_negatives=len(example["negatives"]), use_faiss=True, output_format="n-tuple", verbose=False,
    )  # fmt: skip
    theirs = [text for name, text in mined[0].items() if name.startswith("negative")]
    assert example["negatives"] == theirs


def test_what_the_commit_changed_is_no_negative(mine, grown):
    copy = (grown.folder / "src/cache.py").read_text()
    grown.commit("A copy of the cache", {"src/copied.py": copy, "setup.py": "reload = 'stale cache'\n"})
    grown.commit(
        QUERY,
        {
            "src/cache.py": "gone\n", "src/disk/write.py": None, "tests/test_cache.py": "0\n",
            "setup.py": "1\n", "src/token.py": "token = 2\n",
        },
    )  # fmt: skip
    asked = row(grown, "src/cache.py", "src/token.py", tests=["tests/test_cache.py"], beside=["setup.py"])
    examples, summary = mine(grown, asked)
    assert summary["pairs"] == 2
    for example in examples:
        assert {path_of(one) for one in example["negatives"]} <= {"src/page.py", "lib/query.py"}


def test_a_copy_of_the_positive_under_other_code_is_no_negative(mine, grown):
    body = "def reload():\n    return 'the stale cache'\n"
    grown.commit("Copies", {"a/one.py": body, "a/two.py": f"\n{body}\n\n"})
    grown.commit(QUERY, {"a/one.py": "0\n"})
    (example,), _ = mine(grown, row(grown, "a/one.py", lines=[(1, 3)]), kinds=["bm25"])
    assert not any("a/two.py" in one for one in example["negatives"])


def test_kinds_take_turns_up_to_the_number_asked_for(mine, grown):
    asked = row(grown, "src/cache.py")
    (example,), _ = mine(grown, asked, negatives=3, kinds=["cochanged", "bm25", "folder"])
    assert example["kinds"] == ["cochanged", "bm25", "folder"]
    assert len(mine(grown, asked, negatives=1)[0][0]["negatives"]) == 1


def test_without_kinds_examples_are_pairs_and_none_is_left_out(mine, grown):
    lost = row(grown, "src/cache.py", "none.py", query="Something else entirely")
    (found, other), summary = mine(grown, lost, row(grown, "src/cache.py"), kinds=[])
    assert (found["negatives"], found["kinds"], found["query"]) == ([], [], lost["query"])
    assert found["positive"] == other["positive"] == mine(grown, row(grown, "src/cache.py"))[0][0]["positive"]
    assert (summary["pairs"], summary["dropped"]) == (3, {"not in the parent commit": 1})
    missing = lost | {"parent": "1" * 40}
    assert mine(grown, missing, row(grown, "src/cache.py"), kinds=[])[1]["examples"] == 1


@pytest.mark.parametrize("kinds", [[], ["bm25"]])
def test_lines_of_a_message_that_tell_the_answer_are_no_part_of_the_query(mine, grown, kinds):
    query = f"{QUERY}\n\n* Update cache.py\n* it was lost"
    told = row(grown, "src/cache.py", query=query)
    nothing = row(grown, "src/cache.py", query="Update cache.py")
    (example,), summary = mine(grown, told, nothing, kinds=kinds)
    assert example["query"] == f"{QUERY}\n\n* it was lost"
    assert summary["dropped"] == {"no text": 1}


def test_the_lot_is_drawn_by_the_seed(mine, grown):
    grown.commit("More", {f"src/more_{number}.py": f"more = {number}\n" for number in range(20)})
    grown.commit(QUERY, {"src/cache.py": CACHE})
    asked = row(grown, "src/cache.py")
    drawn = [mine(grown, asked, kinds=["folder"], seed=seed)[0][0]["negatives"] for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_pair_that_no_scorer_finds_is_left_out(mine, grown, bi_encoder):
    lost = row(grown, "src/cache.py", query="Something else entirely")
    with pytest.raises(InputError, match=r"makes an example \(found by no scorer 1\)"):
        mine(grown, lost)
    examples, summary = mine(grown, lost, row(grown, "src/cache.py"))
    assert (len(examples), summary["dropped"]) == (1, {"found by no scorer": 1})


def test_a_pair_that_the_model_alone_finds_is_kept(mine, grown, monkeypatch, bi_encoder):
    asked = row(grown, "src/cache.py", query="the stale reload of a cache on a disk: a page and a token")
    monkeypatch.setattr("firstpage.train.examples.TOP_BM25", 0)
    with pytest.raises(InputError, match="found by no scorer"):
        mine(grown, asked)
    assert mine(grown, asked, model=bi_encoder)[1]["examples"] == 1
    monkeypatch.setattr("firstpage.train.examples.TOP_DENSE", 0)
    with pytest.raises(InputError, match="found by no scorer"):
        mine(grown, asked, model=bi_encoder)


def test_a_task_without_a_commit_and_at_the_only_one_makes_examples(mine, repository):
    root = repository.commit("The root asks nothing", FILES)
    task = {
        "source": "swebench", "id": "o__n-1", "repo": "o/n", "commit": "", "parent": root, "query": QUERY,
        "files": [{"path": "src/cache.py", "lines": [[5, 6]], "functions": []}], "tests": [], "beside": [],
    }  # fmt: skip
    (example,), _ = mine(repository, task)
    assert (example["source"], example["id"]) == ("swebench", "o__n-1")
    assert "cochanged" in example["kinds"]  # the base commit itself is seen


def test_a_repository_of_one_file_has_no_negative(mine, repository):
    repository.commit("The root asks nothing", {"cache.py": "cache = 0\n"})
    repository.commit(QUERY, {"cache.py": "cache = 1\n"})
    with pytest.raises(InputError, match=r"\(no negative 1\)"):
        mine(repository, row(repository, "cache.py", lines=[(1, 2)]))


def test_what_cannot_be_read_is_dropped_by_reason(mine, grown):
    content = {"large.py": "cache = 1\n" * 200_000, "made.py": f"cache = '{'x' * 30_000}'\n", "empty.py": ""}
    grown.commit("More", content)
    grown.commit(QUERY, dict.fromkeys(content, "x = 1\n"))
    examples, summary = mine(
        grown,
        row(grown, *content, "none.py"),
        row(grown, "src/cache.py") | {"parent": "1" * 40},
        row(grown, "src/cache.py", commit="HEAD~2"),
    )
    assert len(examples) == 1
    assert summary["dropped"] == {
        "large file": 1, "vendored or generated": 1, "empty file": 1, "not in the parent commit": 1,
        "missing commit": 1,
    }  # fmt: skip
    assert summary["pairs"] == summary["examples"] + sum(summary["dropped"].values())


def test_missing_blobs_lose_their_own_files_alone(mine, grown):
    for path in ("src/page.py", "src/token.py"):
        blob = grown.git("rev-parse", f"HEAD~1:{path}")
        (grown.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    examples, summary = mine(grown, row(grown, "src/cache.py", "src/token.py", query=f"{QUERY}: token"))
    assert summary["dropped"] == {"missing blob": 1}
    assert "src/page.py" not in map(path_of, examples[0]["negatives"])


def test_bare_and_shallow_repositories_are_read(mine, grown, tmp_path):
    asked = row(grown, "src/cache.py")
    expected, _ = mine(grown, asked)
    grown.git("clone", "--quiet", "--bare", str(grown.folder), str(tmp_path / "bare"))
    assert mine(tmp_path / "bare", asked)[0] == expected
    shallow = tmp_path / "shallow"
    grown.git("clone", "--quiet", "--depth=2", f"file://{grown.folder}", str(shallow))
    examples, summary = mine(shallow, asked, row(grown, "src/cache.py", commit="HEAD~1"))
    assert [one["positive"] for one in examples] == [one["positive"] for one in expected]
    assert summary["dropped"] == {"missing commit": 1}


def made_at_random(repository, number):
    """A repository of some commits of some files, and its mined rows."""
    lot = random.Random(number)
    vocabulary = [
        "cache",
        "reload",
        "stale",
        "disk",
        "write",
        "parse",
        "token",
        "page",
        "query",
        "store",
        "xx",
    ]

    def body():
        return "".join(
            f"def {lot.choice(vocabulary)}():\n    return '{lot.choice(vocabulary)}'\n" for _ in range(9)
        )

    paths = [f"{lot.choice('ab')}/{word}.py" for word in vocabulary[:9]] + ["tests/test_a.py", "setup.py"]
    repository.commit("The root asks nothing", {path: body() for path in paths})
    for _ in range(12):
        changed = {path: body() for path in lot.sample(paths, 3)}
        asked = " ".join(lot.choices(vocabulary, k=6)) + f" in {lot.choice(vocabulary)} {lot.random()}"
        repository.commit(f"Mend {asked}", changed)
    out = repository.folder.parent / f"rows-{number}.jsonl"
    mine_histories([("o/n", repository.folder)], out)
    return rows_by_repository([out])["o/n"]


def is_of(path, document):
    """Whether a chunk or an outline is of the file."""
    header = document.partition("\n")[0]
    return header.split(" > ")[0] == path or header == re.sub(r"[/._]+", " ", path)


@pytest.mark.parametrize("number", range(4))
def test_no_negative_is_a_positive_or_was_changed_and_bytes_repeat(mine, make_repository, tmp_path, number):
    repository = make_repository()
    rows = made_at_random(repository, number)
    examples, summary = mine(
        repository, *rows, out="a.jsonl.gz", documents=["chunks", "outlines"][number % 2]
    )
    assert summary["pairs"] == summary["examples"] + sum(summary["dropped"].values())
    assert summary["negatives"] == dict(sorted(summary["negatives"].items(), key=lambda one: -one[1]))
    files = {one["id"]: [file["path"] for file in one["files"]] for one in rows}
    for example in examples:
        changed = repository.git("show", "--name-only", "--format=", example["id"]).split("\n")
        assert not any(is_of(path, text) for path in changed for text in example["negatives"])
        assert any(is_of(path, example["positive"]) for path in files[example["id"]])
        assert len(set(example["negatives"])) == len(example["negatives"]) == len(example["kinds"]) > 0
    mine(repository, *rows, out="b.jsonl.gz", documents=["chunks", "outlines"][number % 2])
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


@pytest.mark.parametrize("dense", [False, True])
def test_a_run_that_was_ended_goes_on_to_the_same_bytes(
    mine, repository, tmp_path, monkeypatch, request, dense
):
    model = request.getfixturevalue("bi_encoder") if dense else None
    monkeypatch.setattr(module, "BLOCK", 3)
    rows = made_at_random(repository, 7)
    rows += [one | {"repo": "o/m", "id": f"m{one['id']}"} for one in rows[:5]]
    _, whole = mine(repository, *rows, out="whole.jsonl.gz", model=model)
    calls = []

    def end(done, to_do):
        calls.append((done, to_do))
        if len(calls) in (1, 3):
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            mine(repository, *rows, out="ended.jsonl.gz", model=model, progress=end)
        assert not (tmp_path / "ended.jsonl.gz").exists()
    _, summary = mine(repository, *rows, out="ended.jsonl.gz", model=model, progress=end)
    assert calls[-1] == (len(rows), len(rows))
    assert [done for done, _ in calls[:3]] == [3, 6, 9]
    assert (tmp_path / "whole.jsonl.gz").read_bytes() == (tmp_path / "ended.jsonl.gz").read_bytes()
    timing = {"seconds", "rows_per_minute"}
    assert {key: one for key, one in summary.items() if key not in timing} == {
        key: one for key, one in whole.items() if key not in timing
    }
    assert not (tmp_path / "ended.jsonl.gz.part").exists()


def test_a_run_of_another_recipe_or_model_starts_over(mine, repository, tmp_path, bi_encoder):
    rows = made_at_random(repository, 8)

    def end(done, to_do):
        raise KeyboardInterrupt

    shutil.copytree(bi_encoder, tmp_path / "model")
    with pytest.raises(KeyboardInterrupt):
        mine(repository, *rows, model=tmp_path / "model", progress=end)
    (tmp_path / "model" / "README.md").write_text("trained again")
    done = []
    mine(repository, *rows, model=tmp_path / "model", progress=lambda *numbers: done.append(numbers))
    assert done[-1][0] == len(rows)
    with pytest.raises(KeyboardInterrupt):
        mine(repository, *rows, progress=end)
    assert mine(repository, *rows, negatives=2)[1]["rows"] == len(rows)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kinds": ["bm26"]}, "there is no kind 'bm26' of negatives; there are bm25, dense"),
        ({"negatives": 0}, "1 negative or more"),
        ({"margin": 0.0}, "a margin above 0"),
        ({"margin": float("nan")}, "a margin above 0"),
        ({"documents": "files"}, "there are no documents 'files'; there are chunks and outlines"),
    ],
)
def test_a_recipe_of_what_is_not_there_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        Recipe(**options)


def test_dense_without_a_model_and_a_model_that_is_none_are_refused(mine, grown, tmp_path):
    with pytest.raises(InputError, match="--kinds dense needs --model"):
        mine(grown, row(grown, "src/cache.py"), kinds=["dense"])
    with pytest.raises(InputError, match=r"--model .* is no folder"):
        mine(grown, row(grown, "src/cache.py"), model=tmp_path / "none")


def test_what_is_held_out_is_refused(mine, grown, hold_out, tmp_path):
    (tmp_path / "rows.jsonl").write_text(json.dumps(row(grown, "src/cache.py", repo="held/out")))
    hold_out()
    with pytest.raises(InputError, match=r"line 1: 'held/out' is held out for a test; nothing is trained"):
        rows_by_repository([tmp_path / "rows.jsonl"])
    hold_out({"roots": [grown.git("rev-list", "--max-parents=0", "HEAD")]})
    with pytest.raises(InputError, match="'o/n' holds commit"):
        mine(grown, row(grown, "src/cache.py"))
    hold_out(development=True)
    assert list(rows_by_repository([tmp_path / "rows.jsonl"], purpose="fusion")) == ["held/out"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"repo": None}, "line 1 needs the field 'repo', a string"),
        ({"files": "a.py"}, "line 1 needs the field 'files', a list"),
        ({"files": ["a.py"]}, "a file of .*line 1 needs the field 'path', a string"),
        ({"files": [{"path": "a.py"}]}, "a file of .*line 1 needs the field 'lines', a list"),
    ],
)
def test_rows_of_another_kind_are_refused(grown, tmp_path, change, said):
    (tmp_path / "rows.jsonl").write_text(json.dumps(row(grown, "src/cache.py") | change))
    with pytest.raises(InputError, match=said):
        rows_by_repository([tmp_path / "rows.jsonl"])


def test_rows_are_drawn_in_their_order_from_each_repository(grown, tmp_path):
    rows = [row(grown, "a.py", repo=f"o/{number % 2}") | {"id": str(number)} for number in range(40)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    drawn = rows_by_repository([tmp_path / "rows.jsonl"], most=5)
    assert {name: len(listed) for name, listed in drawn.items()} == {"o/0": 5, "o/1": 5}
    for listed in drawn.values():
        numbers = [int(one["id"]) for one in listed]
        assert numbers == sorted(numbers)
    assert drawn == rows_by_repository([tmp_path / "rows.jsonl"], most=5)
    assert drawn != rows_by_repository([tmp_path / "rows.jsonl"], most=5, seed=1)
    assert len(rows_by_repository([tmp_path / "rows.jsonl"], most=50)["o/0"]) == 20


def test_a_repository_that_is_not_mapped_is_named(grown, tmp_path):
    with pytest.raises(InputError, match="--repos lacks o/n, which the rows are of"):
        mine_negatives({"o/n": [row(grown, "src/cache.py")]}, {}, tmp_path / "out.jsonl")


def test_a_tally_comes_back_from_json():
    tally = Tally(3, 4, 2, 1)
    tally.dropped.update(a=1, b=2)
    assert Tally.of_json(json.loads(json.dumps(tally.as_json()))) == tally
    assert Tally.of_json({}) == Tally()
