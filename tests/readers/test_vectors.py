import signal
import subprocess
import sys
import zlib

import numpy as np
import pytest
from firstpage.core.errors import RunError
from firstpage.readers.vectors import VectorStore
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

VECTORS = {f"blob {number}": np.full((2, 8), number + 1.0) for number in range(700)}


@pytest.fixture
def store():
    with VectorStore("model") as opened:
        yield opened


@pytest.fixture
def file(tmp_path, store):
    """The store's own file."""
    return next((tmp_path / "cache" / "vectors-1").glob("*.sqlite"))


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One store for all examples of a property."""
    with VectorStore("model", tmp_path_factory.mktemp("cache")) as opened:
        yield opened


def agree(found, expected):
    return found.keys() == expected.keys() and all(
        found[key].dtype == np.float32 and np.allclose(found[key], vectors, rtol=1e-3, atol=1e-3)
        for key, vectors in expected.items()
    )


def test_vectors_come_back_and_others_are_missing(store):
    store.put(VECTORS)
    assert agree(store.get([*VECTORS, "unknown"]), VECTORS)
    assert store.get([]) == {}


def test_they_come_back_in_the_order_asked_for_each_once(store):
    store.put(VECTORS)
    assert list(store.get(["blob 9", "blob 1", "blob 9"])) == ["blob 9", "blob 1"]


def test_the_next_process_finds_them_and_another_model_does_not(store):
    store.put(VECTORS)
    with VectorStore("model") as later, VectorStore("other model") as other:
        assert agree(later.get(VECTORS), VECTORS)
        assert other.get(VECTORS) == {}


def test_what_is_put_again_takes_the_place_of_what_was(store):
    store.put({"a": np.ones((1, 3))})
    store.put({"a": np.ones((2, 5))})
    assert store.get(["a"])["a"].shape == (2, 5)


@pytest.mark.parametrize("key", ["", "a b", "é\u2028", "nul\0nul", "\udcff half a pair", "x" * 10_000])
def test_any_string_is_a_key(store, key):
    store.put({key: np.ones((1, 3)), key + "'": np.zeros((1, 3))})
    assert store.get([key])[key].tolist() == pytest.approx(np.ones((1, 3)))


@given(
    arrays(
        np.float32,
        array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=9),
        elements=st.floats(width=32, allow_nan=False, allow_infinity=False),
    )
)
def test_every_finite_array_comes_back_within_half_a_step_of_its_largest(shared, array):
    shared.put({"a": array})
    found = shared.get(["a"])["a"]
    assert found.shape == array.shape
    largest = np.abs(array.astype(np.float64)).max(axis=1, initial=0.0, keepdims=True)
    # Below 1e-42 not even a float32 can hold the step.
    assert (np.abs(found - array.astype(np.float64)) <= largest / 127 * 0.51 + 1e-42).all()


def test_a_cosine_moves_by_less_than_five_thousandths(store):
    vectors = np.random.default_rng(7).normal(size=(500, 384))
    vectors[:, 3] += 3  # encoders have numbers that are large in every vector
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store.put({"a": vectors})
    found = store.get(["a"])["a"].astype(np.float64)
    assert np.abs(found @ vectors.T - vectors @ vectors.T).max() < 0.005


def test_vectors_take_a_byte_a_number(store):
    store.put({"a": np.ones((100, 384))})
    ((value,),) = store._file.database.execute("SELECT value FROM vectors")
    assert len(value) < 100 * (384 + 8)


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.ones(3), r"'bad' have the shape \(3,\), not \(chunks, dimensions\)"),
        (np.ones((1, 2, 3)), r"'bad' have the shape \(1, 2, 3\)"),
        (np.array([[1.0, np.nan]]), "'bad' hold NaN or infinite"),
        (np.array([[-np.inf, 1.0]]), "'bad' hold NaN or infinite"),
        (np.array([[1e300]]), "'bad' hold NaN or infinite"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_what_is_no_vectors_is_named_and_nothing_is_stored(store, array, said):
    with pytest.raises(RunError, match=said):
        store.put({**VECTORS, "bad": array})
    assert store.get([*VECTORS, "bad"]) == {}


DAMAGES = {
    "nothing": lambda value: b"",
    "cut within the shape": lambda value: value[:9],
    "cut short": lambda value: value[:-1],
    "too long": lambda value: value + b"\0",
    "another byte": lambda value: value[:-1] + bytes([value[-1] ^ 1]),
    "another shape": lambda value: value[:4] + bytes([value[4] ^ 1]) + value[5:],
    "text": lambda value: value.hex(),
    "a number": lambda value: 5,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_row_is_missing_until_it_is_put_again(store, damage):
    store.put(VECTORS)
    database = store._file.database
    ((value,),) = database.execute("SELECT value FROM vectors WHERE key = ?", (b"blob 5",))
    database.execute("UPDATE vectors SET value = ? WHERE key = ?", (damage(value), b"blob 5"))
    assert store.get(VECTORS).keys() == VECTORS.keys() - {"blob 5"}
    store.put({"blob 5": VECTORS["blob 5"]})
    assert agree(store.get(VECTORS), VECTORS)


def test_a_row_whose_scale_is_not_finite_is_missing(store):
    body = np.array([1, 2], dtype="<u4").tobytes() + np.array([np.nan], dtype="<f4").tobytes() + b"\1\1"
    value = zlib.crc32(body).to_bytes(4, "little") + body
    store._file.database.execute("INSERT INTO vectors VALUES (?, ?)", (b"a", value))
    assert store.get(["a"]) == {}


def test_a_damaged_file_is_made_anew(store, file):
    store.put(VECTORS)
    store.close()
    file.write_bytes(file.read_bytes()[:5_000])
    with VectorStore("model") as later:
        later.put(VECTORS)
        assert agree(later.get(VECTORS), VECTORS)


def test_damage_that_shows_while_it_is_open_makes_vectors_missing(store, file):
    store.put(VECTORS)
    store._file.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store._file.database.execute("PRAGMA cache_size=0")
    with file.open("r+b") as stored:
        stored.seek(4096)
        stored.write(b"\xab" * (file.stat().st_size - 4096))
    assert store.get(VECTORS) == {}
    store.put(VECTORS)
    assert agree(store.get(VECTORS), VECTORS)


def test_on_a_full_disk_memory_keeps_what_is_put(store, caplog):
    (size,) = store._file.database.execute("PRAGMA page_count").fetchone()
    store._file.database.execute(f"PRAGMA max_page_count={size + 2}")
    store.put(VECTORS)
    assert agree(store.get(VECTORS), VECTORS)
    (told,) = caplog.messages
    assert "database or disk is full" in told


def test_a_folder_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match="FIRSTPAGE_CACHE"):
        VectorStore("model", tmp_path / "file")


# Puts 700 blobs in three transactions; with a number, stops for good at the end of the one of that number.
PUTTING = """
import sys, time
import numpy as np
from firstpage.readers.vectors import VectorStore
store, ended = VectorStore("model"), 0
def stop(said):
    global ended
    ended += said == "COMMIT"
    if said == "COMMIT" and sys.argv[1:] == [str(ended)]:
        print("inside", flush=True)
        time.sleep(600)
store._file.database.set_trace_callback(stop)
store.put({f"blob {number}": np.full((2, 8), number + 1.0) for number in range(700)})
print(len(store.get(f"blob {number}" for number in range(700))))
"""


def putting(*number):
    return subprocess.Popen([sys.executable, "-c", PUTTING, *number], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("number", "kept"), [(1, 0), (3, 512)])
def test_a_kill_loses_the_open_transaction_alone(number, kept):
    writer = putting(str(number))
    assert writer.stdout.readline() == "inside\n"
    writer.kill()
    assert writer.wait() == -signal.SIGKILL
    with VectorStore("model") as store:
        assert len(store.get(VECTORS)) == kept
        store.put(VECTORS)
        assert agree(store.get(VECTORS), VECTORS)


def test_processes_that_put_at_once_all_find_everything():
    racing = [putting() for _ in range(4)]
    assert [one.communicate()[0] for one in racing] == ["700\n"] * 4
    with VectorStore("model") as store:
        assert agree(store.get(VECTORS), VECTORS)
