"""``firstpage mcp proxy``: stands in front of an MCP server and brings long tool results to a first page."""

import sys

import click

from ..core.errors import InputError, MissingExtraError


@click.command("proxy")
@click.option("--config", type=click.Path(), help="YAML file; docs/mcp.md tells its keys.")
@click.option("--url", help="Of a server that speaks streamable HTTP, instead of a COMMAND.")
@click.option("--budget", "-b", type=int, help="Tokens of a tool's result; 2000 if not given.")
@click.option("--value-function", "-f", help="What scores the items of a result.")
@click.argument("server", nargs=-1, metavar="[-- COMMAND...]", type=click.UNPROCESSED)
def command(
    config: str | None,
    url: str | None,
    budget: int | None,
    value_function: str | None,
    server: tuple[str, ...],
) -> None:
    """Stand in front of an MCP server: the COMMAND that starts it, or the one that the configuration names.

    All messages pass as they are, but a tool's result above --budget becomes a page with what the call
    looks for, and the rest stays within reach: its last line says how.

    \b
      firstpage mcp proxy -- npx -y @modelcontextprotocol/server-filesystem ~/src
      firstpage mcp proxy --url http://127.0.0.1:8000/mcp --budget 1000
      firstpage mcp proxy --config proxy.yaml

    Register it with an MCP client in place of the server's own command.
    """
    try:
        from ..serve.mcp.config import read_proxy_config
        from ..serve.mcp.proxy import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "firstpage":
            raise
        raise MissingExtraError("the MCP proxy", "serve") from None
    if server and url:
        raise InputError("--url and a command after -- name two servers; give one of them")
    place = {"server": {"command": list(server)}} if server else {"server": {"url": url}} if url else {}
    given = {"budget": budget, "value_function": value_function}
    settings = read_proxy_config(
        config, **place, **{key: one for key, one in given.items() if one is not None}
    )
    sys.exit(run(settings))
