"""JSON-RPC messages as text: read from lines, and written where the proxy has something to say itself."""

import json
from collections.abc import Mapping
from typing import Any

from mcp_types import PROTOCOL_VERSION_META_KEY

# Of the errors that the proxy itself answers with. The first two are the SDK's for the same cases.
ENDED = -32000
TOO_LATE = -32001
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
BROKEN_ANSWER = -32603
NO_RESOURCE = -32002  # up to 2025-11-25, later INVALID_PARAMS

Body = Mapping[str, Any]


def read(line: str) -> Any:
    """What a line says.

    Raises:
        json.JSONDecodeError: it is no JSON.
        ValueError: it may be JSON, and is nested too deeply or has too long a number for this reader.
    """
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def dumps(value: Any) -> str:
    """JSON on one line, which UTF-8 can carry."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if has_utf8(text) else json.dumps(value, separators=(",", ":"))


def has_utf8(text: str) -> bool:
    """Whether UTF-8 can carry it; it cannot carry half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def key_of(id: Any) -> str:
    """What a request is known by: 1 and "1" are two ids, and so are 1 and true."""
    return json.dumps(id)


def is_request(body: Any) -> bool:
    """Whether it asks for an answer."""
    return isinstance(body, dict) and "id" in body and isinstance(body.get("method"), str)


def is_answer(body: Any) -> bool:
    """Whether it may answer a request, however badly."""
    return isinstance(body, dict) and "id" in body and "method" not in body


def flaw_of(answer: Body) -> str:
    """What is wrong with an answer by JSON-RPC; empty if nothing is."""
    if answer.get("jsonrpc") != "2.0":
        return "it does not say that it is JSON-RPC 2.0"
    if ("result" in answer) == ("error" in answer):
        return "it must have either a result or an error"
    if not isinstance(answer.get("result", answer.get("error")), dict):
        return "its result or error is no object"
    return ""


def params_of(body: Body) -> Body:
    """The parameters of a request or a notification by name; none if it has none."""
    params = body.get("params")
    return params if isinstance(params, dict) else {}


def meta_of(body: Body) -> Body:
    """What a request says besides its parameters."""
    meta = params_of(body).get("_meta")
    return meta if isinstance(meta, dict) else {}


def is_modern(body: Body) -> bool:
    """Whether a request is of the protocol of 2026-07-28 or later, where each names its version."""
    return PROTOCOL_VERSION_META_KEY in meta_of(body)


def answer(id: Any, result: Body) -> str:
    """The line that answers a request."""
    return dumps({"jsonrpc": "2.0", "id": id, "result": result})


def refusal(id: Any, code: int, message: str) -> str:
    """The line that answers a request with an error."""
    return dumps({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})


def completed(request: Body, result: Body, cacheable: bool = False) -> dict[str, Any]:
    """A result of the proxy's own, with what newer versions of the protocol ask of every result.

    Args:
        request: that it answers.
        result: without these members.
        cacheable: whether the protocol has clients keep results of this method for some time; ours for none.
    """
    if not is_modern(request):
        return dict(result)
    kept = {"ttlMs": 0, "cacheScope": "private"} if cacheable else {}
    return {**result, "resultType": "complete", **kept}
