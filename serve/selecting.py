"""``POST /select``: a tool's whole answer, a query and a budget; the answer is a page."""

from typing import Annotated

from fastapi import APIRouter, Body, Request
from fastapi.responses import JSONResponse

from .answers import FAILURES, done, json_answer
from .forms import SelectedPage, SelectRequest
from .service import Selection

router = APIRouter(tags=["select"], responses=FAILURES)


@router.post("/select", responses={200: {"model": SelectedPage}})
async def select(request: Request, body: Annotated[SelectRequest, Body()]) -> JSONResponse:
    """Fits a tool's answer on a page: whole items in the answer's own form, the best first.

    The page's last line tells what is left; page asks for the following pages, item for one item that no page
    can hold.
    """
    wanted = Selection(
        body.answer, body.query, body.budget, body.page, body.item, body.form, body.array,
        body.value_function, body.tokens,
    )  # fmt: skip
    return json_answer(await done(request, lambda service: service.select(wanted)))
