"""The MCP proxy: stands in front of an MCP server and brings oversized tool results to a first page.

Messages are lines of JSON-RPC. What the proxy does not change it passes on as the line that came, so that
nothing is lost which no model of the protocol knows. That is why it reads and writes processes itself; the
SDK's own stdio transports drop such messages, and do not tell how a server ended. HTTP is the SDK's.
"""
