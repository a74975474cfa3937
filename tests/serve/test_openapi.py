"""The published OpenAPI document is what the running server does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("schemathesis")
SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
TRIED = ["/rerank", "/v1/embeddings", "/embed", "/select", "/health", "/ready", "/info", "/metrics"]
AS_RERANK = ["/v1/rerank", "/v2/rerank"]

# What a schema cannot tell (the embedder's dimensions, whether an answer has a page 9) is refused with 422
# too; no request that follows the document may be refused for its form.
HOOKS = r"""
import re
import schemathesis

@schemathesis.check
def what_follows_the_document_is_accepted(ctx, response, case):
    if case.meta and case.meta.generation.mode.value == "positive" and response.status_code == 422:
        said = response.json()["error"]
        assert not re.search(r": (input|list|string) should |: field required|JSON object", said), said
"""


@pytest.fixture(scope="module")
def keyed(start):
    return start(os.environ | {"FIRSTPAGE_KEYS": "key"}, ranker="bm25", value_function="bm25")


@pytest.fixture(scope="module")
def document(keyed):
    return keyed.get("/openapi.json", headers={"Authorization": "Bearer key"}).json()


def test_the_service_does_what_its_document_says(keyed, tmp_path):
    """Examples of every kind, valid and not, with a key, without and with a wrong one, by every method."""
    (tmp_path / "hooks.py").write_text(HOOKS)
    done = subprocess.run(
        [
            SCHEMATHESIS, "run", f"{keyed.url}/openapi.json", "--header", "Authorization: Bearer key",
            *(word for path in TRIED for word in ("--include-path", path)),
            "--phases", "coverage,fuzzing", "--mode", "all", "--max-examples", "25", "--continue-on-failure",
            # What is valid is judged by the hook.
            "--checks", "all", "--exclude-checks", "positive_data_acceptance",
            "--generation-deterministic", "--no-color",
        ],
        cwd=tmp_path, env=os.environ | {"SCHEMATHESIS_HOOKS": "hooks"},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(TRIED)} selected" in done.stdout


def test_the_other_paths_of_rerank_are_documented_alike(document):
    def alike(path):
        told = document["paths"][path]["post"]
        return told["requestBody"], told["description"], told["security"], sorted(told["responses"])

    assert alike("/v1/rerank") == alike("/v2/rerank") == alike("/rerank")


def test_every_path_of_the_document_is_tested(document):
    assert set(document["paths"]) == {*TRIED, *AS_RERANK}


def test_the_document_says_what_needs_a_key(document, server):
    told = {path: next(iter(methods.values())) for path, methods in document["paths"].items()}
    needing = {path for path, operation in told.items() if "security" in operation}
    assert needing == set(document["paths"]) - {"/health", "/ready"}
    assert "security" not in json.dumps(server.get("/openapi.json").json())
