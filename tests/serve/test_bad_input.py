"""What clients and operators do wrong: each has one defined answer, and none takes the service down."""

import json
import os
import shutil
import socket
import subprocess
import time
from urllib.parse import urlsplit

import httpx
import pytest
import torch
from firstpage.core.errors import InputError
from firstpage.serve.config import ServeConfig
from firstpage.serve.service import Service
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder

from .conftest import FIRSTPAGE

GOOD = {"query": "ba", "texts": ["ba", "do"]}


@pytest.fixture(autouse=True)
def lives(server):
    """After whatever was sent, the service answers as before."""
    yield
    assert server.post("/rerank", GOOD).status_code == 200


def raw(server, body, path="/rerank", **headers):
    given = {"Content-Type": "application/json"} | headers
    return httpx.post(server.url + path, content=body, headers=given, timeout=60)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"{", 400, "no JSON"),
        (b'{"query": "\xff"}', 400, ""),
        (b"[" * 100_000, 400, ""),
        (b'{"query": "a", "texts": ["a"], "x": ' + b"9" * 10_000 + b"}", 400, ""),
        (b"", 422, "JSON object"),
        (b"null", 422, "JSON object"),
        (b"[]", 422, "JSON object"),
        (b'"text"', 422, "JSON object"),
    ],
)
def test_a_body_that_is_no_request_is_refused(server, body, status, said):
    answer = raw(server, body)
    assert answer.status_code == status
    assert said in answer.json()["error"]


def test_a_body_that_is_not_said_to_be_json_is_refused_with_the_remedy(server):
    answer = raw(server, json.dumps(GOOD).encode(), **{"Content-Type": "text/plain"})
    assert answer.status_code == 422
    assert "'Content-Type: application/json'" in answer.json()["error"]


@pytest.mark.parametrize(
    ("path", "body", "named"),
    [
        ("/rerank", {"texts": ["a"]}, "query"),
        ("/rerank", {"query": "a"}, "texts"),
        ("/rerank", {"query": "a", "texts": []}, "texts"),
        ("/rerank", {"query": "a", "documents": []}, "documents"),
        ("/rerank", {"query": 1, "texts": ["a"]}, "query"),
        ("/rerank", {"query": "a", "texts": "a"}, "texts"),
        ("/rerank", {"query": "a", "texts": ["a", None]}, "texts.1"),
        ("/rerank", {"query": "a", "texts": ["a"], "raw_scores": "yes"}, "raw_scores"),
        ("/rerank", {"query": "a", "texts": ["a"], "truncation_direction": "up"}, "truncation_direction"),
        ("/rerank", {"query": "a", "documents": ["a"], "top_n": 0}, "top_n"),
        ("/rerank", {"query": "a", "documents": ["a"], "top_n": 1.5}, "top_n"),
        ("/rerank", {"query": "a", "documents": [{"text": "a"}], "rank_fields": ["b"]}, "rank_fields"),
        ("/rerank", {"query": "a", "documents": [{"text": 7}]}, "documents"),
        ("/embed", {"inputs": []}, "inputs"),
        ("/embed", {"inputs": ["a"], "dimensions": 3}, "dimensions"),
        ("/embed", {"inputs": ["a"], "normalize": False}, "normalize"),
        ("/v1/embeddings", {"input": [1, 2]}, "input"),
        ("/v1/embeddings", {"input": "a", "encoding_format": "hex"}, "encoding_format"),
        ("/select", {"answer": "a\n"}, "query"),
        ("/select", {"answer": "a\n", "query": "a", "form": "pathes"}, "did you mean 'paths'"),
        ("/select", {"answer": "a\nb\n", "query": "a", "page": 9}, "there is no page 9"),
        ("/select", {"answer": "a\nb\n", "query": "a", "item": "9"}, "no item '9'"),
        ("/select", {"answer": "a\n" * 99, "query": "a", "budget": 1}, "give at least"),
        ("/select", {"answer": "[]", "query": "a", "array": "/x"}, "no 'x'"),
        ("/select", {"answer": "a\n", "query": "a", "value_function": "bm26"}, "did you mean 'bm25'"),
        ("/select", {"answer": "a\n", "query": "a", "value_function": "fused@/etc"}, "cannot name weights"),
        ("/select", {"answer": "a\n", "query": "a", "tokens": "hf:/etc/passwd"}, "tokens"),
    ],
)
def test_what_is_wrong_is_named_in_one_sentence(server, path, body, named):
    answer = server.post(path, body)
    assert answer.status_code == 422
    assert answer.json().keys() == {"error", "error_type"}
    assert named in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


def test_too_many_documents_are_refused(server):
    answer = server.post("/rerank", {"query": "a", "texts": ["a"] * 100_000})
    assert answer.status_code == 413
    assert answer.json()["error"] == "texts: 100000 are more than the 1000 of a request; send them in parts"


def test_too_many_tokens_are_refused(server):
    answer = server.post("/rerank", {"query": "a", "texts": ["word " * 400_000] * 5})
    assert answer.status_code == 413
    assert "tokens" in answer.json()["error"]


def test_a_body_of_50_mb_is_refused_and_costs_no_memory(server):
    def resident():
        with open(f"/proc/{server.process.pid}/status") as lines:
            return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

    before = resident()
    answer = raw(server, b'{"query": "' + b"a" * 50_000_000)
    assert answer.status_code == 413
    assert "16 MiB" in answer.json()["error"]
    assert resident() < before + 45


def test_bodies_of_many_clients_together_are_bounded(start):
    server = start(ranker="bm25", value_function="bm25", bodies_mebibytes=2, receive_s=20)
    head = b"POST /rerank HTTP/1.1\r\nHost: a\r\nContent-Length: 1900000\r\n\r\n"
    with connection(server) as holder:
        holder.sendall(head + b"a" * 1_800_000)
        until = time.monotonic() + 10
        while (answer := raw(server, b'"' + b"a" * 900_000 + b'"')).status_code != 429:
            assert time.monotonic() < until
        assert answer.headers["Retry-After"] == "1"
        assert server.post("/rerank", GOOD).status_code == 200
    while (answer := raw(server, b'"' + b"a" * 900_000 + b'"')).status_code == 429:
        assert time.monotonic() < until + 10


@pytest.mark.parametrize("text", ["\\ud800", "a\\u0000b", "\\udfff\\ud800", ""])
def test_halves_of_surrogate_pairs_and_nul_are_scored(server, cross, text):
    for service in (server, cross):
        body = f'{{"query": "{text}", "texts": ["{text}", "a"], "return_text": true}}'.encode()
        answer = raw(service, body)
        assert answer.status_code == 200
        assert {row["index"] for row in answer.json()} == {0, 1}


@pytest.mark.parametrize(("path", "status"), [("/nothing", 404), ("/rerank/", 404), ("/v3/rerank", 404)])
def test_paths_that_are_not_there(server, path, status):
    answer = httpx.post(server.url + path, json=GOOD)
    assert answer.status_code == status
    assert answer.json()["error_type"] == "validation"


def test_methods_that_are_not_there(server):
    for method in ("GET", "PUT", "DELETE", "OPTIONS"):
        answer = httpx.request(method, f"{server.url}/rerank")
        assert answer.status_code == 405
        assert "POST" in answer.headers["Allow"]


@pytest.mark.parametrize("id", ["", "a b", "x" * 200, "\u00e9"])
def test_a_request_id_that_is_none_is_replaced(server, id):
    given = httpx.post(f"{server.url}/rerank", json=GOOD, headers={"X-Request-Id": id.encode("latin-1")})
    assert len(given.headers["X-Request-Id"]) == 32


def connection(server):
    place = urlsplit(server.url)
    return socket.create_connection((place.hostname, place.port), timeout=10)


def test_a_client_that_sends_its_request_drop_by_drop_is_left(start):
    server = start(receive_s=1, ranker="bm25", value_function="bm25")
    with connection(server) as head, connection(server) as body, connection(server) as idle:
        head.sendall(b"POST /rerank HTTP/1.1\r\nHost: a\r\n")
        body.sendall(b"POST /rerank HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n{")
        answered = body.recv(1000)
        assert b" 408 " in answered
        assert head.recv(1000) == b""
        assert idle.recv(1000) == b""
    assert server.post("/rerank", GOOD).status_code == 200


def test_many_slow_clients_do_not_keep_others_waiting(start):
    server = start(receive_s=20, ranker="bm25", value_function="bm25")
    slow = [connection(server) for _ in range(200)]
    for one in slow:
        one.sendall(b"POST /rerank HTTP/1.1\r\nHost: a\r\n")
    start_time = time.monotonic()
    assert server.post("/rerank", GOOD).status_code == 200
    assert time.monotonic() - start_time < 10
    for one in slow:
        one.close()


@pytest.mark.parametrize("junk", [b"\x00\xff\xfe" * 50, b"A" * 100_000])
def test_what_is_no_http_is_refused(server, junk):
    with connection(server) as stranger:
        stranger.sendall(junk)
        assert stranger.recv(1000).startswith(b"HTTP/1.1 400")


@pytest.fixture(scope="module")
def keyed(start, tmp_path_factory):
    file = tmp_path_factory.mktemp("keys") / "keys"
    file.write_text("# of the agents\nfirst-key\n\n second-key \n")
    environment = os.environ | {"FIRSTPAGE_KEYS": "third-key"}
    return start(environment, keys_file=str(file), ranker="bm25", value_function="bm25")


@pytest.mark.parametrize("key", ["first-key", "second-key", "third-key"])
def test_any_of_the_keys_opens(keyed, key):
    given = {"Authorization": f"Bearer {key}"}
    assert keyed.post("/rerank", GOOD, headers=given).status_code == 200
    assert keyed.get("/metrics", headers=given).status_code == 200
    assert key not in keyed.log


@pytest.mark.parametrize(
    "given",
    ["", "Bearer", "Bearer fourth-key", "Basic first-key", "Bearer first-key x", "Bearer # of the agents"],
)
def test_anything_else_does_not(keyed, given):
    for path in ("/rerank", "/select", "/embed", "/nothing"):
        answer = keyed.post(path, GOOD, headers={"Authorization": given})
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    for path in ("/metrics", "/info", "/openapi.json"):
        assert keyed.get(path, headers={"Authorization": given}).status_code == 401
    assert keyed.get("/health").status_code == 200
    assert "fourth-key" not in keyed.log


def refused(*arguments, **environment):
    """What a service says that does not start."""
    done = subprocess.run(
        [FIRSTPAGE, "serve", *arguments], capture_output=True, text=True, timeout=60,
        env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


@pytest.fixture
def damaged(cross_folder, tmp_path):
    """A copy of the cross-encoder, whose weights a function changes."""

    def make(change):
        folder = tmp_path / "damaged"
        shutil.copytree(cross_folder, folder)
        weights = load_file(folder / "model.safetensors")
        change(weights)
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        return folder

    return make


def test_a_model_folder_that_is_missing_is_named(tmp_path):
    assert "no cross-encoder" in refused("--port", "0", "--ranker", f"cross-encoder@{tmp_path / 'nothing'}")


def test_weights_that_are_cut_off_or_not_finite_are_named(damaged):
    folder = damaged(lambda weights: next(iter(weights.values())).fill_(torch.nan))
    with pytest.raises(InputError, match="not finite"):
        Service(ServeConfig(ranker=f"cross-encoder@{folder}"))
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:1000])
    assert "cannot be read" in refused("--port", "0", "--ranker", f"cross-encoder@{folder}")


def test_a_model_of_two_outputs_is_named(bert, tmp_path):
    CrossEncoder(str(bert), num_labels=2).save_pretrained(str(tmp_path / "two"))
    with pytest.raises(InputError, match="2 outputs, not one"):
        Service(ServeConfig(ranker=f"cross-encoder@{tmp_path / 'two'}"))


def test_a_port_in_use_is_named(server):
    port = server.url.rpartition(":")[2]
    assert f"127.0.0.1:{port}" in refused("--port", port)


def test_an_address_that_is_not_of_this_machine_is_named():
    assert "--host" in refused("--host", "203.0.113.7", "--port", "0")
    assert "--host" in refused("--host", "no such host", "--port", "0")


@pytest.mark.parametrize(
    ("yaml", "said"),
    [
        ("rankr: bm25", "did you mean 'ranker'"),
        ("ranker: bm26", "did you mean 'bm25'"),
        ("port: 99999", "port: must be at most 65535"),
        ("timeout_s: 0", "timeout_s: must be above 0"),
        ("precision: fp8", "there are auto, fp32, bf16"),
        ("keys_file: nowhere", "keys_file: 'nowhere' cannot be read"),
        ("root: nowhere", "must name a folder"),
        ("embedder: nowhere", "holds no embedder"),
        ("- a list", "must be a mapping"),
        ("a: [", "is no YAML"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_named(tmp_path, yaml, said):
    (tmp_path / "serve.yaml").write_text(yaml)
    assert said in refused("--config", str(tmp_path / "serve.yaml"))


def test_a_model_that_fails_is_named(start, tmp_path):
    """By a value function of another package, found through the environment."""
    package = tmp_path / "bad_values"
    info = tmp_path / "bad_values-1.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text(
        "import numpy as np\n"
        "class NaN:\n"
        "    name = 'nan'\n"
        "    def values(self, query, items):\n"
        "        return np.where([item.text == 'bad' for item in items], np.nan, 0.5)\n"
    )
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad-values\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[firstpage.value_functions]\nnan = bad_values:NaN\n")
    server = start(os.environ | {"PYTHONPATH": str(tmp_path)}, ranker="nan", value_function="nan")
    answer = server.post("/rerank", {"query": "a", "texts": ["good", "bad"]})
    assert answer.status_code == 424
    assert "'nan' gave the value nan to the item '1'" in answer.json()["error"]
    assert server.post("/rerank", {"query": "a", "texts": ["good"]}).json() == [
        {"index": 0, "score": pytest.approx(1 / 3)}
    ]
