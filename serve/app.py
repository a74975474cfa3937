"""The service over HTTP: the routes together, and errors of every kind as one sentence."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ..core.errors import FirstpageError, InputError
from . import embeddings, looking, reranking, selecting, state
from .access import CLIENT_GONE, OPEN, failure, log
from .disconnection import GoneError
from .errors import InvalidError, MalformedError, ModelError, ServiceError
from .service import Service

_WARM_AGAIN_S = 1


def create_app(service: Service, locked: bool = False) -> FastAPI:
    """The application around a service, which it opens and closes.

    Args:
        service: does the work.
        locked: whether who asks needs a key, for the OpenAPI document.
    """
    app = FastAPI(
        title="firstpage",
        version=version("firstpage"),
        description="Fits what a tool answers to an AI agent on the first page.",
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    app.add_exception_handler(RequestValidationError, _invalid)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, _refused)  # type: ignore[arg-type]
    app.add_exception_handler(FirstpageError, _failed)  # type: ignore[arg-type]
    app.add_exception_handler(GoneError, _gone)
    app.add_exception_handler(Exception, _unforeseen)
    for part in (reranking, embeddings, selecting, state, looking):
        app.include_router(part.router)
    if locked:
        _tell_of_keys(app.openapi())
    return app


def _tell_of_keys(document: dict[str, Any]) -> None:
    """Says in the OpenAPI document which operations need a key."""
    document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for path, methods in document["paths"].items():
        for told in methods.values() if path not in OPEN else ():
            told["security"] = [{"key": []}]


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    async with service:
        warming = asyncio.create_task(_warm(service))
        yield
        warming.cancel()


async def _warm(service: Service) -> None:
    """Tries until it succeeds: what is slow at first may only have been too slow for its deadline."""
    while not service.warm:
        try:
            await service.warm_up()
        except FirstpageError as error:
            log("warm-up failed", error=str(error), again_after_seconds=_WARM_AGAIN_S)
            await asyncio.sleep(_WARM_AGAIN_S)
    log("ready", ranker=service.ranker.name, value_function=service.config.value_function)


async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
    """Of all that is wrong, the first thing; what was sent is not repeated."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return failure(MalformedError(f"the body is no JSON: {first['ctx']['error']}"))
    # The first part says that it is the body, and one may say which of its forms.
    place = ".".join(str(part) for part in first["loc"][1:] if not str(part).startswith("form of "))
    if not place:
        told = "the body must be a JSON object, sent with the header 'Content-Type: application/json'"
        return failure(InvalidError(told))
    return failure(InvalidError(f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}"))


async def _refused(_: Request, error: HTTPException) -> JSONResponse:
    """What the framework refuses by itself: no such path, no such method, a body that is no text."""
    answer = {"error": f"{error.detail}".lower(), "error_type": "validation"}
    return JSONResponse(answer, error.status_code, headers=error.headers)


async def _gone(_: Request, __: Exception) -> Response:
    """Nobody gets it; the log has its status."""
    return Response(status_code=CLIENT_GONE)


async def _unforeseen(_: Request, __: Exception) -> JSONResponse:
    return failure(ServiceError("the service failed by a fault of its own; its log has the trace"))


async def _failed(_: Request, error: FirstpageError) -> JSONResponse:
    if isinstance(error, ServiceError):
        return failure(error)
    return failure(InvalidError(str(error)) if isinstance(error, InputError) else ModelError(str(error)))
