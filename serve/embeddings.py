"""``POST /v1/embeddings`` as OpenAI has it, and ``POST /embed`` as Text Embeddings Inference has it."""

import base64
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Body, Depends, Request
from fastapi.responses import JSONResponse
from numpy.typing import NDArray

from .answers import FAILURES, TRUNCATED, done, few, json_answer
from .errors import InvalidError
from .forms import OpenAIEmbedded, OpenAIEmbeddings, TeiEmbed

router = APIRouter(tags=["embeddings"], responses=FAILURES, dependencies=[Depends(few)])


@router.post("/v1/embeddings", responses={200: {"model": OpenAIEmbedded, "headers": TRUNCATED}})
async def openai_embeddings(request: Request, body: Annotated[OpenAIEmbeddings, Body()]) -> JSONResponse:
    """Vectors of length 1, in the order of the texts."""
    vectors, tokens, truncated = await _embedded(request, body.input, body.dimensions, whole=False)
    encode = _base64 if body.encoding_format == "base64" else _listed
    answer = {
        "object": "list",
        "model": body.model or request.app.state.service.embedder.name,
        "data": [
            {"object": "embedding", "index": index, "embedding": encode(vector)}
            for index, vector in enumerate(vectors)
        ],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }
    return json_answer(answer, truncated)


@router.post("/embed", responses={200: {"model": list[list[float]], "headers": TRUNCATED}})
async def tei_embed(request: Request, body: Annotated[TeiEmbed, Body()]) -> JSONResponse:
    """Vectors of length 1, in the order of the texts, as a bare array."""
    vectors, _, truncated = await _embedded(request, body.inputs, body.dimensions, body.truncate is False)
    return json_answer(vectors.tolist(), truncated)


async def _embedded(
    request: Request, given: str | list[str], dimensions: int | None, whole: bool
) -> tuple[NDArray[np.float32], int, int]:
    texts = [given] if isinstance(given, str) else given
    embedder = request.app.state.service.embedder
    if embedder is not None and dimensions not in (None, embedder.dimensions):
        raise InvalidError(f"dimensions: the embedder's vectors have {embedder.dimensions}, not {dimensions}")
    return await done(request, lambda service: service.embed(texts, whole))


def _listed(vector: NDArray[np.float32]) -> Any:
    return vector.tolist()


def _base64(vector: NDArray[np.float32]) -> Any:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()
