"""The load and the pace of the service, measured small, with a model so small that it is made here."""

import json
import sys

import pytest
import torch
from click.testing import CliRunner
from firstpage.core.errors import RunError
from firstpage.eval.service import requests, served
from firstpage.scripts import service_load, service_pace
from firstpage.scripts.service_load import _faults
from sentence_transformers import CrossEncoder


@pytest.fixture
def model(bert, tmp_path):
    torch.manual_seed(1)
    CrossEncoder(str(bert), num_labels=1).save_pretrained(str(tmp_path / "model"))
    return str(tmp_path / "model")


def run(command, *arguments):
    done = CliRunner().invoke(command, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output


def test_under_load_every_answer_is_right(model, tmp_path):
    out = tmp_path / "results" / "load.json"
    run(service_load.command, "--seconds", "2", "--minutes", "0.05", "--model", model, "--out", str(out))
    found = json.loads(out.read_text())
    assert found["overload"]["faults"] == found["soak"]["faults"] == 0
    assert set(found["overload"]["statuses"]) <= {"200", "429"}
    assert found["overload"]["sent"] == found["overload"]["requests"] > 20
    assert found["soak"]["resident_mib"]["most"] > 50
    assert found["provenance"]["command"].startswith("service_load")


def test_the_pace_is_told_in_ratios(model, tmp_path):
    out = tmp_path / "pace.json"
    run(service_pace.command, "--requests", "4", "--turns", "1", "--model", model, "--out", str(out))
    found = json.loads(out.read_text())
    assert set(found["ratios"]) == {
        "firstpage, fp32 to predict per request",
        "firstpage, auto to predict per request",
    }
    assert found["medians"]["firstpage, fp32"]["p99_ms"] >= found["medians"]["firstpage, fp32"]["p50_ms"] > 0


def test_whatever_is_wrong_with_an_answer_is_found():
    texts, known = ["a", "b", "own"], {"a": 0.7, "b": 0.2}
    good = [
        {"index": 0, "score": 0.7, "text": "a"},
        {"index": 2, "score": 0.5, "text": "own"},
        {"index": 1, "score": 0.2, "text": "b"},
    ]
    assert _faults("n", texts, known, good) == []
    assert _faults("n", texts, known, good[:2]) == ["n: not every document once"]
    assert _faults("n", texts, known, good[::-1]) == ["n: not sorted"]
    assert _faults("n", texts, known, [good[0] | {"text": "own"}, *good[1:]]) == [
        "n: a text of another document"
    ]
    assert _faults("n", texts, known, [good[0] | {"score": 0.8}, *good[1:]]) == [
        "n: a score of another document"
    ]


def test_requests_are_the_same_for_a_seed_and_of_mixed_length():
    first, again, other = requests(20, 1), requests(20, 1), requests(20, 2)
    assert first == again != other
    lengths = sorted(len(text.split()) for one in first for text in one.documents)
    assert lengths[0] < 12
    assert lengths[-1] > 150


def test_a_server_that_does_not_start_is_told_with_what_it_said():
    words = [sys.executable, "-c", "raise SystemExit('no weights here')"]
    with pytest.raises(RunError, match="no weights here"), served(words, "http://127.0.0.1:9"):
        pass
