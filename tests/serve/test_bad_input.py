"""What clients and operators do wrong: each has one defined answer, and none takes the service down."""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import time
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest
import torch
from firstpage.core.errors import InputError
from firstpage.scripts.cli import main
from firstpage.serve.app import create_app
from firstpage.serve.config import ServeConfig
from firstpage.serve.errors import ModelError
from firstpage.serve.service import Document, Service
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
        (b"[" * 50_000 + b"]" * 50_000, 400, ""),
        (b"\x1f\x8b\x08", 400, ""),
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
        ("/rerank", {"query": "a", "documents": ["a", None]}, "documents.1: input should be a valid string"),
        ("/rerank", {"query": "a", "documents": [[1]]}, "documents.0: input should be a valid dictionary"),
        ("/rerank", {"query": "a", "documents": [{"text": 7}]}, "documents.0.text: input should be a valid"),
        ("/rerank", {"query": "a", "documents": [{"path": 7}]}, "documents.0.path: input should be a valid"),
        ("/embed", {"inputs": []}, "inputs"),
        ("/embed", {"inputs": 7}, "inputs: input should be a valid string"),
        ("/embed", {"inputs": ["a", 7]}, "inputs.1: input should be a valid string"),
        ("/embed", {"inputs": ["a"], "dimensions": 3}, "dimensions"),
        ("/embed", {"inputs": ["a"], "normalize": False}, "normalize"),
        ("/v1/embeddings", {"input": [1, 2]}, "input"),
        ("/v1/embeddings", {"input": "a", "encoding_format": "hex"}, "encoding_format"),
        ("/select", {"answer": "a\n"}, "query"),
        ("/select", {"answer": "a\n", "query": "a", "form": "pathes"}, "did you mean 'paths'"),
        ("/select", {"answer": "a\nb\n", "query": "a", "page": 9}, "there is no page 9"),
        ("/select", {"answer": "a\nb\n", "query": "a", "page": 10**4000}, "page: input should be less"),
        ("/select", {"answer": "a\nb\n", "query": "a", "budget": 10**4000}, "budget: input should be less"),
        ("/select", {"answer": "a\nb\n", "query": "a", "budget": -1}, "budget"),
        ("/select", {"answer": "a\nb\n", "query": "a", "item": "9"}, "no item '9'"),
        ("/select", {"answer": "a\nb\n", "query": "a", "item": "no\nline"}, "no item 'no line'"),
        ("/select", {"answer": "[" * 5000 + "]" * 5000, "query": "a", "form": "json"}, "nested too deep"),
        ("/select", {"answer": "a\n", "query": "a", "form": "json"}, "no JSON value"),
        ("/select", {"answer": "a\n" * 99, "query": "a", "budget": 1}, "give at least"),
        ("/select", {"answer": "[]", "query": "a", "array": "/x"}, "no 'x'"),
        ("/select", {"answer": "a\n", "query": "a", "value_function": "bm26"}, "did you mean 'bm25'"),
        ("/select", {"answer": "a\n", "query": "a", "value_function": "fused@/etc"}, "cannot name weights"),
        ("/select", {"answer": "a\n", "query": "a", "tokens": "hf:/etc/passwd"}, "tokens"),
        ("/select", {"answer": "a\n", "query": "a", "tokens": "tiktoken:none"}, "no encoding 'none'"),
    ],
)
def test_what_is_wrong_is_named_in_one_sentence(server, path, body, named):
    answer = server.post(path, body)
    assert answer.status_code == 422
    assert answer.json().keys() == {"error", "error_type"}
    assert named in answer.json()["error"]
    assert "\n" not in answer.json()["error"]
    assert len(answer.json()["error"]) < 300


@pytest.mark.parametrize("item", ["a", 0, {}])
@pytest.mark.parametrize(
    ("path", "key"),
    [("/rerank", "texts"), ("/v2/rerank", "documents"), ("/embed", "inputs"), ("/v1/embeddings", "input")],
)
def test_too_many_documents_are_refused_before_each_is_looked_at(server, path, key, item):
    before = server.resident()
    answer = server.post(path, {"query": "a", key: [item] * 200_000})
    assert answer.status_code == 413
    assert answer.json()["error"] == f"{key}: 200000 are more than the 1000 of a request; send them in parts"
    assert server.resident() < before + 60  # an error for each would take more than 200


def test_as_many_documents_as_allowed_are_taken(faulty):
    assert len(faulty.post("/rerank", {"query": "a", "texts": ["a"] * 1000}).json()) == 1000
    assert faulty.post("/rerank", {"query": "a", "texts": ["a"] * 1001}).status_code == 413


def test_too_many_tokens_are_refused(server):
    answer = server.post("/rerank", {"query": "a", "texts": ["word " * 400_000] * 5})
    assert answer.status_code == 413
    assert "tokens" in answer.json()["error"]


def test_a_body_of_50_mb_is_refused_and_costs_no_memory(server):
    before = server.resident()
    answer = raw(server, b'{"query": "' + b"a" * 50_000_000)
    assert answer.status_code == 413
    assert "16 MiB" in answer.json()["error"]
    assert server.resident() < before + 45


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


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("\\ud800", "\ufffd"),
        ("\\udfff\\ud800", "\ufffd\ufffd"),
        ("\\ud83d\\ude00", "😀"),
        ("a\\u0000b", "a\0b"),
        ("", ""),
    ],
)
def test_halves_of_surrogate_pairs_are_replaced_and_nul_is_scored(server, cross, sent, read):
    for service in (server, cross):
        body = f'{{"query": "{sent}", "texts": ["{sent}", "a"], "return_text": true}}'.encode()
        answer = raw(service, body)
        assert answer.status_code == 200
        assert {row["index"]: row["text"] for row in answer.json()} == {0: read, 1: "a"}
    assert server.post("/select", {"answer": f"{read}\nb\n", "query": read}).status_code == 200


def test_what_a_document_carries_is_given_back_whole(server):
    nested = "[" * 99 + "]" * 99
    body = f'{{"text": "a", "x\\ud800": ["\\ud800", {{"\\udfff": 2.5}}, null], "y": {nested}}}'
    body = f'{{"query": "a", "documents": [{body}], "return_documents": true}}'
    (row,) = raw(server, body.encode()).json()["results"]
    assert row["document"] == {
        "text": "a",
        "x\ufffd": ["\ufffd", {"\ufffd": 2.5}, None],
        "y": json.loads(nested),
    }


@pytest.mark.parametrize(
    ("carried", "said"),
    [
        ("NaN", "finite"),
        ('[{}, {"a": 1e999}]', "finite"),
        ("-Infinity", "finite"),
        ("[" * 100 + "]" * 100, "nested"),
        ("[" * 800 + "]" * 800, "nested"),
    ],
)
def test_a_document_that_carries_what_cannot_be_given_back_is_refused(server, carried, said):
    body = f'{{"query": "a", "documents": ["b", {{"text": "a", "x": {carried}}}], "return_documents": true}}'
    answer = raw(server, body.encode())
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("documents.1: must ")
    assert said in answer.json()["error"]


@pytest.mark.parametrize("path", ["/nothing", "/rerank/", "//rerank", "/v3/rerank", "/%ff%00%0a", "/../keys"])
def test_paths_that_are_not_there(server, path):
    answer = httpx.post(server.url + path, json=GOOD)
    assert (answer.status_code, answer.json()["error_type"]) == (404, "validation")
    assert "nothing" not in server.get("/metrics").text  # each would be a series of its own


def test_methods_that_are_not_there(server):
    for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "NONE"):
        answer = httpx.request(method, f"{server.url}/rerank")
        assert answer.status_code == 405
        assert answer.headers["Allow"] == "POST"
    assert httpx.post(f"{server.url}/health").status_code == 405


@pytest.mark.parametrize("id", ["", "a b", "x" * 200, "\u00e9"])
def test_a_request_id_that_is_none_is_replaced(server, id):
    given = httpx.post(f"{server.url}/rerank", json=GOOD, headers={"X-Request-Id": id.encode("latin-1")})
    assert len(given.headers["X-Request-Id"]) == 32


def connection(server):
    place = urlsplit(server.url)
    return socket.create_connection((place.hostname, place.port), timeout=10)


@pytest.fixture(scope="module")
def impatient(start):
    return start(receive_s=1, ranker="bm25", value_function="bm25")


def dripped(stranger, first, drop):
    """What a connection gets to read to which drops are sent until it is closed or answered."""
    stranger.settimeout(0.2)
    stranger.sendall(first)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with suppress(TimeoutError):
            return stranger.recv(1000)
        stranger.sendall(drop)
    raise AssertionError("it is still listened to")


def test_a_head_that_comes_drop_by_drop_is_left(impatient):
    with connection(impatient) as stranger, connection(impatient) as idle:
        with suppress(ConnectionError):
            assert dripped(stranger, b"POST /rerank HTTP/1.1\r\nHost: a\r\nX: ", b"a") == b""
        assert idle.recv(1000) == b""


def test_a_second_head_that_comes_drop_by_drop_is_left(impatient):
    with connection(impatient) as stranger:
        stranger.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        while not stranger.recv(1000).endswith(b'"alive"}'):
            pass
        with suppress(ConnectionError):
            assert dripped(stranger, b"POST /rerank HTTP/1.1\r\nHost: a\r\nX: ", b"a") == b""


@pytest.mark.parametrize(
    ("framing", "drop"), [(b"Content-Length: 900", b"{"), (b"Transfer-Encoding: chunked", b"1\r\n{\r\n")]
)
def test_a_body_that_comes_drop_by_drop_is_answered_with_408(impatient, framing, drop):
    with connection(impatient) as stranger:
        head = b"POST /rerank HTTP/1.1\r\nHost: a\r\n" + framing + b"\r\n\r\n"
        assert b" 408 " in dripped(stranger, head, drop)


def test_a_client_that_hangs_up_in_the_middle_of_its_body_is_forgotten(impatient):
    with connection(impatient) as stranger:
        stranger.sendall(
            b"POST /rerank HTTP/1.1\r\nHost: a\r\nX-Request-Id: half\r\nContent-Length: 9\r\n\r\n{"
        )
    impatient.wait(lambda: '"half"' in impatient.log)
    assert '"status": 499' in next(line for line in impatient.lines if '"half"' in line)


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


def test_more_connections_than_allowed_are_answered_with_503(start):
    server = start(ranker="bm25", value_function="bm25", connections=4)
    idle = [connection(server) for _ in range(4)]
    server.wait(lambda: httpx.post(f"{server.url}/rerank", json=GOOD).status_code == 503)
    for one in idle:
        one.close()
    server.wait(lambda: httpx.post(f"{server.url}/rerank", json=GOOD).status_code == 200)


@pytest.mark.parametrize(
    "junk",
    [
        b"\x00\xff\xfe" * 50,
        b"A" * 100_000,
        b"POST /rerank HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"POST /rerank HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"POST /rerank HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 50_000,
    ],
)
def test_what_is_no_http_is_refused(server, junk):
    with connection(server) as stranger:
        stranger.sendall(junk)
        assert stranger.recv(1000).startswith(b"HTTP/1.1 400")


@pytest.fixture(scope="module")
def keyed(start, tmp_path_factory):
    file = tmp_path_factory.mktemp("keys") / "keys"
    file.write_text("# of the agents\nfirst-key\n\n second-key \nclé\n", encoding="utf-8")
    environment = os.environ | {"FIRSTPAGE_KEYS": "third-key, last\udcff-key"}  # a byte that is no UTF-8
    return start(environment, keys_file=str(file), ranker="bm25", value_function="bm25")


@pytest.mark.parametrize("key", ["first-key", "second-key", "third-key", "clé", "last\udcff-key"])
def test_any_of_the_keys_opens(keyed, key):
    given = {"Authorization": b"Bearer " + os.fsencode(key)}
    assert keyed.post("/rerank", GOOD, headers=given).status_code == 200
    assert keyed.get("/metrics", headers=given).status_code == 200
    assert key not in keyed.log


@pytest.mark.parametrize(
    "given",
    [
        "",
        "Bearer",
        "Bearer fourth-key",
        "Basic first-key",
        "Bearer first-key x",
        "Bearer # of the agents",
        "Bearer first-key,second-key",
        "first-key",
        "Bearer cl\u00e9".encode("latin-1"),
    ],
)
def test_anything_else_does_not(keyed, given):
    for path in ("/rerank", "/select", "/embed", "/nothing"):
        answer = keyed.post(path, GOOD, headers={"Authorization": given})
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    for path in ("/metrics", "/info", "/openapi.json"):
        assert keyed.get(path, headers={"Authorization": given}).status_code == 401
    assert keyed.get("/health").status_code == keyed.get("/ready").status_code == 200
    assert keyed.get("/ready?key=first-key").status_code == 200
    assert not [key for key in ("first-key", "fourth-key") if key in keyed.log]


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
def test_a_configuration_that_cannot_be_used_is_named(tmp_path, monkeypatch, capsys, yaml, said):
    (tmp_path / "serve.yaml").write_text(yaml)
    monkeypatch.setattr("sys.argv", ["firstpage", "serve", "--config", str(tmp_path / "serve.yaml")])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr().err
    assert (ended.value.code, len(told.splitlines())) == (2, 1)
    assert said in told


@pytest.fixture(scope="module")
def faulty(start_waiting):
    """With a value function of another package, which fails where it is told to."""
    return start_waiting()


def test_a_value_that_is_no_number_is_never_given(faulty):
    answer = faulty.post("/rerank", {"query": "a", "texts": ["good", "nan"]})
    assert (answer.status_code, answer.json()["error_type"]) == (424, "backend")
    assert "'waiting' gave the value nan to the item '1'" in answer.json()["error"]
    alone = faulty.post("/rerank", {"query": "a", "texts": ["good"]})
    assert alone.json() == [{"index": 0, "score": pytest.approx(4 / 5)}]


def test_a_model_that_raises_is_named(faulty):
    answer = faulty.post("/rerank", {"query": "fault", "texts": ["good"]})
    assert answer.status_code == 424
    assert answer.json()["error"] == "the value function 'waiting' failed: ZeroDivisionError: a fault"
    assert faulty.post("/rerank", {"query": "a", "texts": ["good"]}).status_code == 200


def test_a_cross_encoder_whose_outputs_are_not_finite_is_named(damaged):
    def overflow(weights):  # finite in themselves
        weights["bert.pooler.dense.bias"].fill_(100)
        weights["classifier.weight"].fill_(3e38)

    folder = damaged(overflow)

    async def rank():
        async with Service(ServeConfig(ranker=f"cross-encoder@{folder}", precision="fp32")) as service:
            await service.rank("ba", [Document("do")])

    with pytest.raises(ModelError, match=f"'{folder.name}' gave a number that is not finite"):
        asyncio.run(rank())


def test_a_fault_of_the_service_itself_is_one_sentence_too():
    app = create_app(Service(ServeConfig(ranker="bm25", value_function="bm25")))

    @app.get("/fault")
    def fault():
        raise ZeroDivisionError

    async def ask():
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            return await client.get("/fault")

    answer = asyncio.run(ask())
    assert (answer.status_code, answer.json()["error_type"]) == (500, "backend")
    assert "its log" in answer.json()["error"]
