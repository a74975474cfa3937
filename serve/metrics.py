"""What is measured, for Prometheus: under Text Embeddings Inference's names where it has one of that meaning.

Its counters have no ``_total`` at their end, unlike those of Prometheus's client.
"""

import re
from collections.abc import Sequence

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from .queueing import Unit

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
_SIZES = tuple(2**power for power in range(13))
_TOKENS = tuple(2**power for power in range(6, 21))
_FIRST_FAILURE = 400
_OUR_ENDING = re.compile(rb"\b(te_\w+)_total\b")


class Metrics:
    """The measures of one service, in a registry of their own."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # when each was made
        self._registry = every = CollectorRegistry()
        self.requests = Counter("te_request_count", "Requests.", ["method"], registry=every)
        self.successes = Counter("te_request_success", "Requests answered.", ["method"], registry=every)
        self.failures = Counter("te_request_failure", "Requests refused or failed.", ["err"], registry=every)
        self.duration = Histogram(
            "te_request_duration", "Seconds a request took.", buckets=_SECONDS, registry=every
        )
        self.tokenization = Histogram(
            "te_request_tokenization_duration", "Seconds of making tokens.", buckets=_SECONDS, registry=every
        )
        self.queueing = Histogram(
            "te_request_queue_duration", "Seconds a text waited.", buckets=_SECONDS, registry=every
        )
        self.inference = Histogram(
            "te_request_inference_duration", "Seconds of a batch in the model.",
            buckets=_SECONDS, registry=every,
        )  # fmt: skip
        self.queue_size = Gauge("te_queue_size", "Texts that wait or run.", ["model"], registry=every)
        self.batch_size = Histogram("te_batch_next_size", "Texts in a batch.", buckets=_SIZES, registry=every)
        self.batch_tokens = Histogram(
            "te_batch_next_tokens", "Tokens in a batch, without padding.", buckets=_TOKENS, registry=every
        )
        self.padding = Counter("firstpage_padding_tokens", "Tokens that only pad.", registry=every)
        self.tokens = Counter("firstpage_tokens", "Tokens that went through models.", registry=every)
        self.truncations = Counter(
            "firstpage_truncations", "Texts of which a model read only a part.", registry=every
        )
        self.rejections = Counter(
            "firstpage_rejections", "Requests not begun or given up.", ["reason"], registry=every
        )

    def count(self, method: str, status: int, seconds: float) -> None:
        """Notes a request that is over."""
        self.requests.labels(method).inc()
        if status < _FIRST_FAILURE:
            self.successes.labels(method).inc()
            self.duration.observe(seconds)
        else:
            self.failures.labels(str(status)).inc()

    def batch(self, units: Sequence[Unit], waited: Sequence[float]) -> None:
        """Notes a batch that begins, and the seconds that each of its units waited."""
        tokens = sum(unit.length for unit in units)
        self.batch_size.observe(len(units))
        self.batch_tokens.observe(tokens)
        self.tokens.inc(tokens)
        self.padding.inc(max(unit.length for unit in units) * len(units) - tokens)
        for seconds in waited:
            self.queueing.observe(seconds)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return _OUR_ENDING.sub(rb"\1", generate_latest(self._registry))
