"""``POST /rerank``, in the form of Text Embeddings Inference or in that of Cohere and Jina."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Body, Depends, Request
from fastapi.responses import JSONResponse
from pydantic import Discriminator, Tag

from ..core.values import ranking
from .answers import FAILURES, TRUNCATED, done, few, json_answer
from .cross_encoder import Direction
from .errors import InvalidError
from .forms import DocumentObject, DocumentsRanked, DocumentsRerank, TeiRank, TeiRerank
from .service import Document, Ranked

router = APIRouter(tags=["rerank"], responses=FAILURES, dependencies=[Depends(few)])

_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {"model": list[TeiRank] | DocumentsRanked, "headers": TRUNCATED}
}


def _form(body: Any) -> str:
    return f"form of {'documents' if isinstance(body, dict) and 'documents' in body else 'texts'}"


RerankBody = Annotated[
    Annotated[TeiRerank, Tag("form of texts")] | Annotated[DocumentsRerank, Tag("form of documents")],
    Discriminator(_form),
]


@router.post("/v2/rerank", responses=_ANSWER)
@router.post("/v1/rerank", responses=_ANSWER)
@router.post("/rerank", responses=_ANSWER)
async def rerank(request: Request, body: Annotated[RerankBody, Body()]) -> JSONResponse:
    """Scores texts for a query, the best first; equal ones keep their order.

    With texts it is Text Embeddings Inference's form, with a bare array as the answer; with documents it is
    Cohere's and Jina's. Scores are from 0 to 1, unless raw_scores is true.
    """
    if isinstance(body, TeiRerank):
        return await _texts(request, body)
    return await _documents(request, body)


async def _texts(request: Request, body: TeiRerank) -> JSONResponse:
    cut: Direction = "left" if body.truncation_direction.lower() == "left" else "right"
    documents = list(map(Document, body.texts))
    ranked = await done(
        request, lambda service: service.rank(body.query, documents, cut, whole=body.truncate is False)
    )
    rows = [
        {"index": index, "score": score} | ({"text": body.texts[index]} if body.return_text else {})
        for index, score in _best(ranked, body.raw_scores)
    ]
    return json_answer(rows, len(ranked.truncated))


async def _documents(request: Request, body: DocumentsRerank) -> JSONResponse:
    documents = [_document(given, body.rank_fields) for given in body.documents]
    ranked = await done(request, lambda service: service.rank(body.query, documents))
    results: list[dict[str, Any]] = []
    for index, score in _best(ranked, body.raw_scores)[: body.top_n]:
        results.append({"index": index, "relevance_score": score})
        if body.return_documents:
            results[-1]["document"] = _echo(body.documents[index])
    answer = {
        "id": uuid4().hex,
        "model": body.model or request.app.state.service.ranker.name,
        "results": results,
        "truncated": ranked.truncated,
        "usage": {"prompt_tokens": ranked.tokens, "total_tokens": ranked.tokens},
        "meta": {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}},
    }
    return json_answer(answer, len(ranked.truncated))


def _best(ranked: Ranked, raw: bool) -> list[tuple[int, float]]:
    """Indices and scores by falling score."""
    scores = (ranked.raw if raw else ranked.scores).tolist()
    return [(index, scores[index]) for index in ranking(ranked.raw).tolist()]


def _document(given: str | DocumentObject, fields: list[str] | None) -> Document:
    """What is scored of a document: the fields asked for, else its text, else all of its texts."""
    if isinstance(given, str):
        return Document(given)
    texts: Mapping[str, str] = {
        key: value for key, value in _echo(given).items() if isinstance(value, str) and key != "path"
    }
    if fields is not None:
        if missing := [field for field in fields if field not in texts]:
            raise InvalidError(f"rank_fields: a document has no text '{missing[0]}'; name keys that all have")
        return Document("\n".join(texts[field] for field in fields), given.path or "")
    return Document("\n".join(texts.values()) if given.text is None else given.text, given.path or "")


def _echo(given: str | DocumentObject) -> dict[str, Any]:
    """A document as it is given back."""
    return {"text": given} if isinstance(given, str) else given.model_dump(exclude_unset=True)
