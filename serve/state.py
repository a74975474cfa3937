"""``GET`` of how the service is: alive, ready, made of what, and its measures."""

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from .answers import FAILURES
from .errors import UnreadyError
from .metrics import CONTENT_TYPE
from .service import Service

router = APIRouter(tags=["state"])


class State(BaseModel):
    """How the service is."""

    status: str


class Info(BaseModel):
    """What the service is made of, under Text Embeddings Inference's names where it has them."""

    model_id: str
    model_dtype: str
    model_type: dict[str, Any]
    embedder: str | None
    value_function: str
    max_input_length: int | None
    max_batch_tokens: int
    max_batch_requests: int
    max_client_batch_size: int
    max_concurrent_requests: int
    version: str


@router.get("/health")
async def health() -> State:
    """Whether the service is alive."""
    return State(status="alive")


@router.get("/ready", responses={503: FAILURES[503]})
async def ready(request: Request) -> State:
    """Whether every model has answered once, and the service is not about to stop."""
    service: Service = request.app.state.service
    if not service.ready:
        raise UnreadyError("the service is starting or about to stop")
    return State(status="ready")


@router.get("/info", responses={401: FAILURES[401]})
async def info(request: Request) -> Info:
    """What the service is made of."""
    service: Service = request.app.state.service
    config, ranker = service.config, service.ranker
    return Info(
        model_id=ranker.name,
        model_dtype=getattr(ranker, "precision", "float64"),
        model_type={"reranker": {}},
        embedder=service.embedder.name if service.embedder else None,
        value_function=config.value_function,
        max_input_length=getattr(ranker, "max_length", None),
        max_batch_tokens=config.batch_tokens,
        max_batch_requests=config.batch_documents,
        max_client_batch_size=config.documents,
        max_concurrent_requests=config.waiting_documents,
        version=version("firstpage"),
    )


@router.get("/metrics", response_class=Response, responses={401: FAILURES[401]})
async def metrics(request: Request) -> Response:
    """Measures, as Prometheus reads them."""
    service: Service = request.app.state.service
    return Response(service.metrics.text(), media_type=CONTENT_TYPE)
