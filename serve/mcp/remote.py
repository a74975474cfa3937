"""An MCP server that is there already, over streamable HTTP by the SDK's client."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import PROTOCOL_VERSION_META_KEY, jsonrpc_message_adapter

from .messages import Body, is_modern, is_request, key_of, meta_of, params_of
from .side import InterruptedSideError, SendError, log

_CONNECT_S = 30.0

SchemaOf = Callable[[str], Any]


class Remote:
    """The server as a side of the proxy; `connected` makes it.

    Where the connection breaks, whatever was asked is answered with an error, and the next message makes a
    new one.

    Args:
        url: of the server.
        headers: sent with every request.
        longest: bytes of a message.
        schema_of: the schema of a tool's arguments, which may want some in headers too.
    """

    def __init__(self, url: str, headers: Mapping[str, str], longest: int, schema_of: SchemaOf) -> None:
        self._url, self._headers, self._longest, self._schema_of = url, dict(headers), longest, schema_of
        self._version: str | None = None  # as the handshake agreed on it
        self._handshakes: set[str] = set()
        self._came: MemoryObjectReceiveStream[str | InterruptedSideError]
        self._arriving: MemoryObjectSendStream[str | InterruptedSideError]
        self._arriving, self._came = anyio.create_memory_object_stream(0)
        self._leaving: MemoryObjectSendStream[SessionMessage]
        self._to_send: MemoryObjectReceiveStream[SessionMessage]
        self._leaving, self._to_send = anyio.create_memory_object_stream(0)

    async def receive(self) -> str | None:
        """The next message.

        Raises:
            InterruptedSideError: the connection broke.
        """
        came = await self._came.receive()
        if isinstance(came, InterruptedSideError):
            raise came
        return came

    async def send(self, line: str) -> None:
        """Sends a message.

        Raises:
            SendError: it is none that the SDK knows.
        """
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError as error:
            raise SendError(f"cannot be sent this over HTTP: {str(error).splitlines()[0]}") from error
        headers = self._stamp(json.loads(line))
        await self._leaving.send(SessionMessage(message, ClientMessageMetadata(headers=headers)))

    async def carry(self) -> None:
        """Keeps a connection, and makes a new one where it breaks."""
        while True:
            try:
                await self._connection()
            except* (httpx2.HTTPError, OSError) as errors:
                why = _first(errors)
            except* Exception as errors:  # none of what a server sends ends the proxy
                why = _first(errors)
            else:
                why = "it was closed"
            log(f"the connection to {self._url} broke: {why}")
            await self._arriving.send(InterruptedSideError(f"cannot be reached at {self._url}: {why}"))

    async def _connection(self) -> None:
        timeout = httpx2.Timeout(_CONNECT_S, read=None)  # the proxy's own is for all servers
        async with (
            httpx2.AsyncClient(headers=self._headers, timeout=timeout) as client,
            streamable_http_client(self._url, http_client=client, max_sse_event_size=self._longest) as (
                reading,
                writing,
            ),
            anyio.create_task_group() as tasks,
        ):

            async def send() -> None:
                while True:
                    await writing.send(await self._to_send.receive())

            tasks.start_soon(send)
            async for came in reading:
                if isinstance(came, Exception):
                    log(f"the server sent what is no message, which is left out: {came}")
                else:
                    dumped = came.message.model_dump_json(by_alias=True, exclude_unset=True)
                    self._learn(came.message)
                    await self._arriving.send(dumped)
            tasks.cancel_scope.cancel()

    def _stamp(self, body: Body) -> dict[str, str]:
        """What the protocol wants said in headers too."""
        if not is_modern(body):
            if is_request(body) and body["method"] == "initialize":
                self._version = None
                self._handshakes.add(key_of(body["id"]))
            return {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version else {}
        method, params = str(body.get("method")), params_of(body)
        headers = {
            MCP_PROTOCOL_VERSION_HEADER: str(meta_of(body)[PROTOCOL_VERSION_META_KEY]),
            MCP_METHOD_HEADER: method,
        }
        name = params.get(NAME_BEARING_METHODS.get(method, ""))
        if isinstance(name, str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
            if method == "tools/call":
                headers |= parameter_headers(self._schema_of(name), params.get("arguments"))
        return headers

    def _learn(self, message: Any) -> None:
        """Takes the version of the protocol from the answer to a handshake."""
        key = key_of(getattr(message, "id", None))
        if key in self._handshakes:
            self._handshakes.discard(key)
            version = getattr(message, "result", {}).get("protocolVersion")
            self._version = version if isinstance(version, str) else None


@asynccontextmanager
async def connected(
    url: str, headers: Mapping[str, str], longest: int, schema_of: SchemaOf
) -> AsyncIterator[Remote]:
    """A server at a URL, see `Remote`."""
    remote = Remote(url, headers, longest, schema_of)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(remote.carry)
        try:
            yield remote
        finally:
            tasks.cancel_scope.cancel()


def parameter_headers(schema: Any, arguments: Any) -> dict[str, str]:
    """The arguments of a call that a tool wants in headers too."""
    if not isinstance(schema, dict) or not isinstance(arguments, dict):
        return {}
    if find_invalid_x_mcp_header(schema) is not None:
        return {}
    return mcp_param_headers(x_mcp_header_map(schema), arguments)


def _first(errors: BaseExceptionGroup[BaseException]) -> str:
    """What the first error says."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
