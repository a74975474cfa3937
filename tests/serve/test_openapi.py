"""The published OpenAPI document is what the running server does."""

import os

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import CHECKS, load_all_checks

load_all_checks()
# What a schema cannot tell: the dimensions of the embedder at hand, or whether an answer has a page 9, is
# refused with 422 too. No header is required but the key, which has tests of its own.
_LEFT_OUT = {"positive_data_acceptance", "missing_required_header"}
OPERATIONS = ["/rerank", "/v1/rerank", "/v2/rerank", "/v1/embeddings", "/embed", "/select"]
STATE = ["/health", "/ready", "/info", "/metrics"]


@pytest.fixture(scope="module")
def schema(server):
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json")


def conforms(schema, path, method, examples, headers=None):
    operation = schema[path][method]
    checks = [CHECKS.get_one(name) for name in CHECKS.get_all_names() if name not in _LEFT_OUT]

    @settings(
        max_examples=examples, deadline=None, derandomize=True, database=None,
        phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy())
    def check(case):
        case.call_and_validate(checks=checks, headers=headers or {})

    check()


@pytest.mark.parametrize("path", OPERATIONS)
def test_what_is_posted_is_answered_as_the_document_says(schema, path):
    conforms(schema, path, "POST", 30)


@pytest.mark.parametrize("path", STATE)
def test_the_state_is_as_the_document_says(schema, path):
    conforms(schema, path, "GET", 2)


def test_every_path_of_the_document_is_tested(schema):
    documented = {path for path in schema if not path.startswith("/docs")}
    assert documented == {*OPERATIONS, *STATE}


def test_a_service_with_keys_conforms_too(start):
    server = start(os.environ | {"FIRSTPAGE_KEYS": "key"}, ranker="bm25", value_function="bm25")
    given = {"Authorization": "Bearer key"}
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json", headers=given)
    conforms(schema, "/rerank", "POST", 10, given)
