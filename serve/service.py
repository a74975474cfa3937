"""What the service can do, whatever asks: score documents, embed texts, make a page of a tool answer."""

import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.costs import token_counter
from ..core.errors import InputError
from ..core.formats import parse
from ..core.items import Item, Query
from ..core.pages import Ways, paginate
from ..core.root import Root
from ..core.values import ValueFunction, evaluate
from ..readers import shipped, value_functions
from .calls import Calls
from .config import ServeConfig
from .cross_encoder import CrossEncoderModel, Direction, Pair
from .embedding import StaticModel, TransformerModel, load_embedder
from .engine import Engine, Model
from .errors import InvalidError, ModelError, TooLargeError
from .metrics import Metrics

_NEURAL = "cross-encoder@"
_WAYS = Ways('"page": {}', '"item": "{}"')  # what to ask `/select` for next
_CALL_WORKERS = 2  # a long answer must not stall all others
_CHARACTERS_A_TOKEN = 4  # roughly, of what is limited and paid for before it is made into tokens


@dataclass(frozen=True, slots=True)
class Document:
    """What is scored.

    Args:
        text: what it says.
        path: of the file that it is, where it is one.
    """

    text: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Scores of documents, in the order in which they were given.

    Args:
        raw: as the ranker gives them: a cross-encoder's logits, a value function's values.
        scores: the same from 0 to 1, in the same order of magnitude: equal where the raw ones are, and
            independent of the other documents.
        truncated: places of the documents of which the model read only a part.
        tokens: that were read, about.
    """

    raw: NDArray[np.float64]
    scores: NDArray[np.float64]
    truncated: list[int]
    tokens: int


@dataclass(frozen=True, slots=True)
class Selection:
    """What a page is made of.

    Args:
        answer: of the tool.
        query: what the agent looks for.
        budget: tokens of a page.
        page: number of the page.
        item: id of the one item that is asked for instead of a page.
        form: of the answer, or ``auto``.
        array: where the items are in a JSON object.
        value_function: name; the service's own if empty.
        counter: what a token is.
    """

    answer: str
    query: str
    budget: int
    page: int
    item: str | None
    form: str
    array: str | None
    value_function: str
    counter: str


class Service:
    """The models of one service and what they do; an asynchronous context manager.

    Args:
        config: what it is told.

    Attributes:
        warm: whether every model has answered once.
        leaving: whether it is about to stop; what is asked until then is still answered.

    Raises:
        InputError: a model cannot be loaded, or a value function does not exist.
        MissingExtraError: what a model needs is not installed.
    """

    def __init__(self, config: ServeConfig) -> None:
        self.config = config
        self.metrics = Metrics()
        self.warm = self.leaving = False
        self._functions = {"": value_functions.create(config.value_function)}  # those asked for until now
        self._root = Root(config.root) if config.root else None
        self._neural = config.ranker.startswith(_NEURAL)
        self.ranker: Model
        if self._neural:
            folder = Path(config.ranker.removeprefix(_NEURAL))
            self.ranker = CrossEncoderModel(folder, config.precision, config.compiled, config.max_length)
        else:
            self._ranks: ValueFunction = value_functions.create(config.ranker)
            self.ranker = Calls(config.ranker)
        self.embedder: StaticModel | TransformerModel | None = (
            load_embedder(Path(config.embedder)) if config.embedder else _own_embedder()
        )
        if config.threads and "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(config.threads)
        self._open = AsyncExitStack()

    async def __aenter__(self) -> "Service":
        self._ranking = await self._engine(self.ranker)
        self._selecting = await self._engine(Calls(self.config.value_function))
        self._embedding = await self._engine(self.embedder) if self.embedder else None
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leaving = True
        await self._open.aclose()

    @property
    def ready(self) -> bool:
        """Whether every model has answered once, and the service is not about to stop."""
        return self.warm and not self.leaving

    async def warm_up(self) -> None:
        """Lets every model answer once; the service is ready from then on."""
        await self.rank("warm", [Document("up")])
        if self._embedding:
            await self.embed(["warm up"])
        await self.select(Selection("a\nb\n", "warm up", 1000, 1, None, "auto", None, "", "chars4"))
        self.warm = True

    async def rank(
        self, query: str, documents: Sequence[Document], cut: Direction = "right", whole: bool = False
    ) -> Ranked:
        """Scores documents for a query.

        Args:
            query: what is looked for.
            documents: in any order, each scored by itself.
            cut: the end at which what is too long for the model loses tokens.
            whole: refuse what is too long.

        Raises:
            ServiceError: a limit is exceeded, the model fails, or it does not answer in time.
        """
        self._check_size("documents", [query, *(document.text for document in documents)])
        if self._neural:
            pairs = [Pair(query, document.text, cut) for document in documents]
            results, units = await self._ranking.run(pairs, self.config.timeout_s)
            truncated = [place for place, unit in enumerate(units) if unit.truncated]
            if truncated and whole:
                raise InvalidError(
                    f"document {truncated[0]} and the query have more tokens than the "
                    f"{self.config.max_length} that the model reads; shorten them or allow truncation"
                )
            raw = np.asarray(results, dtype=np.float64)
            scores, tokens = 1 / (1 + np.exp(-raw)), sum(unit.length for unit in units)
        else:
            items = [
                Item(str(place), document.path or document.text, document.text, _metadata(document))
                for place, document in enumerate(documents)
            ]
            tokens = _tokens([query, *(document.text for document in documents)])
            call = (partial(evaluate, self._ranks, Query(query), items), tokens)
            (raw,), _ = await self._ranking.run([call], self.config.timeout_s)
            scores, truncated = raw / (1 + raw), []
        self._check_finite(self.ranker.name, raw)
        return Ranked(raw, scores, truncated, tokens)

    async def embed(self, texts: Sequence[str], whole: bool = False) -> tuple[NDArray[np.float32], int, int]:
        """Vectors of texts.

        Returns:
            Of shape ``(len(texts), dimensions)``, each of length 1 (or 0 for a text without tokens); how many
            tokens were read; of how many texts only a part was read.

        Raises:
            ServiceError: there is no embedder, a limit is exceeded, the model fails or is late.
        """
        if self.embedder is None or self._embedding is None:
            raise InvalidError(
                "this service has no embedder: its machine needs the extra, pip install 'firstpage[learned]'"
            )
        self._check_size("inputs", texts)
        results, units = await self._embedding.run(texts, self.config.timeout_s)
        truncated = [place for place, unit in enumerate(units) if unit.truncated]
        if truncated and whole:
            raise InvalidError(
                f"input {truncated[0]} has more tokens than the {self.embedder.max_length} that the model "
                "reads; shorten it or allow truncation"
            )
        vectors = np.stack(results).astype(np.float32)
        self._check_finite(self.embedder.name, vectors)
        return vectors, sum(unit.length for unit in units), len(truncated)

    async def select(self, wanted: Selection) -> dict[str, Any]:
        """A page of a tool's answer, with its items, values and costs.

        Raises:
            ServiceError: something that is asked for cannot be done, or is not done in time.
        """
        self._check_size("answer", [wanted.answer, wanted.query])
        call = (partial(self._page, wanted), _tokens([wanted.answer]))
        try:
            (page,), _ = await self._selecting.run([call], self.config.timeout_s)
        except InputError as error:
            raise InvalidError(str(error)) from None
        report: dict[str, Any] = page
        return report

    def _page(self, wanted: Selection) -> dict[str, Any]:
        parsed = parse(wanted.answer, wanted.form, array=wanted.array)
        if self._root is not None:
            parsed.items = [self._root.fill(item) for item in parsed.items]
        function, counter = self._function(wanted.value_function), token_counter(wanted.counter)
        pages = paginate(parsed, Query(wanted.query), function, wanted.budget, counter, _WAYS)
        page = pages.page(wanted.page) if wanted.item is None else pages.item(wanted.item)
        return pages.report(page) | {
            "form": parsed.form, "budget": wanted.budget, "tokens_by": counter.name,
            "value_function": function.name,
        }  # fmt: skip

    def _function(self, name: str) -> ValueFunction:
        """By its name, as `firstpage value-functions` lists it: a client names no folders of this machine."""
        if name not in self._functions:
            if "@" in name:
                raise InputError(
                    "value_function: a request cannot name weights; the service's configuration can"
                )
            try:
                self._functions[name] = value_functions.create(name)
            except InputError as error:
                raise InputError(f"value_function: {error}") from None
        return self._functions[name]

    async def _engine(self, model: Model) -> Engine:
        config = self.config
        calls = isinstance(model, Calls)
        return await self._open.enter_async_context(
            Engine(
                model,
                self.metrics,
                batch_tokens=config.batch_tokens,
                batch_units=1 if calls else config.batch_documents,
                waiting=config.waiting_documents,
                wait_s=config.wait_s,
                workers=_CALL_WORKERS if calls else 1,
            )
        )

    def _check_size(self, what: str, texts: Sequence[str]) -> None:
        tokens = _tokens(texts)
        if tokens > self.config.tokens:
            self.metrics.rejections.labels("tokens").inc()
            raise TooLargeError(
                f"{what}: about {tokens} tokens are more than the {self.config.tokens} of a request here; "
                "send them in parts"
            )

    def _check_finite(self, model: str, numbers: NDArray[Any]) -> None:
        if not np.isfinite(numbers).all():
            raise ModelError(f"the model '{model}' gave a number that is not finite; its weights are damaged")


def _own_embedder() -> StaticModel | TransformerModel | None:
    return load_embedder(shipped.ENCODER) if shipped.readable() else None


def _metadata(document: Document) -> dict[str, str]:
    return {"path": document.path} if document.path else {}


def _tokens(texts: Sequence[str]) -> int:
    return sum(map(len, texts)) // _CHARACTERS_A_TOKEN
