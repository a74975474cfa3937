"""What the service is told, read from YAML: one frozen class, whose docstring explains every key."""

from dataclasses import dataclass
from typing import Literal

from ..core.errors import InputError
from ..core.settings import above_zero, check_ranges, least
from ..readers import DEFAULT


@dataclass(frozen=True, kw_only=True)
class ServeConfig:
    """What ``firstpage serve`` is told.

    Args:
        host: address to listen at.
        port: to listen at; from 0 (any that is free) to 65535.
        ranker: what scores documents: a value function, or ``cross-encoder@FOLDER``.
        value_function: what scores the items of tool answers where a request names none.
        embedder: folder of a bi-encoder; the one that comes with the package if empty.
        root: folder whose files the paths in tool answers stand for, read for scoring alone; none if empty.
        precision: of a cross-encoder's numbers: ``fp32``, ``bf16``, or by ``auto`` what is faster here.
        compiled: whether ``torch.compile`` makes a cross-encoder faster, after some slow first batches.
        max_length: tokens of a query and a document together that a cross-encoder reads; >= 16.
        threads: of the processor for a model; all if 0.
        batch_tokens: of a batch, padding included; >= 1. A processor is fastest with batches that its caches
            hold; a card takes many times as much.
        batch_documents: in a batch; >= 1.
        waiting_documents: that may wait at once; what comes then is answered with 429; >= 1.
        wait_s: seconds a request may have to wait for those before it, likewise; above 0.
        timeout_s: seconds after which a request is answered with 504; above 0.
        receive_s: seconds in which a request must have arrived whole; above 0.
        body_mebibytes: of a request; above 0.
        bodies_mebibytes: of all requests that are under way; what comes then is answered with 429; above 0.
        documents: of a request; >= 1.
        tokens: of a request, counted as characters / 4; >= 1.
        connections: at once; >= 1.
        keys_file: file of bearer keys, one a line; those of the environment variable ``FIRSTPAGE_KEYS``, with
            commas between them, are taken too. Without any, nobody is asked for one.
        drain_s: seconds that answers under way have to end when the service is stopped; >= 0.
        notice_s: seconds that the service goes on after SIGTERM with ``/ready`` at 503, so that whoever sends
            requests here learns of it; >= 0.

    Raises:
        InputError: a value is out of its range.
    """

    host: str = "127.0.0.1"
    port: int = least(8080, 0)
    ranker: str = DEFAULT
    value_function: str = DEFAULT
    embedder: str = ""
    root: str = ""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    compiled: bool = False
    max_length: int = least(512, 16)
    threads: int = least(0, 0)
    batch_tokens: int = least(2_048, 1)
    batch_documents: int = least(64, 1)
    waiting_documents: int = least(4_096, 1)
    wait_s: float = above_zero(10.0)
    timeout_s: float = above_zero(30.0)
    receive_s: float = above_zero(30.0)
    body_mebibytes: float = above_zero(16.0)
    bodies_mebibytes: float = above_zero(256.0)
    documents: int = least(1_000, 1)
    tokens: int = least(2_000_000, 1)
    connections: int = least(1_000, 1)
    keys_file: str = ""
    drain_s: float = least(30.0, 0)
    notice_s: float = least(2.0, 0)

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.port > 65_535:
            raise InputError(f"port: must be at most 65535, not {self.port}")
