"""Runs the service: a socket, a patient but not endless ear for clients, and an orderly end."""

import asyncio
import os
import signal
import socket
import sys
import threading
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..core.errors import InputError
from .access import Access, log
from .app import create_app
from .config import ServeConfig
from .keys import read_keys
from .memory import return_memory
from .service import Service

_BACKLOG = 2048  # connections that wait to be taken
_LAST_MOMENT_S = 1.0  # that a model has to end what it is at, once every answer is given or given up


class Server(uvicorn.Server):
    """A server that, told to end, first says so at ``/ready`` and goes on for a moment.

    Args:
        config: of uvicorn.
        service: whose readiness it takes back.
        notice_s: seconds from then until nothing new is taken.
    """

    def __init__(self, config: uvicorn.Config, service: Service, notice_s: float) -> None:
        super().__init__(config)
        self._service, self._notice_s = service, notice_s

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begins the end; a second signal ends at once, as does Ctrl-C at a terminal."""
        if sig != signal.SIGTERM or self._service.leaving:
            super().handle_exit(sig, frame)
            return
        self._service.leaving = True
        log("leaving", seconds=self._notice_s)
        loop = asyncio.get_running_loop()
        loop.call_later(self._notice_s, self._leave)

    def _leave(self) -> None:
        """Ends without the signal, which `uvicorn` would raise again: an orderly end has status 0."""
        self.should_exit = True


def run(config: ServeConfig) -> None:
    """Serves until it is told to end.

    Raises:
        InputError: a model, a key file, the address or the port cannot be used.
    """
    return_memory()
    keys = read_keys(config.keys_file)
    listening = _socket(config)
    with listening:
        service = Service(config)
        app = Access(create_app(service, bool(keys)), config, keys, service.metrics)
        settings = uvicorn.Config(
            app,
            http=_protocol(config.receive_s),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=config.connections,
            timeout_graceful_shutdown=int(config.drain_s),
        )
        listening.listen(_BACKLOG)  # now, so that nobody who reads the next line is turned away
        sys.stderr.write(_greeting(listening, bool(keys)) + "\n")
        Server(settings, service, config.notice_s).run(sockets=[listening])
    _leave_behind()


def _leave_behind() -> None:
    """Ends the process where a model is still at work: nobody waits for its results, but Python would."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(_LAST_MOMENT_S)
            if thread.is_alive():
                log("left behind", thread=thread.name)
                os._exit(0)


def _socket(config: ServeConfig) -> socket.socket:
    """Takes the address, so that one in use is known before any model is loaded."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((config.host, config.port))
    except OSError as error:
        made.close()
        raise InputError(
            f"host, port: cannot listen at {config.host}:{config.port}: {error.strerror}; name another with "
            "--host or --port"
        ) from error
    return made


def _greeting(listening: socket.socket, locked: bool) -> str:
    host, port = listening.getsockname()[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    key = " -H 'Authorization: Bearer KEY'" if locked else ""
    body = '{"query": "stale cache", "texts": ["def clear_cache(self): ...", "def paint(): ..."]}'
    return (
        f"firstpage serves at {url}; try it:\n"
        f"  curl {url}/rerank{key} -H 'Content-Type: application/json' -d '{body}'"
    )


def _protocol(receive_s: float) -> type[H11Protocol]:
    """HTTP whose clients have so many seconds to send the head of a request, which uvicorn does not limit."""

    class Protocol(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._timer = self.loop.call_later(receive_s, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            complete = self.conn.their_state is not h11.IDLE or not self.conn.trailing_data[0]
            if self._timer is not None and complete:
                self._timer.cancel()
                self._timer = None
            elif self._timer is None and not complete:
                self._timer = self.loop.call_later(receive_s, self.transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            if self._timer is not None:
                self._timer.cancel()
            super().connection_lost(exc)

    return Protocol
