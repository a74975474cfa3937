"""For people: a page to try the service, and what it answers; nothing on them comes from outside."""

from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request, Response
from jinja2 import Environment, PackageLoader

from .answers import FAILURES

router = APIRouter(include_in_schema=False)

_SAFE = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_BODIES = {
    "/rerank": '{"query": "stale cache", "texts": ["def clear_cache(self): ...", "def paint(): ..."]}',
    "/v1/rerank": '{"query": "stale cache", "documents": ["clear the cache", "paint"], "top_n": 1}',
    "/v2/rerank": '{"query": "stale cache", "documents": ["clear the cache", "paint"], "top_n": 1}',
    "/v1/embeddings": '{"input": ["stale cache"]}',
    "/embed": '{"inputs": ["stale cache"]}',
    "/select": '{"answer": "app/cache.py\\nREADME.md\\n", "query": "stale cache", "budget": 100}',
}


@router.get("/")
async def page() -> Response:
    """The page to try."""
    return _file("index.html", "text/html")


@router.get("/page.css")
async def style() -> Response:
    """How it looks."""
    return _file("page.css", "text/css")


@router.get("/page.js")
async def script() -> Response:
    """What it does."""
    return _file("page.js", "text/javascript")


@router.get("/docs")
async def docs(request: Request) -> Response:
    """Everything that the service answers, from its OpenAPI document."""
    document = request.app.openapi()
    operations = [
        _operation(path, method, told, document["components"]["schemas"])
        for path, methods in document["paths"].items()
        for method, told in methods.items()
    ]
    pages = Environment(loader=PackageLoader("firstpage.serve", "page"), autoescape=True)
    body = pages.get_template("docs.html").render(operations=operations)
    return Response(body, media_type="text/html", headers=_SAFE)


def _file(name: str, kind: str) -> Response:
    body = (files(__package__) / "page" / name).read_bytes()
    return Response(body, media_type=kind, headers=_SAFE)


def _operation(path: str, method: str, told: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    example = f"curl $URL{path}"
    if path in _BODIES:
        example += f" -H 'Content-Type: application/json' -d '{_BODIES[path]}'"
    return {
        "path": path,
        "method": method.upper(),
        "paragraphs": told.get("description", "").split("\n\n"),
        "example": example,
        "forms": {name: _fields(schemas[name]) for name in _bodies(told)},
        "failures": {
            status: one["description"] for status, one in told["responses"].items() if int(status) in FAILURES
        },
    }


def _bodies(told: dict[str, Any]) -> list[str]:
    """Names of the forms that a request may have."""
    schema = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    found = [schema, *schema.get("oneOf", []), *schema.get("anyOf", [])]
    return [one["$ref"].rpartition("/")[2] for one in found if "$ref" in one]


def _fields(schema: dict[str, Any]) -> list[tuple[str, Any, str]]:
    """Of each key its name, its default and what it is."""
    required = schema.get("required", [])
    return [
        (name, "required" if name in required else field.get("default", ""), field.get("description", ""))
        for name, field in schema["properties"].items()
    ]
